"""The lines of fields in files: a finding names a field, and a reviewer looks at its line.

Files are read again, and only those with findings: most have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ...engine.text_encodings import text_of
from .findings import FilePlace

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_MOST_BYTES = 8 << 20
"""Of a larger file only the lines of objects are known."""


class Region(NamedTuple):
    """A place in a file, from 1. :param column: None if only the line is known."""

    line: int
    column: int | None = None


class Regions:
    """Where fields are; keeps what it has read."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[int, yaml.Node]] = {}

    def of(self, place: FilePlace, field: str) -> Region:
        """Return where a field of an object is; else what is nearest around it.

        :param place: of the object. :param field: as in ``spec.capability.cpu``.
        """
        if place.file not in self._objects:
            self._objects[place.file] = dict(_objects_in(Path(place.file)))
        node = self._objects[place.file].get(place.line)
        region = Region(place.line)
        while node is not None and field:
            step = _step(node, field)
            if step is None:
                return region
            mark, node, field = step
            region = Region(mark.line + 1, mark.column + 1)
        return region


def _objects_in(path: Path) -> Iterator[tuple[int, yaml.Node]]:
    """Yield the mappings of a file that may be objects, with their lines; none if unreadable."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return
        text = text_of(path.read_bytes())
        documents = list(yaml.compose_all(text, Loader=_LOADER))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return
    for node in documents:
        yield from _objects_of(node)


def _objects_of(node: yaml.Node) -> Iterator[tuple[int, yaml.Node]]:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _objects_of(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == "items" and isinstance(value, yaml.SequenceNode):
                yield from _objects_of(value)
        yield node.start_mark.line + 1, node


def _step(node: yaml.Node, field: str) -> tuple[yaml.Mark, yaml.Node, str] | None:
    """Return the place of the first part of a field, its value, and the other parts.

    None if the node does not have it. Keys may have dots in them, so the longest key counts.
    """
    if isinstance(node, yaml.SequenceNode):
        digits, _, rest = field.removeprefix("[").partition("]")
        if not field.startswith("[") or not digits.isdecimal() or int(digits) >= len(node.value):
            return None
        item = node.value[int(digits)]
        return item.start_mark, item, rest.removeprefix(".")
    if not isinstance(node, yaml.MappingNode):
        return None
    # The longest key first: annotations have dots, and one key may begin another.
    for key, value in sorted(node.value, key=lambda pair: -len(str(pair[0].value))):
        rest = field.removeprefix(f"[{key.value}]" if field.startswith("[") else str(key.value))
        if rest != field and rest[:1] in {"", ".", "["}:
            return key.start_mark, value, rest.removeprefix(".")
    return None
