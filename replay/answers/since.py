"""Since when an answer holds: sessions at earlier moments, and what happened in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.events import KINDS, Effect, Recorded
from ...engine.log.store import Query
from ...engine.state.coverage import Pair
from ..compare.session_moments import at_revision, session_places
from ..moments.belief import beliefs_along
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.times import span_text
from .evidence import evidence_of, versions_of
from .finding import Finding, ObjectKey
from .records import Evidence, Since, Stage
from .run import NODE, POD, PODGROUP, QUEUE, Run

MOST = 60
"""How many sessions are run at most to find since when an answer holds."""

_WORK = 15_000
"""About how many nodes and pods these sessions may see together."""

_NAMED = 6
"""How many events in between are named."""

_DECIDING: tuple[Pair, ...] = (POD, NODE, PODGROUP, QUEUE)
_CHANGING = frozenset({Effect.VERSION, Effect.DELETED, Effect.BOUND})

Look = Callable[[Moment, SchedulerCache], Finding | None]
"""Returns what the session at a moment says, given the scheduler's cache then."""


class Sample(NamedTuple):
    """What the session at one moment said.

    :param place: the number of the moment among all at which sessions ran.
    """

    moment: Moment
    place: int
    finding: Finding


class Past(NamedTuple):
    """The answers from the beginning to the present.

    :param sessions: how many sessions were run.
    """

    stages: tuple[Stage, ...]
    sessions: int


class Search(NamedTuple):
    """What is needed to look at earlier moments.

    :param began: the event with which the object began.
    :param marks: revisions at which something about the object changed; others matter less.
    :param look: what the session at another moment says.
    """

    began: Evidence | None
    marks: Sequence[int]
    look: Look


def past_of(log: Log, present: Run, finding: Finding, search: Search) -> Past:
    """Return which answers held since an object began to wait, oldest first."""
    end, began = present.moment, search.began
    if began is None or began.revision is None:
        return Past((), 0)
    places = [
        one.moment.revision
        for one in session_places(log, end, since=began.revision).found
        if one.moment.revision is not None
    ]
    now = end.revision if end.revision is not None else max([began.revision, *places])
    places = [one for one in places if one < now]
    chosen = _chosen(places, search.marks, _budget(present))
    moments = [at_revision(end, places[at]) for at in chosen]
    found = _found(log, present, moments, search.look)
    samples = [
        Sample(moment, at, one)
        for at, (moment, one) in zip(chosen, found, strict=True)
        if one is not None
    ]
    samples.append(Sample(at_revision(end, now), len(places), finding))
    return Past(tuple(_stages(log, samples)), len(samples) - 1)


def changes_of(log: Log, moment: Moment, about: ObjectKey) -> list[int]:
    """Return the revisions at which the status of an object changed in phase or conditions."""
    found, before = [], None
    for recorded in versions_of(log, moment, about):
        if KINDS[recorded.event.kind].effect is Effect.BOUND:
            continue
        status = msgspec.json.decode(recorded.event.payload).get("status") or {}
        told = [one.get("message") for one in status.get("conditions") or []]
        now = (status.get("phase"), told)
        if before != now and recorded.event.revision is not None:
            found.append(recorded.event.revision)
        before = now
    return found


def _budget(present: Run) -> int:
    cache = present.cache
    size = len(cache.nodes) + sum(len(job.tasks) for job in cache.jobs.values()) + 1
    return max(2, min(MOST, _WORK // size))


def _chosen(places: Sequence[int], marks: Sequence[int], count: int) -> list[int]:
    """Return the places to look at, as numbers: around the marks, then evenly; ascending."""
    if len(places) <= count:
        return list(range(len(places)))
    wanted: dict[int, None] = {0: None}
    for mark in reversed(marks):
        after = next((at for at, place in enumerate(places) if place >= mark), len(places))
        wanted |= dict.fromkeys(at for at in (after - 1, after) if 0 <= at < len(places))
    step = max(1, count // 2)
    spread = [len(places) * part // step for part in range(step)]
    order = [*list(wanted)[: count - step], len(places) - 1, *spread]
    return sorted(list(dict.fromkeys(order))[:count])


def _found(
    log: Log, present: Run, moments: Sequence[Moment], look: Look
) -> Iterator[tuple[Moment, Finding | None]]:
    """Yield what the sessions at some moments say, in ascending order."""
    for moment, (cache,) in beliefs_along(log.store, moments, present.cache.behaviours):
        yield moment, look(moment, cache)


def _stages(log: Log, samples: Sequence[Sample]) -> Iterator[Stage]:
    """Yield runs of samples with one answer."""
    for number, sample in enumerate(samples):
        before = samples[number - 1] if number else None
        if before is not None and before.finding.cause == sample.finding.cause:
            continue
        last = _last_like(samples, number)
        yield Stage(
            cause=sample.finding.cause,
            sentence=samples[last].finding.sentence,
            since=_since(log, before, sample),
        )


def _last_like(samples: Sequence[Sample], number: int) -> int:
    """Return the last of a run of samples with the same answer."""
    cause = samples[number].finding.cause
    while number + 1 < len(samples) and samples[number + 1].finding.cause == cause:
        number += 1
    return number


def _since(log: Log, before: Sample | None, sample: Sample) -> Since:
    moment = sample.moment
    assert moment.revision is not None, "samples are at revisions"
    time = span_text(log.clock(moment).spans([moment.revision])[0])
    if before is None:
        return Since(at=moment.label, time=time)
    about = (*sample.finding.about, *before.finding.about)
    return Since(
        at=moment.label,
        time=time,
        not_at=before.moment.label,
        exact=sample.place - before.place <= 1,
        events=tuple(_between(log, before.moment, moment, about)),
    )


def _between(
    log: Log, before: Moment, after: Moment, about: Sequence[ObjectKey]
) -> Iterator[Evidence]:
    """Yield what happened in between; of many events, those about the objects of the answer."""
    assert before.revision is not None, "samples are at revisions"
    query = Query(
        branch=after.branch,
        cluster=after.cluster,
        until=after.known,
        objects=_DECIDING,
        revisions=(before.revision + 1, after.revision),
    )
    found = [one for one in log.store.read(query) if KINDS[one.event.kind].effect in _CHANGING]
    found = _newest(found)
    if len(found) > _NAMED:
        kept = [one for one in found if _key(one) in set(about)]
        found = kept or [one for one in found if _key(one)[0] in {NODE, QUEUE}]
    yield from evidence_of(log, after, found[-_NAMED:])


def _newest(found: Sequence[Recorded]) -> list[Recorded]:
    """Return the last event of each object, in order of revision."""
    last = {_key(one): one for one in sorted(found, key=lambda one: one.event.revision or 0)}
    return sorted(last.values(), key=lambda one: (one.event.revision or 0, one.position))


def _key(recorded: Recorded) -> ObjectKey:
    reference = recorded.event.reference
    place = f"{reference.namespace}/" if reference.namespace else ""
    return (reference.group, reference.kind), f"{place}{reference.name}"
