"""Says what one line of an audit log means, and why a line is skipped.

A line is skipped for one of these reasons; ``ingest`` prints how many lines each
has, and the first of them:

- ``stage ...``: the request was not finished then. Another line has its end.
- ``request for no object``: it names no resource (``/healthz``, a review of access).
- ``no state: ...``: objects of this resource are not kept (leases, reviews).
- ``read request``: it read, and its answer is not recorded or has no whole objects.
- ``request that writes no object``: ``exec``, ``log``, a verb that writes nothing.
- ``dry run``: nothing was stored.

All other lines give events. Which, depends on what is recorded: at level RequestResponse a write
gives the version that it made. Where the answer is a Status (bindings, evictions, deletes of most
kinds) or was not recorded (levels Request, Metadata), the event has no revision: the write
happened before it was answered.

Of deletes, measured against watch streams of Kubernetes 1.32: if the answer is the object, its
resourceVersion is that of the deletion if the object is gone, and that of the last write (which set
``deletionTimestamp``) if it still exists. An update that removes the last finalizer of an object
with a ``deletionTimestamp`` deletes it, and its answer has the revision *before* the deletion.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ...kubernetes.resources import is_fleeting
from .audit_records import CONNECTING, NOTHING, AuditRecord, ListBody, is_whole, still_exists
from .audit_request import AuditedRequest, Document

READS = frozenset({"get", "list", "watch"})
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})

_FINAL_STAGES = frozenset({"ResponseComplete", "Panic"})
_READ_REQUEST = "read request"
_WRITES_NOTHING = "request that writes no object"
_EXCERPT = "the whole object (the answer is an excerpt)"
_OK, _CREATED, _ACCEPTED, _MULTIPLE_CHOICES = 200, 201, 202, 300


class SkippedLine(NamedTuple):
    """The line gives no event."""

    reason: str


class ListRead(NamedTuple):
    """The request read a list of whole objects."""

    body: ListBody


class ObjectRead(NamedTuple):
    """The request read a version of an object, which an earlier write had made."""

    document: Document


class Unchanged(NamedTuple):
    """The request is a write that changed nothing; an earlier write had made this version."""

    document: Document


class VersionMade(NamedTuple):
    """The request made a version of an object.

    :param verb: ``created``, ``updated`` or ``deleted``.
    """

    document: Document
    verb: str


class ObjectGone(NamedTuple):
    """The request deleted its object.

    :param document: the last version, if the answer has it.
    :param revision: of the deletion, if the answer says it.
    """

    document: Document | None = None
    revision: int | None = None


class BoundRequest(NamedTuple):
    """The request bound a pod to a node.

    :param node: ``None`` if it is not recorded.
    """

    node: str | None


class Evicted(NamedTuple):
    """The request evicted a pod; the pod may exist for a grace period."""


class Accepted(NamedTuple):
    """The request wrote, and a part of the result is not recorded.

    :param unknown: the part.
    """

    unknown: str


class Collected(NamedTuple):
    """The request deleted a collection, and which objects that were is not recorded.

    :param unknown: the same in words.
    """

    unknown: str


class RefusedRequest(NamedTuple):
    """The request failed, or the API server panicked in it."""


Meaning: TypeAlias = (
    SkippedLine
    | ListRead
    | ObjectRead
    | Unchanged
    | VersionMade
    | ObjectGone
    | BoundRequest
    | Evicted
    | Accepted
    | Collected
    | RefusedRequest
)


def why_skipped(record: AuditRecord) -> str:
    """Return why a line is skipped, as far as that shows without its bodies; empty if it is not."""
    ref = record.object_ref
    if record.stage not in _FINAL_STAGES:
        return f"stage {record.stage or 'missing'}"
    if ref is None or not ref.resource:
        return "request for no object"
    if is_fleeting(ref.api_group, ref.resource):
        return f"no state: {ref.resource}"
    if record.verb in READS:
        unanswered = record.response_object == NOTHING
        return _READ_REQUEST if unanswered or record.verb == "watch" else ""
    if record.verb not in WRITES or ref.subresource in CONNECTING:
        return _WRITES_NOTHING
    return "dry run" if record.is_dry_run() else ""


def classify(request: AuditedRequest) -> Meaning:
    """Return what a request means for which :func:`why_skipped` gives no reason.

    :raises EventMalformed: a body is too large, or nested too deep.
    :raises msgspec.DecodeError: a body is not JSON.
    """
    record, ref = request.record, request.ref
    # Also reads that failed: these changed nothing, so they are no refused writes.
    if record.verb in READS:
        return _read(request)
    if request.code >= _MULTIPLE_CHOICES or record.stage == "Panic":
        return RefusedRequest()
    if record.verb == "delete":
        return _delete(request)
    if record.verb == "deletecollection":
        return Collected("which objects went")
    # Two paths of the API bind a pod; see ``AuditedRequest.reference``.
    if (ref.resource, ref.subresource) == ("pods", "binding") or ref.resource == "bindings":
        return BoundRequest(request.target_node)
    if (ref.resource, ref.subresource) == ("pods", "eviction"):
        return Evicted()
    return _write(request)


def _read(request: AuditedRequest) -> Meaning:
    if request.code == _OK and request.record.verb == "list":
        body = request.answered_list
        return ListRead(body) if body.has_whole_objects else SkippedLine(_READ_REQUEST)
    answer = request.answer
    if request.code != _OK or answer is None or not is_whole(answer, request.ref.subresource):
        return SkippedLine(_READ_REQUEST)
    return ObjectRead(answer)


def _write(request: AuditedRequest) -> Meaning:
    """Classify a create, an update or a patch."""
    answer = request.answer
    if answer is None:
        name = "" if request.reference.name else ", and the name that the server gave"
        return Accepted(f"the result{name} (level {request.record.level})")
    whole = is_whole(answer, request.ref.subresource)
    deleting = bool((answer.get("metadata") or {}).get("deletionTimestamp"))
    # The revision of such an answer is that before the deletion, so the deletion gets none.
    if deleting and not still_exists(answer):
        return ObjectGone(answer if whole else None)
    if whole and request.changed_nothing:
        return Unchanged(answer)
    if whole:
        # A create of a subresource (an eviction, say) answers 201 as well.
        created = request.code == _CREATED and not request.ref.subresource
        return VersionMade(answer, "created" if created else "updated")
    # What is stored has a revision: this request created nothing (a review, a token).
    if request.revision_of_answer is None and not request.answered_status:
        return SkippedLine(_WRITES_NOTHING)
    return Accepted(_EXCERPT)


def _delete(request: AuditedRequest) -> Meaning:
    answer = request.answer
    if request.code == _ACCEPTED:
        return Accepted("when the object goes (its dependents go first)")
    if request.answered_status:
        return ObjectGone()
    if answer is None:
        at_once = request.options.get("gracePeriodSeconds") == 0 or _is_by_kubelet(request)
        return ObjectGone() if at_once else Accepted("whether the object went at once")
    exists = still_exists(answer)
    if is_whole(answer, request.ref.subresource):
        if exists and request.changed_nothing:
            return Unchanged(answer)
        return VersionMade(answer, "updated" if exists else "deleted")
    return Accepted(_EXCERPT) if exists else ObjectGone(revision=request.revision_of_answer)


def _is_by_kubelet(request: AuditedRequest) -> bool:
    """Say whether a pod's kubelet deletes it, which it does after the containers have ended.

    Source: k8s.io/kubernetes/pkg/kubelet/status/status_manager.go syncPod, with a grace of 0.
    """
    return request.ref.resource == "pods" and request.record.actor.startswith("system:node:")
