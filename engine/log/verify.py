"""Verification: recompute every hash of the log from what is stored, and compare."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from ..errors import HeadMissing, LogCorrupt, UsageError
from .branches import END, Segment, all_branches, hash_at, lineage, stored_head
from .chain import (
    HASH_BYTES,
    MARK_BYTES,
    batch_hash,
    genesis_hash,
    joined_headers,
    leaf_hash,
    marks,
    merkle_root,
    packed_headers,
    packed_marks,
)
from .database import Database, Row
from .event_packing import Packer, cut
from .inspection import damages
from .log_ids import Names
from .payload_store import COLUMNS, Payloads, block_of
from .rest import RestCheck
from .store import BranchInfo, HeldHead, VerifyReport
from .stored_headers import StoredHeaders

Progress = Callable[[int, int], None]

_NOW = "restore a copy of the log, or ingest the inputs again into a new one"

_PAGE = 32
"""Blocks, or batches, that one query reads."""

_BLOCKS = (
    f"SELECT {COLUMNS} FROM payload_block p WHERE p.branch_id = ? AND p.first > ?"
    f" ORDER BY p.first LIMIT {_PAGE}"
)
_BATCHES = (
    "SELECT number, first, last, recorded_at, merkle_root, previous, hash, marks"
    f" FROM batch WHERE branch_id = ? AND number > ? ORDER BY number LIMIT {_PAGE}"
)


class _Leaf(NamedTuple):
    first: int
    last: int
    hash: bytes
    """Empty where the block or one of its events is damaged: no block has such a hash."""


class _Batch(msgspec.Struct, gc=False):
    number: int
    first: int
    last: int
    recorded_at: int
    root: bytes
    previous: bytes
    hash: bytes
    marks: bytes


def verify(
    database: Database,
    names: Names,
    packer: Packer,
    *,
    branch: str | None,
    heads: Sequence[str],
    faults: Callable[[], list[str]],
    progress: Progress | None,
) -> VerifyReport:
    """Recompute and compare; within the database's ``reading``.

    :param faults: gives what the database's own check found.
    :raises LogCorrupt: naming the first position that cannot be trusted.
    """
    wanted = _digests(heads)
    branches = all_branches(database)
    chosen = branches if branch is None else _with_parents(database, branches, branch)
    total = sum(info.last - info.fork for info in chosen)
    rest = RestCheck(database, names)
    events, batches, head = 0, 0, b""
    held_heads: dict[bytes, HeldHead] = {}
    for info in chosen:
        check = _BranchCheck(database, names, packer, info, rest)
        try:
            for done in check.run():
                if check.hash in wanted:
                    held_heads.setdefault(check.hash, check.held())
                if progress is not None:
                    progress(events + done, total)
        except (TypeError, ValueError, OverflowError, AttributeError) as fault:
            # In SQLite a column may have a value of any type.
            raise check.fault(f"a value is of another type: {fault}", check.position + 1) from fault
        events += info.last - info.fork
        batches += check.batches
        if info.name == (branch or "main"):
            head = check.hash
    rest.check(whole=branch is None)
    complaints = faults()
    database.rows("SELECT 1 FROM log")  # Raises if the file changed during the check.
    _complain_of(database, complaints)
    for digest in wanted:
        if digest not in held_heads:
            raise HeadMissing(digest.hex(), where=database.location.shown)
    return VerifyReport(
        events=events,
        batches=batches,
        head=head.hex(),
        held=tuple(held_heads[digest] for digest in wanted),
        damaged=tuple(damage.text for damage in damages(database)),
    )


def _digests(heads: Sequence[str]) -> list[bytes]:
    """Return the bytes of hashes that were stored elsewhere.

    :raises UsageError: one of them is not a hash.
    """
    digests = []
    for head in heads:
        try:
            digest = bytes.fromhex(head)
        except ValueError:
            digest = b""
        if len(digest) != HASH_BYTES:
            raise UsageError(
                f"{head[:80]!r} is not the hash of a batch, which has 64 hexadecimal digits",
                now="give one that plinian head or plinian verify printed",
            )
        digests.append(digest)
    return list(dict.fromkeys(digests))


def _complain_of(database: Database, faults: Sequence[str]) -> None:
    if faults:
        raise LogCorrupt(
            f"the database's own check finds damage: {'; '.join(faults)}",
            position=0,
            where=database.location.shown,
            now=f"{_NOW}; if only an index is damaged, REINDEX of the database rebuilds it",
        )


def _with_parents(database: Database, branches: list[BranchInfo], name: str) -> list[BranchInfo]:
    lineage(database, name)  # Raises for a branch that does not exist, or has no parent.
    by_name = {info.name: info for info in branches}
    chosen, at = [], by_name[name]
    while True:
        chosen.append(at)
        if at.parent is None:
            return chosen[::-1]
        at = by_name[at.parent]


class _BranchCheck:
    """The verification of one branch: its own batches and events.

    Stored blocks are hashed, many at a time. Only if the root of a batch differs from the stored
    one, its events are checked one by one, to find the first bad one.
    """

    def __init__(
        self, database: Database, names: Names, packer: Packer, info: BranchInfo, rest: RestCheck
    ) -> None:
        self._database = database
        self._packer = packer
        self._payloads = Payloads(database, packer)
        self._info = info
        self._rest = rest
        self._head = stored_head(database, info.name)
        self._headers = StoredHeaders(
            database, names, branch_id=self._head.branch_id, branch=info.name
        )
        self._ready: deque[_Leaf] = deque()
        self.hash = b""
        self.batches = 0
        self.position = info.fork
        self._recorded_at: int | None = None

    def run(self) -> Iterator[int]:
        """Check everything; yield the number of events done now and then."""
        self.hash = self._genesis()
        yield 0
        pages = self._pages()
        for batch in self._batch_rows():
            self._check_place(batch)
            self._check_batch(batch, self._taken(pages, batch.last))
            self.position = batch.last
            self.hash = batch.hash
            self.batches = batch.number
            self._recorded_at = batch.recorded_at
            yield self.position - self._info.fork
        self._check_strays()
        self._check_head()

    def held(self) -> HeldHead:
        """Return the hash of the last verified batch, as one to compare with given ones."""
        return HeldHead(
            hash=self.hash.hex(),
            branch=self._info.name,
            position=self.position,
            batch=self.batches,
            later=self._head.position - self.position,
        )

    def _taken(self, pages: Iterator[list[_Leaf]], last: int) -> list[_Leaf]:
        """Return the next leaves that begin at a position or before it."""
        taken: list[_Leaf] = []
        while True:
            if not self._ready:
                self._ready.extend(next(pages, ()))
            if not self._ready or self._ready[0].first > last:
                return taken
            taken.append(self._ready.popleft())

    def _genesis(self) -> bytes:
        info = self._info
        rows = self._database.rows(
            "SELECT b.genesis, p.name FROM branch b LEFT JOIN branch p ON p.id = b.parent_id"
            " WHERE b.name = ?",
            (info.name,),
        )
        parent = b"" if info.parent is None else hash_at(self._database, info.parent, info.fork)
        genesis = genesis_hash(name=info.name, parent=parent, fork=info.fork)
        if genesis != bytes(rows[0][0]):
            raise self.fault("the genesis hash of the branch is wrong", info.fork + 1)
        return genesis

    def _batch_rows(self) -> Iterator[_Batch]:
        while rows := self._database.rows(_BATCHES, (self._head.branch_id, self.batches)):
            for row in rows:
                yield _Batch(*row)

    def _check_place(self, batch: _Batch) -> None:
        first = self.position + 1
        if batch.number != self.batches + 1:
            raise self.fault(f"batch {self.batches + 1} is missing", first)
        size = batch.last - self.position
        if batch.first != first or size < 1 or len(batch.marks) != size * MARK_BYTES:
            raise self.fault(
                f"batch {batch.number} claims positions {batch.first} to {batch.last}", first
            )

    def _check_batch(self, batch: _Batch, leaves: Sequence[_Leaf]) -> None:
        if _break(batch, leaves) or merkle_root([leaf.hash for leaf in leaves]) != batch.root:
            raise self._first_bad(batch, leaves)
        digest = batch_hash(
            previous=self.hash,
            branch=self._info.name,
            number=batch.number,
            first=batch.first,
            last=batch.last,
            recorded_at=batch.recorded_at,
            root=batch.root,
            marks=batch.marks,
        )
        if batch.previous != self.hash or batch.hash != digest:
            raise self.fault(
                f"batch {batch.number} does not follow from the one before it", batch.first
            )

    def _first_bad(self, batch: _Batch, leaves: Sequence[_Leaf]) -> LogCorrupt:
        """Return the error for the first changed event of a bad batch."""
        end = _break(batch, leaves) or batch.last + 1
        for position in range(batch.first, end):
            event = self._headers.stored(position, position)
            if not event.positions:
                return self.fault("the event is missing", position)
            if len(event.positions) > 1:
                return self.fault("there is more than one event", position)
            try:
                payload = self._payloads.one(self._head.branch_id, position)
            except LogCorrupt as fault:
                return self.fault(fault.what, position)
            headers = packed_headers(self._headers.headers(event, [len(payload)], [payload]))
            at = (position - batch.first) * MARK_BYTES
            if packed_marks(marks(headers, [payload])) != batch.marks[at : at + MARK_BYTES]:
                return self.fault("the event differs from the one that was appended", position)
        if end <= batch.last:
            return self.fault("the payloads do not follow those before them", end)
        return self.fault(
            f"batch {batch.number} differs from the one that was appended", batch.first
        )

    def _check_strays(self) -> None:
        """Raise for rows outside all batches."""
        fork, last = self._info.fork, self.position
        for table, column in (("event", "position"), ("payload_block", "first")):
            for sign, bound in ((">", last), ("<=", fork)):
                sql = f"SELECT min({column}) FROM {table} WHERE branch_id = ? AND {column} {sign} ?"
                stray = self._database.rows(sql, (self._head.branch_id, bound))[0][0]
                if stray is not None:
                    raise self.fault(f"a row of {table} belongs to no batch", max(stray, fork + 1))

    def _is_time(self, recorded_at: int) -> bool:
        """Return whether a batch has a time, as the one that a branch begins with."""
        sql = "SELECT 1 FROM batch WHERE recorded_at = ? LIMIT 1"
        return bool(self._database.rows(sql, (recorded_at,)))

    def _check_head(self) -> None:
        head, position = self._head, self.position
        if head.position != position or head.batch != self.batches or head.hash != self.hash:
            raise self.fault(
                f"the branch ends at @{position} in batch {self.batches}, but its head says"
                f" @{head.position} in batch {head.batch}",
                min(position, head.position) + 1,
            )

        greatest = max(_greatest(self._database, part) for part in self._parts())
        if greatest > head.revision:
            raise self.fault("the head's revision is less than an event's", position)
        if self._recorded_at is not None and head.recorded_at != self._recorded_at:
            raise self.fault("the head's time is not that of the last batch", position)
        if self._recorded_at is None and head.recorded_at and not self._is_time(head.recorded_at):
            raise self.fault("the head's time is that of no batch", position)

    def _parts(self) -> list[Segment]:
        return lineage(self._database, self._info.name)

    def _pages(self) -> Iterator[list[_Leaf]]:
        """Yield the leaves of the branch's stored blocks, in order."""
        after = self._info.fork
        while rows := self._database.rows(_BLOCKS, (self._head.branch_id, after)):
            yield self._hashed(rows)
            after = rows[-1][0]

    def _hashed(self, blocks: Sequence[Row]) -> list[_Leaf]:
        plain: list[tuple[list[int], bytes] | None] = []
        for row in blocks:
            try:
                plain.append(self._packer.unpack(block_of(row)))
            except ValueError:
                plain.append(None)
        # Only of blocks that could be unpacked: a damaged one may claim any positions.
        last = max((row[1] for row, there in zip(blocks, plain, strict=True) if there), default=0)
        page = self._headers.page(blocks[0][0], last)
        positions, count, identified = page.positions, len(page.positions), page.identified
        sizes, payloads = [0] * count, [b""] * count
        starts: list[int] = []
        for row, there in zip(blocks, plain, strict=True):
            start = bisect_left(positions, row[0])
            end = start + row[1] - row[0] + 1
            # Positions rise without repetition: if both ends are right, so are all in between.
            if there is None or end > count or positions[end - 1] != row[1]:
                starts.append(-1)
                continue
            starts.append(start)
            sizes[start:end] = there[0]
            if identified:
                payloads[start:end] = cut(*there)
        headers = list(self._headers.headers(page, sizes, payloads))
        self._rest.saw(page.objects)
        return [
            _Leaf(
                row[0],
                row[1],
                leaf_hash(joined_headers(headers[start : start + len(there[0])]), there[1])
                if there is not None and start >= 0
                else b"",
            )
            for row, there, start in zip(blocks, plain, starts, strict=True)
        ]

    def fault(self, what: str, position: int) -> LogCorrupt:
        return LogCorrupt(
            what,
            position=position,
            where=f"{self._database.location.shown} {self._info.name}@{position}",
            now=_NOW,
        )


def _greatest(database: Database, part: Segment) -> int:
    """Return the greatest revision in a segment; -1 if it has none."""
    # Only the part before a fork is limited by position.
    within = "" if part.last == END else " AND +position <= ?"
    bounds = [part.last] if within else []
    rows = database.rows(
        "SELECT revision FROM event WHERE branch_id = ? AND revision IS NOT NULL"
        f"{within} ORDER BY branch_id DESC, revision DESC LIMIT 1",
        (part.branch_id, *bounds),
    )
    return int(rows[0][0]) if rows else -1


def _break(batch: _Batch, leaves: Sequence[_Leaf]) -> int:
    """Return the first position where a batch's blocks have a gap; 0 if there is none."""
    position = batch.first
    for leaf in leaves:
        if leaf.first != position or not leaf.first <= leaf.last <= batch.last:
            return min(leaf.first, position)
        position = leaf.last + 1
    return 0 if position > batch.last else position
