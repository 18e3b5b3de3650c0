"""Aligned text tables in kubectl's style, fast enough for tens of thousands of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Generic, NamedTuple, TextIO, TypeVar

import msgspec

from ..moments.zones import Zone, times_in
from .layout import GAP, NONE, Layout, broken, in_blocks, kept, laid_out, pieces
from .screen import MARKS, SGR, one_line

__all__ = ["GAP", "NONE", "PLAIN", "Style", "Table"]

_FIRST_ROWS = 1000

_USUAL = 80
"""The usual maximum of characters in a cell of a long table."""


_LABEL = re.compile(r"[a-z][a-z ]{0,16}(?:: +|  +)", re.IGNORECASE)
"""A name in a first column, with the spaces up to its value."""


_COMMAND = re.compile(r"\s*(?:\$ )?plinian \S")
"""A command to be copied, which stays in one line."""


class Table(NamedTuple):
    """Headers and rows of text.

    :param keep: columns that even a narrow terminal shows, as it does the first one. Others are
    left out, the last one first.
    :param shorten: columns whose long words a narrow terminal shortens before it leaves any out.
    :param title: what a page says that it shows.
    :param pages: what a page calls its rows; it shows them a page at a time. Empty: only the first.
    :param total: how many rows there are, if some are left out. :param look: its style on a page.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    keep: Collection[str] = ()
    shorten: Collection[str] = ()
    title: str = ""
    pages: str = ""
    total: int = 0
    look: str = ""

    def first(self, rows: int | None) -> Table:
        """Return the table with at most this many rows; None is all."""
        return self._replace(rows=self.rows[:rows])


Row = TypeVar("Row")


class TextColumn(msgspec.Struct, Generic[Row], frozen=True):
    """A column of a table, declared once for all that show it.

    :param value: the cell of a row; words that lead somewhere are a :class:`.blocks.Ref`.
    :param keep: and ``shorten``: as in :class:`Table`. :param wide: only ``-o wide`` shows it.
    """

    head: str
    value: Callable[[Row], str]
    keep: bool = False
    shorten: bool = False
    wide: bool = False


def table_of(
    columns: Sequence[TextColumn[Row]],
    rows: Iterable[Row],
    title: str = "",
    pages: str = "",
    *,
    wide: bool = True,
) -> Table:
    """Return the table of some rows, with these columns. :param wide: with all of them."""
    columns = [column for column in columns if wide or not column.wide]
    return Table(
        [column.head for column in columns],
        [[column.value(row) for column in columns] for row in rows],
        keep=[column.head for column in columns if column.keep],
        shorten=[column.head for column in columns if column.shorten],
        title=title,
        pages=pages,
    )


class Style(msgspec.Struct, frozen=True):
    """How text is coloured and fitted on a terminal; the default does neither.

    Marks become a terminal's codes where :class:`.screen.Screen` writes them.

    :param width: the width of the terminal. None changes nothing: output to a pipe or a file is
    never cut or wrapped.
    :param whole: nothing is left out and shortened, as with ``-o wide``.
    :param advice: where columns that are left out are shown.
    :param wide: ``-o wide`` is given, on a terminal or not: more columns, and full names.
    :param zone: in which times are shown; None is UTC.
    :param option: with which a command that is printed finds the log, as in `` --log cluster.db``.
    """

    colour: bool = False
    width: int | None = None
    whole: bool = False
    advice: str = "a wider terminal and a pipe show all"
    wide: bool = False
    zone: Zone | None = None
    option: str = ""

    def narrower(self, by: int) -> Style:
        """Return the style of text that is indented by so many spaces."""
        return self if self.width is None else msgspec.structs.replace(self, width=self.width - by)

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

    On a narrow terminal cells go on in the next line, and a last line names columns that are not
    shown. If all are wanted, they are shown one after the other, each time with the first one.
    """
    rows = [_in_lines(row, style.zone) for row in table.rows]
    layouts = _layouts(table, rows, _widths(table.headers, rows), style)
    for number, layout in enumerate(layouts):
        yield from "\n" * (number > 0)
        yield from _lines(table.headers, rows, layout, no_headers=no_headers, style=style)
    yield from _left_out(table.headers, layouts, style)


def stream_lines(
    table: Table,
    rows: Iterable[Sequence[str]],
    *,
    no_headers: bool = False,
    style: Style = PLAIN,
    look_ahead: int = _FIRST_ROWS,
    endless: bool = False,
) -> Iterator[str]:
    """Yield the lines of a table of any length; its first rows decide the width of its columns.

    A few very long cells do not widen a column; they reach into the next one. If all columns are
    wanted, a row is one line, also if it is wider than the terminal.

    :param table: the columns; it has no rows.
    :param endless: name the columns that are not shown above the table, as no line is the last.
    """
    rows = (_in_lines(row, style.zone) for row in rows)
    first = list(islice(rows, look_ahead))
    usual = [min(width, _USUAL) for width in _widths(table.headers, first)]
    layouts = _layouts(table, first, usual, style)
    # Rows to come cannot be shown in a second block below, as those of a finished table can.
    layout = layouts[0] if len(layouts) == 1 else _in_a_line(layouts, usual)
    if style.whole:
        layout, style = (
            Layout(range(len(usual)), usual, whole=True),
            msgspec.structs.replace(style, width=None),
        )
    left_out = list(_left_out(table.headers, [layout], style))
    yield from left_out if endless else ()
    yield from _lines(table.headers, chain(first, rows), layout, no_headers=no_headers, style=style)
    yield from () if endless else left_out


def whole_sentence(text: str) -> str:
    """Return words of an answer as a sentence that stands alone: with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def paragraph(text: str, style: Style, *, indent: str = "  ") -> Iterator[str]:
    """Yield the lines of a sentence, wrapped between words to the width of a terminal.

    A word that is longer than a line stays whole, as it may be there to be copied.

    :param indent: what further lines begin with.
    """
    text = times_in(text, style.zone)
    if style.width is None or shown_length(text) <= style.width:
        yield f"{text}\n"
        return
    begin = text[: len(text) - len(text.lstrip(" "))]
    room = max(style.width - len(begin) - len(indent), 1)
    first, *further = pieces(text[len(begin) :], room, long=kept)
    yield f"{begin}{first}\n"
    yield from (f"{begin}{indent}{line}\n" for line in further)


