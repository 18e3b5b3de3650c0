"""Draw a picture in characters, for a terminal; in ASCII where it shows no others."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import exp, log
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from ..render.layout import pieces, shortened_word
from ..series.period import Period
from .compose import shown_levels
from .picture import (
    CORDONED,
    LEVELS,
    NOT_READY,
    Cell,
    Cells,
    Chart,
    DurationRange,
    IncidentMark,
    NumberLine,
    Picture,
    RangesPanel,
    Role,
    Values,
)
from .picture_words import amount_text, duration, durations_on_axis, period_text, times_on_axis

T = TypeVar("T")

_HEIGHT = 6
"""Lines of a chart."""
_GUTTER = 9
"""The least width of the amounts on the left, with the axis."""
_LEAST_WIDTH = 40

_EIGHTHS = " ▁▂▃▄▅▆▇█"


class _Alphabet(NamedTuple):
    """The characters of drawings.

    :param axis: and ``foot`` and ``tick``: of axes.
    :param range: of a row of durations: ends, line, box, median, open.
    """

    axis: str
    foot: str
    tick: str
    range: str


_UNICODE = _Alphabet(axis="│", foot="─", tick="┴", range="├┤─▒┃▶")
_ASCII = _Alphabet(axis="|", foot="-", tick="+", range="[]-%|>")
_FULL = (Role.ALLOCATED, Role.RUNNING, Role.LOGGED, Role.LONGEST, Role.SAME)
_ROLES: Mapping[Role, str] = MappingProxyType(
    {
        **dict.fromkeys(_FULL, "█#"),
        **dict.fromkeys((Role.BOUND, Role.INFERRED, Role.EXPLAINED), "▓o"),
        **dict.fromkeys((Role.PENDING, Role.EVICTED), "░."),
        Role.FINISHED: "▒:",
        Role.DESERVED: "╌-",
        Role.CAPABILITY: "━=",
        Role.GUARANTEE: "┄~",
        Role.NEEDED: "━=",
        Role.CHANGED: "●*",
        Role.DIFFERENT: "xx",
    }
)
"""The characters of surfaces and lines, each with its ASCII form."""


def lines_of_picture(picture: Picture, *, width: int = 80, ascii_only: bool = False) -> list[str]:
    """Return a picture as lines of text, each with its line end.

    :param width: columns of the terminal. :param ascii_only: use no other characters in drawings.
    """
    drawn = _Drawing(max(width, _LEAST_WIDTH), picture.period, ascii_only=ascii_only)
    head = (picture.title, f"{picture.log}, {period_text(picture.period)}")
    lines = [line for text in head for line in textwrap.wrap(text, drawn.width)]
    for panel in picture.panels:
        lines.append("")
        if isinstance(panel, Chart):
            lines += drawn.chart(panel, last=panel is picture.panels[-1])
        elif isinstance(panel, Cells):
            lines += drawn.cells(panel)
        else:
            lines += drawn.ranges(panel)
    lines += textwrap.wrap(picture.empty, drawn.width) if picture.empty else [""]
    for note in picture.notes:
        lines += textwrap.wrap(note, drawn.width, subsequent_indent="   ")
    plain = (line.replace("…", "...") if ascii_only else line for line in lines)
    return [f"{line.rstrip()}\n" for line in plain]


class _Drawing:
    """Draws panels as lines of one width."""

    def __init__(self, width: int, period: Period, *, ascii_only: bool) -> None:
        self.width = width
        self._period, self._ascii = period, ascii_only
        self._marks = _ASCII if ascii_only else _UNICODE

    def chart(self, chart: Chart, *, last: bool) -> Iterator[str]:
        """Yield the lines of a chart: its title and legend, its rows, its axis.

        :param last: the texts of the axis are below the last chart only.
        """
        known = [value for line in chart.lines for value in line.values if value is not None]
        sums = zip(*(line.values for line in chart.filled), strict=True)
        highest = max(
            [*known, *(sum(value or 0 for value in stack) for stack in sums)], default=0.0
        )
        text = amount_text(chart.unit, highest)
        gutter = max(_GUTTER, len(text) + 2)
        width = self.width - gutter
        yield from self._head(chart.title, self._legend([*chart.filled, *chart.lines]))
        if chart.marks:
            yield " " * gutter + self._numbers(chart.marks, width)
        grid = [self._column(chart, tops, highest) for tops in _stacked(chart.filled, width)]
        for line in chart.lines:
            self._draw_line(grid, line.role, _resampled(line.values, width), highest)
        for row in reversed(range(_HEIGHT if highest else 0)):
            said = text if row == _HEIGHT - 1 else ""
            yield f"{said:>{gutter - 2}} {self._marks.axis}{''.join(c[row] for c in grid)}"
        axis, texts = self._foot(gutter, width, zero="0")
        yield axis
        if last:
            yield texts

    def _head(self, title: str, legend: Sequence[str]) -> list[str]:
        """Return the title of a panel with its legend, on as many lines as it needs."""
        lines = list(pieces(title, self.width)) or [""]
        for entry in legend:
            gap = "   " if lines[-1] == title else "  "
            if len(lines[-1]) + len(gap) + len(entry) <= self.width:
                lines[-1] += gap + entry
            else:
                lines += [f"  {line}" for line in pieces(entry, self.width - 2)]
        return lines

    def _column(self, chart: Chart, tops: Sequence[float], highest: float) -> list[str]:
        """Return the characters of one column, lowest first."""
        column = [" "] * _HEIGHT
        below = 0.0
        for line, top in zip(chart.filled, tops, strict=False):
            low, high = (value / highest * _HEIGHT if highest else 0.0 for value in (below, top))
            below = top
            for row in range(_HEIGHT):
                share = min(high - row, 1.0)
                if share <= 0 or row + 1 <= low:
                    continue
                column[row] = self._filled(line.role, share, only=len(chart.filled) == 1)
        return column

    def _filled(self, role: Role, share: float, *, only: bool) -> str:
        if only and not self._ascii:
            return _EIGHTHS[max(1, round(share * 8))]
        return self._mark(role) if share > 0.25 else " "

    def _mark(self, role: Role) -> str:
        return _ROLES[role][self._ascii]

    def _draw_line(self, grid: list[list[str]], role: Role, values: Values, highest: float) -> None:
        for column, value in zip(grid, values, strict=True):
            if value is not None and highest:
                column[min(int(value / highest * _HEIGHT), _HEIGHT - 1)] = self._mark(role)

    def _legend(self, lines: Sequence[NumberLine]) -> list[str]:
        return [f"{self._mark(line.role)} {line.label}" for line in lines]

    def _numbers(self, marks: Sequence[IncidentMark], width: int) -> str:
        """Return a line with the numbers of incidents where they begin."""
        cells = [" "] * width
        free = 0
        for mark in marks:
            at = self._column_of(mark.incident.time, width)
            # Numbers do not overlap: one that would goes beside the one before it.
            at = max(min(at, width - 1), free)
            text = str(mark.number) if mark.number else "!"
            if at + len(text) > len(cells):
                break
            cells[at : at + len(text)] = text
            free = at + len(text) + 1
        return "".join(cells)

    def _plain(self, label: str) -> str:
        return label.replace("…", "...") if self._ascii else label

    def _name(self, label: str, room: int) -> str:
        """Return a name that is shortened in its middle, if there is no room for all of it."""
        text = self._plain(label)
        if len(text) > room:
            text = self._plain(shortened_word(text, room - (2 if self._ascii else 0)))
        return f"{text:<{room}}"

    def _column_of(self, time: int, width: int) -> int:
        period = self._period
        return int((time - period.begin) / (period.parts * period.step) * width)

    def cells(self, cells: Cells) -> Iterator[str]:
        """Yield the lines of rows of cells: their legend, a line each, their axis."""
        labels = [self._plain(row.label) for row in cells.rows]
        gutter = min(max([*map(len, labels), 5]), self.width // 2) + 1
        levels, notes = shown_levels(cells)
        shown = [*(LEVELS[level] for level in levels), *notes]
        legend = [
            f"{cell_level.ascii if self._ascii else cell_level.character} {cell_level.label}"
            for cell_level in shown
        ]
        yield from self._head(cells.title, legend)
        if cells.marks:
            yield " " * gutter + self._numbers(cells.marks, self.width - gutter)
        for label, row in zip(labels, cells.rows, strict=True):
            columns = _split(row.cells, self.width - gutter)
            yield f"{self._name(label, gutter - 1)} " + "".join(map(self._cell, columns))
        yield from self._foot(gutter, self.width - gutter)

    def _cell(self, cells: Sequence[Cell]) -> str:
        """Return the character of some cells: the worst of them."""
        notes = {cell.note for cell in cells}
        level = max((cell.level for cell in cells if cell.level is not None), default=None)
        shown = next(
            (cell_level for cell_level in (NOT_READY, CORDONED) if cell_level in notes), None
        )
        if shown is None and level is not None:
            shown = LEVELS[level]
        if shown is None:
            return " "
        return shown.ascii if self._ascii else shown.character

    def _foot(self, gutter: int, width: int, *, zero: str = "") -> tuple[str, str]:
        """Return an axis of times, and their texts."""
        times = times_on_axis(self._period, max(width // 16, 1))
        places = [(self._column_of(time, width), text) for time, text in times]
        marked = ((at, max(at - len(text) // 2, 0), text) for at, text in places)
        axis, texts = _axis(self._marks, width, marked)
        return f"{zero:>{gutter - 2}}  {axis}", " " * gutter + texts

    def ranges(self, ranges: RangesPanel) -> Iterator[str]:
        """Yield the lines of rows of durations, on a logarithmic axis."""
        labels = [f"{row.label}  {row.said}" for row in ranges.rows]
        below = max(map(len, labels)) > self.width // 2  # What is said of a row has its own line.
        if below:
            labels = [row.label for row in ranges.rows]
        said = [f"  {row.said}" for row in ranges.rows]
        longest = max(map(len, [*labels, *(said if below else ())]))
        gutter = min(longest, self.width // 2) + 1
        scale = _Scale(ranges.rows, self.width - gutter)
        ends, close, line, box, median, still = tuple(self._marks.range)
        legend = [f"{ends}{line}{line}{close} all", f"{box} middle half", f"{median} median"]
        yield from self._head(ranges.title, [*legend, f"{still} still waits"])
        for label, more, row in zip(labels, said, ranges.rows, strict=True):
            cells = [" "] * scale.width
            if row.values is not None:
                least, quarter, middle, third, most = map(scale.column, row.values)
                cells[least : most + 1] = line * (most + 1 - least)
                cells[least], cells[most] = ends, close
                cells[quarter : third + 1] = box * (third + 1 - quarter)
                cells[middle] = median
            for length in row.open:
                cells[scale.column(length)] = still
            yield f"{self._name(label, gutter - 1)} {''.join(cells)}"
            yield from [more] if below else []
        yield from scale.foot(gutter, self._marks)


class _Scale:
    """A logarithmic axis of durations."""

    def __init__(self, rows: Sequence[DurationRange], width: int) -> None:
        # A logarithmic axis has no 0: a millisecond is the least.
        lengths = [max(length, 1000) for row in rows for length in (*(row.values or ()), *row.open)]
        self._low = log(min(lengths, default=1000) / 1.5)
        self._high = log(max([*lengths, 2000]) * 1.5)
        self.width = width

    def column(self, length: int) -> int:
        """Return the column of a duration."""
        share = (log(max(length, 1000)) - self._low) / (self._high - self._low)
        return min(int(share * self.width), self.width - 1)

    def foot(self, gutter: int, marks: _Alphabet) -> Iterator[str]:
        """Yield the axis, and its texts."""
        lengths = durations_on_axis(exp(self._low), exp(self._high))
        marked = (
            (self.column(length), self.column(length), duration(length)) for length in lengths
        )
        for line in _axis(marks, self.width, marked):
            yield " " * gutter + line


def _axis(marks: _Alphabet, width: int, texts: Iterable[tuple[int, int, str]]) -> tuple[str, str]:
    """Return an axis, and its texts; those for which there is no room are left out.

    :param texts: each with its place on the axis, and the place where it begins.
    """
    axis, below, free = [marks.foot] * width, [" "] * width, 0
    for at, begin, text in texts:
        if at < width and begin >= free and begin + len(text) <= width:
            axis[at] = marks.tick
            below[begin : begin + len(text)] = text
            free = begin + len(text) + 1
    return "".join(axis), "".join(below)


def _split(values: Sequence[T], width: int) -> list[Sequence[T]]:
    """Return the values of each column: several, or one that several columns show."""
    parts = len(values)
    return [
        values[at * parts // width : max((at + 1) * parts // width, at * parts // width + 1)]
        for at in range(width)
    ]


def _resampled(values: Values, width: int) -> Values:
    """Return the highest value of each column."""
    known = ([value for value in column if value is not None] for column in _split(values, width))
    return tuple(max(column, default=None) for column in known)


def _stacked(lines: Sequence[NumberLine], width: int) -> list[list[float]]:
    """Return the tops of the surfaces in each column: those of its part with the highest top."""
    columns = zip(*(line.values for line in lines), strict=True)
    tops = [list(accumulate(value or 0.0 for value in values)) for values in columns]
    return [max(column, key=lambda stack: stack[-1]) for column in _split(tops, width)]
