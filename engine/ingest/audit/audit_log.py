"""kube-apiserver's audit log: JSON lines of ``audit.k8s.io`` Events, or lists of them.

Each line is decoded (``records.py``), classified (``classify.py``: what it means, or why it is
skipped) and turned into events (``build.py``, ``lists.py``). What a record leaves unknown is said
in the event, and counted in the notes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from ...errors import EventMalformed
from ...events import Event
from ...nesting import TOO_DEEP
from ..objects.kept_fields import is_secret_resource
from ..reading.formats import Context
from ..reading.json_text import array_items
from ..reading.numbered_lines import json_documents
from ..reading.sizes import hold_values
from .audit_lists import ANSWER, Lists
from .audit_records import AuditRecord
from .audit_request import AuditedRequest
from .audit_span import AuditSpan
from .build import Builder
from .classify import (
    WRITES,
    Accepted,
    BoundRequest,
    Collected,
    ListRead,
    Meaning,
    SkippedLine,
    Unchanged,
    classify,
    why_skipped,
)

_RECORD = msgspec.json.Decoder(AuditRecord)

_OWN = re.compile(rb'"apiVersion"\s*:\s*"audit\.k8s\.io/')

_MOST_UNKNOWN, _LONGEST_UNKNOWN = 100, 200
"""How many kinds of unknown things are noted, and in how many characters."""


class AuditLog:
    """Reads audit logs; keeps no state across files, so rotated ones may come in any order."""

    name = "audit-log"

    def sniff(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the name says nothing here
        """Recognise JSON that names the audit API and has an audit id."""
        return (
            head.lstrip().startswith(b"{")
            and _OWN.search(head) is not None
            and (b'"auditID"' in head or b'"EventList"' in head)
        )

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield what each finished request did, in the order of the lines (of completion)."""
        reader = _Reader(context)
        # An empty document yields no line, and its end is noted all the same.
        line = 0
        for line, text in json_documents(stream, context):
            for record in reader.records(text, line):
                yield from reader.events(record, line)
        reader.end(line)


class _Reader:
    """Reads one document, and counts what it does not say, for the notes."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._unknown: Counter[str] = Counter()
        self._lists = Lists(context)
        self._span = AuditSpan()
        self._line = 0
        context.grow = self._grow

    def records(self, text: bytes, line: int) -> Iterator[AuditRecord]:
        """Decode a line: a record, several in an ``EventList``, or none if it is malformed."""
        try:
            record = _decoded(text)
            if record.kind != "EventList":
                yield record
            else:
                hold_values(memoryview(record.items))
                yield from map(_RECORD.decode, array_items(record.items))
        except EventMalformed as fault:
            self._context.reject(fault.what, line=line)
        # In this order: a ValidationError is a DecodeError, and says where in the record it is.
        except msgspec.ValidationError as fault:
            self._reject(fault, line)
        except msgspec.DecodeError as fault:
            if text.endswith(b"\n"):
                self._context.reject(str(fault), line=line)
            else:
                # The log was copied while the server wrote this line.
                self._context.notes.append(f"line {line}: the last record is cut off")
        except UnicodeDecodeError as fault:
            self._context.reject(f"not UTF-8: {fault}", line=line)
        except RecursionError:
            self._context.reject(TOO_DEEP, line=line)

    def events(self, record: AuditRecord, line: int) -> list[Event]:
        """Return the events of one record; count it if it is skipped or malformed."""
        self._line = line
        reason = why_skipped(record)
        # A skipped record has a time as well, so the log covers that time.
        self._span.saw(record)
        if reason:
            self._context.skip(reason, line=line)
            return []
        if record.response_status is None or record.response_status.code is None:
            self._context.reject("there is no code", line=line, path="$.responseStatus.code")
            return []
        try:
            return self._events(AuditedRequest(record), line)
        except EventMalformed as fault:
            # The reader of lists rejected it already, with its place in the answer.
            if fault.path.startswith(ANSWER):
                raise
            self._context.reject(fault.problem, line=line, path=fault.path_from(ANSWER))
        except msgspec.DecodeError as fault:
            self._reject(fault, line, ANSWER)
        except (ValueError, TypeError, AttributeError) as fault:
            self._context.reject(f"a field has an unexpected form: {fault}", line=line)
        except RecursionError:
            self._context.reject(TOO_DEEP, line=line, path=ANSWER)
        return []

    def _grow(self) -> int | None:
        return self._span.grow(self._context, line=self._line)

    def end(self, line: int) -> None:
        """Note what is unknown, each kind once with its count, and what the document covers."""
        self._span.end(self._context, line=line)
        self._context.notes.extend(f"{count} x {what}" for what, count in self._unknown.items())

    def _events(self, request: AuditedRequest, line: int) -> list[Event]:
        writes = request.record.verb in WRITES
        if writes and is_secret_resource(request.ref.resource):
            self._note("Secret: its content is left out")
        meaning = classify(request)
        if isinstance(meaning, SkippedLine):
            self._context.skip(meaning.reason, line=line)
        for gap in _unknown(meaning, request):
            self._note(gap)
        if isinstance(meaning, ListRead):
            events = self._lists.events(request, meaning.body, line)
        else:
            events = Builder(request, self._context, line).events(meaning)
        if writes and not request.changed_nothing:
            self._span.wrote(request, events)
        self._lists.remember(events)
        return events

    def _note(self, what: str) -> None:
        if len(self._unknown) < _MOST_UNKNOWN or what in self._unknown:
            self._unknown[what[:_LONGEST_UNKNOWN]] += 1

    def _reject(self, fault: msgspec.DecodeError, line: int, root: str = "$") -> None:
        what, _, path = str(fault).partition(" - at `")
        path = path.removesuffix("`") or root
        self._context.reject(what, line=line, path=path.replace("$", root, 1))


def _decoded(text: bytes) -> AuditRecord:
    """Return a record. Programs that copy records write ``null`` where the API server has nothing.

    :raises msgspec.DecodeError: it is none.
    """
    try:
        return _RECORD.decode(text)
    except msgspec.ValidationError:
        document = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        present = {key: value for key, value in document.items() if bytes(value) != b"null"}
        for key in present.keys() & _NAMED_PARTS:
            part = msgspec.json.decode(present[key])
            if isinstance(part, dict):
                fields = {name: value for name, value in part.items() if value is not None}
                present[key] = msgspec.Raw(msgspec.json.encode(fields))
        return _RECORD.decode(msgspec.json.encode(present))


_NAMED_PARTS = frozenset({"objectRef", "user", "impersonatedUser", "responseStatus"})


def _unknown(meaning: Meaning, request: AuditedRequest) -> Iterator[str]:
    """Yield what the log should know of a write, and the record does not say."""
    verb = request.record.verb
    match meaning:
        case Accepted(unknown) | Collected(unknown):
            yield f"{verb} accepted, unknown: {unknown}"
            if not request.kind[1]:
                group = request.ref.api_group
                resource = request.ref.resource + (f".{group}" if group else "")
                yield f"the kind of {resource} is not known: its plural is used"
        case BoundRequest(None):
            yield "binding, unknown: the node (level Metadata)"
        case Unchanged():
            yield f"{verb} that changed nothing: its version is another's"


FORMAT = AuditLog()
