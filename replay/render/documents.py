"""Whole objects as text: JSON, YAML, names, JSONPath, custom columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from ...engine.errors import UsageError
from ..objects.kind_names import resource_name
from ..tabular.documents import written
from .tables import NONE, PLAIN, Style, Table, write_table

if TYPE_CHECKING:
    from ...engine.kubernetes.expressions.jsonpath import Path

Documents = Iterable[dict[str, Any]]

_ENCODER = msgspec.json.Encoder(order="sorted", enc_hook=written)


def json_text(value: Any, *, indent: int = 4) -> str:
    """Return a value as indented JSON with sorted keys."""
    return msgspec.json.format(_ENCODER.encode(value), indent=indent).decode()


def plain(value: Any) -> Any:
    """Return a value in JSON's types: tuples become lists, enumerations their values."""
    return msgspec.json.decode(_ENCODER.encode(value))


def write_json(out: TextIO, documents: Documents, *, single: bool) -> None:
    """Write objects as kubectl does: a single one alone, or a ``List`` of all, item by item.

    :param single: there is exactly one, and it was requested by name.
    """
    if single:
        out.write("".join(json_text(document) + "\n" for document in documents))
        return
    out.write('{\n    "apiVersion": "v1",\n    "items": [')
    separator = "\n        "
    for document in documents:
        out.write(separator + json_text(document).replace("\n", "\n        "))
        separator = ",\n        "
    # kubectl closes a list without items in its first line.
    end = "]" if separator == "\n        " else "\n    ]"
    out.write(f'{end},\n    "kind": "List",\n    "metadata": {{\n        "resourceVersion": ""\n')
    out.write("    }\n}\n")


def write_yaml(out: TextIO, documents: Documents, *, single: bool) -> None:
    """Write objects as YAML: a single one alone, or a ``List`` of all, item by item.

    :param single: there is exactly one, and it was requested by name.
    """
    from .yaml_text import YamlWriter  # noqa: PLC0415 -- only one output format needs it

    writer = YamlWriter()
    if single:
        out.write("".join(map(writer.text, documents)))
        return
    out.write("apiVersion: v1\n")
    begun = False
    for document in documents:
        out.write("" if begun else "items:\n")
        out.write(writer.text([document]))
        begun = True
    out.write("" if begun else "items: []\n")
    out.write('kind: List\nmetadata:\n  resourceVersion: ""\n')


def list_of(documents: Documents) -> dict[str, Any]:
    """Return objects as the document that JSONPath templates apply to."""
    return {
        "apiVersion": "v1",
        "items": list(documents),
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }


def write_jsonpath(out: TextIO, documents: Documents, template: str, *, single: bool) -> None:
    """Write what a template finds, without adding a line end, as kubectl does.

    :raises UsageError: the template cannot be read.
    """
    from ...engine.kubernetes.expressions.jsonpath import parse_template  # noqa: PLC0415

    filled = parse_template(template)
    out.write("".join(map(filled.render, documents if single else [list_of(documents)])))


def write_custom_columns(
    out: TextIO, documents: Documents, text: str, *, no_headers: bool, style: Style = PLAIN
) -> None:
    """Write a table of columns given as ``NAME:.metadata.name,NODE:.spec.nodeName``.

    :raises UsageError: a column is not of the form HEADER:PATH.
    """
    from ...engine.kubernetes.expressions.jsonpath import find  # noqa: PLC0415

    columns = list(_custom_columns(text))
    rows = [
        [",".join(map(_cell, find(path, document))) or NONE for _, path in columns]
        for document in documents
    ]
    table = Table([header for header, _ in columns], rows)
    # These are columns that a person chose: none is left out or shortened.
    write_table(out, table, no_headers=no_headers, style=msgspec.structs.replace(style, whole=True))


def write_names(out: TextIO, names: Iterable[tuple[str, str, str]]) -> None:
    """Write (group, kind, name) of objects as ``pod/a`` and ``queue.scheduling.volcano.sh/b``."""
    out.writelines(f"{resource_name(group, kind)}/{name}\n" for group, kind, name in names)


def _custom_columns(text: str) -> Iterator[tuple[str, Path]]:
    from ...engine.kubernetes.expressions.jsonpath import parse_path  # noqa: PLC0415

    for column in text.split(","):
        header, colon, path = column.partition(":")
        if not colon or not header or not path:
            raise UsageError(
                f"{column!r} is not a column",
                now="write HEADER:PATH,HEADER:PATH, as in NAME:.metadata.name,NODE:.spec.nodeName",
            )
        yield header, parse_path(path)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
