"""Aligned text tables as kubectl writes them, fast enough for tens of thousands of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import NamedTuple, TextIO

from .screen import MARKS, one_line

NONE = "<none>"
"""What a table shows where there is nothing."""

GAP = "   "
_FIRST_ROWS = 1000

_NARROWEST = 16
"""Characters that a column keeps when a terminal is too narrow, if its cells have so many."""

_USUAL = 80
"""Characters that cells of a long table have at most, but for a few."""

_JOINT = re.compile(r"[ ,;/=-]+")
"""Where the text of a cell may go on in the next line."""


class Table(NamedTuple):
    """Headers and rows of text."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


class Style(NamedTuple):
    """How text is marked and fitted on a terminal; the default does neither.

    Marks become a terminal's codes where :class:`.screen.Screen` writes them.

    :param width: columns of the terminal. None leaves all as wide as it is: what goes through a
        pipe or into a file is never cut or wrapped.
    """

    colour: bool = False
    width: int | None = None

    def _wrap(self, code: str, text: str) -> str:
        if not self.colour:
            return text
        body = text.rstrip("\n")
        return f"{MARKS[code]}{body}{MARKS['0']}{text[len(body) :]}"

    def bold(self, text: str) -> str:
        """Mark a heading."""
        return self._wrap("1", text)

    def added(self, text: str) -> str:
        """Mark what came."""
        return self._wrap("32", text)

    def removed(self, text: str) -> str:
        """Mark what went."""
        return self._wrap("31", text)

    def changed(self, text: str) -> str:
        """Mark what is another now."""
        return self._wrap("33", text)


PLAIN = Style()


def lines_of(table: Table, *, no_headers: bool = False, style: Style = PLAIN) -> Iterator[str]:
    """Yield a table's lines with their line ends; the last column is not padded.

    On a terminal that is too narrow, cells of the widest columns go on in the next line.
    """
    rows = [_in_lines(row) for row in table.rows]
    widths = _fitted(_widths(table.headers, rows), table.headers, style)
    yield from _lines(table.headers, rows, widths, no_headers=no_headers, style=style)


def stream_lines(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    no_headers: bool = False,
    style: Style = PLAIN,
    look_ahead: int = _FIRST_ROWS,
) -> Iterator[str]:
    """Yield the lines of a table of any length; its first rows decide how wide columns are.

    A few cells of great length do not make a column wide; they reach into the next.
    """
    rows = map(_in_lines, rows)
    first = list(islice(rows, look_ahead))
    usual = [min(width, _USUAL) for width in _widths(headers, first)]
    widths = _fitted(usual, headers, style)
    yield from _lines(headers, chain(first, rows), widths, no_headers=no_headers, style=style)


def _in_lines(row: Sequence[str]) -> Sequence[str]:
    """Return a row of which no cell breaks the line."""
    return row if "".join(row).isprintable() else [one_line(cell) for cell in row]


def cut(text: str, width: int | None) -> str:
    """Return text in so many characters, for a terminal; None leaves it whole."""
    return text if width is None or len(text) <= width else f"{text[: max(width, 1) - 1]}…"


def write_table(
    out: TextIO, table: Table, *, no_headers: bool = False, style: Style = PLAIN
) -> None:
    """Write a table."""
    out.writelines(lines_of(table, no_headers=no_headers, style=style))


def _lines(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    widths: Sequence[int],
    *,
    no_headers: bool,
    style: Style,
) -> Iterator[str]:
    form = _form(widths)
    if not no_headers:
        yield style.bold(form(*headers).rstrip()) + "\n"
    for row in rows:
        line = form(*row).rstrip()
        if style.width is None or len(line) <= style.width:
            yield f"{line}\n"
            continue
        parts = [list(_pieces(cell, width)) for cell, width in zip(row, widths, strict=True)]
        for cells in zip_longest(*parts, fillvalue=""):
            yield form(*cells).rstrip() + "\n"


def _fitted(widths: list[int], headers: Sequence[str], style: Style) -> list[int]:
    """Return the widths of columns that a terminal has room for; as they are if it never has."""
    room = (style.width or 0) - len(GAP) * (len(widths) - 1)
    if style.width is None:
        return widths
    if sum(widths) <= room:  # The last column may need more later, and is not padded.
        return [*widths[:-1], room - sum(widths[:-1])]
    least = [
        min(width, max(len(header), _NARROWEST))
        for width, header in zip(widths, headers, strict=True)
    ]
    for cap in range(max(widths) - 1, 0, -1):
        narrowed = [max(low, min(cap, wide)) for low, wide in zip(least, widths, strict=True)]
        if sum(narrowed) <= room:
            return narrowed
    return widths


def _pieces(text: str, width: int) -> Iterator[str]:
    """Yield text in pieces of so many characters at most, parted where it has a joint."""
    while len(text) > width:
        joint = max((match.end() for match in _JOINT.finditer(text, 0, width)), default=0)
        end = joint if joint > width // 2 else width
        yield text[:end].rstrip()
        text = text[end:].lstrip()
    yield text


def _widths(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    if not rows:
        return [len(header) for header in headers]
    columns = zip(*rows, strict=True)
    return [
        max(len(header), *map(len, column)) for header, column in zip(headers, columns, strict=True)
    ]


def _form(widths: Sequence[int]) -> Callable[..., str]:
    return GAP.join([f"{{:<{width}}}" for width in widths[:-1]] + ["{}"] * bool(widths)).format
