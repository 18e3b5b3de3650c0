"""The log as an interface, which every store implements.

A store is opened with :func:`plinian.engine.log.open_log`. Positions are 1-based, gap-free and
commit-ordered within a branch; ``0`` is before everything. Every method raises
:class:`~plinian.engine.errors.LogUnavailable` when the database cannot be reached or written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, Self

import msgspec
import numpy as np
import numpy.typing as npt

from ..events import Event, Recorded, Reference

MAIN = "main"
"""The branch of observed events."""

NO_REVISION = -1
"""In columns: the event has no numeric resourceVersion."""

Int64s = npt.NDArray[np.int64]


class Appended(msgspec.Struct, frozen=True, kw_only=True):
    """What one append did.

    :param first: position of the first event appended; ``last + 1`` if none was.
    :param last: the branch's last position after the append.
    :param appended: the events that were new, as indices into the sequence given.
    :param known: how many events the log had before.
    :param besides: how many events were appended besides, by kind, because a known version came
        with something new: ``version.attributed`` with its actor, ``version.timed`` with its
        latest time.
    :param met: versions that the log had before: by their index in the sequence given, the
        position.
    :param repeated: versions that the sequence given has twice: by their index in it, that of the
        first.
    """

    first: int
    last: int
    appended: Sequence[int]
    known: int
    besides: Mapping[str, int] = {}
    met: Mapping[int, int] = {}
    repeated: Mapping[int, int] = {}

    @property
    def attributed(self) -> int:
        """How many known versions got an actor."""
        return self.besides.get("version.attributed", 0)


class TimeCut(msgspec.Struct, frozen=True):
    """A moment between events: events are compared by revision, those without one by time.

    :param time: microseconds since 1970 UTC.
    """

    revision: int
    time: int


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """Which events to read; every field narrows, the default is all of ``main`` in order.

    :param after: only positions greater than this.
    :param until: only positions up to this.
    :param kinds: event kinds; ``pod.*`` stands for all kinds of a noun.
    :param objects: (group, Kubernetes kind) pairs.
    :param revisions: inclusive range of revisions; None is open.
    :param happened: inclusive range in the order of happening; None is open.
    :param source: a source's whole name, or its last path component.
    :param actor: a part of the name of who caused them, as the events themselves say it.
    :param about_kinds: only events about a whole kind (a list, a watch), not about an object.
    :param newest_first: in falling order of position.
    :param positions: only these; the other fields are then ignored.
    :param bare: events without their payloads, which are left empty: much quicker to read.
    """

    branch: str = MAIN
    cluster: str | None = None
    after: int = 0
    until: int | None = None
    kinds: tuple[str, ...] = ()
    objects: tuple[tuple[str, str], ...] = ()
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None
    source: str | None = None
    actor: str | None = None
    revisions: tuple[int | None, int | None] = (None, None)
    happened: tuple[TimeCut | None, TimeCut | None] = (None, None)
    about_kinds: bool = False
    newest_first: bool = False
    positions: tuple[int, ...] = ()
    limit: int | None = None
    bare: bool = False


class FoldWindow(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a branch that a fold needs: what was known by ``known``, and happened in a range.

    :param known: only positions up to this.
    :param after: only revisions greater than this, plus events without revision.
    :param until: only revisions up to this (same); None is open.
    :param loose: positions of the events without revision that are needed; None is all. Others
        may be given too.
    """

    branch: str = MAIN
    cluster: str
    known: int
    after: int = NO_REVISION
    until: int | None = None
    loose: tuple[int, ...] | None = None


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A run of events in columns, for the fold; only events with an effect on truth.

    ``objects`` and ``sources`` are ids of this store, without meaning elsewhere. ``kinds`` are
    event kinds. Times are ``NO_TIME`` if unknown; ``audited`` is 1 if the actor is known, else 0.
    ``load(i)`` gives the i-th row's payload (canonical JSON), decompressed when it is called.
    """

    positions: Int64s
    effects: Int64s
    objects: Int64s
    revisions: Int64s
    earliest: Int64s
    latest: Int64s
    audited: Int64s
    sources: Int64s
    kinds: Sequence[str]
    load: Callable[[int], bytes]


class FactBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One stored block of the fact sidecar; only :mod:`plinian.engine.state` reads its bytes.

    Covers all events of ``cluster`` in the branch from ``first`` to ``last`` inclusive.
    """

    first: int
    last: int
    low_revision: int
    high_revision: int
    unrevisioned: bool
    data: bytes


class ClockBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One stored block of the clock; only :mod:`plinian.engine.state` reads its bytes.

    :param part: its table of the clock. :param number: its place in that table, from 0.
    :param known: the position up to which the log was known when the clock was built.
    """

    part: int
    number: int
    known: int
    data: bytes


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A stored state: from events up to position ``known`` that happened by ``revision``.

    :param version: of the code that built it; others are ignored and replaced.
    """

    branch: str
    cluster: str
    revision: int
    known: int
    version: int
    data: bytes


class BranchInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A branch: ``parent`` is None for ``main``; it holds the parent's events up to ``fork``."""

    name: str
    parent: str | None
    fork: int
    last: int


class HeadInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where a branch ends.

    :param batch: number of its last own batch, 0 if it has none.
    :param hash: of that batch, or of the branch's origin, in hexadecimal.
    """

    branch: str
    position: int
    batch: int
    hash: str


class SourceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The events of one input: how many by kind, and the range of their revisions."""

    source: str
    events: int
    kinds: dict[str, int]
    first_revision: int | None
    last_revision: int | None


class LogInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What ``plinian db info`` prints about a log."""

    url: str
    database: str
    schema_revision: str
    plinian: str
    last: int
    events: int
    objects: int
    batches: int
    checkpoints: int
    fact_blocks: int
    bytes_stored: int
    clusters: tuple[str, ...]
    branches: tuple[BranchInfo, ...]


class HeldHead(msgspec.Struct, frozen=True, kw_only=True):
    """A hash that was stored elsewhere, and where the log has it.

    :param position: the last one that the hash covers. :param batch: the number of its batch,
        0 if it is the origin of the branch. :param later: events of the branch after it.
    """

    hash: str
    branch: str
    position: int
    batch: int
    later: int


class VerifyReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a successful verification checked.

    :param head: hash of the end of the verified branch, in hexadecimal.
    :param held: where the given hashes are. :param damaged: what is wrong with derived
        rows, one sentence each: they are not used, and can be rebuilt.
    """

    events: int
    batches: int
    head: str
    held: tuple[HeldHead, ...] = ()
    damaged: tuple[str, ...] = ()


