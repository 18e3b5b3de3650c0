"""``ingest --explain``: what one line of an input becomes, without storing anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from ...engine.errors import InputError, UsageError
from ...engine.events import Event, Reference
from ...engine.ingest.objects.kept_fields import stored
from ...engine.ingest.reading.compression import BUFFER, Source
from ...engine.ingest.reading.formats import Context
from ...engine.ingest.reading.inputs import Document, InputFile, documents, find_files, unknown
from ...engine.ingest.unrecognised import why_unknown
from ...engine.ingest.unwrapping import recognise_document

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MOST_EVENTS = 20
"""The most events of one record that are shown; a list on one line gives one for each object."""

_ANY_YEAR = 2000
"""For logs without a year, whose times are not shown."""


class BecameEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event. :param payload: as the log would store it, without the content of Secrets."""

    kind: str
    object: Reference
    resource_version: str
    payload: Any


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What one line of an input becomes.

    :param source: the input. :param line: the line that was asked about.
    :param format: the format of the input. :param removed: what its lines were wrapped in.
    :param record: the line on which the record begins that the line belongs to; 0 if there is none.
    :param events: the first of its events. :param total: how many there are.
    :param skipped: why the record gives no event, or what is wrong with it; empty if nothing is.
    :param concludes: kinds of events about the whole input that are made at this record.
    """

    source: str
    line: int
    format: str
    removed: tuple[str, ...]
    record: int
    events: tuple[BecameEvent, ...]
    total: int
    skipped: tuple[str, ...]
    concludes: tuple[str, ...]


def explain(place: str, *, year: int | None = None) -> Explanation:
    """Return what a line of an input becomes.

    :param place: ``FILE:LINE``, or ``ARCHIVE!MEMBER:LINE``. :param year: of logs without one.
    :raises UsageError: it is no such place, or the input has no such line.
    :raises InputError: the input cannot be read.
    """
    source, _, number = place.rpartition(":")
    if not source or not (number.isascii() and number.isdecimal()) or not int(number):
        raise UsageError(
            f"{place!r} is no line of a file", now="write FILE:LINE, as in scheduler.log:17"
        )
    path = source.partition("!")[0]
    for file in find_files([path]):
        for document in documents(InputFile(file.path, named=True, size=file.size)):
            # The name of a file alone stands for the first document in it.
            if document.source == source or (document.source != path and source == path):
                return _explained(document, int(number), year)
    raise InputError(
        "there is no such input in it", where=source, now="name it as ingest does: ARCHIVE!MEMBER"
    )


def _explained(document: Document, line: int, year: int | None) -> Explanation:
    record, lines = _Record(line), _CountedLines(document.stream)
    document.replace(lines.buffered())
    context = Context(
        source=document.source,
        year=_ANY_YEAR if year is None else year,
        skip_malformed=True,
        noticed=record.skip,
    )
    recognised = recognise_document(document, context)
    if recognised is None and document.look_further():
        recognised = recognise_document(document, context)
    if recognised is None:
        raise unknown(document, *why_unknown(document.head))
    for event in recognised.events(document.stream, context):
        record.take(event, context.outer(event.line))
    # Lines that the format did not read count, too.
    while lines.read(BUFFER):
        pass
    if line > lines.count:
        raise UsageError(
            f"{document.source} has {lines.count} lines", now="give a line from 1 to the last"
        )
    concluded = [event for _, event in context.spans if context.outer(event.line) == record.line]
    return Explanation(
        source=document.source,
        line=line,
        format=recognised.name,
        removed=tuple(context.removed),
        record=record.line,
        events=tuple(map(_became, record.events)),
        total=record.total,
        skipped=tuple(dict.fromkeys(record.skipped)),
        concludes=tuple(event.kind for event in concluded),
    )


class _CountedLines(Source):
    """A stream that counts its lines while it is read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._last = b"\n"
        self._breaks = 0

    @property
    def count(self) -> int:
        """The number of lines so far; the last need not end."""
        return self._breaks + (self._last != b"\n")

    def readinto(self, target: WriteableBuffer) -> int:
        """Fill a buffer by one read of the stream; 0 at the end."""
        view = memoryview(target).cast("B")
        piece = self._stream.read(len(view))
        view[: len(piece)] = piece
        self._breaks += piece.count(b"\n")
        self._last = piece[-1:] or self._last
        return len(piece)


class _Record:
    """The record that a line belongs to: the last one that begins on it, or before it."""

    def __init__(self, asked: int) -> None:
        self._asked = asked
        self.line = 0
        self.events: list[Event] = []
        self.total = 0
        self.skipped: list[str] = []

    def take(self, event: Event, line: int) -> None:
        """Take an event of the input."""
        if self._is_of(line):
            self.total += 1
            if len(self.events) < MOST_EVENTS:
                self.events.append(event)

    def skip(self, line: int, reason: str) -> None:
        """Take a skipped record of the input."""
        if self._is_of(line) and len(self.skipped) < MOST_EVENTS:
            self.skipped.append(reason)

    def _is_of(self, line: int) -> bool:
        # A later record that still begins before the line replaces what was noted.
        if self.line < line <= self._asked:
            self.line, self.events, self.total, self.skipped = line, [], 0, []
        return bool(line) and line == self.line


def _became(event: Event) -> BecameEvent:
    stored_event = stored(event)
    return BecameEvent(
        kind=stored_event.kind,
        object=stored_event.reference,
        resource_version=stored_event.resource_version,
        payload=msgspec.json.decode(stored_event.payload),
    )
