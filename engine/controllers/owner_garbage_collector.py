"""Kubernetes' garbage collector: it deletes objects whose owners are gone.

Deletion is in the background: an owner goes at once, and what it owned follows. Finalizers that
keep an owner until its objects are gone (foreground), or that leave the objects alone (orphan),
play no part here.

Source: k8s.io/kubernetes/pkg/controller/garbagecollector: graph_builder.go processGraphChanges,
garbagecollector.go attemptToDeleteWorker, attemptToDeleteItem.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from ..kubernetes import work_queue
from ..kubernetes.api_errors import NotFound, Refused
from ..kubernetes.api_server import DELETED, Document, ObjectKey
from ..kubernetes.resources import distinct_kind
from ..kubernetes.work_queue import WorkQueue
from .component import Client
from .pointer_requests import next_due
from .workloads import namespace_of

WORK = "collect"
"""The only step: a worker takes the first object."""


class Identity(NamedTuple):
    """Which object is meant: one of this name, and no later one."""

    place: ObjectKey
    uid: str


class KnownObject(NamedTuple):
    """What is known of an object: its uid and its owners."""

    uid: str
    owners: tuple[Identity, ...]


class OwnerCollectorState(NamedTuple):
    """All that the collector holds: objects by place, and objects that wait for a worker."""

    known: tuple[tuple[ObjectKey, KnownObject], ...]
    queue: work_queue.WorkQueueState[Identity]


class OwnerGarbageCollector:
    """Deletes objects all of whose owners are gone.

    An object waits for a worker when an owner is seen deleted, and when it is itself seen with an
    owner that was not seen. The worker asks the API server whether the owners exist. It asks again,
    later each time, until each owner is seen: one may come and go while its watch is broken.

    :param kinds: the kinds of owners, and of what they own.
    """

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.kinds = kinds
        self._known: dict[ObjectKey, KnownObject] = {}
        self._owned: dict[str, set[ObjectKey]] = {}
        """By the uid of an owner."""
        self._queue = WorkQueue[Identity]()

    def deliver(
        self,
        verb: str,
        kind: str,
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- handlers only queue
    ) -> None:
        """Let an informer deliver a change: what has lost an owner waits for a worker."""
        place, uid = ObjectKey(kind, key), document["metadata"]["uid"]
        if verb == DELETED:
            self._forget(place)
            for owned in sorted(self._owned.get(uid, ())):
                self._queue.add(Identity(owned, self._known[owned].uid))
            return
        # Its owners may have changed: the old references go before the new ones come.
        self._forget(place)
        known_object = KnownObject(uid, tuple(_owners_of(document)))
        self._know(place, known_object)
        if not all(self._is_known(owner) for owner in known_object.owners):
            self._queue.add(Identity(place, uid))

    def steps(self) -> Sequence[str]:
        """Return whether a worker has something to do."""
        return (WORK,) if len(self._queue) else ()

    def step(self, name: str, client: Client) -> None:
        """Let a worker take the first object, and delete it if all its owners are gone.

        What fails is tried again, later each time; so is an object with an owner that is not seen.
        """
        assert name == WORK
        item = self._queue.take()
        try:
            stays = _collect(item, client)
        except Refused:
            self._queue.add_rate_limited(item)
        else:
            if stays and self._waits_for_owner(item):
                self._queue.add_rate_limited(item)
            else:
                self._queue.forget(item)
        self._queue.done(item)

    def due(self) -> int | None:
        """Return in how many microseconds the first delay is over; None if nothing waits."""
        return next_due(self._queue)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self._queue.advance(self._queue.now + by)

    def kept(self) -> OwnerCollectorState:
        """Return all that the collector holds."""
        return OwnerCollectorState(tuple(sorted(self._known.items())), self._queue.kept())

    def restore(self, kept: OwnerCollectorState) -> None:
        """Hold what another collector held, and nothing else."""
        self._known, self._owned = {}, {}
        for place, known_object in kept.known:
            self._know(place, known_object)
        self._queue.restore(kept.queue)

    def _waits_for_owner(self, item: Identity) -> bool:
        """Say whether an object has an owner that an informer is still to deliver."""
        known_object = self._known.get(item.place)
        return known_object is not None and any(
            owner.place.kind in self.kinds and not self._is_known(owner)
            for owner in known_object.owners
        )

    def _know(self, place: ObjectKey, known_object: KnownObject) -> None:
        self._known[place] = known_object
        for owner in known_object.owners:
            self._owned.setdefault(owner.uid, set()).add(place)

    def _forget(self, place: ObjectKey) -> None:
        known_object = self._known.pop(place, None)
        for owner in known_object.owners if known_object is not None else ():
            places = self._owned[owner.uid]
            places.discard(place)
            if not places:
                del self._owned[owner.uid]

    def _is_known(self, owner: Identity) -> bool:
        known_object = self._known.get(owner.place)
        return known_object is not None and known_object.uid == owner.uid


def _collect(item: Identity, client: Client) -> bool:
    """Delete an object all of whose owners are gone, unless it is being deleted; say if it stays.

    :raises Refused: the request fails.
    """
    fresh = client.find(*item.place)
    # Another object of that name has other owners, and waits by itself.
    if fresh is None or fresh["metadata"]["uid"] != item.uid:
        return False
    owners = _owners_of(fresh)
    if not owners or any(_exists(owner, client) for owner in owners):
        return True
    if "deletionTimestamp" not in fresh["metadata"]:
        with suppress(NotFound):
            client.delete(*item.place, uid=item.uid)
    return False


def _exists(owner: Identity, client: Client) -> bool:
    existing = client.find(*owner.place)
    return existing is not None and existing["metadata"]["uid"] == owner.uid


def _owners_of(document: Document) -> list[Identity]:
    """Return an object's owners; all of them are in its namespace."""
    references = document["metadata"].get("ownerReferences") or ()
    return [
        Identity(
            ObjectKey(
                distinct_kind(reference.get("apiVersion", ""), reference["kind"]),
                f"{namespace_of(document)}/{reference['name']}",
            ),
            reference.get("uid", ""),
        )
        for reference in references
    ]
