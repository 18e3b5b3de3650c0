"""An API server as data: it stores objects, checks writes, and says what its watches deliver.

Objects are JSON documents, and are never changed once they are stored. Nothing happens by itself:
pods that are deleted end when a kubelet says so, and what an owner leaves behind is deleted by the
garbage collector, which is a client like any other.

resourceVersions count the writes to one name, not to all, so that writes to different objects lead
to the same state in any order. Clients may only compare versions of one object anyway.

Source: k8s.io/apiserver/pkg/registry/generic/registry/store.go; k8s.io/kubernetes
pkg/registry/core/pod/strategy.go CheckGracefulDelete, pkg/registry/core/pod/storage BindingREST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from .api_errors import AlreadyExists, Conflict, NotFound
from .json_patch import JSON_PATCH, Operation, patched
from .priority_classes import with_priority
from .resources import CLUSTER_SCOPED_KINDS, distinct_kind
from .units import SECOND_US, format_time

Document = dict[str, Any]

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"

MERGE = "application/merge-patch+json"
"""The content type of a merge patch."""

ENDED = frozenset({"Succeeded", "Failed"})
"""Phases of pods that a deletion removes at once."""

GRACE_SECONDS = 30
"""How long a pod may take to end that does not say so itself."""

WITH_STATUS = frozenset(
    {
        *("Pod", "Node", "Queue", "Job", "JobFlow", "JobTemplate"),
        *("Job.batch", "Deployment", "ReplicaSet", "StatefulSet"),
    }
)
"""Kinds whose status is written by separate requests."""

FIRST_CREATED = 1_767_225_600
"""The creation of the first object of each kind, in seconds since 1970, without a clock.

