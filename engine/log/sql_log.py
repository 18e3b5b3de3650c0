"""The log in an SQL database: implements :mod:`.store` on a :class:`~.database.Database`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Self

import msgspec

from ..events import KINDS, Event, Recorded, Reference
from ..events.upcast import upcast
from . import branches, sources
from . import column_reads as columns
from . import derived_rows as derived
from .database import Database
from .event_packing import Packer
from .event_reading import EventReader, Upcast
from .log_ids import Names
from .patience import lasting, patiently
from .payload_store import Payloads
from .store import (
    MAIN,
    Appended,
    BranchInfo,
    Checkpoint,
    Chunk,
    ClockBlock,
    Extent,
    FactBlock,
    FoldWindow,
    HeadInfo,
    LogInfo,
    Query,
    SourceInfo,
    VerifyReport,
)
from .wall_clock import micros_now

if TYPE_CHECKING:
    from .verify import Progress

_LONG = 60.0
"""Seconds after which a follower looks for new events without a notification."""


def _silent(_: str) -> None:
    """Say nothing."""


class SqlLog:
    """A :class:`~.store.LogStore` on SQLite or Postgres.

    :param clock: gives ``recorded_at`` in microseconds.
    :param lift: upcasts events of older schemas.
    :param remark: called with a sentence for each damage that changes no answer.
    :param waits: append once more while a database that went away comes back.
    """

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], int] = micros_now,
        lift: Upcast = upcast,
        remark: Callable[[str], None] | None = None,
        waits: bool = True,
    ) -> None:
        self._database, self._waits = database, waits
        self._clock = clock
        self._names = Names(database)
        self._derived = derived.Derived(database, self._names, remark or _silent)
        self._packer = Packer(
            {
                number: bytes(data)
                for number, data in database.rows("SELECT id, data FROM dictionary")
            }
        )
        # While every kind is at schema 1, no payload needs an upcast.
        self._lifts = lift is not upcast or any(info.schema > 1 for info in KINDS.values())
        self._payloads = Payloads(database, self._packer)
        self._reader = EventReader(database, self._names, self._payloads, upcast=lift)

    def append(
        self, events: Sequence[Event], *, branch: str = MAIN, expected: int | None = None
    ) -> Appended:
        """Append events atomically, leaving out those that the log has.

        If the database restarts meanwhile they are appended when it is back: what the log has by
        then is left out. With ``expected`` that is not known of a commit without an answer.
        """
        from .append import append  # noqa: PLC0415 -- most commands only read

        def once() -> Appended:
            with self._writing():
                return append(
                    self._database,
                    self._names,
                    self._packer,
                    self._derived,
                    events,
                    branch=branch,
                    expected=expected,
                    clock=self._clock,
                )

        return patiently(once, may_be_done=expected is None) if self._waits else once()

    def last(self, branch: str = MAIN) -> int:
        """Return the branch's last position, 0 when it is empty."""
        with self._database.alone():
            return branches.head_of(self._database, branch).position

    def read(self, query: Query) -> Iterator[Recorded]:
        """Yield matching events in order of position, with few of them in memory."""
        return self._reader.read(query)

    def follow(
        self, query: Query, *, timeout: float | None = None, poll: float = 0.5
    ) -> Iterator[Recorded]:
        """Yield matching events and then wait for more, at least once each, in position order.

        It goes on where it was if the database restarts.
        """
        self._database.patient = True  # Also of what is read beside, to show what comes.
        rest = query

        def begin() -> Iterator[Recorded]:
            return self._follow(rest, timeout, poll)

        for recorded in lasting(begin):
            yield recorded
            # After a lost connection it goes on behind this event.
            left = None if rest.limit is None else rest.limit - 1
            rest = msgspec.structs.replace(rest, after=recorded.position, limit=left)

    def _follow(self, query: Query, timeout: float | None, poll: float) -> Iterator[Recorded]:
        after, quiet_since = query.after, time.monotonic()
        left = query.limit
        while True:
            # The end is read first: events that are appended meanwhile are read in the next round.
            last = self.last(query.branch)
            until = last if query.until is None else min(last, query.until)
            if until > after:
                now = msgspec.structs.replace(
                    query, after=after, until=until, newest_first=False, limit=left
                )
                for recorded in self.read(now):
                    yield recorded
                    left = None if left is None else left - 1
                    quiet_since = time.monotonic()
                after = until
            if left == 0 or (query.until is not None and after >= query.until):
                return
            waited = time.monotonic() - quiet_since
            if timeout is not None and waited >= timeout:
                return
            self._database.wait(_LONG if timeout is None else timeout - waited, poll)

    def scan(self, window: FoldWindow, *, after_position: int = 0) -> Iterator[Chunk]:
        """Yield the events of a window that have an effect on truth, in position order."""
        chunks = columns.scan(
            self._database, self._names, self._payloads, window, after_position=after_position
        )
        return map(partial(self._lifted, window.branch), chunks) if self._lifts else chunks

    def _lifted(self, branch: str, chunk: Chunk) -> Chunk:
        def load(index: int) -> bytes:
            position = int(chunk.positions[index])
            return self.payloads([position], branch)[position]

        return msgspec.structs.replace(chunk, load=load)

    def payloads(self, positions: Sequence[int], branch: str = MAIN) -> Mapping[int, bytes]:
        """Return the payloads at the given positions."""
        with self._database.alone():
            return self._reader.payloads(positions, branch)

    def references(self, objects: Sequence[int]) -> Mapping[int, Reference]:
        """Return what the store's object ids stand for."""
        with self._database.alone():
            return self._names.references(objects)

    def objects_of(self, group: str, kind: str, *, cluster: str) -> Sequence[Reference]:
        """Return every object of a kind that any branch knows, by namespace, name and uid."""
        with self._database.alone():
            return self._names.objects_of(cluster, group, kind)

    def extent(self, *, known: int, cluster: str, branch: str = MAIN) -> Extent:
        """Return the first and last revision among what was known by a position."""
        with self._database.alone():
            return columns.extent(
                self._database,
                self._names,
                self._derived,
                known=known,
                cluster=cluster,
                branch=branch,
            )

    def last_noted(self, *, known: int, cluster: str, branch: str = MAIN) -> int | None:
        """Return the latest time of events without an effect on truth, microseconds."""
        with self._database.alone():
            return columns.last_noted(
                self._database, self._names, known=known, cluster=cluster, branch=branch
            )

    def sources(self, *, known: int, cluster: str, branch: str = MAIN) -> Sequence[SourceInfo]:
        """Return what each input gave to a cluster by a position, by name of the input."""
        with self._database.alone():
            return sources.sources(
                self._database, self._names, known=known, cluster=cluster, branch=branch
            )

    def clusters(self) -> Sequence[str]:
        """Return the names of all clusters in the log, sorted."""
        return sorted(row[0] for row in self._database.rows("SELECT name FROM cluster"))

    def create_branch(
        self, name: str, *, parent: str = MAIN, fork: int | None = None
    ) -> BranchInfo:
        """Create a branch that continues ``parent`` from position ``fork`` (default: its end)."""
        with self._writing():
            return branches.create_branch(self._database, name, parent=parent, fork=fork)

    def branches(self) -> Sequence[BranchInfo]:
        """Return all branches, ``main`` first, then by name."""
        return branches.all_branches(self._database)

    def heads(self) -> Sequence[HeadInfo]:
        """Return where each branch ends, ``main`` first, then by name."""
        with self._database.alone():
            return branches.heads(self._database)

    def put_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Store a checkpoint, replacing one at the same place."""
        with self._writing():
            self._derived.put_checkpoint(checkpoint)

    def nearest_checkpoint(self, window: FoldWindow, version: int) -> Checkpoint | None:
        """Return the last checkpoint with revision <= ``until`` and ``known`` within the window."""
        with self._database.alone():
            return self._derived.nearest_checkpoint(window, version)

    def drop_checkpoints(self, *, branch: str, cluster: str, version: int) -> None:
        """Delete the checkpoints of a version that a branch has of a cluster."""
        with self._writing():
            derived.drop_checkpoints(
                self._database, self._names, branch=branch, cluster=cluster, version=version
            )

    def checkpoints(self) -> Sequence[tuple[str, str, int, int, int, int]]:
        """Return branch, cluster, revision, known, bytes and version of every checkpoint."""
        return derived.checkpoints(self._database)

    def drop_derived(
        self, *, checkpoints: bool = True, facts: bool = True, clock: bool = True
    ) -> None:
        """Delete checkpoints, the fact sidecar and the clock; all can be rebuilt."""
        with self._writing():
            self._derived.drop(checkpoints=checkpoints, facts=facts, clock=clock)

    def revision_after(self, window: FoldWindow, events: int) -> int | None:
        """Return the revision after about so many events of a window, None if it has fewer."""
        with self._database.alone():
            return columns.revision_after(self._database, window, events)

    def put_clock(
        self, blocks: Sequence[ClockBlock], *, cluster: str, branch: str, version: int
    ) -> None:
        """Store a clock, replacing the one that the branch has."""
        with self._writing():
            self._derived.put_clock(blocks, cluster=cluster, branch=branch, version=version)

    def clock(
        self,
        *,
        cluster: str,
        branch: str,
        version: int,
        part: int | None = None,
        number: int | None = None,
    ) -> Sequence[ClockBlock]:
        """Return the blocks of the branch's clock, of one part, or one of them, in order."""
        with self._database.alone():
            return self._derived.clock(
                cluster=cluster, branch=branch, version=version, part=part, number=number
            )

    def symbols(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """Return the texts of the store's ids of sources."""
        with self._database.alone():
            return self._names.texts(numbers)

    def put_facts(
        self, blocks: Sequence[FactBlock], *, cluster: str, branch: str, version: int
    ) -> None:
        """Store blocks of the fact sidecar."""
        with self._writing():
            self._derived.put_facts(blocks, cluster=cluster, branch=branch, version=version)

    def facts_until(self, *, cluster: str, branch: str, version: int) -> int:
        """Return the position up to which the fact sidecar of this version reaches."""
        with self._database.alone():
            return self._derived.facts_until(cluster=cluster, branch=branch, version=version)

    def facts(self, window: FoldWindow, version: int) -> Iterator[FactBlock]:
        """Yield the blocks that may hold events of a window, in position order."""
        return self._derived.facts(window, version)

    def verify(
        self,
        *,
        branch: str | None = None,
        heads: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> VerifyReport:
        """Recompute every hash of the log (or one branch and its past) and compare."""
        from .verify import verify  # noqa: PLC0415 -- only this command needs it

        # Names are read again, because the rows may have changed since they were cached.
        names = Names(self._database, check_keys=True)
        with self._database.checking() as faults, self._database.reading():
            return verify(
                self._database,
                names,
                self._packer,
                branch=branch,
                heads=heads,
                faults=faults,
                progress=progress,
            )

    def mend_derived(self) -> Sequence[str]:
        """Delete derived rows that are damaged; return what was wrong, one sentence each."""
        from .inspection import mended  # noqa: PLC0415 -- only who repairs a log needs it

        with self._writing():
            return mended(self._database, self._derived)

    def info(self) -> LogInfo:
        """Return figures about the log."""
        with self._database.reading():
            return self._info()

    def _info(self) -> LogInfo:
        branch_infos = self.branches()
        database = self._database

        def number(sql: str) -> int:
            return int(database.rows(sql)[0][0])

        return LogInfo(
            url=database.location.shown,
            database=database.name,
            schema_revision=str(database.rows("SELECT version_num FROM alembic_version")[0][0]),
            plinian=str(database.rows("SELECT plinian FROM log")[0][0]),
            last=branch_infos[0].last,
            events=sum(info.last - info.fork for info in branch_infos),
            objects=number("SELECT coalesce(max(id), 0) FROM object"),
            batches=number("SELECT sum(batch) FROM head"),
            checkpoints=number("SELECT count(*) FROM checkpoint"),
            fact_blocks=number("SELECT count(*) FROM fact_block"),
            bytes_stored=database.size(),
            clusters=tuple(self.clusters()),
            branches=tuple(branch_infos),
        )

    def close(self) -> None:
        """Release the connection; the store is unusable afterwards."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._database.writing():
                yield
        except BaseException:
            self._names.forget()
            raise
