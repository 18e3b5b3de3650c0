"""The formats that can be ingested, as an interface, and what reading one reports.

A format turns the bytes of one document into events. It knows no database and no file system: the
shell (:mod:`.inputs`) opens files, archives and standard input, and hands over binary streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from ...errors import EventMalformed
from ...events import Event, Reference, canonical_json
from ...events.payloads import Payload

_LONGEST_REASON, _MOST_REASONS = 200, 100
"""What is said of records that are left out: characters, and different ones."""


class FirstRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a watch told at first, from its first line on: what existed then.

    :param uids: of the objects. :param revision: at which the watch says that these are all; None
        if it ends before it says so.
    """

    source: str
    group: str
    kind: str
    uids: frozenset[str]
    revision: int | None


def _heedless() -> None:
    """Do nothing about a record that is left out."""


class Context(msgspec.Struct, kw_only=True):
    """What a format may know about the document that it reads, and where it leaves its notes.

    :param source: the document's name, as it will stand in events.
    :param cluster: the cluster that the events belong to.
    :param received: when each line was received, by line from 1; microseconds, 0 where unknown.
    :param taken_at: between which times the document was fetched, microseconds.
    :param year: for logs without a year: the year in which the document's last line was written.
    :param partial_lists: lists are excerpts; absence from one means nothing.
    :param skip_malformed: count malformed records instead of raising.
    :param skipped: reason to count of records that were left out on purpose or as malformed.
    :param malformed: the first few malformed records, as messages.
    :param notes: remarks for the summary (``the last line is cut off``), in order of appearance.
    :param pages: (group, kind, revision) of lists that came in pages: no page speaks for the whole.
    :param spans: events that say of what a stretch of revisions tells everything, each with the
        first of these revisions; left here because only the end of a document tells them.
    :param first_runs: what a watch told at first; a file that was split in it is seen by that.
    :param lost: called after a record was left out as malformed, before the next one is read; set
        by a format that concludes anything from what it was not told.
    """

    source: str
    cluster: str = "default"
    received: Sequence[int] | npt.NDArray[np.int64] = ()
    taken_at: tuple[int, int] | None = None
    year: int | None = None
    partial_lists: bool = False
    skip_malformed: bool = False
    skipped: dict[str, int] = {}
    malformed: list[str] = []
    notes: list[str] = []
    pages: list[tuple[str, str, int]] = []
    spans: list[tuple[int, Event]] = []
    first_runs: list[FirstRun] = []
    lost: Callable[[], None] = _heedless

    def span(self, first: int, reference: Reference, payload: Payload, *, line: int = 0) -> None:
        """Leave an event that speaks for revisions from ``first`` on; its kind is the payload's."""
        event = Event(
            kind=str(payload.__struct_config__.tag),
            reference=reference,
            payload=canonical_json(payload),
            source=self.source,
            line=line,
            cluster=self.cluster,
        )
        self.spans.append((first, event))

    def received_at(self, line: int) -> int | None:
        """Return when a line of the document had been received, as far as that is known."""
        if 0 < line <= len(self.received) and self.received[line - 1]:
            return int(self.received[line - 1])
        return None if self.taken_at is None else self.taken_at[1]

    def skip(self, reason: str) -> None:
        """Count a record that is left out for a reason that is no fault (a read request, say)."""
        reason = reason[:_LONGEST_REASON]
        if len(self.skipped) >= _MOST_REASONS and reason not in self.skipped:
            reason = "another reason"
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def reject(self, what: str, *, line: int, path: str = "", now: str = "") -> None:
        """Raise for a malformed record, or count it if the person asked for that.

        :param path: JSON path of the fault inside the record, as in ``$.spec.minMember``.
        :raises EventMalformed: unless ``skip_malformed``.
        """
        fault = EventMalformed(
            f"{path}: {what}" if path else what,
            where=f"{self.source}:{line}",
            now=now or "fix the record, or leave it out with --skip-malformed (it will be counted)",
        )
        if not self.skip_malformed:
            raise fault
        self.skip("malformed")
        if len(self.malformed) < 10:
            self.malformed.append(str(fault))
        self.lost()


class Format(Protocol):
    """One format: how to recognise it, and how to read it."""

    name: str
    """As in ``docs/reference``: ``watch-stream``, ``audit-log`` …"""

    def sniff(self, head: bytes, name: str) -> bool:
        """Say whether a document that begins with ``head`` (up to 64 KiB) is of this format.

        :param name: the document's file name, a hint only.
        """

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield the document's events in the document's order, reading it once.

        :raises EventMalformed: a record is wrong (through ``context.reject``).
        :raises InputTruncated: the document ends in the middle where it must not.
        """
