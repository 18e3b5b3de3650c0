"""Events of the log as lines: JSON for programs, a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from ...engine.events import Event, Recorded, Reference
from ...engine.events.input_names import without_folders
from ...engine.kubernetes.units import format_time
from ..moments.actors import AttributedEvent
from ..moments.times import span_text
from ..objects.kinds import plain_name
from .tables import NONE, Table

_HEADERS = ("POSITION", "KIND", "OBJECT", "VERSION", "TIME", "ACTOR")


class _Request(msgspec.Struct):
    verb: str = ""


_ENCODER = msgspec.json.Encoder()
_VERB = msgspec.json.Decoder(_Request)
_WITH_VERB = frozenset({"request.accepted", "request.refused", "collection.deleted"})
_SHORT_FIELDS: Mapping[str, str] = MappingProxyType(
    {"list.observed": "listed", "config.applied": "configmap", "extender.answered": "verb"}
)


def event_fields(recorded: AttributedEvent, *, payload: bool) -> dict[str, Any]:
    """Return an event as ``-o ndjson`` and ``-o json`` print it; fields are only ever added.

    Times are RFC 3339 in UTC with microseconds; null if not known. ``time`` is the best estimate
    between ``earliest`` and ``latest``.
    """
    event, span = recorded.event, recorded.span
    fields: dict[str, Any] = {
        "position": recorded.position,
        "kind": event.kind,
        "object": event.reference,
        "resource_version": event.resource_version,
        "time": _time(span.estimate),
        "earliest": _time(span.earliest),
        "latest": _time(span.latest),
        "recorded_at": _time(recorded.recorded_at),
        "actor": recorded.actor,
        "made": recorded.made or None,
        "verb": verb_of(event) or None,
        "source": without_folders(event.source),
        "line": event.line,
        "branch": recorded.branch,
        "cluster": event.cluster,
    }
    if payload:
        fields["payload"] = msgspec.Raw(event.payload)
    return fields


def ndjson_lines(events: Iterable[AttributedEvent], *, payload: bool) -> Iterator[str]:
    """Yield one JSON object per line."""
    for recorded in events:
        yield _ENCODER.encode(event_fields(recorded, payload=payload)).decode() + "\n"


def event_table(*, wide: bool) -> Table:
    """Return the table of events, without rows; wide has the source."""
    headers = (*_HEADERS, "SOURCE") if wide else _HEADERS
    return Table(headers, (), keep=("KIND", "OBJECT"), shorten=("ACTOR",))


def event_rows(events: Iterable[AttributedEvent], *, wide: bool) -> Iterator[list[str]]:
    """Yield the table rows of events."""
    for recorded in events:
        event = recorded.event
        row = [
            f"@{recorded.position}",
            event.kind,
            object_text(event.reference) or _subject(recorded),
            event.resource_version
            or (f"makes @{recorded.made}" if recorded.made else "")
            or verb_of(event)
            or NONE,
            span_text(recorded.span),
            recorded.actor or NONE,
        ]
        if wide:
            row.append(f"{without_folders(event.source)}:{event.line}")
        yield row


def verb_of(event: Event) -> str:
    """Return the verb of a request that the audit log has without its result; empty for others."""
    if event.kind not in _WITH_VERB:
        return ""
    return _VERB.decode(event.payload).verb


def object_text(reference: Reference) -> str:
    """Return an object as ``pod/default/train-0``; empty if there is none."""
    if not reference.kind:
        return ""
    parts = (plain_name(reference.group, reference.kind), reference.namespace, reference.name)
    return "/".join(part for part in parts if part)


def _subject(recorded: Recorded) -> str:
    """Return the subject of an event without an object, from its payload."""
    body = msgspec.json.decode(recorded.event.payload)
    if not isinstance(body, dict):
        return NONE
    for field in (_SHORT_FIELDS.get(recorded.event.kind, ""), "job", "session", "message", "part"):
        value = body.get(field)
        if isinstance(value, str) and value:
            return value.splitlines()[0]
    return NONE


def _time(micros: int | None) -> str | None:
    return None if micros is None else format_time(micros)
