"""Docstrings as Markdown: what the pages of the reference have in common."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator

ROLE = re.compile(r":(?:class|func|data|meth|mod|attr|exc):`~?\.*([^`]+)`")
FIELD = re.compile(r"\s*:(param|returns?|raises)\s*([\w.]*):\s*")


def prose(text: str) -> str:
    """Return a docstring's markup as Markdown: roles and double back-quotes as code."""
    plain = re.sub(r"``([^`]+)``", r"`\1`", ROLE.sub(r"``\1``", text))
    return re.sub(r"::$", ":", plain, flags=re.MULTILINE)


def cell(text: str) -> str:
    """Return text fit for a table's cell."""
    return " ".join(prose(text).split()).replace("|", "\\|")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join(' --- ' for _ in head)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def documented(thing: object) -> Iterator[str]:
    """Yield a docstring as Markdown, its fields (parameters, errors) as a list."""
    text = inspect.getdoc(thing) or ""
    listed = False
    for paragraph in re.split(r"\n(?=\s*:(?:param|returns?|raises)\b)|\n\n", text):
        if not FIELD.match(paragraph):
            if listed:
                yield ""
            listed = False
            yield from (*_fenced_tables(prose(paragraph)).splitlines(), "")
            continue
        listed = True
        # Several fields may share a line: ":param a: and :param b: of the thing".
        said = re.sub(r":param (\w+):", r"`\1`:", prose(paragraph))
        said = re.sub(r":returns?:", "Returns", said)
        said = re.sub(r":raises ([\w.]+):", r"Raises `\1`:", said)
        yield f"- {' '.join(said.split())}"
    if listed:
        yield ""


def _fenced_tables(text: str) -> str:
    return f"```text\n{text}\n```" if re.search(r"^={3,} +={3,}", text, re.MULTILINE) else text
