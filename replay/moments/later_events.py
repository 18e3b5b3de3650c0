"""Events of an object after a moment."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine.events import KINDS, Effect, Recorded, Reference
from ...engine.log.store import LogStore, Query
from .moment import Moment

SHOWING = (Effect.VERSION, Effect.DELETED)
"""Effects of events with a revision that show that their object existed then."""


def later_events(
    store: LogStore, moment: Moment, reference: Reference, *, limit: int | None = None
) -> Iterator[Recorded]:
    """Yield an object's events after a moment's revision that the moment's position includes.

    :param limit: at most this many.
    """
    if moment.revision is None:
        return
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        objects=((reference.group, reference.kind),),
        namespace=reference.namespace,
        name=reference.name,
        uid=reference.uid,
        revisions=(moment.revision + 1, None),
        limit=limit,
    )
    yield from store.read(query)


def has_later_event(store: LogStore, moment: Moment, reference: Reference) -> bool:
    """Return whether a version or deletion of an object follows that has a revision.

    Only events up to the moment's position count.
    """
    later = later_events(store, moment, reference)
    return any(KINDS[recorded.event.kind].effect in SHOWING for recorded in later)
