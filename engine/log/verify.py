"""Verification: recompute every hash of the log from what is stored, and compare."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from ..errors import LogCorrupt
from .branches import all_branches, hash_at, head_of
from .chain import (
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
from .names import Names
from .packing import Packer, cut
from .payloads import COLUMNS, Payloads, block_of
from .store import BranchInfo, VerifyReport
from .stored_headers import StoredHeaders

Progress = Callable[[int, int], None]

_NOW = "restore a copy of the log, or ingest the inputs again into a new one"

_PAGE = 32
"""Blocks, or batches, that are looked at together."""

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
    progress: Progress | None,
) -> VerifyReport:
    """Recompute and compare; within the database's ``reading``.

    :raises LogCorrupt: naming the first position that cannot be trusted.
    """
    branches = all_branches(database)
    chosen = branches if branch is None else _with_parents(database, branches, branch)
    total = sum(info.last - info.fork for info in chosen)
    events, batches, head = 0, 0, b""
    for info in chosen:
        check = _BranchCheck(database, names, packer, info)
        try:
            for done in check.run():
                if progress is not None:
                    progress(events + done, total)
        except (TypeError, ValueError, OverflowError) as fault:
            # A column can hold what is of another type than any of ours.
            raise check.fault(f"a value is of another type: {fault}", check.position + 1) from fault
        events += info.last - info.fork
        batches += check.batches
        if info.name == (branch or "main"):
            head = check.hash
    return VerifyReport(events=events, batches=batches, head=head.hex())


def _with_parents(database: Database, branches: list[BranchInfo], name: str) -> list[BranchInfo]:
    head_of(database, name)
    by_name = {info.name: info for info in branches}
    chosen, at = [], by_name[name]
    while True:
        chosen.append(at)
        if at.parent is None:
            return chosen[::-1]
        at = by_name[at.parent]


class _BranchCheck:
    """The verification of one branch: its own batches and events.

    Blocks are hashed as they are stored now, many at a time; only if the root of a batch is another
    than was committed, its events are looked at one by one, to find the first bad one.
    """

    def __init__(self, database: Database, names: Names, packer: Packer, info: BranchInfo) -> None:
        self._database = database
        self._packer = packer
        self._payloads = Payloads(database, packer)
        self._info = info
        self._head = head_of(database, info.name)
        self._headers = StoredHeaders(
            database, names, branch_id=self._head.branch_id, branch=info.name
        )
        self._ready: deque[_Leaf] = deque()
        self.hash = b""
        self.batches = 0
        self.position = info.fork

    def run(self) -> Iterator[int]:
        """Check everything; yield the number of events done now and then."""
        self.hash = self._genesis()
        pages = self._pages()
        for batch in self._batch_rows():
            self._check_place(batch)
            self._check_batch(batch, self._taken(pages, batch.last))
            self.position = batch.last
            self.hash = batch.hash
            self.batches = batch.number
            yield self.position - self._info.fork
        self._check_strays()
        self._check_head()

    def _taken(self, pages: Iterator[list[_Leaf]], last: int) -> list[_Leaf]:
        """Return the next leaves, as far as they begin by a position."""
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
            raise self.fault("the branch's origin is not what was committed", info.fork + 1)
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
        """Return the fault of the first event of a bad batch that is not what was committed."""
        end = _break(batch, leaves) or batch.last + 1
        for position in range(batch.first, end):
            event = self._headers.stored(position, position)
            if not event.positions:
                return self.fault("the event is missing", position)
            try:
                payload = self._payloads.one(self._head.branch_id, position)
            except LogCorrupt as fault:
                return self.fault(fault.what, position)
            headers = packed_headers(self._headers.headers(event, [len(payload)], [payload]))
            at = (position - batch.first) * MARK_BYTES
            if packed_marks(marks(headers, [payload])) != batch.marks[at : at + MARK_BYTES]:
                return self.fault("the event is not what was committed", position)
        if end <= batch.last:
            return self.fault("the payloads do not follow those before them", end)
        return self.fault(f"batch {batch.number} is not what was committed", batch.first)

    def _check_strays(self) -> None:
        """Complain of rows that lie outside all batches."""
        fork, last = self._info.fork, self.position
        for table, column in (("event", "position"), ("payload_block", "first")):
            for sign, bound in ((">", last), ("<=", fork)):
                sql = f"SELECT min({column}) FROM {table} WHERE branch_id = ? AND {column} {sign} ?"
                found = self._database.rows(sql, (self._head.branch_id, bound))[0][0]
                if found is not None:
                    raise self.fault(f"a row of {table} belongs to no batch", max(found, fork + 1))

    def _check_head(self) -> None:
        head, position = self._head, self.position
        if head.position != position or head.batch != self.batches or head.hash != self.hash:
            raise self.fault(
                f"the branch ends at @{position} in batch {self.batches}, but its head says"
                f" @{head.position} in batch {head.batch}",
                min(position, head.position) + 1,
            )

        greatest = self._database.rows(
            "SELECT max(revision) FROM event WHERE branch_id = ? AND revision IS NOT NULL",
            (head.branch_id,),
        )[0][0]
        if greatest is not None and greatest > head.revision:
            raise self.fault("the head's revision is less than an event's", position)

    def _pages(self) -> Iterator[list[_Leaf]]:
        """Yield the leaves of the branch's blocks as they are stored now, in order."""
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
        last = max((row[1] for row, there in zip(blocks, plain, strict=True) if there), default=0)
        page = self._headers.page(blocks[0][0], last)
        positions, count, identified = page.positions, len(page.positions), page.identified
        sizes, payloads = [0] * count, [b""] * count
        starts: list[int] = []
        for row, there in zip(blocks, plain, strict=True):
            start = bisect_left(positions, row[0])
            end = start + row[1] - row[0] + 1
            # Positions rise without doubles: if both ends are in place, so are all in between.
            if there is None or end > count or positions[end - 1] != row[1]:
                starts.append(-1)
                continue
            starts.append(start)
            sizes[start:end] = there[0]
            if identified:
                payloads[start:end] = cut(*there)
        headers = list(self._headers.headers(page, sizes, payloads))
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


def _break(batch: _Batch, leaves: Sequence[_Leaf]) -> int:
    """Return the first position at which a batch's blocks do not follow each other; 0 if none."""
    position = batch.first
    for leaf in leaves:
        if leaf.first != position or not leaf.first <= leaf.last <= batch.last:
            return min(leaf.first, position)
        position = leaf.last + 1
    return 0 if position > batch.last else position
