"""One audited request, finished: its parts decoded when asked for, and events made of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

from ...events import Event, Reference, canonical_json, kind_of_version
from ...events.payloads import (
    ListObserved,
    Payload,
    RequestAccepted,
    RequestRefused,
    VersionAttributed,
)
from ...kubernetes.units import SECOND_US, parse_time
from ...nesting import hold_depth
from ..objects.derived import extra_events
from ..objects.kept import conceal_secret, is_secret_resource
from ..objects.versions import decode_slim, deletion_asked, newest_time, revision_of, version_event
from ..reading.formats import Context
from ..reading.sizes import hold_object
from .records import NOTHING, ListBody, ObjectRef, Record, kind_of

Document = dict[str, Any]

_OK = 200


class _Named(msgspec.Struct):
    resource_version: str = msgspec.field(default="", name="resourceVersion")


class _Base(msgspec.Struct):
    """A body, of which only the version that it is based on is wanted."""

    metadata: _Named = msgspec.field(default_factory=_Named)


_DOCUMENT = msgspec.json.Decoder()
_BASE = msgspec.json.Decoder(_Base).decode


class AuditedRequest:
    """A finished request, and the events that can be made of it.

    :param record: of stage ResponseComplete or Panic, with an ``objectRef``.

    ``code`` is the HTTP code of the answer, 0 if none is recorded.

    :raises ValueError: the time of the stage is no time.
    """

    def __init__(self, record: Record, line: int, context: Context) -> None:
        self.record = record
        self.ref = record.object_ref or ObjectRef()
        self._line = line
        self._context = context
        self._answered_at = parse_time(record.stage_timestamp)
        self._asked_at = _time(record.request_received_timestamp, self._answered_at)
        status = record.response_status
        self.code = (status.code or 0) if status else 0

    @cached_property
    def body(self) -> Any:
        """The request's body: a document, a list (a JSON patch), or None if not recorded.

        A Secret's content is taken out; of a JSON patch to one, all.
        """
        raw = self.record.request_object
        if raw != NOTHING:
            hold_object(bytes(raw))
        body = None if raw == NOTHING else _DOCUMENT.decode(raw)
        hold_depth(body, bytes(raw))
        return self._storable(body)

    def _storable(self, body: Any) -> Any:
        """Leave of a body what may be stored: to Secrets, whatever kind it claims to be."""
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
        return self._storable(answer), written_at

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
    def answered_status(self) -> bool:
        """Whether the answer was a Status that says Success, and not the object.

        ``responseStatus`` tells it at every level: it is the answer itself only if that is a
        Status; otherwise just the code.
        """
        status = self.record.response_status
        return status is not None and (status.status == "Success" or status.details is not None)

    @cached_property
    def changed_nothing(self) -> bool:
        """Whether the answer shows that this request made no version: it had been there before.

        A write that changes nothing is answered with the version that there is. That is certain of
        an update or a patch that names this very version; of a patch that can only set fields, if
        nothing was set since it was asked for; and of a delete without a grace of its own, if the
        deletion had been asked for before. Of other writes the answer does not tell.

        Source: k8s.io/apiserver pkg/registry/generic/registry/store.go Update, pkg/registry/rest
        /delete.go BeforeDelete; k8s.io/apimachinery pkg/util/managedfields Update.
        """
        answered, asked_at = self.answer, self._asked_at
        metadata = (answered or {}).get("metadata")
        if self.code != _OK or not isinstance(metadata, dict):
            return False
        base = self._base
        if base:
            return base == metadata.get("resourceVersion")
        if asked_at is None:
            return False
        second = asked_at - asked_at % SECOND_US
        if self.record.verb == "patch":
            set_at = self.answer_written_at or newest_time(metadata.get("managedFields"))
            return set_at is not None and set_at < second and not _may_remove(self.body)
        ending = deletion_asked(metadata) if self.record.verb == "delete" else None
        return ending is not None and ending < second and "gracePeriodSeconds" not in self.options

    @property
    def _base(self) -> str:
        """The version that an update or a patch says it is based on, empty if it says none."""
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
        """The object that the request is about, with what of it can be known."""
        named = self._body_part("metadata")
        status = self.record.response_status
        answered = (self.answer or {}).get("metadata")
        uids = (
            status.details.uid if status and status.details else "",
            self.ref.uid,
            answered.get("uid") if isinstance(answered, dict) else "",
            self._body_part("preconditions").get("uid"),
            named.get("uid"),
        )
        on_pod = self.ref.resource == "bindings"
        return Reference(
            self.ref.api_group,
            "Pod" if on_pod else self.kind[0],
            self.ref.namespace,
            self.ref.name or str(named.get("name") or ""),
            next((uid for uid in uids if isinstance(uid, str) and uid), ""),
        )

    def made(self, document: Document, verb: str) -> list[Event]:
        """Make the event of the version that this request made, by its user at its time.

        :raises EventMalformed: the document is no whole object.
        """
        return self._version(document, verb, earliest=self._asked_at, actor=self.record.actor)

    def seen(self, document: Document, written_at: int | None) -> list[Event]:
        """Make the event of a version that this request only read.

        :param written_at: the newest time of its ``managedFields``.
        :raises EventMalformed: the document is no whole object.
        """
        return self._version(document, "observed", written_at=written_at)

    def _version(
        self,
        document: Document,
        verb: str,
        *,
        written_at: int | None = None,
        earliest: int | None = None,
        actor: str = "",
    ) -> list[Event]:
        event = version_event(
            self._storable(document),
            verb=verb,
            source=self._context.source,
            line=self._line,
            cluster=self._context.cluster,
            written_at=written_at,
            earliest=earliest,
            latest=self._answered_at,
            actor=actor,
        )
        return [event, *extra_events(document, event)]

    def gone(self, document: Document | None, *, revision: int | None = None) -> Event:
        """Make the deletion of the object, at a revision that only the time of the answer bounds.

        :param document: the whole object as it was answered, if it was.
        """
        if document is None:
            payload = canonical_json({"deleteOptions": self.options} if self._has_options else {})
        else:
            document.get("metadata", {}).pop("managedFields", None)
            payload = canonical_json(document)
        reference = self.reference
        kind = kind_of_version(reference.group, reference.kind, "deleted")
        return self._event(kind, payload, revision)

    def attributed(self, version: Event) -> list[Event]:
        """Say with which options a delete made a version, if it had any: the version cannot."""
        if not self._has_options:
            return []
        attributed = VersionAttributed(
            verb=self.record.verb, user_agent=self.record.user_agent, options=self.options
        )
        return [
            msgspec.structs.replace(
                version, kind="version.attributed", payload=canonical_json(attributed)
            )
        ]

    def listed(self, body: ListBody, kind: str, uids: list[str]) -> list[Event]:
        """Make the event of a complete list; none if the list does not say when it was."""
        revision = revision_of(body.metadata.resource_version)
        if not revision:
            return []
        namespace = self.ref.namespace
        group = body.api_version.rpartition("/")[0]
        observed = ListObserved(
            group=group,
            listed=kind,
            namespaces=(namespace,) if namespace else (),
            uids=tuple(sorted(uids)),
        )
        # A list for which some version is good enough may be of a cache, older than its request.
        fresh = not self.record.query().get("resourceVersion")
        return [
            Event(
                kind="list.observed",
                reference=Reference(group, kind, namespace),
                payload=canonical_json(observed),
                resource_version=str(revision),
                revision=revision,
                earliest=self._asked_at if fresh else None,
                latest=self._answered_at,
                source=self._context.source,
                line=self._line,
                cluster=self._context.cluster,
            )
        ]

    def accepted(self, unknown: str) -> RequestAccepted:
        """Make the payload of a write of which the result is unknown."""
        return RequestAccepted(
            verb=self.record.verb,
            subresource=self.ref.subresource,
            code=self.code,
            body=self.body,
            user_agent=self.record.user_agent,
            unknown=unknown,
        )

    def refused(self) -> Event:
        """Make the event of a write that failed, or of which nobody knows."""
        status = self.record.response_status
        refused = RequestRefused(
            verb=self.record.verb,
            subresource=self.ref.subresource,
            code=self.code,
            reason=status.reason if status else "",
            message=status.message if status else "",
            user_agent=self.record.user_agent,
        )
        return self.event("request.refused", refused)

    def event(self, kind: str, payload: Payload, *, revision: int | None = None) -> Event:
        """Make an event about the request's object, at the time it was answered."""
        return self._event(kind, canonical_json(payload), revision)

    def _event(self, kind: str, payload: bytes, revision: int | None) -> Event:
        return Event(
            kind=kind,
            reference=self.reference,
            payload=payload,
            resource_version="" if revision is None else str(revision),
            revision=revision,
            earliest=self._asked_at,
            latest=self._answered_at,
            actor=self.record.actor,
            source=self._context.source,
            line=self._line,
            cluster=self._context.cluster,
        )

    @property
    def _has_options(self) -> bool:
        return self.record.verb == "delete" and bool(self.options)

    def _body_part(self, field: str) -> Document:
        part = self.body.get(field) if isinstance(self.body, dict) else None
        return part if isinstance(part, dict) else {}


def _may_remove(patch: Any) -> bool:
    """Say whether a patch can do other than set fields: removing one leaves no stamp.

    An applied configuration removes what it no longer has, and a list may be shorter than before.
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
    """Return when a request was received, None if that is not told or cannot be."""
    try:
        found = parse_time(text)
    except ValueError:
        return None
    return found if found <= latest else None
