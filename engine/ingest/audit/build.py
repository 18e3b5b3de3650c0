"""Builds the events of an audited request from what the request means (``classify.py``)."""

from __future__ import annotations

import msgspec

from ...events import Event, Reference, canonical_json, kind_of_version
from ...events.payloads import (
    CollectionDeleted,
    ListObserved,
    Payload,
    PodBound,
    RequestAccepted,
    RequestRefused,
    VersionAttributed,
)
from ..objects.derived_facts import extra_events
from ..objects.object_defaults import fill_in
from ..objects.version_events import revision_of, version_event
from ..reading.formats import Context
from .audit_records import ListBody
from .audit_request import AuditedRequest, Document
from .classify import (
    Accepted,
    BoundRequest,
    Collected,
    Evicted,
    ListRead,
    Meaning,
    ObjectGone,
    ObjectRead,
    RefusedRequest,
    SkippedLine,
    Unchanged,
    VersionMade,
)


class Builder:
    """Builds events of one request, with the source and line of its record."""

    def __init__(self, request: AuditedRequest, context: Context, line: int) -> None:
        self._request = request
        self._context = context
        self._line = line

    def events(self, meaning: Meaning) -> list[Event]:
        """Return the events of what the request means; of a list, none (``lists.py`` reads it).

        :raises EventMalformed: an object in the answer is not valid.
        """
        match meaning:
            case VersionMade(document, verb):
                return self._made(document, verb)
            case ObjectRead(document) | Unchanged(document):
                return self.observed(document, self._request.answer_written_at)
            case ObjectGone(last, revision):
                return [self._deletion(last, revision)]
            case BoundRequest(node):
                agent = self._request.record.user_agent
                return [self._event("pod.bound", PodBound(node=node or "", user_agent=agent))]
            case Evicted():
                return [self._event("pod.evicted", self._accepted("when the pod goes"))]
            case Accepted(unknown):
                revision = self._request.revision_of_answer
                return [self._event("request.accepted", self._accepted(unknown), revision)]
            case Collected(unknown):
                return [self._event("collection.deleted", self._collected(unknown))]
            case RefusedRequest():
                return [self._event("request.refused", self._refused())]
            case SkippedLine() | ListRead():
                return []

    def observed(self, document: Document, written_at: int | None) -> list[Event]:
        """Return the events of a version that the request read and did not make.

        :param written_at: the newest time of its ``managedFields``.
        :raises EventMalformed: the document is not a whole object.
        """
        return self._version(document, "observed", written_at=written_at)

    def list_observed(self, body: ListBody, uids: list[str]) -> list[Event]:
        """Return the event of a complete list; none if the list has no revision."""
        revision = revision_of(body.metadata.resource_version)
        if not revision:
            return []
        namespace = self._request.ref.namespace
        group = body.api_version.rpartition("/")[0]
        observed = ListObserved(
            group=group,
            listed=body.item_kind,
            namespaces=(namespace,) if namespace else (),
            uids=tuple(sorted(uids)),
        )
        # With resourceVersion in its URL, the answer may come from a cache, and be older.
        fresh = not self._request.record.query().get("resourceVersion")
        return [
            Event(
                kind="list.observed",
                reference=Reference(group, body.item_kind, namespace),
                payload=canonical_json(observed),
                resource_version=str(revision),
                revision=revision,
                earliest=self._request.asked_at if fresh else None,
                latest=self._request.answered_at,
                source=self._context.source,
                line=self._line,
                cluster=self._context.cluster,
            )
        ]

    def _made(self, document: Document, verb: str) -> list[Event]:
        """Return the events of a version that the request made: by its user, since it came."""
        request = self._request
        events = self._version(
            document, verb, earliest=request.asked_at, actor=request.record.actor
        )
        if not self._has_delete_options():
            return events
        # The version does not have the options of the delete that made it.
        attributed = VersionAttributed(
            verb=request.record.verb,
            user_agent=request.record.user_agent,
            options=request.options,
        )
        attribution = msgspec.structs.replace(
            events[0], kind="version.attributed", payload=canonical_json(attributed)
        )
        return [attribution, *events]

    def _version(
        self,
        document: Document,
        verb: str,
        *,
        written_at: int | None = None,
        earliest: int | None = None,
        actor: str = "",
    ) -> list[Event]:
        whole = self._request.storable(document)
        if isinstance(whole, dict):
            fill_in(whole, self._context)
        event = version_event(
            whole,
            verb=verb,
            source=self._context.source,
            line=self._line,
            cluster=self._context.cluster,
            written_at=written_at,
            earliest=earliest,
            latest=self._request.answered_at,
            actor=actor,
        )
        return [event, *extra_events(document, event)]

    def _deletion(self, last: Document | None, revision: int | None) -> Event:
        if last is None:
            options = self._request.options
            payload = canonical_json(
                {"deleteOptions": options} if self._has_delete_options() else {}
            )
        else:
            last.get("metadata", {}).pop("managedFields", None)
            payload = canonical_json(last)
        reference = self._request.reference
        kind = kind_of_version(reference.group, reference.kind, "deleted")
        return self._event(kind, payload, revision)

    def _accepted(self, unknown: str) -> RequestAccepted:
        request = self._request
        return RequestAccepted(
            verb=request.record.verb,
            subresource=request.ref.subresource,
            code=request.code,
            body=request.body,
            user_agent=request.record.user_agent,
            unknown=unknown,
        )

    def _collected(self, unknown: str) -> CollectionDeleted:
        request = self._request
        # No URL leaves open what was chosen; a URL without a selector chose all of a kind.
        chosen = request.record.query() if request.record.request_uri else None
        return CollectionDeleted(
            verb=request.record.verb,
            labels=None if chosen is None else chosen.get("labelSelector", ""),
            fields=None if chosen is None else chosen.get("fieldSelector", ""),
            code=request.code,
            body=request.body,
            user_agent=request.record.user_agent,
            unknown=unknown,
        )

    def _refused(self) -> RequestRefused:
        request = self._request
        status = request.record.response_status
        return RequestRefused(
            verb=request.record.verb,
            subresource=request.ref.subresource,
            code=request.code,
            reason=status.reason if status else "",
            message=status.message if status else "",
            user_agent=request.record.user_agent,
        )

    def _event(self, kind: str, payload: Payload | bytes, revision: int | None = None) -> Event:
        """Return an event about the request's object, between request and answer."""
        request = self._request
        return Event(
            kind=kind,
            reference=request.reference,
            payload=payload if isinstance(payload, bytes) else canonical_json(payload),
            resource_version="" if revision is None else str(revision),
            revision=revision,
            earliest=request.asked_at,
            latest=request.answered_at,
            actor=request.record.actor,
            source=self._context.source,
            line=self._line,
            cluster=self._context.cluster,
        )

    def _has_delete_options(self) -> bool:
        return self._request.record.verb == "delete" and bool(self._request.options)
