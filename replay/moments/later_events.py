"""Whether something happened to an object after a moment, or by then."""

from __future__ import annotations

from ...engine.events import KINDS, Effect, Reference
from ...engine.log.store import LogStore, Query
from .moment import Moment

SHOWING = (Effect.VERSION, Effect.DELETED)
"""Effects of events with a revision that show that their object existed then."""


def has_later_event(store: LogStore, moment: Moment, reference: Reference) -> bool:
    """Return whether a version or deletion of an object follows that has a revision.

    Only events up to the moment's position count.
    """
    # Such a moment has all that is known by its position, and nothing is later.
    if moment.revision is None:
        return False
    return _is_shown(store, moment, reference, (moment.revision + 1, None))


def has_earlier_event(store: LogStore, moment: Moment, reference: Reference) -> bool:
    """Return whether there is a version or deletion of an object up to a moment's revision.

    Only events up to the moment's position count.
    """
    return _is_shown(store, moment, reference, (None, moment.revision))


def _is_shown(
    store: LogStore, moment: Moment, reference: Reference, revisions: tuple[int | None, int | None]
) -> bool:
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        objects=((reference.group, reference.kind),),
        namespace=reference.namespace,
        name=reference.name,
        uid=reference.uid,
        revisions=revisions,
    )
    return any(KINDS[recorded.event.kind].effect in SHOWING for recorded in store.read(query))
