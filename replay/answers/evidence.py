"""The events that an answer rests on: the versions of the objects that it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ...engine.events import KINDS, Effect, Recorded
from ...engine.log.store import Query
from ...engine.state.clock import TimeSpan
from ..logs.log import Log
from ..moments.actors import attributed
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from ..moments.times import span_text
from ..moments.verbs import with_verbs
from ..objects.kind_names import plain_name
from ..tabular.record_columns import Time
from ..truth.object_events import had_happened_by, in_order, placed_of
from .finding import ObjectKey
from .records import Evidence

_CHANGING = (Effect.VERSION, Effect.DELETED, Effect.BOUND)


def versions_of(log: Log, moment: Moment, about: ObjectKey) -> list[Recorded]:
    """Return the events that change an object up to a moment, in the order of happening.

    Of events without a revision, bindings count whose version the log does not have; the others
    only if no event of the object has a revision.
    """
    pair, key = about
    namespace, _, name = key.rpartition("/")
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        objects=(pair,),
        namespace=namespace,
        name=name,
    )
    # What was only seen gets the verb of the change that made it, if another input shows that.
    read = with_verbs(log.store, moment, log.store.read(query))
    events = [event for event in read if KINDS[event.event.kind].effect in _CHANGING]
    dated = [event for event in events if event.event.revision is not None]
    if not dated:
        return events
    last = moment.revision
    by_then = [event for event in dated if last is None or (event.event.revision or 0) <= last]
    bindings = [event for event in events if event.event.revision is None and _binds(event)]
    if not bindings:
        return sorted(by_then, key=lambda event: (event.event.revision or 0, event.position))
    clock = clock_of(log.store, branch=moment.branch, cluster=moment.cluster)
    counted = [
        placed
        for placed in placed_of([*by_then, *bindings], clock)
        # A version that the log has by then stands for the request that made it.
        if had_happened_by(placed, moment) and not 0 < placed.made <= moment.known
    ]
    return [placed.recorded for placed in sorted(counted, key=in_order)]


def _binds(recorded: Recorded) -> bool:
    return KINDS[recorded.event.kind].effect is Effect.BOUND


def keys_of(log: Log, moment: Moment, events: Iterable[Evidence]) -> Callable[[Evidence], int]:
    """Return what tells the place of events in the order of happening: twice their revisions.

    Those without a revision are between two revisions, where the clock places them.
    """
    undated = [event.position for event in events if event.revision is None]
    keys: Mapping[int, int] = {}
    if undated:
        clock = clock_of(log.store, branch=moment.branch, cluster=moment.cluster)
        keys = clock.loose_keys(undated)
    return lambda event: (
        keys.get(event.position, 0) if event.revision is None else event.revision * 2
    )


def of_the_last(versions: list[Recorded]) -> list[Recorded]:
    """Return the events of the last of several objects that had one name after the other.

    :param versions: as of :func:`versions_of`.
    """
    uids = [version.event.reference.uid for version in versions]
    # A binding may lack the uid of its pod.
    uid = next((uid for uid in reversed(uids) if uid), "")
    places = (place for place, own in enumerate(uids) if own == uid)
    return versions[next(places, 0) :]


def last_versions(log: Log, moment: Moment, about: Iterable[ObjectKey]) -> Iterator[Evidence]:
    """Yield the last event of each object by a moment; objects without a name are skipped."""
    last = [
        versions[-1]
        for object_key in dict.fromkeys(about)
        if object_key[1] and (versions := versions_of(log, moment, object_key))
    ]
    yield from evidence_of(log, moment, last)


def first_version(log: Log, moment: Moment, about: ObjectKey, uid: str = "") -> Evidence | None:
    """Return the first event of an object, of the one with a uid if several had the name."""
    for version in versions_of(log, moment, about):
        if uid in {"", version.event.reference.uid}:
            return next(evidence_of(log, moment, [version]))
    return None


def evidence_of(log: Log, moment: Moment, events: list[Recorded]) -> Iterator[Evidence]:
    """Yield events as records, with their times."""
    clock = clock_of(log.store, branch=moment.branch, cluster=moment.cluster)
    named = with_verbs(log.store, moment, events)
    for recorded in attributed(log.store, clock, named, branch=moment.branch):
        event, reference = recorded.event, recorded.event.reference
        place = f"{reference.namespace}/" if reference.namespace else ""
        yield Evidence(
            position=recorded.position,
            revision=event.revision,
            **dated(recorded.span),
            kind=event.kind,
            about=f"{plain_name(reference.group, reference.kind)}/{place}{reference.name}",
            by=recorded.actor,
        )


def dated(span: TimeSpan) -> dict[str, Any]:
    """Return the fields of a :class:`.dated.Dated`."""
    bounds = {name: Time.of(time) for name, time in msgspec.structs.asdict(span).items()}
    return {"time": span_text(span), **bounds}
