"""One audited request that is finished; its bodies are decoded when they are first read."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

from ...events import Reference
from ...kubernetes.units import SECOND_US, parse_time
from ...nesting import hold_depth
from ..objects.kept_fields import conceal_secret, is_secret_resource
from ..objects.version_events import decode_slim, deletion_requested, newest_time, revision_of
from ..reading.sizes import hold_object, hold_values
from .audit_records import NOTHING, AuditRecord, ListBody, ObjectRef, kind_of

Document = dict[str, Any]

_OK = 200


class _Named(msgspec.Struct):
    resource_version: str = msgspec.field(default="", name="resourceVersion")


class _Base(msgspec.Struct):
    """As much of a body as says on which version it is based."""

    metadata: _Named = msgspec.field(default_factory=_Named)


_DOCUMENT = msgspec.json.Decoder()
_BASE = msgspec.json.Decoder(_Base).decode
_LIST = msgspec.json.Decoder(ListBody).decode


class AuditedRequest:
    """A finished request, with what its record says of the object and of the answer.

    ``code`` is the HTTP code of the answer, 0 if none is recorded. ``answered_at`` and ``asked_at``
    are in microseconds; ``asked_at`` is None if the record has no usable time of receipt.

    :param record: of stage ResponseComplete or Panic, with an ``objectRef``.
    :raises ValueError: the time of the stage is not a time.
    """

    def __init__(self, record: AuditRecord) -> None:
        self.record = record
        self.ref = record.object_ref or ObjectRef()
        self.answered_at = parse_time(record.stage_timestamp)
        self.asked_at = _time(record.request_received_timestamp, self.answered_at)
        status = record.response_status
        self.code = (status.code or 0) if status else 0

    @cached_property
    def body(self) -> Any:
        """The request's body: a document, a list (a JSON patch), or None if not recorded.

        Without the content of a Secret: a JSON patch to a Secret is None.
        """
        raw = self.record.request_object
        if raw != NOTHING:
            hold_object(bytes(raw))
        body = None if raw == NOTHING else _DOCUMENT.decode(raw)
        hold_depth(body, bytes(raw))
        return self.storable(body)

    def storable(self, body: Any) -> Any:
        """Return what may be stored of a body; a Secret's body loses its content.

        A request for the resource ``secrets`` has a Secret, whatever kind the body names.
        """
        if not is_secret_resource(self.ref.resource):
            return body
        if not isinstance(body, dict):
            return None
        conceal_secret(body)
        return body

    @cached_property
    def _slim_answer(self) -> tuple[Any, int | None]:
        raw = self.record.response_object
        if raw == NOTHING:
            return None, None
        answer, written_at, _ = decode_slim(bytes(raw))
        return self.storable(answer), written_at

    @property
    def answer(self) -> Document | None:
        """The answer's body, or None if it was not recorded."""
        answer = self._slim_answer[0]
        return answer if isinstance(answer, dict) else None

    @property
    def answer_written_at(self) -> int | None:
        """The newest time of the answer's ``managedFields``, microseconds."""
        return self._slim_answer[1]

    @property
    def answered_list(self) -> ListBody:
        """The answer's body as a list; its items are not decoded.

        :raises EventMalformed: it is too large. :raises msgspec.DecodeError: it is not a list.
        """
        hold_values(memoryview(self.record.response_object))
        return _LIST(self.record.response_object)

    @property
    def answered_status(self) -> bool:
        """Whether the answer was a Status that says Success, and not the object.

        ``responseStatus`` shows it at every level: it has more than the code only if the answer is
        a Status.
        """
        status = self.record.response_status
        return status is not None and (status.status == "Success" or status.details is not None)

    @cached_property
    def changed_nothing(self) -> bool:
        """Whether the answer shows that this write made no version.

        The answer to a write that changes nothing is the version that existed before. It is
        certain in three cases: an update or a patch names the version in the answer as its base; a
        patch that can only set fields, and no field was set since the request came; a delete
        without a grace period in its options, of an object whose deletion was requested before.

        Source: k8s.io/apiserver pkg/registry/generic/registry/store.go Update, pkg/registry/rest
        /delete.go BeforeDelete; k8s.io/apimachinery pkg/util/managedfields Update.
        """
        answered, asked_at = self.answer, self.asked_at
        metadata = (answered or {}).get("metadata")
        if self.code != _OK or not isinstance(metadata, dict):
            return False
        base = self._base
        if base:
            return base == metadata.get("resourceVersion")
        if asked_at is None:
            return False
        # Stamps are in whole seconds: one of the same second may be of before or after the request.
        second = asked_at - asked_at % SECOND_US
        if self.record.verb == "patch":
            set_at = self.answer_written_at or newest_time(metadata.get("managedFields"))
            return set_at is not None and set_at < second and not _may_remove(self.body)
        ending = deletion_requested(metadata) if self.record.verb == "delete" else None
        return ending is not None and ending < second and "gracePeriodSeconds" not in self.options

    @property
    def _base(self) -> str:
        """The version that an update or a patch names as its base, empty if it names none."""
        raw = self.record.request_object
        if self.record.verb not in {"update", "patch"} or raw == NOTHING:
            return ""
        try:
            return _BASE(raw).metadata.resource_version
        except msgspec.ValidationError:  # A JSON patch, or one that is wrong.
            return ""

    @property
    def options(self) -> Document:
        """A delete's options without their own kind, empty if none were given or recorded."""
        if not isinstance(self.body, dict):
            return {}
        return {key: self.body[key] for key in self.body if key not in ("kind", "apiVersion")}

    @property
    def revision_of_answer(self) -> int | None:
        """The revision in the answer, None if there is none."""
        metadata = (self.answer or {}).get("metadata")
        return revision_of(metadata.get("resourceVersion")) if isinstance(metadata, dict) else None

    @cached_property
    def kind(self) -> tuple[str, bool]:
        """The object's Kubernetes kind (or the resource's plural), and whether it is known."""
        return kind_of(self.ref, self.body if isinstance(self.body, dict) else None)

    @cached_property
    def reference(self) -> Reference:
        """The object of the request, as far as the record identifies it."""
        body_metadata = self._body_part("metadata")
        status = self.record.response_status
        answered = (self.answer or {}).get("metadata")
        uids = (
            status.details.uid if status and status.details else "",
            self.ref.uid,
            answered.get("uid") if isinstance(answered, dict) else "",
            self._body_part("preconditions").get("uid"),
            body_metadata.get("uid"),
        )
        # The old form to bind, ``POST .../bindings``: its object has the name of the pod.
        on_pod = self.ref.resource == "bindings"
        return Reference(
            self.ref.api_group,
            "Pod" if on_pod else self.kind[0],
            self.ref.namespace,
            self.ref.name or str(body_metadata.get("name") or ""),
            next((uid for uid in uids if isinstance(uid, str) and uid), ""),
        )

    @property
    def target_node(self) -> str | None:
        """The node that a binding names, None if its body is not recorded."""
        node = self._body_part("target").get("name")
        return node if isinstance(node, str) else None

    def _body_part(self, field: str) -> Document:
        part = self.body.get(field) if isinstance(self.body, dict) else None
        return part if isinstance(part, dict) else {}


def _may_remove(patch: Any) -> bool:
    """Say whether a patch may remove a field, which ``managedFields`` does not record.

    An applied configuration removes the fields that it no longer has. A list may lose items.
    """
    if not isinstance(patch, dict) or ("apiVersion" in patch and "kind" in patch):
        return True
    return any(
        key.startswith("$") or value is None or (not _is_scalar(value) and _may_remove(value))
        for key, value in patch.items()
    )


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _time(text: str, latest: int) -> int | None:
    """Return when a request was received; None if the text is not a time, or too late."""
    try:
        time = parse_time(text)
    except ValueError:
        return None
    return time if time <= latest else None
