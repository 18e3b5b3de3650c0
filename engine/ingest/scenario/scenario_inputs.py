"""Inputs of sessions that are not Kubernetes objects: usage of nodes, answers of extenders.

One JSON record a line. Its ``type`` is the kind of the event that it becomes; scenarios have the
same records among their events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Annotated, Any, BinaryIO, NamedTuple

import msgspec

from ...errors import EventMalformed
from ...events import Event, Reference, canonical_json
from ...events.payloads import ExtenderAnswered, UsageMeasured
from ...kubernetes.duration import parse_go_duration
from ...kubernetes.units import parse_time
from ...nesting import TOO_DEEP, hold_depth
from ..reading.formats import Context
from ..reading.json_text import DECODE_FAULTS
from ..reading.numbered_lines import numbered_lines
from ..reading.sizes import hold_object

Percent = Annotated[float, msgspec.Meta(ge=0)]
Name = Annotated[str, msgspec.Meta(pattern=r"^[^\x00-\x20]+\Z")]

_TYPED = re.compile(rb'\s*\{\s*"type"\s*:\s*"[a-z]+\.[a-z]+"')
_TYPE = re.compile(r"[a-z]+\.[a-z]+")


class _Record(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """Base of the records; ``observedAt`` is an RFC 3339 time."""

    type: str
    observed_at: str | None = None


class _Usage(_Record, frozen=True, kw_only=True):
    node: Name
    cpu: dict[str, Percent] = {}
    memory: dict[str, Percent] = {}


class _Answer(_Record, frozen=True, kw_only=True):
    verb: Name
    about: str = ""
    answer: dict[str, Any] | None


_SHAPES: MappingProxyType[str, type[_Usage | _Answer]] = MappingProxyType(
    {"usage.measured": _Usage, "extender.answered": _Answer}
)

RECORD_TYPES = tuple(_SHAPES)
"""The types that a record may have."""


class ParsedRecord(NamedTuple):
    """The content of a record.

    :param observed_at: microseconds since 1970 UTC; None if the record does not say when.
    """

    payload: UsageMeasured | ExtenderAnswered
    observed_at: int | None


def parse_record(value: Any) -> ParsedRecord:
    """Return the content of a decoded record.

    :raises EventMalformed: it is not valid.
    """
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in _SHAPES:
        known = " or ".join(RECORD_TYPES)
        raise EventMalformed(f"expected {known}, found {kind!r:.60}", path="$.type")
    try:
        record = msgspec.convert(value, type=_SHAPES[kind])
    except msgspec.ValidationError as fault:
        raise _malformed(str(fault)) from None
    return ParsedRecord(_payload(record), _time(record.observed_at))


def _malformed(text: str) -> EventMalformed:
    """Return the error for a text as in ``Expected `float`, got `str` - at `$.cpu```."""
    what, _, place = text.replace("`", "").partition(" - at ")
    if "matching regex" in what:
        what = "expected a name, without spaces"
    return EventMalformed(f"{what[:1].lower()}{what[1:]}", path=place or "$")


def _payload(record: _Usage | _Answer) -> UsageMeasured | ExtenderAnswered:
    if isinstance(record, _Answer):
        return ExtenderAnswered(verb=record.verb, about=record.about, answer=record.answer)
    if not record.cpu and not record.memory:
        raise EventMalformed("nothing was measured: expected cpu or memory", path="$")
    for name, by_period in (("cpu", record.cpu), ("memory", record.memory)):
        for period in by_period:
            try:
                parse_go_duration(period)
            except ValueError:
                what = f"expected a period such as 10m, found {period[:40]!r}"
                raise EventMalformed(what, path=f"$.{name}") from None
    return UsageMeasured(node=record.node, cpu=record.cpu, memory=record.memory)


def _time(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_time(text)
    except (ValueError, OverflowError) as fault:
        raise EventMalformed(str(fault), path="$.observedAt") from None


def record_event(record: ParsedRecord, *, source: str, line: int, cluster: str) -> Event:
    """Return the event of a record; the caller sets its revision.

    Usage is about its node; an answer is about no object.
    """
    payload = record.payload
    if isinstance(payload, UsageMeasured):
        kind, reference = "usage.measured", Reference(kind="Node", name=payload.node)
    else:
        kind, reference = "extender.answered", Reference()
    return Event(
        kind=kind,
        reference=reference,
        payload=canonical_json(payload),
        earliest=record.observed_at,
        latest=record.observed_at,
        source=source,
        line=line,
        cluster=cluster,
    )


class ExternalInputRecords:
    """Reads records, one a line. A last line that is cut off is noted and skipped."""

    name = "external-inputs"

    def sniff(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the name says nothing here
        """Recognise a first line that is an object with a kind of events as its type."""
        if _TYPED.match(head):
            return True
        try:
            value = msgspec.json.decode(head.lstrip().partition(b"\n")[0])
        except DECODE_FAULTS:
            return False
        kind = value.get("type") if isinstance(value, dict) else None
        return isinstance(kind, str) and _TYPE.fullmatch(kind) is not None

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield one event per line, without a revision; times are those of the records."""
        for line, text in numbered_lines(stream, context):
            try:
                hold_object(text)
                value = msgspec.json.decode(text)
                hold_depth(value, text)
                record = parse_record(value)
            except DECODE_FAULTS as fault:
                self._undecodable(fault, text, line, context)
            except EventMalformed as fault:
                context.reject(fault.what, line=line)
            else:
                yield record_event(
                    record, source=context.source, line=line, cluster=context.cluster
                )

    def _undecodable(self, fault: Exception, text: bytes, line: int, context: Context) -> None:
        if isinstance(fault, RecursionError):
            context.reject(TOO_DEEP, line=line)
        elif text.endswith(b"\n"):
            context.reject(f"no record: {fault}; one record a line is expected", line=line)
        else:
            context.notes.append(
                f"line {line} is cut off, as the recording ended; what came before it is kept"
            )


FORMAT = ExternalInputRecords()
