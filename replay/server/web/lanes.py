"""The drawing of the timeline: density, sessions, and a lane of phases for each pinned object.

Places are shares of the width, from 0 to 100, so the drawing fits every screen without a script.

A picture is no block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

import msgspec

from ....engine.errors import PlinianError
from ....engine.log import Query
from ....engine.state.clock import TimeSpan
from ...facade.log import Log
from ...histories.history import Happening
from ...histories.name_life import LifeStep, NameState
from ...moments.times import (
    is_uncertain,
    known_text,
    span_words,
    time_text,
    with_spans,
)
from ...moments.zones import UTC_ZONE, Zone
from ...plot.picture_words import times_on_axis
from ...recorded.session_list import listed_sessions
from ...render.state_looks import STATES, look_of
from ...series.period import Period
from .axis import Axis
from .lives import life_of
from .look import Look
from .ruler_marks import RulerMark, marks_of
from .suggested_lanes import suggested_lanes

MOST_LANES = 12
MOST_MARKS = 5000
"""Shapes in the whole drawing."""

MOST_SESSIONS = 1000
"""Sessions that are drawn one by one."""

LONGEST_INFERRED = 200_000
"""In a log of more events, sessions that no scheduler's log names are not looked for."""

_LEAST = 0.15
"""Nothing is drawn narrower than this share of the width."""

_TICKS = 8


class RulerTick(msgspec.Struct, frozen=True):
    """A time on the ruler."""

    x: float
    text: str


