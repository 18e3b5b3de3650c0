"""One write as an API server carries it out: from the objects that it is about to their versions.

The machine's API server checks and stores. What other components would do afterwards is done here
too: the garbage collector deletes what an owner leaves behind, the namespace controller what is in
a namespace, and the kubelet ends pods that are being deleted. Nothing here reads a log or a clock.

Source: k8s.io/apiserver pkg/registry/generic/registry/store.go; k8s.io/kubernetes
pkg/registry/core/pod/storage; pkg/controller/garbagecollector/garbagecollector.go.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from .....engine.kubernetes.api_server import (
    ADDED,
    DELETED,
    ApiServer,
    ObjectKey,
    WatchEvent,
    place_of,
)
from .....engine.kubernetes.units import SECOND_US, format_time
from ..wire.loose_fields import objects
from .patches import counted
from .strategic import Document

ENDING, SCHEDULED = "deletionTimestamp", "PodScheduled"
ORPHAN, FOREGROUND = "Orphan", "Foreground"

_SERVER_SETS = frozenset(
    {
        *("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"),
        *("selfLink", ENDING, "deletionGracePeriodSeconds"),
    }
)
"""Fields of metadata that a client does not choose."""


class WrittenVersionOf(NamedTuple):
    """A version of an object that a write makes.

    :param verb: ``created``, ``updated`` or ``deleted``.
    :param bound: the node that a binding gave to a pod; empty for all other writes.
    """

    verb: str
    document: Document
    bound: str = ""


class DeletionOptions(NamedTuple):
    """The options of a deletion.

    :param uid: a precondition, as ``version`` is. :param trial: whether nothing may be stored.
    """

    uid: str | None = None
    version: str | None = None
    grace: int | None = None
    propagation: str = ""
    trial: bool = False


class Others(Protocol):
    """The objects that a write is not about, but may concern."""

    def owned_by(self, uid: str) -> Iterable[Document]:
        """Return the objects that name an owner."""

    def inside(self, namespace: str) -> Iterable[Document]:
        """Return the objects in a namespace."""

    def has(self, uid: str) -> bool:
        """Return whether there is an object with a uid."""

    def is_gone(self, owner: Mapping[str, Any]) -> bool:
        """Return whether the object of an owner reference is known not to exist (any more)."""


class Storage:
    """Carries out one write.

    :param others: what the write may concern besides.
    :param now: the time, in microseconds since 1970. :param new_uid: returns a new uid.
    :ivar versions: what the write made, in order; their resourceVersions are still to be given.
    """

    def __init__(self, others: Others, now: int, new_uid: Callable[[], str]) -> None:
        self._server = ApiServer(clock=lambda: now)
        self._others, self._now, self._new_uid = others, now, new_uid
        self._last: dict[ObjectKey, Document] = {}
        self._gone: set[str] = set()
        self._kept: set[str] = set()
        self.versions: list[WrittenVersionOf] = []

    def create(self, given: Document) -> None:
        """Store a new object; there is none of its name."""
        own = {name: value for name, value in given["metadata"].items() if name not in _SERVER_SETS}
        metadata = {**own, "uid": self._new_uid()}
        if "spec" in given and "/" in given["apiVersion"]:
            metadata["generation"] = 1
        self._server.create({**given, "metadata": metadata})
        self._settle()

    def update(self, held: Document, given: Document, *, status: bool = False) -> None:
        """Replace an object, but for its status; or its status alone.

        :raises Conflict: it has another resourceVersion or uid.
        """
        self._hold(held)
        self._server.update(given, status=status)
        self._settle()

    def bind(self, pod: Document, node: str, uid: str | None, notes: Mapping[str, str]) -> None:
        """Give a pod a node.

        :param uid: a precondition. :param notes: annotations that the pod gets.
        :raises Conflict: it has another uid or a node already, or is being deleted.
        """
        place = self._hold(pod)
        now = format_time(self._now // SECOND_US * SECOND_US)
        condition = {"type": SCHEDULED, "status": "True", "lastTransitionTime": now}
        conditions = (pod.get("status") or {}).get("conditions") or []
        others = [condition for condition in conditions if condition.get("type") != SCHEDULED]
        also: Document = {"status": {"conditions": [*others, condition]}}
        if notes:
            also["metadata"] = {"annotations": dict(notes)}
        self._server.bind(place.key, node, uid, also)
        self._settle()
        self.versions[-1] = self.versions[-1]._replace(bound=node)

    def delete(self, held: Document, how: DeletionOptions) -> None:
        """Delete an object, or begin to if it has finalizers.

        :raises Conflict: a precondition fails.
        """
        place = self._hold(held)
        uid = held["metadata"]["uid"]
        if how.propagation == ORPHAN:
            self._kept.add(uid)
            for dependent in self._others.owned_by(uid):
                self._disown(dependent, {uid})
        elif how.propagation == FOREGROUND:
            self._collect(held)
        self._server.delete(*place, uid=how.uid, version=how.version, grace=how.grace)
        self._settle()
        if self._is_over(self._server.find(*place)):  # It was being deleted before.
            self._server.delete(*place, grace=0)
            self._settle()

    def _hold(self, document: Document) -> ObjectKey:
        """Let the server have an object that exists, without fields that are null."""
        place = place_of(document)
        if place not in self._last:
            self._last[place] = plain = without_nulls(document)
            self._server.hold(plain)
        return place

    def _settle(self) -> None:
        """Note what changed, and do what other components would do then, until nothing changes."""
        while changes := self._server.take_changes():
            # Before anything is noted, while the owners of the version before are still known.
            late = [change for change in changes if self._is_new_dependent(change)]
            for change in changes:
                self._note(change)
            for change in late:
                self._leave(change)
            for change in changes:
                if change.verb == DELETED:
                    self._collect(change.document)
                elif self._is_over(self._server.find(change.kind, change.key)):
                    self._server.delete(change.kind, change.key, grace=0)

    def _is_new_dependent(self, change: WatchEvent) -> bool:
        """Return whether a version names owners that the one before it did not name."""
        before = self._last.get(ObjectKey(change.kind, change.key))
        known = set() if before is None else set(owners_of(before))
        return change.verb != DELETED and not known.issuperset(owners_of(change.document))

    def _leave(self, change: WatchEvent) -> None:
        """Delete an object that comes after all its owners are gone; else it loses those."""
        held = self._server.find(change.kind, change.key)
        if held is None:
            return
        owners = [reference for reference in owner_references(held) if reference.get("uid")]
        gone = {owner["uid"] for owner in owners if self._others.is_gone(owner)}
        if gone and all(owner["uid"] in gone for owner in owners):
            self._remove(held)
        elif gone:
            self._disown(self._last[ObjectKey(change.kind, change.key)], gone)

    def _note(self, change: WatchEvent) -> None:
        place = ObjectKey(change.kind, change.key)
        before = self._last.pop(place, None)
        document = change.document if before is None else counted(before, change.document)
        if change.verb == DELETED:
            self._gone.add(document["metadata"]["uid"])
        else:
            self._last[place] = document
            if self._server.find(*place) is not None:  # It may be gone by what followed at once.
                self._server.hold(document)
        verb = {ADDED: "created", DELETED: "deleted"}.get(change.verb, "updated")
        self.versions.append(WrittenVersionOf(verb, document))

    @staticmethod
    def _is_over(held: Document | None) -> bool:
        """Return whether a kubelet would end an object now: a pod that is being deleted."""
        if held is None or held["kind"] != "Pod":
            return False
        metadata = held["metadata"]
        return ENDING in metadata and not metadata.get("finalizers")

    def _collect(self, owner: Document) -> None:
        """Delete what only this object owned, what is in a namespace, a Service's Endpoints."""
        metadata = owner["metadata"]
        uid = metadata["uid"]
        # What it owned is dealt with once, although its deletion is begun and ended.
        if uid not in self._kept:
            self._kept.add(uid)
            for dependent in self._others.owned_by(uid):
                if any(
                    self._stays(owner_uid) for owner_uid in owners_of(dependent) if owner_uid != uid
                ):
                    self._disown(dependent, {uid})
                else:
                    self._remove(dependent)
        if owner["kind"] == "Namespace":
            for inner in self._others.inside(metadata["name"]):
                self._remove(inner)
        elif owner["kind"] == "Service":
            for inner in self._others.inside(metadata.get("namespace", "")):
                if inner["kind"] == "Endpoints" and inner["metadata"]["name"] == metadata["name"]:
                    self._remove(inner)

    def _stays(self, uid: str) -> bool:
        return uid not in self._gone and self._others.has(uid)

    def _disown(self, document: Document, uids: Container[str]) -> None:
        """Let an object lose some owners, in one version."""
        if document["metadata"]["uid"] in self._gone:
            return
        place = self._hold(document)
        left = [owner for owner in owner_references(document) if owner.get("uid") not in uids]
        self._server.patch(*place, {"metadata": {"ownerReferences": left or None}})

    def _remove(self, document: Document) -> None:
        if document["metadata"]["uid"] not in self._gone:
            place = self._hold(document)
            if self._server.find(*place) is not None:
                self._server.delete(*place)


def owners_of(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the uids of the owners that an object names."""
    for owner in owner_references(document):
        uid = owner.get("uid")
        if isinstance(uid, str) and uid:
            yield uid


def owner_references(document: Mapping[str, Any]) -> list[Document]:
    """Return the owners that an object names; what is no owner is left out."""
    return objects(document["metadata"].get("ownerReferences"))


def without_nulls(value: Any) -> Any:
    """Return a value without fields that are null: to an API server they are missing."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_nulls(member) for member in value]
    return value
