"""Pages over time: what queues held beside their limits, how full nodes were, phases of jobs.

``from`` and ``to`` of the query are the window; by default it is the whole log.
They have templates, as they are charts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from ....engine.errors import PointUnknown, UsageError
from ....engine.kubernetes.amount_texts import in_one_unit
from ....engine.kubernetes.units import SECOND_US, format_time
from ...facade.log import Log
from ...moments.times import time_text
from ...plot.compose import level_of
from ...plot.picture import LEVELS
from ...plot.picture_words import amounts_on_axis, times_on_axis
from ...render.state_looks import STATES, look_of
from ...series.gang_phases import GangRow, gang_phases
from ...series.incidents import Incident, scheduler_incidents
from ...series.node_use import CORDONED, GONE, NOT_READY, NodeUse, NodeUseRow, node_use
from ...series.period import Period, ShownPeriod, span_of
from ...series.queue_shares import QueueShare, QueueShares, Values, highest_of, queue_shares
from ..reach import reach_all
from .look import Look
from .page import page
from .whole_log import kept

WIDTH, HEIGHT = 1000, 120
"""Of a chart, in its own units."""

_LIMITS = ("deserved", "capability", "guarantee")
_BEYOND = 8
"""A limit so many times as high as all that is held is named, and not drawn."""

_ROOM = 1.08
"""The height of a chart, as a part of the highest value in it."""

_TICKS = 8


class PeriodTick(msgspec.Struct, frozen=True, kw_only=True):
    """A round time on the axis.

    :param share: where it is, in percent. :param time: to show. :param exact: for links.
    """

    x: float
    share: float
    time: str
    exact: str


class Notable(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened. :param queue: of which; empty if of the scheduler or of nodes."""

    x: float
    time: str
    exact: str
    queue: str
    text: str