def fitted(lines: Iterable[str], style: Style) -> Iterator[str]:
    """Yield lines of text; those that are too long for a terminal go on between words."""
    if style.zone is not None:
        lines = (times_in(line, style.zone) for line in lines)
    if style.width is None or style.whole:
        yield from lines
        return
    for line in lines:
        if shown_length(line.strip("\n")) <= style.width or _COMMAND.match(line):
            yield line
            continue
        text = line.lstrip("\n")
        yield from "\n" * (len(line) - len(text))
        label = _LABEL.match(text)
        indent = " " * len(label[0]) if label is not None else "  "
        yield from paragraph(text.rstrip("\n"), style, indent=indent)
        yield from "\n" * (len(text) - len(text.rstrip("\n")) - 1)


def shown_length(text: str) -> int:
    """Return how many characters a terminal shows of a text: marks of colours have no width."""
    return len(text) if text.isprintable() else sum(character not in SGR for character in text)


def _in_lines(row: Sequence[str], zone: Zone | None) -> Sequence[str]:
    """Return a row with each cell as one line, and times of a zone."""
    if zone is not None:
        row = [times_in(cell, zone) for cell in row]
    return row if "".join(row).isprintable() else [one_line(cell) for cell in row]


def cut(text: str, width: int | None) -> str:
    """Return text cut to this many characters, for a terminal; None leaves it whole."""
    return text if width is None or len(text) <= width else f"{text[: max(width, 1) - 1]}…"


def few_of(texts: Sequence[str], most: int, by: str = ", ") -> str:
    """Return the first of some texts, and how many more there are; empty without any."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return f"{by.join(texts[:most])}{more}"


def write_table(
    out: TextIO, table: Table, *, no_headers: bool = False, style: Style = PLAIN
) -> None:
    """Write a table."""
    out.writelines(lines_of(table, no_headers=no_headers, style=style))


def _layouts(
    table: Table, rows: Sequence[Sequence[str]], full: Sequence[int], style: Style
) -> list[Layout]:
    if style.width is None:
        return [Layout(range(len(full)), full)]
    if style.whole:
        return in_blocks(table.headers, rows, full, style.width)
    return laid_out(
        *(table.headers, rows, full, style.width), keep=table.keep, shorten=table.shorten
    )


def _in_a_line(layouts: Sequence[Layout], full: Sequence[int]) -> Layout:
    """Return one layout for the columns of several: rows to come cannot be shown twice."""
    places = sorted({place for layout in layouts for place in layout.places})
    return Layout(places, [full[place] for place in places], whole=True)


def _left_out(headers: Sequence[str], layouts: Sequence[Layout], style: Style) -> Iterator[str]:
    """Yield which columns a narrow terminal does not show, if any."""
    shown = {place for layout in layouts for place in layout.places}
    names = [header for place, header in enumerate(headers) if place not in shown]
    if names:
        text = f"columns not shown: {', '.join(names)} ({style.advice})"
        yield from paragraph(text, style)


def _lines(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    layout: Layout,
    *,
    no_headers: bool,
    style: Style,
) -> Iterator[str]:
    form = _form(layout)
    if not no_headers:
        for line in _parted(headers, layout, form, style):
            yield style.bold(line) + "\n"
    for row in rows:
        for line in _parted(row, layout, form, style):
            yield f"{line}\n"


def _parted(
    row: Sequence[str], layout: Layout, form: Callable[..., str], style: Style
) -> Iterator[str]:
    """Yield a row as one line, or as several if the terminal is too narrow."""
    if style.width is None:
        yield form(*row).rstrip()
        return
    cells = layout.of(row)
    if layout.holds(cells):
        yield form(*cells).rstrip()
        return
    parts = [
        pieces(cell, width, long=broken if layout.whole else None)
        for cell, width in zip(cells, layout.widths, strict=True)
    ]
    for line in zip_longest(*parts, fillvalue=""):
        yield form(*line).rstrip()


def _widths(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    if not rows:
        return [len(header) for header in headers]
    columns = zip(*rows, strict=True)
    return [
        max(len(header), *map(len, column)) for header, column in zip(headers, columns, strict=True)
    ]


def _form(layout: Layout) -> Callable[..., str]:
    widths = layout.widths
    # The last column is not padded.
    cells = [f"{{:<{width}}}" for width in widths[:-1]] + ["{}"] * bool(widths)
    return layout.gap.join(cells).format
