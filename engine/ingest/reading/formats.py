"""The interface of a format, and the context in which it reads a document.

A format turns the bytes of one document into events. It has no database and no file system:
:mod:`.inputs` opens files, archives and standard input, and gives it a binary stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from ...errors import EventMalformed, shortened
from ...events import Event, Reference, canonical_json
from ...events.payloads import AssumedField, InputAssumed, Payload
from .broken import BrokenLists

_LONGEST_REASON, _MOST_REASONS = 200, 100
"""Reasons for which records are skipped: the longest, in characters, and how many."""

_MOST_MALFORMED = 10
"""How many malformed records are shown."""


INPUT = "Input"
"""The kind in the reference of an event about an input."""


class InitialList(msgspec.Struct, frozen=True, kw_only=True):
    """The initial list of a watch: the objects that existed when it began.

    :param uids: of the objects. :param revision: of the bookmark that completes the list; None if
        the watch ends before it.
    """

    source: str
    group: str
    kind: str
    uids: frozenset[str]
    revision: int | None


class WatchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the client of a watch asked for; a recorded stream alone does not say it.

    :param namespaces: empty for all, and for kinds without namespaces.
    :param since: the revision that it continued from; None if it began with an initial list.
    """

    group: str
    kind: str
    namespaces: tuple[str, ...] = ()
    since: int | None = None


def same_line(line: int) -> int:
    """Return the line: that of the input, as no wrapping was removed."""
    return line


def _ignore() -> None:
    """Do nothing about a skipped record."""


def _covers_nothing() -> None:
    """Leave nothing: the format covers no revisions."""


