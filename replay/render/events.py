"""Events of the log as lines: JSON for programs, a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from ...engine.events import Event, Recorded, Reference
from ...engine.events.input_names import without_folders
from ..moments.actors import AttributedEvent
from ..moments.times import span_text
from ..objects.kind_names import plain_name
from ..tabular.documents import written
from ..tabular.record_columns import Time
from .tables import NONE, Table

_HEADERS = ("POSITION", "KIND", "OBJECT", "VERSION", "TIME", "ACTOR")


class _Request(msgspec.Struct):
    verb: str = ""


_ENCODER = msgspec.json.Encoder(enc_hook=written)
_VERB = msgspec.json.Decoder(_Request)
_WITH_VERB = frozenset({"request.accepted", "request.refused", "collection.deleted"})
_SHORT_FIELDS: Mapping[str, str] = MappingProxyType(
    {"list.observed": "listed", "config.applied": "configmap", "extender.answered": "verb"}
)


class EventDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the log; fields are only ever added.

    :param time: the best estimate between ``earliest`` and ``latest``; null if not known.
    :param made: position of the version that a request made. :param verb: of a request.
    :param payload: what it holds, if a request wants it.
    """

    position: int
    kind: str
    object: Reference
    resource_version: str
    time: Time | None
    earliest: Time | None
    latest: Time | None
    recorded_at: Time
    actor: str
    made: int | None
    verb: str | None
    source: str
    line: int | None
    branch: str
    cluster: str
    payload: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


def shown_event(recorded: AttributedEvent, *, payload: bool) -> EventDocument:
    """Return an event as answers show it."""
    event, span = recorded.event, recorded.span
    raw: Any = msgspec.Raw(event.payload) if payload else msgspec.UNSET
    return EventDocument(
        position=recorded.position,
        kind=event.kind,
        object=event.reference,
        resource_version=event.resource_version,
        time=Time.of(span.estimate),
        earliest=Time.of(span.earliest),
        latest=Time.of(span.latest),
        recorded_at=Time(recorded.recorded_at),
        actor=recorded.actor,
        made=recorded.made or None,
        verb=verb_of(event) or None,
        source=without_folders(event.source),
        line=event.line,
        branch=recorded.branch,
        cluster=event.cluster,
        payload=raw,
    )


def ndjson_lines(events: Iterable[AttributedEvent], *, payload: bool) -> Iterator[str]:
    """Yield one JSON object per line."""
    for recorded in events:
        yield _ENCODER.encode(shown_event(recorded, payload=payload)).decode() + "\n"


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
