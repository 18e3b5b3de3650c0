"""kube-apiserver's audit log: JSON lines of ``audit.k8s.io`` Events, or lists of them.

What a record gives depends on its level. At RequestResponse a write gives the version that it made.
Where the answer is a Status (bindings, evictions, deletes of most kinds) or was not recorded
(Request, Metadata), the event has no revision: the write happened when it was answered. What cannot
be known is said in the event, and counted in the notes.

Of a delete, measured against watch streams of Kubernetes 1.32: an answer with the object carries
the revision of the deletion itself if the object is gone, that of the last write (the one that set
``deletionTimestamp``) if it lives on; an update that takes away the last finalizer of a dying
object deletes it too, and is answered with the revision *before* the deletion.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from ...errors import EventMalformed
from ...events import KINDS, Effect, Event
from ...events.payloads import PodBound
from ...kubernetes.resources import is_fleeting
from ...nesting import TOO_DEEP
from ..objects.kept import is_secret_resource
from ..objects.versions import decode_slim
from ..reading.formats import Context
from ..reading.json_text import array_items
from ..reading.lines import json_documents
from ..reading.sizes import hold_values
from .records import CONNECTING, NOTHING, ListBody, ListItem, Record, is_whole, lives_on
from .requests import AuditedRequest, Document
from .span import AuditSpan

_RECORD = msgspec.json.Decoder(Record)
_LIST = msgspec.json.Decoder(ListBody)
_ITEM = msgspec.json.Decoder(ListItem)

_OWN = re.compile(rb'"apiVersion"\s*:\s*"audit\.k8s\.io/')
_FINAL_STAGES = frozenset({"ResponseComplete", "Panic"})
_READS = frozenset({"get", "list", "watch"})
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_NARROWING = frozenset({"labelSelector", "fieldSelector", "continue"})

_MOST_LOST, _LONGEST_LOST = 100, 200
"""Kinds of what could not be known: how many are told, and in how many characters."""

_REMEMBERED = 100_000
"""Objects of which the last version told is remembered, so that lists do not tell it again."""

_BODY = "$.responseObject"
_OK, _CREATED, _ACCEPTED, _MULTIPLE_CHOICES = 200, 201, 202, 300


class AuditLog:
    """Reads audit logs; keeps no state across files, so rotated ones may come in any order."""

    name = "audit-log"

    def sniff(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the name says nothing here
        """Recognise JSON that says it is of the audit API and has an audit id."""
        return (
            head.lstrip().startswith(b"{")
            and _OWN.search(head) is not None
            and (b'"auditID"' in head or b'"EventList"' in head)
        )

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield what each finished request did, in the order of the lines (of completion)."""
        reader = _Reader(context)
        line = 0
        for line, text in json_documents(stream, context):
            for record in reader.records(text, line):
                yield from reader.events(record, line)
        reader.end(line)


def _pass_over(record: Record) -> str:
    """Return why a record says nothing, empty if it may say something."""
    ref = record.object_ref
    if record.stage not in _FINAL_STAGES:
        return f"stage {record.stage or 'missing'}"
    if ref is None or not ref.resource:
        return "request for no object"
    if is_fleeting(ref.api_group, ref.resource):
        return f"no state: {ref.resource}"
    if record.verb in _READS:
        unanswered = record.response_object == NOTHING
        return "read request" if unanswered or record.verb == "watch" else ""
    if record.verb not in _WRITES or ref.subresource in CONNECTING:
        return "request that writes no object"
    return "dry run" if record.is_dry_run() else ""


