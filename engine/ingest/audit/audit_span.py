"""What an audit log covers: from when to when, and at which levels it recorded writes of a kind.

A log with all writes of a kind and their answers is complete for that kind from its first record to
its last. The log does not show what its policy leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from ...events import Event, Reference
from ...events.payloads import AuditCovered, AuditedKind
from ...kubernetes.units import parse_time
from ..reading.formats import Context
from .audit_records import AuditRecord
from .audit_request import AuditedRequest

_LEVELS = MappingProxyType({"Metadata": 1, "Request": 2, "RequestResponse": 3})
_NAMES = ("None", *_LEVELS)
_SECOND = len("2026-01-02T03:04:05")
_NO_TIME = ""
_GATEWAY_TIMEOUT = 504
_MULTIPLE_CHOICES = 300


class _Writes:
    """Accepted writes of one kind."""

    def __init__(self) -> None:
        self.count = 0
        self.level = len(_LEVELS)
        self.until: int | None = None


class AuditSpan:
    """Collects what one document covers."""

    def __init__(self) -> None:
        self._first = self._last = _NO_TIME
        self._pause = 0
        self._low: int | None = None
        self._high = 0
        self._kinds: dict[tuple[str, str], _Writes] = {}

    def saw(self, record: AuditRecord) -> None:
        """Note a record's time; records come roughly by time of completion."""
        time, last = record.stage_timestamp, self._last
        # Most records are of the same second as the one before, and are compared no further.
        if time[:_SECOND] == last[:_SECOND] or not time:
            return
        if not last:
            self._first = self._last = time
        # Times of stages are all in UTC and in one form, so their texts sort as they do.
        elif time > last:
            self._pause = max(self._pause, _since(last, time))
            self._last = time
        elif time < self._first:
            self._first = time

    def wrote(self, request: AuditedRequest, events: Sequence[Event]) -> None:
        """Note a write and its events."""
        record = request.record
        # After a panic or a timeout nothing says whether the write happened.
        unknown = record.stage == "Panic" or request.code == _GATEWAY_TIMEOUT
        if request.code >= _MULTIPLE_CHOICES and not unknown:
            return
        # An event has its kind; the request would have to decode its body for it.
        reference = events[0].reference if events else request.reference
        writes = self._kinds.get((reference.group, reference.kind))
        if writes is None:
            writes = self._kinds[reference.group, reference.kind] = _Writes()
        # Which versions such a write made is unknown: the log is complete up to here only.
        if unknown or record.verb == "deletecollection":
            if writes.until is None:
                writes.until = self._high
            return
        writes.count += 1
        writes.level = min(writes.level, _LEVELS.get(record.level, 0))
        for event in events:
            revision = event.revision
            if revision is not None:
                self._high = max(self._high, revision)
                self._low = revision if self._low is None else min(self._low, revision)

    def grow(self, context: Context, *, line: int) -> int | None:
        """Leave what the document covers so far; what follows continues it.

        :returns: the greatest revision of a write so far; None if there is none.
        """
        if self._last and (self._first != self._last or self._kinds):
            self.end(context, line=line)
            self._first, self._pause = self._last, 0
            self._low, self._kinds = None, {}
        return self._high or None

    def end(self, context: Context, *, line: int) -> None:
        """Leave what the document covers; nothing if it has no record with a time.

        If malformed records were skipped, any write may be among them.
        """
        times = [_time(text) for text in (self._first, self._last)]
        if times[0] is None or times[1] is None:
            return
        broken = bool(context.skipped.get("malformed"))
        covered = AuditCovered(
            since=self._low,
            until=self._high if self._low is not None else None,
            first_at=times[0],
            last_at=times[1],
            pause=self._pause,
            kinds=tuple(
                AuditedKind(
                    group=group,
                    listed=kind,
                    writes=writes.count,
                    level=_NAMES[writes.level],
                    until=0 if broken else writes.until,
                )
                for (group, kind), writes in sorted(self._kinds.items())
            ),
        )
        reference = Reference("audit.k8s.io", "Event")
        context.span(self._low or 0, reference, covered, line=line)


def _time(text: str) -> int | None:
    try:
        return parse_time(text)
    except ValueError:
        return None


def _since(earlier: str, later: str) -> int:
    begin, end = _time(earlier), _time(later)
    return 0 if begin is None or end is None else end - begin
