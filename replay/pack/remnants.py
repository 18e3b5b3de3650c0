"""What a scheduler's cache still holds of the past, and which earlier events explain it.

A cache depends on its whole history: it may hold a job whose PodGroup is gone. So the state at the
begin of a slice is not enough. The cache of the log is compared with one that knows only that
state; of what differs, the slice gets all earlier events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.events import KINDS, Effect
from ...engine.log.store import Query
from ...engine.state.facts import PodFact
from ...engine.volcano.session.behaviours import Behaviours
from ..belief.belief import belief_at
from ..logs.log import Log
from ..moments.moment import Moment
from ..render.believed import PARTS, records_of
from ..render.documents import plain

Unit = tuple[str, str]
"""A part of a cache, as in ``jobs``, and the name of something in it."""

_POD, _PODGROUP = ("", "Pod"), ("scheduling.volcano.sh", "PodGroup")
_OBJECTS: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "nodes": (("", "Node"),),
        "jobs": (_PODGROUP,),
        "tasks": (_POD,),
        "queues": (("scheduling.volcano.sh", "Queue"),),
        "hypernodes": (("topology.volcano.sh", "HyperNode"),),
        "work": (_PODGROUP,),
    }
)
"""The kinds of the objects that a part of a cache is made of, by the same names."""

_CHANGING = (Effect.VERSION, Effect.DELETED, Effect.BOUND)
_ACCOUNTS = ("allocatable", "used", "idle", "releasing", "allocated")


def cache_units(cache: SchedulerCache) -> dict[Unit, Any]:
    """Return everything in a cache by part and name.

    An amount of 0 counts as none: it only says that there once was more.
    """
    units: dict[Unit, Any] = {}
    for part, shape in PARTS.items():
        for document in plain(records_of(cache, part)):
            for account in _ACCOUNTS:
                if account in document:
                    amounts = document[account]
                    document[account] = {name: of for name, of in amounts.items() if of != "0"}
            units.setdefault((part, document[shape.name]), []).append(document)
    return units


def units_at(log: Log, at: Moment, behaviours: Behaviours) -> dict[Unit, Any]:
    """Return everything in the cache of a release's scheduler at a moment."""
    return cache_units(belief_at(log.store, at, behaviours))


def differing_units(some: Mapping[Unit, Any], others: Mapping[Unit, Any]) -> list[Unit]:
    """Return what differs between two caches."""
    return sorted(name for name in {*some, *others} if some.get(name) != others.get(name))


def events_of(log: Log, at: Moment, units: Iterable[Unit]) -> Iterator[int]:
    """Yield the positions of all events up to a moment about the objects of parts of a cache."""
    clock = log.clock(at)
    revision = at.revision or 0
    # Twice the revision is the clock's key; -2 is before the begin of every log.
    loose = frozenset(clock.loose(-2, revision * 2).positions.tolist())
    for unit in units:
        for query in (*_queries(at, *unit), *_of_pods_on(log, at, *unit)):
            for recorded in log.store.read(query):
                dated = recorded.event.revision
                if recorded.position in loose or (dated is not None and dated <= revision):
                    yield recorded.position


def _queries(at: Moment, part: str, full: str) -> Iterator[Query]:
    """Yield queries for the events of the objects that a part of a cache is made of."""
    namespace, _, name = full.rpartition("/")
    for pair in _OBJECTS[part]:
        yield _about(at, pair, namespace, name)
    if part == "work":  # A worker that synchronises a pod knows it by its uid: job/uid.
        query = Query(branch=at.branch, cluster=at.cluster, until=at.known, objects=(_POD,))
        yield msgspec.structs.replace(query, uid=name)


def _of_pods_on(log: Log, at: Moment, part: str, name: str) -> Iterator[Query]:
    """Yield queries for the pods that ran on a node when it was deleted.

    What they did afterwards makes the scheduler's cache hold a node without a Node.
    """
    if part != "nodes":
        return
    gone = [
        recorded.event.revision
        for recorded in log.store.read(_about(at, ("", "Node"), "", name))
        if KINDS[recorded.event.kind].effect is Effect.DELETED
        and recorded.event.revision is not None
        and recorded.event.revision <= (at.revision or 0)
    ]
    # Only the last deletion: after an earlier one the node was there again.
    for revision in gone[-1:]:
        for entry in log.truth(before(at, revision - 1)).of(*_POD):
            if isinstance(entry.fact, PodFact) and entry.fact.node == name:
                yield _about(at, _POD, entry.reference.namespace, entry.reference.name)


def all_before(log: Log, at: Moment) -> Iterator[int]:
    """Yield the positions of all changes up to a moment."""
    revision = at.revision or 0
    # Changes without a revision have no place in the query below.
    yield from log.clock(at).loose(-2, revision * 2).positions.tolist()
    query = Query(branch=at.branch, cluster=at.cluster, until=at.known, revisions=(0, revision))
    for recorded in log.store.read(query):
        if KINDS[recorded.event.kind].effect in _CHANGING:
            yield recorded.position


def _about(at: Moment, pair: tuple[str, str], namespace: str, name: str) -> Query:
    """Return the query for the events of an object by its name."""
    query = Query(branch=at.branch, cluster=at.cluster, until=at.known, objects=(pair,))
    return msgspec.structs.replace(query, namespace=namespace, name=name)


def before(at: Moment, revision: int) -> Moment:
    """Return the moment at a revision of the log that another moment belongs to."""
    return msgspec.structs.replace(at, revision=revision, time=None, label=f"rv:{revision}")
