"""Who caused events: the event itself says it, or another event of the log does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ...engine.events import KINDS, Effect, Recorded
from ...engine.log.store import LogStore, Query
from ...engine.state.clock import Clock, TimeSpan
from .times import AT_ONCE, own_span, with_spans

_MADE = (Effect.VERSION, Effect.DELETED)


class AttributedEvent(Recorded, frozen=True, kw_only=True, gc=False):
    """An event of the log, with what other events say about it.

    :param span: between which times it happened.
    :param actor: who caused it; empty where the log does not know.
    :param made: position of the version that this request made, as the request has no revision;
        0 if none is known.
    """

    span: TimeSpan
    actor: str
    made: int = 0


def attributed(
    store: LogStore,
    clock: Clock,
    events: Iterable[Recorded],
    *,
    branch: str,
    at_once: int = AT_ONCE,
) -> Iterator[AttributedEvent]:
    """Yield events with the bounds of their times, and who caused them.

    :param at_once: how many are held in memory; 1 for events that are waited for.
    """
    source = iter(events)
    while block := list(islice(source, at_once)):
        writes = _writes(store, clock, block, branch)
        loose_spans = clock.loose_spans(
            [event.position for event in block if event.event.revision is None]
        )
        for recorded, span in with_spans(block, clock):
            actor = actor_of(recorded, span)
            if not actor and recorded.position in writes:
                actor = actor_of(writes[recorded.position], span)
            yield _attributed(
                recorded, span, actor, loose_spans.get(recorded.position, (span, 0))[1]
            )


def self_attributed(recorded: Recorded) -> AttributedEvent:
    """Return an event with only what it says itself."""
    if isinstance(recorded, AttributedEvent):
        return recorded
    return _attributed(recorded, own_span(recorded), recorded.event.actor)


def short_actor(name: str) -> str:
    """Return an actor without what all service accounts begin with."""
    return name.rpartition(":")[2] if name.startswith("system:serviceaccount:") else name


def actor_of(recorded: Recorded, span: TimeSpan) -> str:
    """Return who an event says caused it; empty if the version existed before the request.

    A write that changes nothing is answered with the existing version, and not every answer shows
    that.

    :param span: the clock's bounds of its time.
    """
    asked, latest = recorded.event.earliest, span.latest
    return (
        "" if asked is not None and latest is not None and asked > latest else recorded.event.actor
    )


def _attributed(recorded: Recorded, span: TimeSpan, actor: str, made: int = 0) -> AttributedEvent:
    return AttributedEvent(
        position=recorded.position,
        branch=recorded.branch,
        recorded_at=recorded.recorded_at,
        event=recorded.event,
        span=span,
        actor=actor,
        made=made,
    )


def _writes(
    store: LogStore, clock: Clock, events: Sequence[Recorded], branch: str
) -> dict[int, Recorded]:
    """Return the writes that made versions without an actor, by the version's position."""
    open_ = [
        each for each in events if not each.event.actor and KINDS[each.event.kind].effect in _MADE
    ]
    requests = clock.requests_of([each.position for each in open_])
    wanted = tuple(sorted(requests.values()))
    by_position = {
        each.position: each
        for each in (store.read(Query(branch=branch, positions=wanted)) if wanted else ())
    }
    writes = {version: by_position[request] for version, request in requests.items()}
    # An audit log names the version that it is about; the clock only infers which request made it.
    return writes | _audited_writes(store, open_, branch)


def _audited_writes(
    store: LogStore, events: Sequence[Recorded], branch: str
) -> dict[int, Recorded]:
    versions = {
        (each.event.reference.uid, each.event.revision): each.position
        for each in events
        if each.event.revision is not None
    }
    if not versions:
        return {}
    revisions = [revision for _, revision in versions if revision is not None]
    query = Query(
        branch=branch,
        kinds=("version.attributed",),
        revisions=(min(revisions), max(revisions)),
    )
    writes: dict[int, Recorded] = {}
    for recorded in store.read(query):
        version = (recorded.event.reference.uid, recorded.event.revision)
        if version in versions:
            writes[versions[version]] = recorded
    return writes
