"""The timeline of a report: what happened around the moment, counted in equal parts of the time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ...engine.events import KINDS, Effect, Recorded
from ...engine.events.payloads import ProcessPanicked, ProcessStarted
from ...engine.log.store import Query, TimeCut
from ...engine.state.clock import TimeSpan
from ...engine.state.extract import extract_fact
from ...engine.state.facts import NodeFact
from ..answers.answer import Why
from ..logs.earlier_moments import time_at
from ..logs.log import Log
from ..moments.moment import Moment
from ..moments.times import AT_ONCE, first_time, last_time, with_spans
from ..moments.verbs import with_verbs
from ..recorded.recorded_sessions import RecordedSession
from ..series.period import observed_from

PARTS = 120
"""Into how many equal parts the time is divided."""

MOST_MARKS = 24

_NEAR = 20
"""Within this part of the time, things of one sort are one mark."""

Count = Callable[[int, int], None]

_ALL, _OTHERS = "all objects", ""
_NOUNS: Mapping[str, str] = MappingProxyType(
    {
        "node": "nodes",
        "queue": "queues",
        "job": "jobs",
        "podgroup": "PodGroups",
        "pod": "pods",
    }
)
"""The lanes besides that of all objects, by the nouns of their events."""

_CHANGING = (Effect.VERSION, Effect.DELETED, Effect.BOUND, Effect.TOUCHED)
_NOTABLE = ("pod.evicted", "node.deleted", "node.created", "process.started", "process.panicked")


class Lane(NamedTuple):
    """How many events of one sort there were in each part of the time.

    :param kinds: how many of each kind there are in all, by kind.
    """

    name: str
    counts: tuple[int, ...]
    kinds: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """How many there are in all."""
        return sum(self.counts)


class Mark(NamedTuple):
    """Something that people look for: a node goes, pods are evicted, a process starts or panics.

    :param when: the bounds of its time. :param position: of the first event that shows it.
    """

    when: TimeSpan
    text: str
    position: int


class Stretch(NamedTuple):
    """A time during which an object waited for one reason; microseconds since 1970.

    :param begin: the last possible one. :param end: the first possible one.
    :param since: the bounds of its begin; None if it is known exactly.
    """

    begin: int
    end: int
    cause: str
    text: str
    since: TimeSpan | None = None


class ReportWaiting(NamedTuple):
    """An object, and for which reasons it waited up to the moment."""

    name: str
    stretches: tuple[Stretch, ...]


class Timeline(NamedTuple):
    """What happened around the moment; times are microseconds since 1970.

    :param before: the earlier moment that the state is compared with; None if there is none.
    :param lanes: the first has all changes of objects.
    :param sessions: when they were opened, and how many pods each bound.
    :param more_marks: how many marks are left out.
    """

    begin: int
    end: int
    moment: int
    before: int | None
    lanes: tuple[Lane, ...]
    waiting: tuple[ReportWaiting, ...]
    sessions: tuple[tuple[int, int], ...]
    marks: tuple[Mark, ...]
    more_marks: int


class ShownExtent(NamedTuple):
    """The time that a timeline shows, in microseconds since 1970."""

    begin: int
    end: int
    moment: int
    before: int | None

    def part(self, time: int) -> int | None:
        """Return the part of the time that holds a time; None if it is outside."""
        if not self.begin <= time <= self.end:
            return None
        return min((time - self.begin) * PARTS // max(self.end - self.begin, 1), PARTS - 1)


class _Dated(NamedTuple):
    when: TimeSpan
    time: int
    recorded: Recorded


def extent_of(log: Log, moment: Moment, before: Moment | None) -> ShownExtent | None:
    """Return the time around a moment: as long after it as an earlier one is before it.

    It does not go beyond the log. None if the log has no times.
    """
    clock = log.clock(moment)
    first, last = clock.first(), clock.last()
    now = time_at(log, moment)
    if first is None or last is None or now is None:
        return None
    then = None if before is None else time_at(log, before)
    observed = observed_from(log, moment) or first
    begin = min(observed, now) if then is None else max(first, min(then, now))
    # A moment before the log's first time is drawn at its begin.
    now = max(now, begin)
    return ShownExtent(begin, max(now, min(last, now + (now - begin))), now, then)


def timeline_of(
    log: Log,
    moment: Moment,
    extent: ShownExtent,
    found: tuple[Sequence[Why], Sequence[RecordedSession], Mapping[str, NodeFact]],
    progress: Count | None = None,
) -> Timeline:
    """Return the timeline of a time.

    :param found: answers of ``why``; the sessions of the log; nodes as they were at its begin.
    :param progress: called with (parts of the time read, all).
    """
    whys, sessions, nodes = found
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    notable: list[_Dated] = []
    for dated in _events(log, moment, extent):
        event = dated.recorded.event
        part = extent.part(dated.time)
        if part is None:
            continue
        if progress is not None:
            progress(part, PARTS)
        if _changes(event.kind):
            for lane in (_ALL, _NOUNS.get(event.kind.partition(".")[0], _OTHERS)):
                counts[lane][part] += 1
                kinds[lane][event.kind] += 1
        if event.kind in _NOTABLE or event.kind == "node.updated":
            notable.append(dated)
    marks = _marks(extent, [*_node_signs(notable, nodes), *_other_signs(notable)])
    return Timeline(
        *extent,
        lanes=tuple(
            Lane(
                name,
                tuple(counts[name][part] for part in range(PARTS)),
                tuple(sorted(kinds[name].items(), key=lambda item: (-item[1], item[0]))),
            )
            for name in (_ALL, *_NOUNS.values())
        ),
        waiting=tuple(_waiting(why, extent) for why in whys if why.stages),
        sessions=tuple(
            (session.opened, len(session.binds))
            for session in sessions
            if extent.part(session.opened) is not None
        ),
        marks=tuple(marks[:MOST_MARKS]),
        more_marks=len(marks[MOST_MARKS:]),
    )


def _changes(kind: str) -> bool:
    """Return whether an event is a change of an object, and not one that was only read."""
    return KINDS[kind].effect in _CHANGING and not kind.endswith(".observed")


def _events(log: Log, moment: Moment, extent: ShownExtent) -> Iterator[_Dated]:
    """Yield the events of a time that have times, in the order of the log."""
    clock = log.clock(moment)
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        happened=(
            TimeCut(clock.revision_at(extent.begin - 1) + 1, extent.begin),
            TimeCut(clock.revision_at(extent.end), extent.end),
        ),
    )
    events = with_verbs(log.store, moment, log.store.read(query))
    while batch := list(islice(events, AT_ONCE)):
        for recorded, span in with_spans(batch, clock):
            if span.estimate is not None:
                yield _Dated(span, span.estimate, recorded)


class _Sign(NamedTuple):
    """One thing that people look for; several of a sort at the same time are one mark.

    :param one: its text. :param many: the text of several, with a place for their number.
    """

    time: int
    position: int
    one: str
    many: str
    when: TimeSpan


def _node_signs(notable: Iterable[_Dated], nodes: Mapping[str, NodeFact]) -> Iterator[_Sign]:
    """Yield when nodes came, went, were cordoned, or changed their readiness."""
    known = dict(nodes)
    versions = [dated for dated in notable if dated.recorded.event.kind.startswith("node.")]
    # By revision: each version is compared with the one before it.
    for when, time, recorded in sorted(versions, key=_by_revision):
        event = recorded.event
        name = event.reference.name
        before = known.pop(name, None)
        words: Sequence[str] = ("deleted",)
        if event.kind != "node.deleted":
            fact = extract_fact("", "Node", event.payload)
            assert isinstance(fact, NodeFact), "the kind is Node"
            known[name] = fact
            words = ("created",) if before is None else tuple(_turned(before, fact))
        for word in words:
            alone, many = f"node {name} {word}", f"{{}} nodes {word}"
            yield _Sign(time, recorded.position, alone, many, when)


def _by_revision(dated: _Dated) -> tuple[int, int]:
    return dated.recorded.event.revision or 0, dated.recorded.position


def _turned(before: NodeFact, fact: NodeFact) -> Iterator[str]:
    if before.unschedulable != fact.unschedulable:
        yield "cordoned" if fact.unschedulable else "uncordoned"
    if before.ready != fact.ready:
        yield "Ready" if fact.ready == "True" else "not Ready"


def _other_signs(notable: Iterable[_Dated]) -> Iterator[_Sign]:
    for when, time, recorded in notable:
        event = recorded.event
        if event.kind == "pod.evicted":
            yield _Sign(time, recorded.position, "1 pod evicted", "{} pods evicted", when)
        elif event.kind == "process.started":
            started = msgspec.json.decode(event.payload, type=ProcessStarted)
            text = f"{started.component} started"
            yield _Sign(time, recorded.position, text, f"{text} {{}} times", when)
        elif event.kind == "process.panicked":
            crashed = msgspec.json.decode(event.payload, type=ProcessPanicked)
            text = f"{crashed.component} panicked"
            yield _Sign(time, recorded.position, text, f"{text} {{}} times", when)


def _marks(extent: ShownExtent, signs: Iterable[_Sign]) -> list[Mark]:
    """Return signs as marks, in order of time; several of a sort soon after each other are one."""
    # A drain evicts many pods within seconds: they are one mark.
    near = (extent.end - extent.begin) // _NEAR
    groups: list[list[_Sign]] = []
    last: dict[str, list[_Sign]] = {}
    for sign in sorted(signs, key=lambda sign: sign[:4]):
        group = last.get(sign.many, [])
        if not group or sign.time - group[-1].time > near:
            group = last[sign.many] = []
            groups.append(group)
        group.append(sign)
    return [
        Mark(
            same[0].when,
            same[0].one if len(same) == 1 else same[0].many.replace("{}", str(len(same)), 1),
            same[0].position,
        )
        for same in groups
    ]


def _waiting(why: Why, extent: ShownExtent) -> ReportWaiting:
    """Return the reasons for which an object waited, with the times at which they began."""
    name = f"{why.asked.kind} {why.asked.name}"
    spans = [stage.since.begin for stage in why.stages]
    begins = [last_time(span) for span in spans]
    # A reason lasts until the next one may begin, and the last one until now.
    ends = [*map(first_time, spans[1:]), extent.moment]
    stretches = [
        Stretch(begin, max(begin, end), stage.cause, stage.sentence, stage.since.begin)
        for stage, begin, end in zip(why.stages, begins, ends, strict=True)
        if begin is not None and end is not None and end >= extent.begin
    ]
    return ReportWaiting(name, tuple(stretches))
