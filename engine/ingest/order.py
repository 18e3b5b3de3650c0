"""One deterministic order of all events of one call, with bounded memory.

Events are ordered by revision. An event without one is placed after the revisions that came before
it in its source. The events of a source without any revision (a log of the scheduler) are merged by
time: each comes before the first revision that is not known to have existed by then. If there are
more events than fit in memory, they are sorted through temporary files.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Self

import msgspec

from ..errors import InputError
from ..events import Event, Reference
from .known_by import KnownBy
from .reading.sizes import in_batches

LAST = 2**63 - 1
FIRST = -(2**63)

RUN_BYTES = 192 * 2**20
"""Approximate memory for events before they are written out; measured by their payloads."""

_OVERHEAD = 900
"""Bytes of an event in memory besides its payload."""

_BLOCK = 64
"""Events that are written and read together, unless they are large."""

_BLOCK_BYTES = 2**20

_OBSERVED = ".observed"
_LOWER_BOUND = b'"exact":false'
_LIST, _UNDATED, _AFTER_LISTS = 8, 10, 11
"""Ranks of complete lists (the less exact one later), of events without a revision, and of events
that sum up a stream."""

Keyed = tuple[int, int, int, int, Event]
"""Revision, rank, time, order of reading; the last is unique."""


class _Row(msgspec.Struct, array_like=True, gc=False):
    """An event with its key, as it is written out."""

    key: tuple[int, int, int, int]
    reference: tuple[str, str, str, str, str]
    kind: str
    payload: bytes
    resource_version: str
    revision: int | None
    earliest: int | None
    latest: int | None
    actor: str
    source: str
    line: int
    schema: int
    cluster: str


_ENCODE = msgspec.msgpack.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(list[_Row]).decode


class EventOrder:
    """Takes the events of one source after the other, and yields all of them in order.

    The order depends on the sources and their sequence, not on ``run_bytes``. Use as a context: its
    end removes the temporary files.

    :param run_bytes: payloads in memory at a time.
    """

    def __init__(self, *, run_bytes: int = RUN_BYTES) -> None:
        self._placed = _Sorter(run_bytes)
        self._timed = _Sorter(run_bytes)
        self._known_by = KnownBy()
        self._number = 0
        self._revision = FIRST
        self._time = FIRST

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._placed.close()
        self._timed.close()

    def __len__(self) -> int:
        return self._number

    def begin_source(self) -> None:
        """Begin another source: the next event comes from it."""
        self._known_by.begin_source()
        self._revision = FIRST
        self._time = FIRST

    def add(self, event: Event) -> None:
        """Take the next event of a source.

        :raises InputError: there is no space to write events out.
        """
        self._number += 1
        revision, time = event.revision, event.latest
        if time is None:
            time = event.earliest
        # Time in a source does not go back: a late line counts as of the latest before it.
        if time is not None and time > self._time:
            self._time = time
        if revision is None:
            # Nothing before it in its source has a revision, so only its time gives it a place.
            if self._revision == FIRST:
                self._timed.add((0, 0, self._time, self._number, event))
                return
            revision, rank = self._revision, _UNDATED
        else:
            self._revision = max(self._revision, revision)
            rank = _rank(event)
            if event.latest is not None:
                self._known_by.add(revision, event.latest)
        self._placed.add((revision, rank, LAST if time is None else time, self._number, event))

    def place(self, event: Event, revision: int) -> None:
        """Take an event without a revision that belongs right after a revision, of any source.

        :raises InputError: there is no space to write events out.
        """
        self._number += 1
        self._placed.add((revision, _AFTER_LISTS, LAST, self._number, event))

    def events(self) -> Iterator[Event]:
        """Yield all events in order; call it once.

        :raises InputError: what was written out cannot be read again.
        """
        timed = self._timed.sorted()
        first = next(timed, None)
        placed = self._placed.sorted()
        # Without such events, the times of revisions need not be sorted.
        if first is None:
            for keyed in placed:
                yield keyed[4]
        else:
            self._known_by.close()
            yield from _alongside(placed, chain([first], timed), self._known_by)


def _rank(event: Event) -> int:
    """Return an event's rank among events of the same version: only the first is stored in full.

    First come events with an actor, then events that say whether the object was created or changed,
    then events with a latest time. Lists come after all versions.
    """
    if event.kind == "list.observed":
        return _LIST + (_LOWER_BOUND in event.payload)
    rank = 0 if event.actor else 4
    if event.kind.endswith(_OBSERVED):
        rank += 2
    return rank + 1 if event.latest is None else rank


def _alongside(
    placed: Iterator[Keyed], timed: Iterator[Keyed], known_by: KnownBy
) -> Iterator[Event]:
    """Merge events that have only a time between those that have a revision.

    Revisions after the last one seen at a time have only the time before which they did not exist.
    """
    now = FIRST
    waiting = next(timed, None)
    for keyed in placed:
        time = known_by.time(keyed[0])
        if time is None:
            time = keyed[4].earliest
        if time is not None and time > now:
            now = time
            while waiting is not None and waiting[2] < now:
                yield waiting[4]
                waiting = next(timed, None)
        yield keyed[4]
    if waiting is not None:
        yield waiting[4]
    for keyed in timed:
        yield keyed[4]


class _Sorter:
    """Sorts more than fits in memory: sorted runs in files, merged at the end."""

    def __init__(self, run_bytes: int) -> None:
        self._run_bytes = run_bytes
        self._held: list[Keyed] = []
        self._bytes = 0
        self._runs: list[IO[bytes]] = []

    def add(self, keyed: Keyed) -> None:
        self._held.append(keyed)
        self._bytes += len(keyed[4].payload) + _OVERHEAD
        if self._bytes > self._run_bytes:
            self._write_out()

    def sorted(self) -> Iterator[Keyed]:
        self._held.sort()
        if not self._runs:
            events, self._held = self._held, []
            return iter(events)
        # What is left in memory becomes a run as well: one merge then has all.
        self._write_out()
        return heapq.merge(*(_read(run) for run in self._runs))

    def close(self) -> None:
        for run in self._runs:
            run.close()
        self._held = []

    def _write_out(self) -> None:
        self._held.sort()
        try:
            run = tempfile.TemporaryFile(prefix="plinian-")  # noqa: SIM115 - close() closes it
            self._runs.append(run)
            rows = map(_row, self._held)
            for block in in_batches(rows, most=_BLOCK, most_bytes=_BLOCK_BYTES):
                text = _ENCODE(block)
                run.write(len(text).to_bytes(4, "little"))
                run.write(text)
            run.flush()
        except OSError as fault:
            raise _no_space(fault) from None
        self._held = []
        self._bytes = 0


def _no_space(fault: OSError) -> InputError:
    return InputError(
        f"a temporary file to sort events cannot be used: {fault.strerror or fault}",
        where=str(fault.filename or tempfile.gettempdir()),
        now="free some space, or set TMPDIR to a folder that has as much as the inputs unpacked",
    )


def _row(keyed: Keyed) -> _Row:
    event = keyed[4]
    reference = event.reference
    return _Row(
        keyed[:4],
        (
            reference.group,
            reference.kind,
            reference.namespace,
            reference.name,
            reference.uid,
        ),
        event.kind,
        event.payload,
        event.resource_version,
        event.revision,
        event.earliest,
        event.latest,
        event.actor,
        event.source,
        event.line,
        event.schema,
        event.cluster,
    )


def _read(run: IO[bytes]) -> Iterator[Keyed]:
    try:
        run.seek(0)
        while prefix := run.read(4):
            yield from map(_keyed, _DECODE(run.read(int.from_bytes(prefix, "little"))))
    except OSError as fault:
        raise _no_space(fault) from None


def _keyed(row: _Row) -> Keyed:
    revision, rank, time, number = row.key
    event = Event(
        kind=row.kind,
        reference=Reference(*row.reference),
        payload=row.payload,
        resource_version=row.resource_version,
        revision=row.revision,
        earliest=row.earliest,
        latest=row.latest,
        actor=row.actor,
        source=row.source,
        line=row.line,
        schema=row.schema,
        cluster=row.cluster,
    )
    return revision, rank, time, number, event


def in_order(sources: Iterable[Iterable[Event]], *, run_bytes: int = RUN_BYTES) -> Iterator[Event]:
    """Yield the events of several sources in one order."""
    with EventOrder(run_bytes=run_bytes) as order:
        for source in sources:
            order.begin_source()
            for event in source:
                order.add(event)
        yield from order.events()