class LogStore(Protocol):
    """An append-only log in some database."""

    def append(
        self, events: Sequence[Event], *, branch: str = MAIN, expected: int | None = None
    ) -> Appended:
        """Append events atomically, leaving out those that the log has.

        The log has an event if it has one with the same cluster, object, revision and effect; or,
        without revision, with the same kind, object, time, actor and payload.

        :param expected: the position at which the branch must end, or nothing is appended.
        :raises PositionConflict: it ends elsewhere.
        """

    def last(self, branch: str = MAIN) -> int:
        """Return the branch's last position, 0 when it is empty."""

    def read(self, query: Query) -> Iterator[Recorded]:
        """Yield matching events in order of position, with few of them in memory."""

    def follow(
        self, query: Query, *, timeout: float | None = None, poll: float = 0.5
    ) -> Iterator[Recorded]:
        """Yield matching events and then wait for more, at least once each, in position order.

        :param timeout: stop after so many seconds without a new event; None never stops.
        :param poll: seconds between two checks if the database cannot notify.
        """

    def scan(self, window: FoldWindow, *, after_position: int = 0) -> Iterator[Chunk]:
        """Yield the events of a window that have an effect on truth, in position order."""

    def payloads(self, positions: Sequence[int], branch: str = MAIN) -> Mapping[int, bytes]:
        """Return the payloads at the given positions."""

    def references(self, objects: Sequence[int]) -> Mapping[int, Reference]:
        """Return what the store's object ids stand for."""

    def objects_of(self, group: str, kind: str, *, cluster: str) -> Sequence[Reference]:
        """Return every object of a kind that any branch knows, by namespace, name and uid."""

    def extent(self, *, known: int, cluster: str, branch: str = MAIN) -> Extent:
        """Return the first and last revision among what was known by a position."""

    def last_noted(self, *, known: int, cluster: str, branch: str = MAIN) -> int | None:
        """Return the latest time of events without an effect on truth, microseconds."""

    def revision_after(self, window: FoldWindow, events: int) -> int | None:
        """Return the revision after about so many events of a window, None if it has fewer."""

    def put_clock(
        self, blocks: Sequence[ClockBlock], *, cluster: str, branch: str, version: int
    ) -> None:
        """Store a clock, replacing the one that the branch has."""

    def clock(
        self,
        *,
        cluster: str,
        branch: str,
        version: int,
        part: int | None = None,
        number: int | None = None,
    ) -> Sequence[ClockBlock]:
        """Return the blocks of the branch's clock, of one part, or one of them, in order.

        Without ``number`` they come without their data.
        """

    def symbols(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """Return the texts of the store's ids of sources."""

    def sources(self, *, known: int, cluster: str, branch: str = MAIN) -> Sequence[SourceInfo]:
        """Return what each input gave to a cluster by a position, by name of the input."""

    def clusters(self) -> Sequence[str]:
        """Return the names of all clusters in the log, sorted."""

    def create_branch(
        self, name: str, *, parent: str = MAIN, fork: int | None = None
    ) -> BranchInfo:
        """Create a branch that continues ``parent`` from position ``fork`` (default: its end)."""

    def branches(self) -> Sequence[BranchInfo]:
        """Return all branches, ``main`` first, then by name."""

    def heads(self) -> Sequence[HeadInfo]:
        """Return where each branch ends, ``main`` first, then by name."""

    def put_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Store a checkpoint, replacing one at the same place."""

    def nearest_checkpoint(self, window: FoldWindow, version: int) -> Checkpoint | None:
        """Return the last checkpoint with revision <= ``until`` and ``known`` within the window."""

    def drop_checkpoints(self, *, branch: str, cluster: str, version: int) -> None:
        """Delete the checkpoints of a version that a branch has of a cluster."""

    def checkpoints(self) -> Sequence[tuple[str, str, int, int, int, int]]:
        """Return branch, cluster, revision, known, bytes and version of every checkpoint."""

    def drop_derived(
        self, *, checkpoints: bool = True, facts: bool = True, clock: bool = True
    ) -> None:
        """Delete checkpoints, the fact sidecar and the clock; all can be rebuilt."""

    def put_facts(
        self, blocks: Sequence[FactBlock], *, cluster: str, branch: str, version: int
    ) -> None:
        """Store blocks of the fact sidecar."""

    def facts_until(self, *, cluster: str, branch: str, version: int) -> int:
        """Return the position up to which the fact sidecar of this version reaches."""

    def facts(self, window: FoldWindow, version: int) -> Iterator[FactBlock]:
        """Yield the blocks that may hold events of a window, in position order.

        :raises DerivedDamaged: one is damaged; the next call leaves it out.
        """

    def verify(
        self,
        *,
        branch: str | None = None,
        heads: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> VerifyReport:
        """Recompute every hash of the log (or one branch) and compare.

        :param heads: hashes stored elsewhere, in hexadecimal; each must be that of a batch.
        :param progress: called with (events done, events in all) now and then.
        :raises LogCorrupt: naming the first position that cannot be trusted.
        :raises HeadMissing: the log does not have one of the hashes.
        """

    def mend_derived(self) -> Sequence[str]:
        """Delete derived rows that are damaged; return what was wrong, one sentence each."""

    def info(self) -> LogInfo:
        """Return figures about the log."""

    def close(self) -> None:
        """Release the connection; the store is unusable afterwards."""

    def __enter__(self) -> Self:
        """Return the store itself."""

    def __exit__(self, *exc: object) -> None:
        """Close the store."""


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """The range of a log; None if it has no such events."""

    first_revision: int | None
    last_revision: int | None
