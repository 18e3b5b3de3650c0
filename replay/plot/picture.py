"""A picture as data: its panels, lines and words; drawn by :mod:`.image` and :mod:`.characters`."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeAlias

from ..series.incidents import Incident
from ..series.period import Period

Values: TypeAlias = tuple[float | None, ...]

COUNT, DURATION = "count", "duration"
"""Units of axes besides the names of resources: a number of things, and microseconds."""


class Role(StrEnum):
    """What a line or a surface stands for; it decides colour, dashes and characters."""

    ALLOCATED = "allocated"
    DESERVED = "deserved"
    CAPABILITY = "capability"
    GUARANTEE = "guarantee"
    PENDING = "pending"
    BOUND = "bound"
    RUNNING = "running"
    FINISHED = "finished"
    NEEDED = "minMember"
    LOGGED = "logged"
    INFERRED = "inferred"
    LONGEST = "longest"
    EVICTED = "evicted"
    CHANGED = "changed"
    SAME = "same"
    EXPLAINED = "explained"
    DIFFERENT = "different"


class NumberLine(NamedTuple):
    """A number over time, one value for each part of the period; None: there is none.

    :param label: for the legend.
    """

    role: Role
    label: str
    values: Values


class IncidentMark(NamedTuple):
    """An incident with its number in the notes below the picture; 0 if it has none there."""

    number: int
    incident: Incident


class Chart(NamedTuple):
    """A panel of numbers over time.

    :param unit: the resource that they count, or :data:`COUNT` or :data:`DURATION`.
    :param filled: surfaces, one on top of the other. :param lines: drawn above them.
    """

    title: str
    unit: str
    filled: tuple[NumberLine, ...]
    lines: tuple[NumberLine, ...] = ()
    marks: tuple[IncidentMark, ...] = ()


class CellLevel(NamedTuple):
    """A class of the values of cells. :param character: and its ASCII form, in a terminal."""

    label: str
    character: str
    ascii: str


LEVELS = (
    CellLevel("0", "·", "."),
    CellLevel("up to 25%", "░", ":"),
    CellLevel("up to 50%", "▒", "-"),
    CellLevel("up to 75%", "▓", "+"),
    CellLevel("below 100%", "█", "#"),
    CellLevel("all", "■", "@"),
    CellLevel("more than all", "!", "!"),
)
"""Shares of what is allocatable."""

CORDONED = CellLevel("takes no pods", "c", "c")
NOT_READY = CellLevel("not ready", "x", "x")


class Cell(NamedTuple):
    """One part of a row. :param level: a place in :data:`LEVELS`, None: there is nothing.

    :param note: :data:`CORDONED` or :data:`NOT_READY`, if it is so.
    """

    level: int | None
    note: CellLevel | None = None


class CellRow(NamedTuple):
    """A row of cells, one for each part of the period."""

    label: str
    cells: tuple[Cell, ...]


class Cells(NamedTuple):
    """A panel of rows over time."""

    title: str
    rows: tuple[CellRow, ...]
    marks: tuple[IncidentMark, ...] = ()


class DurationRange(NamedTuple):
    """A row of durations, microseconds: least, quartiles, most; and those that have not ended.

    :param values: None if there are none. :param open: how long the others last until now.
    :param said: in words, after the row's name.
    """

    label: str
    said: str
    values: tuple[int, int, int, int, int] | None
    open: tuple[int, ...]


class RangesPanel(NamedTuple):
    """A panel of rows of durations."""

    title: str
    rows: tuple[DurationRange, ...]


Panel: TypeAlias = Chart | Cells | RangesPanel


class Picture(NamedTuple):
    """A picture: what it shows, of which log and period, and what a reader must know of it.

    :param notes: below it; among them the incidents by number. :param empty: instead of panels: why
        there is nothing to show.
    """

    title: str
    log: str
    period: Period
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]
    empty: str = ""
