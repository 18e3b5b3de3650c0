"""From a request to what it writes: which objects it is about, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from .....engine.kubernetes.api_errors import Conflict, Refused
from ..read.cluster_state import namespace_of
from ..read.lists import selected
from ..wire.api_paths import SCALED, ApiPath, named_object, no_resource
from ..wire.api_resources import NAMESPACE, POD, SERVICE, ApiResource, kinds_in
from ..wire.api_status import StatusError, already_exists, conflict, invalid, not_found, success
from ..wire.list_options import asked_of
from ..wire.loose_fields import field_of
from . import scales
from .bodies import WriteRequest, check_name, checked, deletion_in, document_in, is_trial, object_in
from .branch_objects import BranchState
from .patches import APPLY, patched_object
from .services import filled
from .storing import Others, Storage, WrittenVersionOf
from .strategic import Document
from .validation import validated

APPLIED = "server-side apply is treated as a merge: a branch has no record of who manages fields"

_STATUS = "status"

_RETURNED = kinds_in(
    {
        "": (
            *("Pod", "Service", "ServiceAccount", "ResourceQuota", "Namespace"),
            *("PersistentVolume", "PersistentVolumeClaim"),
        ),
        "storage.k8s.io": (
            *("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"),
            "VolumeAttributesClass",
        ),
        "resource.k8s.io": (
            *("DeviceClass", "ResourceClaim", "ResourceSlice", "ResourceClaimTemplate"),
        ),
    }
)
"""Kinds whose deletion is answered with the object that is gone; that of others with a Status.