class DrawnStretch(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an object from a position on, and where it is drawn.

    It is drawn where it is certain: from the last possible time of its begin to the first of its
    end. All times between the bounds of a change are drawn as :class:`Between`.

    :param phase: its status as ``get`` prints it; empty for kinds without one.
    :param node: of a pod. :param begin: the position of the event with which it begins.
    :param time: of that event, as tables print it.
    """

    x: float
    width: float
    phase: str
    node: str
    look: str
    glyph: str
    begin: int
    time: str


class Between(msgspec.Struct, frozen=True):
    """An event whose time is not certain: it is drawn over all times at which it may have been.

    :param text: what happened, with the bounds of its time.
    """

    x: float
    width: float
    position: int
    text: str


class ObjectLane(msgspec.Struct, frozen=True, kw_only=True):
    """The phases of one object.

    :param events: where each event is drawn whose time is certain. :param unsure: the others.

    :param exists: at the position of the look, with ``phase`` and ``node`` as the panel has them.
    :param fault: why there are none. :param more: phases that are not drawn.
    """

    name: str
    stretches: list[DrawnStretch]
    events: list[tuple[float, int]]
    unsure: list[Between]
    pinned: bool
    exists: bool = False
    phase: str = ""
    node: str = ""
    fault: str = ""
    more: int = 0


class SessionShown(NamedTuple):
    """A session: the position that shows it, when it was opened, and how many pods it bound.

    :param binds: None if it is not known here.
    """

    position: int
    opened: TimeSpan
    binds: int | None


class SessionMark(msgspec.Struct, frozen=True):
    """A session: where it is drawn, the position that shows it, and pods that it bound.

    :param binds: None if it is not known here.
    :param width: of all times at which it may have been opened; 0 if its time is certain.
    """

    x: float
    position: int
    binds: int | None
    width: float = 0.0
    text: str = ""


class LanesDrawing(msgspec.Struct, frozen=True, kw_only=True):
    """The timeline as shapes.

    :param bars: events in each part of the time. :param noted: marks on the ruler.
    :param sessions_said: why there are none, or not
        all. :param axis: positions and their places, to place others between them.
    :param dated: whether the ruler has times; else it has positions.
    """

    begin: int
    end: int
    begin_time: str
    end_time: str
    dated: bool
    exact: bool
    read: int
    bars: list[int]
    ticks: list[RulerTick]
    axis: list[tuple[int, float]]
    now: float
    versus: float | None
    noted: list[RulerMark]
    lanes: list[ObjectLane]
    sessions: list[SessionMark]
    sessions_said: str

    @property
    def unsure(self) -> bool:
        """Whether a time is drawn with its bounds."""
        return any(lane.unsure for lane in self.lanes) or any(
            session.width for session in self.sessions
        )

    @property
    def marks(self) -> int:
        """How many shapes it has."""
        own = sum(len(lane.stretches) + len(lane.events) + len(lane.unsure) for lane in self.lanes)
        return own + len(self.noted) + len(self.sessions) + sum(1 for bar in self.bars if bar)


def drawing_of(log: Log, look: Look, axis: Axis, selected: str) -> LanesDrawing:
    """Return the drawing of a window.

    :param selected: the selected object; it has a lane also if it is not pinned. Without any pin
        jobs and nodes have lanes, too, those with problems first.
    """
    names = list(dict.fromkeys([*look.lanes, *filter(None, [selected])]))
    if not look.lanes:
        names = list(dict.fromkeys([*names, *suggested_lanes(log, look)]))
    names = names[:MOST_LANES]
    marks = marks_of(log, look, axis)
    sessions, said = _sessions(log, look, axis)
    # Sessions and bars come first. Each lane gets an equal part of what they leave.
    room = (MOST_MARKS - len(sessions) - len(axis.bars) - len(marks)) // max(len(names), 1)
    versus = look.versus
    return LanesDrawing(
        begin=look.begin,
        end=look.end,
        begin_time=time_text(axis.begin) if axis.dated else "",
        end_time=time_text(axis.end) if axis.dated else "",
        dated=axis.dated,
        exact=axis.exact,
        read=axis.read,
        bars=list(axis.bars),
        ticks=list(_ticks(axis, look.zone or UTC_ZONE)),
        axis=axis.places(),
        now=axis.share(look.position),
        versus=None if versus is None else axis.share(versus),
        noted=marks,
        lanes=[_lane(log, look, axis, name, room) for name in names],
        sessions=sessions,
        sessions_said=said,
    )


def _ticks(axis: Axis, zone: Zone) -> Iterator[RulerTick]:
    """Yield whole times, at most a few; positions if the log has no times."""
    if not axis.dated:
        yield from (
            RulerTick(axis.share(at), f"@{at}")
            for at in axis.positions[:: len(axis.positions) // 8 + 1]
        )
        return
    period = Period(begin=axis.begin, end=axis.end, step=1, zone=zone)
    for time, text in times_on_axis(period, _TICKS):
        yield RulerTick(axis.share_of(time), text)


def _lane(log: Log, look: Look, axis: Axis, name: str, room: int) -> ObjectLane:
    pinned = name in look.lanes
    try:
        life = life_of(log, name)
    except PlinianError as fault:
        fault_said = str(fault.what)
        return ObjectLane(
            name=name, stretches=[], events=[], unsure=[], pinned=pinned, fault=fault_said
        )
    steps = list(life.steps())
    now = next(
        (step.state for step in reversed(steps) if step.position <= look.position), NameState()
    )
    stretches = list(_stretches(steps, look, axis))
    shown = [
        happening
        for happening in life.history.happenings
        if look.begin <= happening.position <= look.end
    ]
    exact = [happening for happening in shown if not _has_bounds(axis, happening.span)]
    # Events at one place are one mark.
    places = dict.fromkeys(
        _ends(axis, happening.position, happening.span)[0] for happening in exact
    )
    between = list(
        _between(axis, [happening for happening in shown if _has_bounds(axis, happening.span)])
    )
    drawn = stretches[: room // 2]
    unsure = between[: max(0, room - len(drawn)) // 2]
    events = [(x, 0) for x in list(places)[: room - len(drawn) - len(unsure)]]
    return ObjectLane(
        name=name,
        stretches=drawn,
        events=events,
        unsure=unsure,
        pinned=pinned,
        exists=now.exists,
        phase=now.status,
        node=now.node,
        more=len(stretches) + len(places) + len(between) - len(drawn) - len(events) - len(unsure),
    )


def _stretches(steps: Sequence[LifeStep], look: Look, axis: Axis) -> Iterator[DrawnStretch]:
    """Yield the phases of an object within a window."""
    for step, following in zip_longest(steps, steps[1:]):
        if not step.state.exists or step.position > look.end:
            continue
        if following is not None and following.position <= look.begin:
            continue
        x = _ends(axis, step.position, step.when)[1] if step.position >= look.begin else 0.0
        ends = 100.0
        if following is not None and following.position <= look.end:
            ends = _ends(axis, following.position, following.when)[0]
        drawn = look_of(step.state.status, step.state.node)
        yield DrawnStretch(
            x=x,
            width=max(round(ends - x, 2), _LEAST),
            phase=step.state.status,
            node=step.state.node,
            look=drawn,
            glyph=STATES[drawn].sign,
            begin=step.position,
            time=known_text(step.when),
        )


def _between(axis: Axis, happenings: Iterable[Happening]) -> Iterator[Between]:
    """Yield events with uncertain times; of several with the same bounds the first, and a count."""
    groups: dict[tuple[float, float], list[Happening]] = {}
    for happening in happenings:
        groups.setdefault(_ends(axis, happening.position, happening.span), []).append(happening)
    for (low, high), alike in groups.items():
        first, more = alike[0], len(alike) - 1
        text = f"{first.kind} (@{first.position}) at {span_words(first.span)}"
        text += f", and {more} more" if more else ""
        yield Between(low, max(round(high - low, 2), _LEAST), first.position, text)


def _has_bounds(axis: Axis, span: TimeSpan) -> bool:
    """Return whether a time is drawn as a stretch between its bounds."""
    return axis.dated and is_uncertain(span)


def _ends(axis: Axis, position: int, span: TimeSpan) -> tuple[float, float]:
    """Return where the first and the last possible time of an event are; mostly they are one."""
    if not axis.dated or span.estimate is None:
        return (axis.share(position),) * 2
    if not is_uncertain(span):
        return (axis.share_of(span.estimate),) * 2
    low = 0.0 if span.earliest is None else axis.share_of(span.earliest)
    return low, 100.0 if span.latest is None else axis.share_of(span.latest)


def _sessions(log: Log, look: Look, axis: Axis) -> tuple[list[SessionMark], str]:
    """Return the sessions of a window, and why there are none or not all."""
    rows = list(_logged(log, look))
    said = ""
    if not rows and look.last <= LONGEST_INFERRED:
        inside = [
            session for session in shown_sessions(log) if look.begin <= session.position <= look.end
        ]
        rows = inside[: MOST_SESSIONS + 1]
    elif not rows:
        said = "No scheduler's log names sessions, and the log is too long to look for them here."
    if len(rows) > MOST_SESSIONS:
        said = f"More than {MOST_SESSIONS} sessions: the first are drawn. Zoom in to see others."
    marks = [_mark(axis, shown) for shown in rows[:MOST_SESSIONS]]
    return marks, said or ("" if marks else "The log records no session in this window.")


def shown_sessions(log: Log) -> Sequence[SessionShown]:
    """Return the position and the bindings of the sessions that the whole log shows."""
    sessions = listed_sessions(log.store, log.moment())
    return [SessionShown(session.position, session.when, session.binds) for session in sessions]


def _mark(axis: Axis, shown: SessionShown) -> SessionMark:
    low, high = _ends(axis, shown.position, shown.opened)
    if not _has_bounds(axis, shown.opened):
        return SessionMark(low, shown.position, shown.binds)
    text = f"session opened at {span_words(shown.opened)}"
    return SessionMark(low, shown.position, shown.binds, max(round(high - low, 2), _LEAST), text)


def _logged(log: Log, look: Look) -> Iterator[SessionShown]:
    query = Query(
        branch=log.branch,
        cluster=log.cluster,
        kinds=("session.opened",),
        after=look.begin - 1,
        until=look.end,
        limit=MOST_SESSIONS + 1,
    )
    spans = with_spans(list(log.store.read(query)), log.clock())
    return (SessionShown(event.position, span, None) for event, span in spans)
