"""Deletions of collections that may have selected an object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...engine.events import KINDS, Effect, Recorded, Reference
from ...engine.log.store import LogStore, Query
from ...engine.state.collections import collection_of
from ..objects.kind_names import ObjectName
from .moment import Moment


def collection_deletions(
    store: LogStore,
    moment: Moment,
    named: ObjectName,
    namespace: str,
    events: Sequence[Recorded],
) -> list[Recorded]:
    """Return the deletions of collections that may have deleted an object, as events about it.

    :param events: all others about the object; what a selector chooses is compared with its
        versions. If there are none, nothing says that there was such an object.
    """
    if not events:
        return []
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        kinds=("collection.deleted",),
        objects=((named.group, named.kind),),
        # An event about a whole collection names no object.
        name="",
    )
    versions = [event for event in events if KINDS[event.event.kind].effect is Effect.VERSION]
    payloads = {version.position: version.event.payload for version in versions}
    uids = {event.event.reference.uid for event in versions}
    # With several objects of the name, nothing says which of them the collection had.
    uid = uids.pop() if len(uids) == 1 else ""
    about = Reference(named.group, named.kind, namespace, named.name, uid)
    deletions = []
    for recorded in _inside(store, query, namespace):
        chosen = collection_of(recorded.event.payload)
        selects = [chosen.may_select(position, payloads.__getitem__) for position in payloads]
        # Without a version to compare, the selector excludes nothing.
        if any(selects) or not selects:
            event = msgspec.structs.replace(recorded.event, reference=about)
            deletions.append(msgspec.structs.replace(recorded, event=event))
    return deletions


def _inside(store: LogStore, query: Query, namespace: str) -> Iterator[Recorded]:
    for recorded in store.read(query):
        if recorded.event.reference.namespace in {"", namespace}:
            yield recorded