Source: ReturnDeletedObject in k8s.io/kubernetes pkg/registry.
"""


class WriteOutcome(NamedTuple):
    """What a write comes to.

    :param versions: what is to be stored, in order.
    :param subject: the namespace and the name of the object that is the answer; None if the answer
        is a document.
    :param document: the answer if nothing is stored, or if there is no subject.
    :param trial: whether it is only tried, and nothing may be stored.
    """

    versions: Sequence[WrittenVersionOf]
    document: Document
    code: int = 200
    subject: tuple[str, str] | None = None
    warnings: Sequence[str] = ()
    trial: bool = False


class Writing:
    """Carries out one write on the objects of a branch.

    :param state: the branch. :param others: what a write may concern besides.
    :param now: the time, in microseconds since 1970. :param uid: returns a new uid.
    :param suffix: returns the end of a generated name.
    """

    def __init__(
        self,
        state: BranchState,
        others: Others,
        *,
        now: int,
        uid: Callable[[], str],
        suffix: Callable[[], str],
    ) -> None:
        self._state, self._suffix = state, suffix
        self._storage = Storage(others, now, uid)
        self._warnings: list[str] = []

    def outcome(self, asking: WriteRequest) -> WriteOutcome:
        """Return what a write comes to.

        :raises StatusError: it is refused.
        """
        place, trial = asking.place, is_trial(asking)
        try:
            outcome = self._outcome(asking)
            return outcome._replace(trial=outcome.trial or trial)
        except Conflict as fault:
            raise conflict(place.resource, place.name, f"{fault}: {_AGAIN}") from fault
        except Refused as fault:
            raise invalid(str(fault)) from fault

    def _outcome(self, asking: WriteRequest) -> WriteOutcome:
        place = asking.place
        match asking.method, place.below:
            case "POST", "":
                return self._created(asking)
            case "POST", "binding" if place.resource.pair == POD:
                return self._bound(asking)
            case "POST", "eviction" if place.resource.pair == POD:
                return self._evicted(asking)
            case "PUT", "" | "status" if place.name:
                return self._updated(asking, object_in(asking))
            case "PATCH", "" | "status" if place.name:
                return self._patched(asking)
            case "DELETE", "":
                return self._deleted(asking) if place.name else self._all_deleted(asking)
            case "GET" | "PUT" | "PATCH", "scale" if place.resource.pair in SCALED:
                return self._scaled(asking)
        raise StatusError(405, "the server does not allow this method on the requested resource")

    def _held(self, place: ApiPath) -> Document:
        """Return the object that a path names.

        :raises StatusError: there is none.
        """
        held = self._find(place.resource, place.namespace, place.name)
        if held is None:
            raise not_found(place.resource, place.name)
        return held

    def _find(self, resource: ApiResource, namespace: str, name: str) -> Document | None:
        entry = self._state.find(resource.pair, (namespace, name))
        return None if entry is None else self._state.document(entry, resource)

    def _created(self, asking: WriteRequest) -> WriteOutcome:
        place = asking.place
        if place.name or (place.resource.namespaced and not place.namespace):
            raise StatusError(405, "create objects at the path of their kind and namespace")
        document = object_in(asking)
        metadata = document["metadata"]
        if metadata.get("resourceVersion"):
            raise StatusError(400, "resourceVersion should not be set on objects to be created")
        if not metadata.get("name") and metadata.get("generateName"):
            name = f"{metadata['generateName']}{self._suffix()}"
            document = {**document, "metadata": {**metadata, "name": name}}
        return self._new(asking, document)

    def _new(self, asking: WriteRequest, document: Document) -> WriteOutcome:
        place, document = asking.place, self._validated(asking, document)
        resource, metadata = place.resource, document["metadata"]
        name = metadata.get("name", "")
        check_name(resource.kind, name)
        self._in_namespace(place.namespace)
        # A node may be created with a status, as kubelets do.
        if resource.has_status and resource.kind != "Node":
            document = {field: value for field, value in document.items() if field != _STATUS}
        if self._find(resource, place.namespace, name) is not None:
            raise already_exists(resource, name)
        if resource.pair == SERVICE:
            document = filled(document, self._services(), None)
        self._storage.create(document)
        return self._with_subject(place._replace(name=name), document, 201)

    def _services(self) -> list[Document]:
        return [self._state.document(entry) for entry in self._state.of(SERVICE)]

    def _validated(
        self, asking: WriteRequest, document: Document, held: Document | None = None
    ) -> Document:
        """Return an object without the fields that a server does not keep, and warn of them."""
        document, faults = validated(asking, document, held)
        self._warnings += faults
        return document

    def _in_namespace(self, name: str) -> None:
        """Create the namespace of a new object if there is none: logs rarely hold namespaces."""
        if name and self._state.find(NAMESPACE, ("", name)) is None:
            check_name("Namespace", name)
            labels = {"kubernetes.io/metadata.name": name}
            self._storage.create(namespace_of({"name": name, "labels": labels}))

    def _updated(self, asking: WriteRequest, document: Document) -> WriteOutcome:
        place = asking.place
        resource, status = place.resource, place.below == _STATUS
        if status and not resource.has_status:
            raise no_resource()
        held = self._held(place)
        document = self._validated(asking, document, held)
        metadata = document["metadata"]
        # Of custom resources an API server takes no update that may overwrite another one.
        if resource.is_custom and not metadata.get("resourceVersion"):
            raise invalid("metadata.resourceVersion: must be specified for an update")
        before, node = (field_of(version, "spec", "nodeName") for version in (held, document))
        if resource.pair == POD and not status and node != before:
            raise invalid("spec.nodeName: Forbidden: a pod gets a node by its binding")
        if resource.has_status:
            document = _with_status(*((held, document) if status else (document, held)))
            document["metadata"] = metadata
        if resource.pair == SERVICE and not status:
            document = filled(document, self._services(), held)
        self._storage.update(held, document, status=status)
        return self._with_subject(place, held)

    def _patched(self, asking: WriteRequest) -> WriteOutcome:
        place, media = asking.place, asking.media
        self._warnings += [APPLIED] if media == APPLY else []
        held = self._find(place.resource, place.namespace, place.name)
        if held is None and media == APPLY and not place.below:
            document = checked(
                patched_object(named_object(place), asking.body, media, place.resource), place
            )
            return self._new(asking, document)
        if held is None:
            raise not_found(place.resource, place.name)
        patched_version = patched_object(held, asking.body, media, place.resource)
        return self._updated(asking, checked(patched_version, place))

    def _deleted(self, asking: WriteRequest, wrapped: Any = None) -> WriteOutcome:
        place = asking.place
        held = self._held(place)
        how = deletion_in(asking, wrapped)
        self._storage.delete(held, how)
        versions = self._storage.versions
        uid = held["metadata"]["uid"]
        gone = any(
            version.verb == "deleted" and version.document["metadata"]["uid"] == uid
            for version in versions
        )
        if gone and place.resource.pair not in _RETURNED:
            outcome = WriteOutcome(versions, success(place.resource, place.name, uid))
        else:
            outcome = self._with_subject(place, held)
        return outcome._replace(trial=how.trial)

    def _all_deleted(self, asking: WriteRequest) -> WriteOutcome:
        place = asking.place
        selection = asked_of(place.resource, place.namespace, asking.query, "").selection
        how = deletion_in(asking)
        for entry in selected(self._state, place.resource, selection):
            self._storage.delete(self._state.document(entry, place.resource), how)
        done = success(place.resource, "")
        return WriteOutcome(self._storage.versions, done, trial=how.trial)

    def _evicted(self, asking: WriteRequest) -> WriteOutcome:
        eviction = document_in(asking)
        outcome = self._deleted(asking, eviction.get("deleteOptions") or {})
        done = success(asking.place.resource, asking.place.name)
        return WriteOutcome(outcome.versions, done, 201, trial=outcome.trial)

    def _bound(self, asking: WriteRequest) -> WriteOutcome:
        place = asking.place
        try:
            binding = msgspec.convert(document_in(asking), _Binding)
        except msgspec.ValidationError as fault:
            raise StatusError(400, f"the body is no binding: {fault}") from fault
        if not binding.target.name:
            raise invalid("target.name: Required value")
        metadata = binding.metadata
        self._storage.bind(
            self._held(place), binding.target.name, metadata.uid or None, metadata.annotations
        )
        return WriteOutcome(self._storage.versions, success(place.resource, place.name), 201)

    def _scaled(self, asking: WriteRequest) -> WriteOutcome:
        place = asking.place
        held = self._held(place)
        if asking.method == "GET":
            return WriteOutcome((), scales.scale_of(held))
        if asking.method == "PATCH":
            scale = patched_object(
                scales.scale_of(held), asking.body, asking.media, scales.RESOURCE
            )
        else:
            scale = document_in(asking)
        self._storage.update(held, scales.scaled(held, scale))
        after = [version.document for version in self._storage.versions] or [held]
        return WriteOutcome(self._storage.versions, scales.scale_of(after[0]))

    def _with_subject(self, place: ApiPath, document: Document, code: int = 200) -> WriteOutcome:
        """Return an outcome whose answer is the object after the write."""
        subject = place.namespace, place.name
        return WriteOutcome(self._storage.versions, document, code, subject, self._warnings)


class _Metadata(msgspec.Struct):
    uid: str = ""
    annotations: dict[str, str] = {}


class _Target(msgspec.Struct):
    name: str = ""


class _Binding(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    target: _Target = msgspec.field(default_factory=_Target)


_AGAIN = "please apply your changes to the latest version and try again"


def _with_status(document: Document, source: Document) -> Document:
    """Return an object with the status of another one."""
    bare = {field: value for field, value in document.items() if field != _STATUS}
    return {**bare, _STATUS: source[_STATUS]} if _STATUS in source else bare