The next one is a second younger: schedulers compare no more than which object of a kind is older.
"""


class ObjectKey(NamedTuple):
    """What an object is found by.

    :param kind: as :func:`.resources.distinct_kind` names it: ``Job`` is Volcano's, ``Job.batch``
        that of Kubernetes.
    :param key: ``namespace/name``, or the name.
    """

    kind: str
    key: str


class WatchEvent(NamedTuple):
    """What a watch delivers: a version of an object, for ``DELETED`` the last one."""

    verb: str
    kind: str
    key: str
    document: Document


class ApiServerState(NamedTuple):
    """All that an API server holds.

    :param objects: by place, in its order. :param writes: how often each name was written.
    :param created: how often each name was created.
    """

    objects: tuple[tuple[ObjectKey, Document], ...]
    writes: tuple[tuple[ObjectKey, int], ...]
    created: tuple[tuple[ObjectKey, int], ...]


class ApiServer:
    """Stores objects.

    :param clock: returns the current time, in microseconds since 1970; without one, times only say
        which object of a kind is older.
    :param classes_known: whether a priority class that is not stored does not exist; None: pods are
        let in without a look at their class.
    :ivar changes: what watches are to deliver since they were last taken, in order.
    """

    def __init__(
        self,
        kept: ApiServerState | None = None,
        clock: Callable[[], int] | None = None,
        *,
        classes_known: bool | None = None,
    ) -> None:
        kept = kept or ApiServerState((), (), ())
        self._objects = dict(kept.objects)
        self._writes = dict(kept.writes)
        self._created = dict(kept.created)
        self.changes: list[WatchEvent] = []
        self._clock = clock
        self._classes_known = classes_known

    def kept(self) -> ApiServerState:
        """Return all that is stored, in an order that does not depend on how it came to be."""
        return ApiServerState(
            tuple(sorted(self._objects.items(), key=lambda item: item[0])),
            tuple(sorted(self._writes.items())),
            tuple(sorted(self._created.items())),
        )

    def take_changes(self) -> list[WatchEvent]:
        """Return what watches are to deliver, once."""
        changes, self.changes = self.changes, []
        return changes

    def hold(self, document: Document) -> None:
        """Store an object that exists elsewhere, as it is: watches deliver nothing."""
        self._objects[place_of(document)] = document

    def find(self, kind: str, key: str) -> Document | None:
        """Return an object, or None."""
        return self._objects.get(ObjectKey(kind, key))

    def get(self, kind: str, key: str) -> Document:
        """Return an object.

        :raises NotFound: there is none.
        """
        document = self._objects.get(ObjectKey(kind, key))
        if document is None:
            raise NotFound(f"{kind} {key} not found")
        return document

    def list(
        self, kind: str, namespace: str = "", selector: Mapping[str, str] | None = None
    ) -> list[Document]:
        """Return objects of a kind by key: of one namespace, or with these labels."""
        begin = f"{namespace}/" if namespace else ""
        places = sorted(
            place for place in self._objects if place.kind == kind and place.key.startswith(begin)
        )
        documents = (self._objects[place] for place in places)
        return [document for document in documents if selects(selector or {}, document)]

    def create(self, given: Document) -> Document:
        """Store a new object, and return it with what the server fills in.

        :raises AlreadyExists: there is one of that name.
        :raises Forbidden: it is a pod whose priority class does not exist.
        """
        place = place_of(given)
        if place.kind == "Pod" and self._classes_known is not None:
            classes = self.list("PriorityClass")
            given = with_priority(given, classes, all_known=self._classes_known)
        if place in self._objects:
            raise AlreadyExists(f"{place.kind} {place.key} already exists")
        times = self._created[place] = self._created.get(place, 0) + 1
        metadata = {**given["metadata"]}
        metadata.setdefault("uid", _uid(place, times))
        metadata["creationTimestamp"] = self._created_at(place.kind)
        new = {**given, "metadata": metadata}
        if place.kind == "Pod":
            new["status"] = {"phase": "Pending", **given.get("status", {})}
        return self._put(ADDED, place, new)

    def update(self, given: Document, *, status: bool = False) -> Document:
        """Replace an object, but for its status; or its status alone.

        An object without a resourceVersion replaces whatever is there.

        :raises NotFound: there is none of that name.
        :raises Conflict: it has another resourceVersion or uid.
        """
        place = place_of(given)
        current = self.get(*place)
        meant = given["metadata"]
        self._check(place, current, meant.get("uid"), meant.get("resourceVersion"))
        if status:
            new = {**current, "status": given.get("status", {})}
        else:
            # A client writes no other field of the metadata; the server keeps these.
            own = {name: meant.get(name) for name in ("labels", "annotations", "ownerReferences")}
            own["finalizers"] = meant.get("finalizers")
            fixed = {name: value for name, value in current["metadata"].items() if name not in own}
            metadata = {**fixed, **{name: value for name, value in own.items() if value}}
            new = {**given, "metadata": metadata}
            # Only a request to its subresource changes the status.
            if place.kind in WITH_STATUS:
                new.pop("status", None)
                new |= {"status": current["status"]} if "status" in current else {}
        return self._replace(place, current, new)

    def patch(
        self,
        kind: str,
        key: str,
        part: Document | Sequence[Operation],
        *,
        how: str = MERGE,
        status: bool = False,
    ) -> Document:
        """Change parts of an object, or of its status.

        A uid and a resourceVersion in what is merged are preconditions.

        :param part: the operations of a JSON patch; else what is merged into the object.
        :param how: the content type; lists are replaced by all that merge.
        :raises NotFound: there is none of that name.
        :raises Conflict: a precondition fails.
        :raises Invalid: a JSON patch does not fit the object.
        """
        current = self.get(kind, key)
        if how == JSON_PATCH:
            new = patched(current, cast("Sequence[Operation]", part))
        else:
            given = cast("Document", part)
            new = merged(current, {"status": given.get("status", {})} if status else given)
        meant = new["metadata"]
        self._check(ObjectKey(kind, key), current, meant.get("uid"), meant.get("resourceVersion"))
        return self._replace(ObjectKey(kind, key), current, new)

    def bind(
        self, key: str, node: str, uid: str | None = None, also: Document | None = None
    ) -> None:
        """Give a pod a node.

        :param uid: a precondition. :param also: what is merged into the pod besides.
        :raises NotFound: there is no such pod.
        :raises Conflict: it has another uid, a node already or scheduling gates, or is being
            deleted.

        Source: kubernetes pkg/registry/core/pod/storage assignPod, setPodHostAndAnnotations.
        """
        pod = self.get("Pod", key)
        self._check(ObjectKey("Pod", key), pod, uid, None)
        if pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]:
            raise Conflict(f"pod {key} is being deleted or is already assigned to a node")
        if pod["spec"].get("schedulingGates"):
            raise Conflict(f"pod {key} has non-empty .spec.schedulingGates")
        bound = merged(merged(pod, {"spec": {"nodeName": node}}), also or {})
        self._replace(ObjectKey("Pod", key), pod, bound)

    def emit(self, about: Document, reason: str, message: str) -> None:
        """Create an event about an object: nothing reads it here, so it is not stored."""

    def delete(
        self,
        kind: str,
        key: str,
        *,
        uid: str | None = None,
        version: str | None = None,
        grace: int | None = None,
    ) -> None:
        """Delete an object, or begin to: a pod on a node ends later, and so do finalizers.

        :param uid, version: preconditions. :param grace: seconds, in place of the pod's own.
        :raises NotFound: there is none of that name.
        :raises Conflict: a precondition fails.
        """
        place = ObjectKey(kind, key)
        current = self.get(kind, key)
        self._check(place, current, uid, version)
        seconds = _grace(current, grace)
        metadata = current["metadata"]
        if not seconds and not metadata.get("finalizers"):
            self._remove(place, current)
        # Else the deletion has begun, and its time stays.
        elif "deletionTimestamp" not in metadata:
            ending: Document = {"deletionTimestamp": self._deleted_at(seconds)}
            if kind == "Pod":
                ending["deletionGracePeriodSeconds"] = seconds
            self._put(MODIFIED, place, {**current, "metadata": {**metadata, **ending}})

    def _check(
        self, place: ObjectKey, current: Document, uid: str | None, version: str | None
    ) -> None:
        metadata = current["metadata"]
        if uid and uid != metadata["uid"]:
            raise Conflict(f"{place.kind} {place.key} has another uid: {metadata['uid']}")
        if version and version != metadata["resourceVersion"]:
            raise Conflict(f"{place.kind} {place.key} has been modified")

    def _replace(self, place: ObjectKey, current: Document, new: Document) -> Document:
        """Store a new version; one that changes nothing leaves no trace."""
        if new == current:
            return current
        # The last finalizer is gone. A pod still waits for its kubelet.
        ending = "deletionTimestamp" in current["metadata"]
        if ending and place.kind != "Pod" and not new["metadata"].get("finalizers"):
            self._remove(place, new)
            return new
        return self._put(MODIFIED, place, new)

    def _put(self, verb: str, place: ObjectKey, new: Document) -> Document:
        version = str(self._written(place))
        stored = {**new, "metadata": {**new["metadata"], "resourceVersion": version}}
        self._objects[place] = stored
        self.changes.append(WatchEvent(verb, *place, stored))
        return stored

    def _remove(self, place: ObjectKey, current: Document) -> None:
        version = str(self._written(place))
        del self._objects[place]
        last = {**current, "metadata": {**current["metadata"], "resourceVersion": version}}
        self.changes.append(WatchEvent(DELETED, *place, last))

    def _created_at(self, kind: str) -> str:
        """Return when an object is created."""
        if self._clock is not None:
            return format_time(self._clock() // SECOND_US * SECOND_US)
        created = sum(times for place, times in self._created.items() if place.kind == kind)
        return _time(FIRST_CREATED + created)

    def _deleted_at(self, grace: int) -> str:
        """Return when an object is to be gone that may take so many seconds to end."""
        if self._clock is None:
            return _time(FIRST_CREATED)
        return format_time((self._clock() // SECOND_US + grace) * SECOND_US)

    def _written(self, place: ObjectKey) -> int:
        times = self._writes[place] = self._writes.get(place, 0) + 1
        return times


def place_of(document: Mapping[str, Any]) -> ObjectKey:
    """Return where an object is found.

    One without a namespace is in ``default``, if its kind needs one.
    """
    metadata = document["metadata"]
    kind = distinct_kind(document.get("apiVersion", ""), document["kind"])
    if kind in CLUSTER_SCOPED_KINDS:
        return ObjectKey(kind, metadata["name"])
    return ObjectKey(kind, f"{metadata.get('namespace') or 'default'}/{metadata['name']}")


def merged(whole: Mapping[str, Any], part: Mapping[str, Any]) -> Document:
    """Return a document with a merge patch applied (RFC 7386)."""
    result = dict(whole)
    for name, value in part.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping):
            inner = result.get(name)
            result[name] = merged(inner if isinstance(inner, Mapping) else {}, value)
        else:
            result[name] = value
    return result


def selects(selector: Mapping[str, str], document: Mapping[str, Any]) -> bool:
    """Return whether an object has all labels of a selector."""
    labels = document["metadata"].get("labels") or {}
    return all(labels.get(name) == value for name, value in selector.items())


def controller_of(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the owner reference that controls an object, or None."""
    owners: Iterable[Mapping[str, Any]] = document["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)


def _grace(document: Document, grace: int | None) -> int:
    """Return how long an object may take to end, in seconds: only pods on nodes take any."""
    if document["kind"] != "Pod" or not document["spec"].get("nodeName"):
        return 0
    if document.get("status", {}).get("phase") in ENDED:
        return 0
    own = document["spec"].get("terminationGracePeriodSeconds")
    return grace if grace is not None else GRACE_SECONDS if own is None else int(own)


def _uid(place: ObjectKey, times: int) -> str:
    return f"{place.kind.lower()}-{place.key.replace('/', '-')}-{times}"


def _time(seconds: int) -> str:
    """Return a time of the first day as an API server writes it."""
    hours, rest = divmod(seconds - FIRST_CREATED, 3600)
    days, hours = divmod(hours, 24)
    minutes, seconds = divmod(rest, 60)
    return f"2026-01-{days + 1:02}T{hours:02}:{minutes:02}:{seconds:02}Z"
