"""The picture of a timeline: where each of its shapes is, in units of a drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...engine.kubernetes.units import SECOND_US
from ...engine.state.clock import TimeSpan
from ..moments.times import is_uncertain, span_of_day, time_text
from ..render.tables import cut
from .report_timeline import Lane, Mark, Stretch, Timeline

WIDTH = 1000
LEFT, RIGHT = 150, 34
TOP = 30
ROW = 30
GAP = 8
FLAGS = 44
_TICKS = 6
_STEPS_S = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 21600, 43200, 86400),
)
_LONGEST = 17
_APART = 18
"""How far apart two flags are at least."""

_COLOURS = 6
"""How many colours there are for reasons; the list below the picture has their words."""


class Bar(NamedTuple):
    """A bar of a lane."""

    x: float
    y: float
    width: float
    height: float


class AxisTick(NamedTuple):
    """A time on the axis."""

    x: float
    text: str


class LaneRow(NamedTuple):
    """A lane: its name, its place and its bars."""

    name: str
    total: int
    y: float
    base: float
    bars: tuple[Bar, ...]


class WaitingPiece(NamedTuple):
    """A time during which an object waited for one reason.

    :param begun: the times at which it may have begun; None if its begin is certain.
    :param number: in the list below the picture; it is drawn if there is room.
    :param colour: the number of its reason among those of all objects. :param time: its begin, as
        tables print it, without the date.
    """

    bar: Bar
    begun: Bar | None
    number: int
    colour: int
    time: str
    cause: str
    text: str


class DrawnLife(NamedTuple):
    """An object that waits, and the pieces of that time.

    :param label: its name, short enough for the picture.
    """

    name: str
    label: str
    y: float
    pieces: tuple[WaitingPiece, ...]


class Flag(NamedTuple):
    """A mark, by the number that the list below the picture has.

    :param at: where its time is. :param until: the last possible place; the same if it is certain.
    :param time: as tables print it, without the date; ``exact`` if it is one time.
    :param x: where its number is, which does not cover another one.
    """

    at: float
    until: float
    x: float
    y: float
    number: int
    text: str
    time: str
    exact: bool
    position: int


class Drawing(NamedTuple):
    """All shapes of a timeline."""

    width: int
    height: float
    left: int
    right: float
    bottom: float
    ticks: tuple[AxisTick, ...]
    rows: tuple[LaneRow, ...]
    lives: tuple[DrawnLife, ...]
    session_y: float
    sessions: tuple[tuple[float, bool], ...]
    flags: tuple[Flag, ...]
    flag_y: float
    moment: float
    before: float | None
    begin: str
    end: str


def drawing_of(timeline: Timeline) -> Drawing:
    """Return where the shapes of a timeline are."""
    place = _Place(timeline)
    lanes = [lane for lane in timeline.lanes if lane.total]
    y = float(TOP)
    flag_y = y
    y += FLAGS if timeline.marks else 0
    rows = []
    for lane in lanes:
        rows.append(_row(lane, y))
        y += ROW + GAP
    session_y = y
    y += ROW if timeline.sessions else 0
    causes = list(
        dict.fromkeys(part.cause for waiting in timeline.waiting for part in waiting.stretches)
    )
    lives = []
    for waiting in timeline.waiting:
        lives.append(
            DrawnLife(
                waiting.name,
                cut(waiting.name.rpartition("/")[2], _LONGEST),
                y,
                tuple(_pieces(waiting.stretches, causes, place, y)),
            )
        )
        y += ROW
    return Drawing(
        width=WIDTH,
        height=y + 8,
        left=LEFT,
        right=WIDTH - RIGHT,
        bottom=y,
        ticks=tuple(_ticks(timeline, place)),
        rows=tuple(rows),
        lives=tuple(lives),
        session_y=session_y,
        # Sessions at one place of the picture are one line: there may be thousands.
        sessions=tuple(
            dict.fromkeys((round(place.x(time)), binds > 0) for time, binds in timeline.sessions)
        ),
        flags=tuple(_flags(timeline.marks, place, flag_y)),
        flag_y=flag_y,
        moment=place.x(timeline.moment),
        before=None if timeline.before is None else place.x(timeline.before),
        begin=time_text(timeline.begin),
        end=time_text(timeline.end),
    )


class _Place:
    """Where times are."""

    def __init__(self, timeline: Timeline) -> None:
        self._begin = timeline.begin
        self._length = max(timeline.end - timeline.begin, 1)

    def ends(self, when: TimeSpan) -> tuple[float, float]:
        """Return where the first and the last possible time are; a bound that is missing is not."""
        if not is_uncertain(when) or when.latest is None or when.earliest is None:
            return (self.x(when.estimate or 0),) * 2
        return self.x(when.earliest), self.x(when.latest)

    def x(self, time: int) -> float:
        # What began before the picture is drawn from its edge.
        inside = min(max(time - self._begin, 0), self._length)
        return round(LEFT + inside * (WIDTH - LEFT - RIGHT) / self._length, 1)


def _row(lane: Lane, y: float) -> LaneRow:
    """Return a lane whose highest bar fills its height."""
    highest = max(lane.counts)
    step = (WIDTH - LEFT - RIGHT) / len(lane.counts)
    bars = []
    for part, count in enumerate(lane.counts):
        if count:
            # A single event stays visible beside thousands.
            height = max(round(count / highest * (ROW - 2), 1), 2.0)
            x = round(LEFT + part * step, 1)
            bars.append(Bar(x, round(y + ROW - height, 1), round(step - 1, 1), height))
    return LaneRow(lane.name, lane.total, y, y + ROW, tuple(bars))


def _pieces(
    stretches: Sequence[Stretch], causes: Sequence[str], place: _Place, y: float
) -> Iterator[WaitingPiece]:
    for number, stretch in enumerate(stretches, start=1):
        begin, end = place.x(stretch.begin), place.x(stretch.end)
        bar = Bar(begin, y + 8, max(round(end - begin, 1), 2.0), ROW - 16)
        first, last = place.ends(stretch.since) if stretch.since else (begin, begin)
        begun = Bar(first, y + 8, round(last - first, 1), ROW - 16) if last > first else None
        colour = causes.index(stretch.cause) % _COLOURS
        since = stretch.since or TimeSpan(stretch.begin, stretch.begin, stretch.begin)
        yield WaitingPiece(
            bar, begun, number, colour, span_of_day(since), stretch.cause, stretch.text
        )


def _flags(marks: Sequence[Mark], place: _Place, y: float) -> Iterator[Flag]:
    """Yield flags, each beside or below the one before it if that is near."""
    ends = [float("-inf")] * 2
    for number, mark in enumerate(marks, start=1):
        x, until = place.ends(mark.when)
        free = next((level for level, end in enumerate(ends) if x >= end), None)
        level = ends.index(min(ends)) if free is None else free
        drawn = max(x, ends[level])
        ends[level] = drawn + _APART
        yield Flag(
            at=x,
            until=until,
            x=drawn,
            y=y + 10 + level * _APART,
            number=number,
            text=mark.text,
            time=span_of_day(mark.when),
            exact=not is_uncertain(mark.when),
            position=mark.position,
        )


def _ticks(timeline: Timeline, place: _Place) -> Iterator[AxisTick]:
    """Yield whole times, at most a few."""
    seconds = (timeline.end - timeline.begin) / SECOND_US
    step = next((size for size in _STEPS_S if seconds / size <= _TICKS), _STEPS_S[-1]) * SECOND_US
    first = -(-timeline.begin // step) * step
    for time in range(first, timeline.end + 1, step):
        yield AxisTick(place.x(time), time_text(time)[11:-1])
