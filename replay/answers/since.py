"""Since when an answer holds: sessions at earlier moments, and what happened in between."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from ...engine.events import KINDS, Effect, Recorded
from ...engine.log.store import Query
from ...engine.state.clock import TimeSpan
from ...engine.state.log_coverage import Pair
from ..coverage.coverage import beginning_of
from ..logs.log import Log
from ..moments.log_clock import span_of_moment
from ..moments.moment import Moment
from ..moments.times import is_known
from ..moments.verbs import is_only_seen, with_verbs
from ..sessions.session_moments import at_revision, session_revisions
from .answering_session import NODE, POD, PODGROUP, QUEUE
from .evidence import dated, evidence_of
from .finding import ObjectKey, SessionFinding
from .gaps import Hole, crossed, holds, holes_of
from .stages import Stage, StageBegin

MOST = 60
"""How many sessions are run at most to find since when an answer holds."""

_WORK = 7_000
"""About how many nodes and pods these sessions may see together."""

EVENTS = 20_000
"""How many events before the present are read at most to look at earlier moments."""

_NAMED = 6
"""How many events in between are named."""

_DECIDING: tuple[Pair, ...] = (POD, NODE, PODGROUP, QUEUE)
_CHANGING = frozenset({Effect.VERSION, Effect.DELETED, Effect.BOUND})


class _Metadata(msgspec.Struct, rename="camel"):
    deletion_timestamp: object = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: object = None


class _Status(msgspec.Struct):
    phase: object = None


class _Pod(msgspec.Struct):
    """What of a pod may change what sessions decide about others: there are many versions."""

    metadata: _Metadata
    spec: _Spec | None = None
    status: _Status | None = None


_DECODE_POD = msgspec.json.Decoder(_Pod).decode


class SampledSession(msgspec.Struct, frozen=True):
    """What the session at one moment said.

    :param place: the number of the moment among all looked for at which sessions ran.
    """

    moment: Moment
    place: int
    finding: SessionFinding


class EarlierMoments(msgspec.Struct, frozen=True):
    """Which earlier moments to look at.

    :param moments: ascending, each with its number among all looked for at which sessions ran.
    :param last: the number of the present.
    :param whole: they reach back to the beginning; else nothing is known of the time before.
    :param holes: the gaps of the log, in which no moment is looked at.
    :param known: the revisions of the moments that might be looked at, ascending.
    """

    moments: tuple[tuple[int, Moment], ...]
    last: int
    whole: bool
    holes: tuple[Hole, ...] = ()
    known: Sequence[int] = ()


NO_PLAN = EarlierMoments((), 0, whole=False)
"""No earlier moment is looked at."""


def plan_of(log: Log, moment: Moment, versions: Sequence[Recorded]) -> EarlierMoments:
    """Return the earlier moments to look at, since an object began to exist.

    They are those around changes of the object, then evenly spread, so many that the answer comes
    soon; none that would need much of the log to be read, and none in a gap of the log.

    :param versions: the object's events, as of :func:`.evidence.versions_of`.
    """
    began = next(
        (each.event.revision for each in versions if each.event.revision is not None), None
    )
    if began is None:
        return NO_PLAN
    now = moment.revision
    if now is None:
        extent = log.store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
        now = extent.last_revision or 0
    first = _near(log, moment, began, now)
    begins = beginning_of(log, moment).revision
    listed = is_only_seen(versions[0].event.kind)  # Then it may be older.
    # Only then no moment before these is left out.
    whole = begins is not None and first == began >= begins and not listed
    places = [
        revision for revision in session_revisions(log, moment, since=first) if revision < now
    ]
    # How many objects a session sees, about.
    size = sum(record.reference.kind in {"Pod", "Node"} for record in log.truth(moment).records())
    count = max(1, min(MOST, _WORK // max(1, size)))
    holes = holes_of(log, first, moment)
    numbers = [
        at for at, place in enumerate(places) if not any(holds(hole, place) for hole in holes)
    ]
    known = [places[at] for at in numbers]
    chosen = [numbers[at] for at in _chosen(known, changes_of(versions), count)]
    moments = tuple((at, at_revision(moment, places[at])) for at in chosen)
    return EarlierMoments(moments, len(places), whole and known[:1] == places[:1], holes, known)


def stages_of(
    log: Log, plan: EarlierMoments, samples: Sequence[SampledSession]
) -> tuple[Stage, ...]:
    """Return which answers held, oldest first.

    :param samples: the last is the present.
    """
    return tuple(_stages(log, plan, samples))


def begins_of(stages: Sequence[Stage]) -> Iterator[str]:
    """Yield from when on each answer holds, in words, in an order that is possible.

    Of an answer that may hold since earlier, the last bound of its time is enough, unless the next
    one may have begun before it: then both bounds are said of both.
    """
    for stage, after in zip_longest(stages, stages[1:]):
        since, latest = stage.since, stage.since.latest
        following = None if after is None else after.since.earliest
        if since.or_earlier and latest is not None and following is not None and following < latest:
            yield f"from {since.when} ({since.at}) or earlier{stage.unsure}"
        else:
            yield f"{since.words}{stage.unsure}"


def _near(log: Log, moment: Moment, began: int, now: int) -> int:
    """Return the first revision from which not much of the log must be read up to a moment."""

    def is_near(revision: int) -> bool:
        return log.store.revision_after(moment.window(revision), EVENTS) is None

    if is_near(began):
        return began
    # The later a revision, the fewer events follow it: once near, all later ones are, too.
    return began + bisect_left(range(began, now), True, key=is_near)


def changes_of(versions: Iterable[Recorded]) -> list[int]:
    """Return the revisions at which an object's status changed in phase or conditions.

    :param versions: its events, in order.
    """
    revisions, before = [], None
    for recorded in versions:
        if KINDS[recorded.event.kind].effect is not Effect.VERSION:
            continue
        status = msgspec.json.decode(recorded.event.payload).get("status") or {}
        messages = [condition.get("message") for condition in status.get("conditions") or []]
        now = (status.get("phase"), messages)
        if before != now and recorded.event.revision is not None:
            revisions.append(recorded.event.revision)
        before = now
    return revisions


def _chosen(places: Sequence[int], marks: Sequence[int], count: int) -> list[int]:
    """Return the places to look at, as numbers: around the marks, then evenly; ascending."""
    if len(places) <= count:
        return list(range(len(places)))
    wanted: dict[int, None] = {0: None}
    # From the last change on: if there are too many, the first ones are not looked at.
    for mark in reversed(marks):
        after = next((at for at, place in enumerate(places) if place >= mark), len(places))
        wanted |= dict.fromkeys(at for at in (after - 1, after) if 0 <= at < len(places))
    # One half for changes of the object, the other spread evenly: other objects matter, too.
    step = max(1, count // 2)
    spread = [len(places) * part // step for part in range(step)]
    order = [*list(wanted)[: count - step], len(places) - 1, *spread]
    return sorted(list(dict.fromkeys(order))[:count])


def _stages(log: Log, plan: EarlierMoments, samples: Sequence[SampledSession]) -> Iterator[Stage]:
    """Yield runs of samples with one answer."""
    begins = [
        number
        for number, sample in enumerate(samples)
        if not number or samples[number - 1].finding.full_cause != sample.finding.full_cause
    ]
    for begin, end in zip_longest(begins, begins[1:], fillvalue=len(samples)):
        first, last = samples[begin], samples[end - 1]
        inside = (
            crossed(plan.holes, _revision(first), last.moment.revision) if first != last else ()
        )
        yield Stage(
            cause=first.finding.full_cause,
            sentence=first.finding.sentence,
            since=_since(log, plan, samples[begin - 1] if begin else None, first),
            gaps=tuple((hole.after, hole.before) for hole in inside),
        )


def _since(
    log: Log, plan: EarlierMoments, before: SampledSession | None, sample: SampledSession
) -> StageBegin:
    moment = sample.moment
    # Nothing was looked at before this sample, so the answer may be older unless the plan is whole.
    if before is None:
        return StageBegin(at=moment.label, **_time(log, moment), or_earlier=not plan.whole)
    events = _between(log, before.moment, moment, sample.finding.about)
    gaps = crossed(plan.holes, _revision(before), moment.revision)
    # Neighbours among all moments at which sessions ran: the answer changed right there.
    exact = sample.place - before.place <= 1 and not gaps
    last = _last_seen(log, plan, before, gaps)
    return StageBegin(
        at=moment.label,
        **(_time(log, moment) if exact else _time_from(log, moment, last)),
        not_at=before.moment.label,
        exact=exact,
        gap=bool(gaps),
        events=tuple(evidence_of(log, moment, events[-_NAMED:])),
        more=max(0, len(events) - _NAMED),
    )


def _revision(sample: SampledSession) -> int:
    revision = sample.moment.revision
    assert revision is not None, "only the last sample may be at the end of a log"
    return revision


def _time(log: Log, moment: Moment) -> dict[str, Any]:
    """Return the fields of :class:`.dated.Dated` of a moment."""
    if moment.time == 0:  # A scenario's session, which has no time.
        return {**dated(TimeSpan(None, None, None)), "time": moment.label}
    span = span_of_moment(log.store, moment)
    given = moment.time is not None or not is_known(span)
    return dated(span) | ({"time": moment.label} if given else {})


def _last_seen(
    log: Log, plan: EarlierMoments, before: SampledSession, gaps: Sequence[Hole]
) -> int | None:
    """Return from when on an answer may have changed since a moment, microseconds.

    If nothing that sessions see is known between it and a gap, it is when the state before the gap
    was last seen.
    """
    earliest = span_of_moment(log.store, before.moment).earliest
    revision = _revision(before)
    following = next(iter(plan.known[bisect_right(plan.known, revision) :]), None)
    if gaps and gaps[0].seen is not None and (following is None or following > gaps[0].after):
        return max(earliest or 0, gaps[0].seen)
    return earliest


def _time_from(log: Log, moment: Moment, earliest: int | None) -> dict[str, Any]:
    """Return the fields of :class:`.dated.Dated` of what began before a moment, after a time."""
    # The change happened between two samples, so only its last bound is that of the later one.
    fields = _time(log, moment)
    span = TimeSpan(earliest, fields["latest"], fields["estimate"])
    return (
        {**dated(span), "time": fields["time"]} if fields["time"] == moment.label else dated(span)
    )


def _between(log: Log, before: Moment, after: Moment, about: Sequence[ObjectKey]) -> list[Recorded]:
    """Return the events in between that may have changed an answer, the first of each object.

    What the scheduler writes into pods and PodGroups without deciding anything is left out.

    :param about: the objects of the answer; the first is the one that is asked about.
    """
    assert before.revision is not None, "samples are at revisions"
    query = Query(
        branch=after.branch,
        cluster=after.cluster,
        until=after.known,
        objects=_DECIDING,
        revisions=(before.revision + 1, after.revision),
    )
    read = with_verbs(log.store, after, log.store.read(query))
    events = [event for event in read if KINDS[event.event.kind].effect in _CHANGING]
    return _first([event for event in events if _matters(event, set(about))])


def _matters(recorded: Recorded, about: Collection[ObjectKey]) -> bool:
    """Return whether an event may change what sessions decide about other objects."""
    effect, (pair, name) = KINDS[recorded.event.kind].effect, _key(recorded)
    if effect is not Effect.VERSION or pair == NODE:
        return True
    is_new = not recorded.event.kind.endswith(".updated")
    if pair == POD:
        return _takes_or_frees(_DECODE_POD(recorded.event.payload), is_new=is_new)
    # A new queue takes part in what all share; most of its later versions only have other counts.
    return is_new or (pair == QUEUE and (pair, name) in about)


def _takes_or_frees(pod: _Pod, *, is_new: bool) -> bool:
    """Return whether a version of a pod is one with a new node, or one that gives its node up."""
    if pod.spec is None or not pod.spec.node_name:
        return False
    leaving = pod.metadata.deletion_timestamp is not None
    return is_new or leaving or pod.status is None or pod.status.phase != "Running"


def _first(events: Sequence[Recorded]) -> list[Recorded]:
    """Return the first event of each object, in order of revision."""
    first: dict[ObjectKey, Recorded] = {}
    for event in sorted(events, key=lambda each: (each.event.revision or 0, each.position)):
        first.setdefault(_key(event), event)
    return list(first.values())


def _key(recorded: Recorded) -> ObjectKey:
    reference = recorded.event.reference
    place = f"{reference.namespace}/" if reference.namespace else ""
    return (reference.group, reference.kind), f"{place}{reference.name}"
