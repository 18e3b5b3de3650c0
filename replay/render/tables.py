"""Aligned text tables in kubectl's style, fast enough for tens of thousands of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from textwrap import wrap
from typing import NamedTuple, TextIO

from .screen import MARKS, one_line

NONE = "<none>"
"""The text of an empty cell."""

GAP = "   "
_FIRST_ROWS = 1000

_NARROWED = ((16, 3), (8, 3), (8, 2), (8, 1), (6, 1), (4, 1))
"""Layouts to try in turn on a narrow terminal: least width of a column, spaces between columns."""

_USUAL = 80
"""The usual maximum of characters in a cell of a long table."""

_JOINT = re.compile(r"[ ,;/=-]+|[.:]+(?=[A-Za-z])")
"""Where the text of a cell may be broken."""

_NUMBER = re.compile(r"[@~<+-]?(?:rv:)?[0-9][^ ,;/=-]*")
"""Text that is never broken: a number with its unit, a position, a time of day."""


class Table(NamedTuple):
    """Headers and rows of text."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]

    def first(self, rows: int) -> Table:
        """Return the table with at most this many rows."""
        return Table(self.headers, self.rows[:rows])


class Style(NamedTuple):
    """How text is coloured and fitted on a terminal; the default does neither.

    Marks become a terminal's codes where :class:`.screen.Screen` writes them.

    :param width: the width of the terminal. None changes nothing: output to a pipe or a file is
    never cut or wrapped.
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
        """Mark what was added."""
        return self._wrap("32", text)

    def removed(self, text: str) -> str:
        """Mark what was removed."""
        return self._wrap("31", text)

    def changed(self, text: str) -> str:
        """Mark what changed."""
        return self._wrap("33", text)


PLAIN = Style()


def lines_of(table: Table, *, no_headers: bool = False, style: Style = PLAIN) -> Iterator[str]:
    """Yield a table's lines with their line ends; the last column is not padded.

    On a narrow terminal, cells of the widest columns continue in the next line.
    """
    rows = [_in_lines(row) for row in table.rows]
    usual = _widths(table.headers, rows)
    fit = _fitted(usual, table.headers, rows, style)
    yield from _lines(table.headers, rows, fit, no_headers=no_headers, style=style)


def stream_lines(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    no_headers: bool = False,
    style: Style = PLAIN,
    look_ahead: int = _FIRST_ROWS,
) -> Iterator[str]:
    """Yield the lines of a table of any length; its first rows decide the width of its columns.

    A few very long cells do not widen a column; they reach into the next one.
    """
    rows = map(_in_lines, rows)
    first = list(islice(rows, look_ahead))
    usual = [min(width, _USUAL) for width in _widths(headers, first)]
    fit = _fitted(usual, headers, first, style)
    yield from _lines(headers, chain(first, rows), fit, no_headers=no_headers, style=style)


def paragraph(text: str, style: Style) -> str:
    """Return a sentence with its line end, wrapped to the width of a terminal."""
    if style.width is None or len(text) <= style.width:
        return f"{text}\n"
    lines = wrap(text, style.width, subsequent_indent="  ", break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines)


def _in_lines(row: Sequence[str]) -> Sequence[str]:
    """Return a row with each cell as one line."""
    return row if "".join(row).isprintable() else [one_line(cell) for cell in row]


def cut(text: str, width: int | None) -> str:
    """Return text cut to this many characters, for a terminal; None leaves it whole."""
    return text if width is None or len(text) <= width else f"{text[: max(width, 1) - 1]}…"


def write_table(
    out: TextIO, table: Table, *, no_headers: bool = False, style: Style = PLAIN
) -> None:
    """Write a table."""
    out.writelines(lines_of(table, no_headers=no_headers, style=style))


class _Fit(NamedTuple):
    """The widths of columns, and the number of spaces between them."""

    widths: Sequence[int]
    gap: str = GAP

    def holds(self, row: Sequence[str]) -> bool:
        """Return whether every cell of a row fits its column."""
        return all(len(cell) <= width for cell, width in zip(row, self.widths, strict=True))


def _lines(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    fit: _Fit,
    *,
    no_headers: bool,
    style: Style,
) -> Iterator[str]:
    form = _form(fit)
    if not no_headers:
        for line in _parted(headers, fit, form, style):
            yield style.bold(line) + "\n"
    for row in rows:
        for line in _parted(row, fit, form, style):
            yield f"{line}\n"


def _parted(row: Sequence[str], fit: _Fit, form: Callable[..., str], style: Style) -> Iterator[str]:
    """Yield a row as one line, or as several if the terminal is too narrow."""
    if style.width is None or fit.holds(row):
        yield form(*row).rstrip()
        return
    parts = [list(_pieces(cell, width)) for cell, width in zip(row, fit.widths, strict=True)]
    for cells in zip_longest(*parts, fillvalue=""):
        yield form(*cells).rstrip()


def _fitted(
    widths: list[int], headers: Sequence[str], rows: Sequence[Sequence[str]], style: Style
) -> _Fit:
    """Return widths that fit a terminal; the given ones if none fit."""
    if style.width is None:
        return _Fit(widths)
    room = style.width - len(GAP) * (len(widths) - 1)
    if sum(widths) <= room:  # The last column may need more later, and is not padded.
        return _Fit([*widths[:-1], room - sum(widths[:-1])])
    columns = zip(*rows, strict=True) if rows else ([] for _ in widths)
    numbers = [max(map(_number_width, column), default=0) for column in columns]
    for keep, gap in _NARROWED:
        room = style.width - gap * (len(widths) - 1)
        # A header is broken only if nothing else helps.
        least = [
            max(number, min(width, max(keep, len(header) if gap == len(GAP) else 0)))
            for width, header, number in zip(widths, headers, numbers, strict=True)
        ]
        for cap in range(max(widths) - 1, 0, -1):
            narrowed = [max(low, min(cap, wide)) for low, wide in zip(least, widths, strict=True)]
            if sum(narrowed) <= room:
                return _Fit(narrowed, " " * gap)
    return _Fit(widths)


def _number_width(cell: str) -> int:
    """Return the longest run of characters in a cell that must stay together."""
    return max((len(part) for part in _JOINT.split(cell) if _NUMBER.fullmatch(part)), default=0)


def _pieces(text: str, width: int) -> Iterator[str]:
    """Yield text in pieces of at most this many characters, broken at joints."""
    while len(text) > width:
        joint = max((match.end() for match in _JOINT.finditer(text, 0, width)), default=0)
        end = joint if joint > width // 2 or (joint and _NUMBER.match(text, joint)) else width
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


def _form(fit: _Fit) -> Callable[..., str]:
    cells = [f"{{:<{width}}}" for width in fit.widths[:-1]] + ["{}"] * bool(fit.widths)
    return fit.gap.join(cells).format