class Context(msgspec.Struct, kw_only=True):
    """The document that a format reads, with options, and the notes that it leaves.

    :param source: the document's name, as events have it.
    :param cluster: the cluster that the events belong to.
    :param received: when each line was received, by line from 1; microseconds, 0 where unknown.
    :param taken_at: between which times the document was fetched, microseconds.
    :param year: for logs without a year: the year in which the document's last line was written;
        of a document that is read while it grows, its first line.
    :param partial_lists: lists are excerpts; an object that is not in one may exist.
    :param skip_malformed: count malformed records instead of raising.
    :param skipped: reason to count of skipped records: records that give no event, as they are
        malformed or say nothing that is kept.
    :param first_skipped: reason to the line of its first record; 0 where the line is not known.
    :param malformed: the first few malformed records, as messages.
    :param notes: remarks for the summary (``the last line is cut off``), in order of appearance.
    :param pages: (group, kind, revision) of lists that came in pages: no page is a complete list.
    :param spans: events that say for which revisions a document is complete, each with the first of
        these revisions; they are known only at the end of the document.
    :param initial_lists: of watches; they show whether a file was split within one.
    :param assumed: (group, kind, field, value) of what objects lacked and was filled in; with how
        many objects lacked it, and the name of the first.
    :param unversioned: uids of versions without a resourceVersion.
    :param last_fault: what was wrong with the last malformed record, and where.
    :param broken: records that were skipped and belong to no list, such as an object of a folder.
    :param removed: what was removed from around the lines, in words.
    :param cut_begin: the first line lacked its begin, so there may have been lines before it.
    :param outer: returns for a line of what the format reads the line of the input; they differ if
        a wrapping was removed.
    :param noticed: called with line and reason of each skipped record; None if it is not needed.
    :param asked: what a watch was asked for, if that is known.
    :param grows: it is read while it is written.
    :param clock: returns when the last line was received, microseconds; for streams that are read
        as they arrive, in place of ``received``.
    :param grow: called by a reader of a document that grows, between two events: the format leaves
        in ``spans`` what the document covers so far, and what follows will continue it. It returns
        up to which revision that is, None if nothing is covered yet. Set by formats that cover
        revisions.
    :param lost: called after a record was skipped as malformed, before the next one is read; set
        by a format that draws conclusions from missing records.
    """

    source: str
    cluster: str = "default"
    received: Sequence[int] | npt.NDArray[np.int64] = ()
    taken_at: tuple[int, int] | None = None
    year: int | None = None
    partial_lists: bool = False
    skip_malformed: bool = False
    # msgspec copies empty lists and dicts for each instance.
    skipped: dict[str, int] = {}
    first_skipped: dict[str, int] = {}
    malformed: list[str] = []
    notes: list[str] = []
    pages: list[tuple[str, str, int]] = []
    spans: list[tuple[int, Event]] = []
    initial_lists: list[InitialList] = []
    assumed: dict[tuple[str, str, str, str], dict[tuple[str, str], None]] = {}
    unversioned: set[str] = set()
    last_fault: str = ""
    broken: BrokenLists = msgspec.field(default_factory=BrokenLists)
    removed: list[str] = []
    cut_begin: bool = False
    outer: Callable[[int], int] = same_line
    noticed: Callable[[int, str], None] | None = None
    asked: WatchRequest | None = None
    grows: bool = False
    clock: Callable[[], int] | None = None
    grow: Callable[[], int | None] = _covers_nothing
    lost: Callable[[], None] = _ignore

    def span(self, first: int, reference: Reference, payload: Payload, *, line: int = 0) -> None:
        """Leave an event about revisions from ``first`` on; its kind is that of the payload."""
        event = Event(
            kind=str(payload.__struct_config__.tag),
            reference=reference,
            payload=canonical_json(payload),
            source=self.source,
            line=line,
            cluster=self.cluster,
        )
        self.spans.append((first, event))

    def assume(self, pair: tuple[str, str], named: tuple[str, str], field: str, value: str) -> None:
        """Note that a field which an object lacked was filled in; its versions count once.

        :param named: its namespace and name. :param field: its path. :param value: what it got, in
            words.
        """
        self.assumed.setdefault((*pair, field, value), {})[named] = None

    def assumed_fields(self) -> tuple[AssumedField, ...]:
        """Return what was filled in so far."""
        return tuple(
            AssumedField(
                group=group,
                listed=kind,
                field=field,
                value=value,
                count=len(named),
                first=next(iter(named))[1],
            )
            for (group, kind, field, value), named in sorted(self.assumed.items())
        )

    def assumptions(self) -> Event | None:
        """Return the event that records what was filled in; None if nothing was."""
        if not self.assumed:
            return None
        payload = InputAssumed(input=self.source, fields=self.assumed_fields())
        return Event(
            kind="input.assumed",
            reference=Reference(kind=INPUT),
            payload=canonical_json(payload),
            source=self.source,
            cluster=self.cluster,
        )

    def line_received(self, line: int) -> int | None:
        """Return when a line of the document was received; None if no time was recorded."""
        if self.clock is not None:
            return self.clock()
        if 0 < line <= len(self.received) and self.received[line - 1]:
            return int(self.received[line - 1])
        return None

    def received_at(self, line: int) -> int | None:
        """Return by when a line of the document was received; None if it is not known."""
        received = self.line_received(line)
        if received is not None or self.taken_at is None:
            return received
        return self.taken_at[1]

    def skip(self, reason: str, *, line: int) -> None:
        """Count a record that is skipped without a fault, such as a read request.

        :param line: of the document; 0 if it is not known. The first of each reason is kept.
        """
        if self.noticed is not None:
            self.noticed(self.outer(line), reason)
        self._count(reason, line)

    def _count(self, reason: str, line: int) -> None:
        reason = reason[:_LONGEST_REASON]
        # Reasons may quote the input, so there can be any number of them.
        if len(self.skipped) >= _MOST_REASONS and reason not in self.skipped:
            reason = "another reason"
        count = self.skipped.get(reason, 0)
        if not count:
            self.first_skipped[reason] = self.outer(line)
        self.skipped[reason] = count + 1

    def reject(self, what: str, *, line: int, path: str = "", now: str = "") -> None:
        """Raise for a malformed record, or count it if malformed records are skipped.

        :param path: JSON path of the fault inside the record, as in ``$.spec.minMember``.
        :raises EventMalformed: unless ``skip_malformed``.
        """
        where = f"{self.source}:{self.outer(line)}"
        if not self.skip_malformed or len(self.malformed) < _MOST_MALFORMED:
            now = now or "fix the record, or skip it with --skip-malformed (it will be counted)"
            fault = EventMalformed(what, path=path, where=where, now=now)
            if not self.skip_malformed:
                raise fault
            self.malformed.append(str(fault))
        what = shortened(f"{path}: {what}" if path else what)
        self.last_fault = f"{where}: {what}"
        self._count("malformed", line)
        if self.noticed is not None:
            self.noticed(self.outer(line), f"malformed: {what}")
        # Last, as formats look at the fault that was noted.
        self.lost()


class Format(Protocol):
    """One format: how to recognise it, and how to read it."""

    name: str
    """As in ``docs/reference``: ``watch-stream``, ``audit-log`` …"""

    def sniff(self, head: bytes, name: str) -> bool:
        """Say whether a document is of this format.

        :param head: its first 64 KiB, or more of it if no format knows those.
        :param name: the document's file name, a hint only.
        """

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield the document's events in the document's order, reading it once.

        :raises EventMalformed: a record is wrong (through ``context.reject``).
        :raises InputTruncated: the document is cut off, and its format does not allow that.
        """