class _Reader:
    """One pass over one document; counts what was lost, for the notes."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lost: Counter[str] = Counter()
        self._told_last: dict[str, str] = {}
        self._span = AuditSpan()

    def records(self, text: bytes, line: int) -> Iterator[Record]:
        """Decode a line: a record, several in an ``EventList``, or none if it is malformed."""
        try:
            record = _RECORD.decode(text)
            if record.kind != "EventList":
                yield record
            else:
                hold_values(memoryview(record.items))
                yield from map(_RECORD.decode, array_items(record.items))
        except EventMalformed as fault:
            self._context.reject(fault.what, line=line)
        except msgspec.ValidationError as fault:
            self._reject(fault, line)
        except msgspec.DecodeError as fault:
            if text.endswith(b"\n"):
                self._context.reject(str(fault), line=line)
            else:
                # A log that was copied while the server wrote it: the rest was yet to come.
                self._context.notes.append(f"line {line}: the last record is cut off")
        except UnicodeDecodeError as fault:
            self._context.reject(f"not UTF-8: {fault}", line=line)
        except RecursionError:
            self._context.reject(TOO_DEEP, line=line)

    def events(self, record: Record, line: int) -> list[Event]:
        """Return what one record says; count it if it says nothing or is malformed."""
        reason = _pass_over(record)
        self._span.saw(record)
        if reason:
            self._context.skip(reason)
            return []
        if record.response_status is None or record.response_status.code is None:
            self._context.reject("there is no code", line=line, path="$.responseStatus.code")
            return []
        try:
            request = AuditedRequest(record, line, self._context)
            events = self._told(request, line)
            if record.verb in _WRITES and not request.changed_nothing:
                self._span.told(request, events)
            return self._remember(events)
        except EventMalformed as fault:
            if fault.what.startswith(_BODY):
                raise
            self._context.reject(fault.what.replace("$", _BODY, 1), line=line)
        except msgspec.DecodeError as fault:
            self._reject(fault, line, _BODY)
        except (ValueError, TypeError, AttributeError) as fault:
            self._context.reject(f"a field has an unexpected form: {fault}", line=line)
        except RecursionError:
            self._context.reject(TOO_DEEP, line=line, path=_BODY)
        return []

    def end(self, line: int) -> None:
        """Say what could not be known, once per kind of loss, and what the document covers."""
        self._span.end(self._context, line=line)
        self._context.notes.extend(f"{count} x {lost}" for lost, count in self._lost.items())

    def _lose(self, what: str) -> None:
        if len(self._lost) < _MOST_LOST or what in self._lost:
            self._lost[what[:_LONGEST_LOST]] += 1

    def _reject(self, fault: msgspec.DecodeError, line: int, root: str = "$") -> None:
        what, _, path = str(fault).partition(" - at `")
        path = path.removesuffix("`") or root
        self._context.reject(what, line=line, path=path.replace("$", root, 1))

    def _told(self, request: AuditedRequest, line: int) -> list[Event]:
        record, ref = request.record, request.ref
        if record.verb in _READS:
            return self._read(request, line)
        if is_secret_resource(ref.resource):
            self._lose("Secret: its content is left out")
        if request.code >= _MULTIPLE_CHOICES or record.stage == "Panic":
            return [request.refused()]
        if record.verb == "delete":
            return self._delete(request)
        if record.verb == "deletecollection":
            return [self._accepted(request, "which objects went")]
        if (ref.resource, ref.subresource) == ("pods", "binding") or ref.resource == "bindings":
            return [self._bound(request)]
        if (ref.resource, ref.subresource) == ("pods", "eviction"):
            accepted = request.accepted("when the pod goes")
            return [request.event("pod.evicted", accepted)]
        return self._write(request)

    def _read(self, request: AuditedRequest, line: int) -> list[Event]:
        """Take versions from answers to reads: whole objects, and lists with their place."""
        if request.code == _OK and request.record.verb == "list":
            return self._list(request, line)
        answer = request.answer
        if request.code != _OK or answer is None or not is_whole(answer, request.ref.subresource):
            self._context.skip("read request")
            return []
        return request.seen(answer, request.answer_written_at)

    def _list(self, request: AuditedRequest, line: int) -> list[Event]:
        hold_values(memoryview(request.record.response_object))
        body = _LIST.decode(request.record.response_object)
        kind = body.kind.removesuffix("List")
        if kind in (body.kind, "PartialObjectMetadata"):
            self._context.skip("read request")
            return []
        events = list[Event]()
        complete = not self._context.partial_lists and _is_complete(request.record, body)
        uids = list[str]()
        for place, raw in enumerate(array_items(body.items)):
            metadata = _ITEM.decode(raw).metadata
            uids.append(metadata.uid)
            if metadata.uid and self._told_last.get(metadata.uid) == metadata.resource_version:
                continue
            item, written_at, _ = decode_slim(raw)
            item.setdefault("kind", kind)
            item.setdefault("apiVersion", body.api_version)
            try:
                events += request.seen(item, written_at)
            except EventMalformed as fault:
                what = fault.what.replace("$", f"{_BODY}.items[{place}]", 1)
                self._context.reject(what, line=line)
                complete = False
        return [*events, *request.listed(body, kind, uids)] if complete else events

    def _remember(self, events: list[Event]) -> list[Event]:
        for event in events:
            if KINDS[event.kind].effect is Effect.VERSION:
                if len(self._told_last) >= _REMEMBERED:
                    self._told_last.clear()
                self._told_last[event.reference.uid] = event.resource_version
        return events

    def _write(self, request: AuditedRequest) -> list[Event]:
        record, answer = request.record, request.answer
        if answer is None:
            name = "" if request.reference.name else ", and the name that the server gave"
            return [self._accepted(request, f"the result{name} (level {record.level})")]
        whole = is_whole(answer, request.ref.subresource)
        dying = bool((answer.get("metadata") or {}).get("deletionTimestamp"))
        if dying and not lives_on(answer):
            return [request.gone(answer if whole else None)]
        if whole and request.changed_nothing:
            return self._unchanged(request, answer)
        if whole:
            created = request.code == _CREATED and not request.ref.subresource
            return request.made(answer, "created" if created else "updated")
        if request.revision_of_answer is None and not request.answered_status:
            self._context.skip("request that writes no object")
            return []
        return [self._accepted(request, "the whole object (the answer is an excerpt)")]

    def _delete(self, request: AuditedRequest) -> list[Event]:
        answer = request.answer
        if request.code == _ACCEPTED:
            return [self._accepted(request, "when the object goes (its dependents go first)")]
        if request.answered_status:
            return [request.gone(None)]
        if answer is None:
            if request.options.get("gracePeriodSeconds") == 0 or _is_by_kubelet(request):
                return [request.gone(None)]
            return [self._accepted(request, "whether the object went at once")]
        if is_whole(answer, request.ref.subresource):
            if lives_on(answer) and request.changed_nothing:
                return self._unchanged(request, answer)
            verb = "updated" if lives_on(answer) else "deleted"
            events = request.made(answer, verb)
            return [*request.attributed(events[0]), *events]
        if lives_on(answer):
            return [self._accepted(request, "the whole object (the answer is an excerpt)")]
        return [request.gone(None, revision=request.revision_of_answer)]

    def _unchanged(self, request: AuditedRequest, answer: Document) -> list[Event]:
        """Take the version that a write found and left as it was: somebody else had made it."""
        self._lost[f"{request.record.verb} that changed nothing: its version is another's"] += 1
        return request.seen(answer, request.answer_written_at)

    def _bound(self, request: AuditedRequest) -> Event:
        target = request.body.get("target") if isinstance(request.body, dict) else None
        node = target.get("name") if isinstance(target, dict) else None
        if not isinstance(node, str):
            node = ""
            self._lose("binding, unknown: the node (level Metadata)")
        agent = request.record.user_agent
        return request.event("pod.bound", PodBound(node=node, user_agent=agent))

    def _accepted(self, request: AuditedRequest, unknown: str) -> Event:
        self._lose(f"{request.record.verb} accepted, unknown: {unknown}")
        if not request.kind[1]:
            resource = f"{request.ref.resource}.{request.ref.api_group}"
            self._lose(f"the kind of {resource} is not known: its plural is used")
        return request.event(
            "request.accepted", request.accepted(unknown), revision=request.revision_of_answer
        )


def _is_by_kubelet(request: AuditedRequest) -> bool:
    """Say whether a pod's own kubelet deletes it, which it does once its containers have ended.

    Source: k8s.io/kubernetes/pkg/kubelet/status/status_manager.go syncPod, with a grace of 0.
    """
    return request.ref.resource == "pods" and request.record.actor.startswith("system:node:")


def _is_complete(record: Record, body: ListBody) -> bool:
    """Say whether a list holds all objects of its kind (and namespace)."""
    return not (
        body.metadata.continues
        or body.metadata.remaining_item_count
        or not _NARROWING.isdisjoint(record.query())
    )


FORMAT = AuditLog()