class PeriodAxis(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a picture. :param now: where the moment of the page is; None if outside.

    :param until: where the picture ends: its last part may reach beyond the end.
    :param window: it is a part of the log.
    :param fault: why the window of the query cannot be shown; then it is the whole log.
    """

    window: bool
    fault: str
    begin: str
    end: str
    until: str
    step: str
    now: float | None
    ticks: tuple[PeriodTick, ...]
    notable: tuple[Notable, ...]


class LimitLine(msgspec.Struct, frozen=True, kw_only=True):
    """A limit over time. :param points: of a line; empty if it is above the chart.

    :param highest: as text.
    """

    what: str
    points: tuple[str, ...]
    highest: str


class AmountTick(NamedTuple):
    """A round amount on the axis at the left. :param y: from the top, in percent."""

    y: float
    text: str


class ChartRun(NamedTuple):
    """A time during which a queue held the same. :param text: how much, and since when."""

    x: float
    width: float
    y: float
    text: str


class QueueChart(msgspec.Struct, frozen=True, kw_only=True):
    """One queue. :param runs: what it holds. :param ticks: of the axis at the left.

    :param drawn: it held something, or has a limit.
    """

    queue: str
    depth: int
    children: int
    top: str
    drawn: bool
    runs: tuple[ChartRun, ...]
    ticks: tuple[AmountTick, ...]
    limits: tuple[LimitLine, ...]
    highest: str


class QueuesOverTime(msgspec.Struct, frozen=True, kw_only=True):
    """The queues over time. :param left_out: those with less allocated."""

    resource: str
    axis: PeriodAxis
    charts: tuple[QueueChart, ...]
    left_out: int


class HeatRow(msgspec.Struct, frozen=True, kw_only=True):
    """A node, or several with names beside each other.

    :param runs: parts with one level: begin and width in percent, the level, and the state.
    """

    name: str
    last: str
    count: int
    runs: tuple[tuple[float, float, int, str], ...]


class NodesOverTime(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes over time. :param levels: the words for levels."""

    resource: str
    axis: PeriodAxis
    nodes: int
    rows: tuple[HeatRow, ...]
    levels: tuple[str, ...]


class PhasePiece(msgspec.Struct, frozen=True, kw_only=True):
    """A phase, and where it is drawn, in percent. :param look: and ``glyph``: how."""

    x: float
    width: float
    phase: str
    look: str
    glyph: str
    time: str


class JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """A PodGroup. :param name: of its job, if it has one. :param podgroup: as links name it."""

    name: str
    podgroup: str
    queue: str
    pieces: tuple[PhasePiece, ...]


class JobsOverTime(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs over time. :param left_out: those that began later."""

    axis: PeriodAxis
    rows: tuple[JobRow, ...]
    left_out: int


@page(
    "queues/over-time",
    template="queues_over_time.html",
    title="Queues over time",
    takes=("resource", "queue"),
    long=True,
)
def queues_over_time(log: Log, look: Look) -> QueuesOverTime:
    """Return what queues held over time.

    :raises UsageError: the log has no times, or no such queue or resource.
    """
    reach_all(log, "amounts over time", "plinian plot queues")
    resource, name = look.get("resource", "cpu"), look.get("queue")
    shown = _shown(log, look)
    shares = kept(log, queue_shares, shown.span, resource, names=(name,) if name else ())
    return QueuesOverTime(
        resource=resource,
        axis=_axis(log, look, shown, shares.incidents),
        charts=tuple(_chart(queue, shares) for queue in shares.queues),
        left_out=shares.left_out,
    )


@page(
    "nodes/over-time",
    template="nodes_over_time.html",
    title="Nodes over time",
    takes=("resource",),
    long=True,
)
def nodes_over_time(log: Log, look: Look) -> NodesOverTime:
    """Return how full nodes were over time.

    :raises UsageError: the log has no times, or no such resource.
    """
    reach_all(log, "amounts over time", "plinian plot nodes")
    resource = look.get("resource", "cpu")
    shown = _shown(log, look)
    use = kept(log, node_use, shown.span, resource)
    return NodesOverTime(
        resource=resource,
        axis=_axis(log, look, shown, use.incidents),
        nodes=use.nodes,
        rows=tuple(_heat_row(row, use) for row in use.rows),
        levels=tuple(level.label for level in LEVELS),
    )


@page("jobs/over-time", template="jobs_over_time.html", title="Jobs over time", long=True)
def jobs_over_time(log: Log, look: Look) -> JobsOverTime:
    """Return the phases of jobs over time.

    :raises UsageError: the log has no times.
    """
    reach_all(log, "jobs over time", "plinian plot gang")
    shown = _shown(log, look)
    phases = gang_phases(log, shown.span)
    return JobsOverTime(
        axis=_axis(log, look, shown, scheduler_incidents(log, shown.span)),
        rows=tuple(_job_row(row, phases.period) for row in phases.rows),
        left_out=phases.left_out,
    )


def _job_row(row: GangRow, period: Period) -> JobRow:
    whole = period.parts * period.step
    return JobRow(
        name=f"{row.namespace}/{row.job or row.name}",
        podgroup=f"podgroup/{row.namespace}/{row.name}",
        queue=row.queue,
        pieces=tuple(
            PhasePiece(
                x=round(100 * (phase.begin - period.begin) / whole, 2),
                width=round(100 * (phase.end - phase.begin) / whole, 2),
                phase=phase.phase,
                look=look_of(phase.phase),
                glyph=STATES[look_of(phase.phase)].sign,
                time=time_text(phase.begin),
            )
            for phase in row.phases
        ),
    )


class _Shown(NamedTuple):
    """The time that a page shows. :param fault: why it is not the window of the query."""

    span: ShownPeriod
    window: bool
    fault: str


def _shown(log: Log, look: Look) -> _Shown:
    """Return the window of a look; the whole log if it has none, or an empty one.

    :raises UsageError: the log has no times.
    """
    begin, end = look.number("from"), look.number("to")
    fault = ""
    if begin is not None or end is not None:
        points = [None if position is None else f"@{position}" for position in (begin, end)]
        try:
            return _Shown(span_of(log, *points), window=True, fault="")
        except (PointUnknown, UsageError) as wrong:
            fault = f"{wrong.what}. So the whole log is shown."
    return _Shown(span_of(log), window=False, fault=fault)


def _axis(log: Log, look: Look, shown: _Shown, incidents: Sequence[Incident]) -> PeriodAxis:
    period = shown.span.period
    now = log.truth(look.at).time
    whole = period.parts * period.step

    def x(time: int) -> float:
        return round(WIDTH * (time - period.begin) / whole, 2)

    return PeriodAxis(
        window=shown.window,
        fault=shown.fault,
        begin=time_text(period.begin),
        end=time_text(period.end),
        until=time_text(period.begin + whole),
        step=f"{period.step / SECOND_US:g} s",
        now=x(now) if now is not None and period.begin <= now <= period.begin + whole else None,
        ticks=tuple(
            PeriodTick(
                x=x(time), share=round(x(time) * 100 / WIDTH, 2), time=text, exact=time_text(time)
            )
            for time, text in times_on_axis(period, _TICKS)
        ),
        notable=tuple(
            Notable(
                x=x(incident.time),
                time=format_time(incident.time)[11:19],
                exact=format_time(incident.time),
                queue=incident.queue,
                text=incident.text,
            )
            for incident in incidents
        ),
    )


def _chart(share: QueueShare, shares: QueueShares) -> QueueChart:
    limits = {limit: getattr(share, limit) for limit in _LIMITS if any(getattr(share, limit))}
    most_held = highest_of(share.allocated)
    inside = [
        highest_of(values)
        for values in limits.values()
        if not most_held or highest_of(values) <= most_held * _BEYOND
    ]
    # Some room, so that no line runs along the edge.
    top = max([most_held, *inside]) * _ROOM or 1.0
    says = in_one_unit(shares.resource, [most_held, *map(highest_of, limits.values())])
    parts = shares.period.parts
    return QueueChart(
        queue=share.queue,
        depth=share.depth,
        children=share.children,
        top=says(top),
        ticks=tuple(
            AmountTick(round(100 - 100 * at / top, 2), text)
            for at, text in amounts_on_axis(shares.resource, top)
        ),
        highest=says(most_held),
        drawn=bool(most_held or inside),
        runs=tuple(_runs(share.allocated, top, shares, says)),
        limits=tuple(
            LimitLine(
                what=limit,
                points=tuple(map(_joined, _steps(values, top, parts)))
                if highest_of(values) <= top
                else (),
                highest=says(highest_of(values)),
            )
            for limit, values in limits.items()
        ),
    )


def _steps(values: Values, top: float, parts: int) -> Iterator[list[tuple[float, float]]]:
    """Yield the points of each stretch that has values, as steps."""
    for _, stretch in groupby(enumerate(values), key=lambda numbered: numbered[1] is None):
        points: list[tuple[float, float]] = []
        for part, value in stretch:
            if value is not None:
                y = HEIGHT - HEIGHT * value / top
                # A value that goes on is one line.
                if points and points[-1][1] == y:
                    points.pop()
                else:
                    points.append((WIDTH * part / parts, y))
                points.append((WIDTH * (part + 1) / parts, y))
        if points:
            yield points


def _joined(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _runs(
    values: Values, top: float, shares: QueueShares, says: Callable[[float], str]
) -> Iterator[ChartRun]:
    """Yield each stretch of time with one amount. :param says: an amount, in one unit."""
    period, begin = shares.period, 0
    for value, same in groupby(values):
        length = len(list(same))
        if value is not None:
            x, width = (round(WIDTH * place / period.parts, 1) for place in (begin, length))
            since = time_text(period.time_of(begin))
            text = f"{says(value)} allocated from {since}"
            yield ChartRun(x, width, round(HEIGHT - HEIGHT * value / top, 1), text)
        begin += length


def _heat_row(row: NodeUseRow, use: NodeUse) -> HeatRow:
    runs: list[tuple[float, float, int, str]] = []
    begin, parts = 0, use.period.parts
    for (level, state), same in groupby(map(_cell, row.used, row.states)):
        length = len(list(same))
        if state != GONE:
            x, width = (round(100 * place / parts, 2) for place in (begin, length))
            runs.append((x, width, level, state))
        begin += length
    return HeatRow(name=row.name, last=row.last, count=row.count, runs=tuple(runs))


def _cell(used: float | None, state: str) -> tuple[int, str]:
    shown = state if state in {CORDONED, NOT_READY, GONE} else ""
    return (-1 if used is None else level_of(used)), shown


PAGES = (queues_over_time, nodes_over_time, jobs_over_time)
