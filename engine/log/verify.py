"""Verification: recompute every hash of the log from what is stored, and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ..errors import LogCorrupt
from ..events import KINDS
from ..events.codec import packed_header
from .branches import all_branches, hash_at, head_of
from .chain import MARK_BYTES, batch_hash, genesis_hash, identity_of, leaf_hash, merkle_root
from .database import Database, Row
from .names import Names
from .packing import Packer
from .store import BranchInfo, VerifyReport

Progress = Callable[[int, int], None]

_NOW = "restore a copy of the log, or ingest the inputs again into a new one"

_EVENTS = (
    "SELECT position, effect, schema, codec, revision, observed_at, object_id, kind_id, source_id,"
    " line, actor_id, dictionary_id, resource_version, identity, payload"
    " FROM event WHERE branch_id = ? ORDER BY position"
)
_BATCHES = (
    "SELECT number, first, last, recorded_at, merkle_root, previous, hash, leaves"
    " FROM batch WHERE branch_id = ? ORDER BY number"
)


class _Batch(msgspec.Struct, gc=False):
    number: int
    first: int
    last: int
    recorded_at: int
    root: bytes
    previous: bytes
    hash: bytes
    leaves: bytes


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
        for done in check.run():
            if progress is not None:
                progress(events + done, total)
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

    An event that cannot be hashed gets an empty leaf, which is no event's, and a note of what is
    wrong with it: so the first bad position is named, whatever is wrong behind it.
    """

    def __init__(self, database: Database, names: Names, packer: Packer, info: BranchInfo) -> None:
        self._database = database
        self._names = names
        self._packer = packer
        self._info = info
        self._head = head_of(database, info.name)
        self._notes: dict[int, str] = {}
        self.hash = b""
        self.batches = 0

    def run(self) -> Iterator[int]:
        """Check everything; yield the number of events done now and then."""
        position = self._info.fork
        self.hash = self._genesis()
        pages = self._pages()
        positions: list[int] = []
        leaves: list[bytes] = []
        for batch in self._batch_rows():
            self._check_place(batch, position)
            size = batch.last - position
            while len(positions) < size and (page := next(pages, None)) is not None:
                positions += page[0]
                leaves += page[1]
            if positions[:size] == list(range(batch.first, batch.last + 1)):
                taken, found = size, leaves[:size]
            else:
                taken, found = self._with_gaps(batch, positions, leaves)
            self._check_batch(batch, found)
            del positions[:taken], leaves[:taken]
            position = batch.last
            self.hash = batch.hash
            self.batches = batch.number
            yield position - self._info.fork
        page = (positions, leaves) if positions else next(pages, None)
        if page is not None:
            raise self._fault("the event belongs to no batch", page[0][0])
        self._check_head(position)

    def _with_gaps(
        self, batch: _Batch, positions: list[int], leaves: list[bytes]
    ) -> tuple[int, list[bytes]]:
        """Return how many rows belong to a batch, and its leaves, empty ones for missing."""
        there = dict(zip(positions, leaves, strict=True))
        for position in range(batch.first, batch.last + 1):
            if position not in there:
                self._notes[position] = "the event is missing"
        taken = sum(position <= batch.last for position in positions)
        return taken, [there.get(p, b"") for p in range(batch.first, batch.last + 1)]

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
            raise self._fault("the branch's origin is not what was committed", info.fork + 1)
        return genesis

    def _batch_rows(self) -> Iterator[_Batch]:
        for row in self._database.rows(_BATCHES, (self._head.branch_id,)):
            yield _Batch(*row)

    def _check_place(self, batch: _Batch, position: int) -> None:
        if batch.number != self.batches + 1:
            raise self._fault(f"batch {self.batches + 1} is missing", position + 1)
        size = batch.last - position
        if batch.first != position + 1 or size < 1 or len(batch.leaves) != size * MARK_BYTES:
            raise self._fault(
                f"batch {batch.number} claims positions {batch.first} to {batch.last}", position + 1
            )

    def _check_batch(self, batch: _Batch, leaves: list[bytes]) -> None:
        marks = bytes(batch.leaves)
        root = merkle_root(leaves)
        if root != bytes(batch.root) or marks != b"".join([h[:MARK_BYTES] for h in leaves]):
            for index, leaf in enumerate(leaves):
                if marks[index * MARK_BYTES : (index + 1) * MARK_BYTES] != leaf[:MARK_BYTES]:
                    position = batch.first + index
                    note = self._notes.get(position, "the event is not what was committed")
                    raise self._fault(note, position)
            raise self._fault(f"batch {batch.number} is not what was committed", batch.first)
        digest = batch_hash(
            previous=self.hash,
            branch=self._info.name,
            number=batch.number,
            first=batch.first,
            last=batch.last,
            recorded_at=batch.recorded_at,
            root=root,
        )
        if bytes(batch.previous) != self.hash or bytes(batch.hash) != digest:
            raise self._fault(
                f"batch {batch.number} does not follow from the one before it", batch.first
            )

    def _check_head(self, position: int) -> None:
        head = self._head
        if head.position != position or head.batch != self.batches or head.hash != self.hash:
            raise self._fault(
                f"the branch ends at @{position} in batch {self.batches}, but its head says"
                f" @{head.position} in batch {head.batch}",
                min(position, head.position) + 1,
            )

        greatest = self._database.rows(
            "SELECT max(revision) FROM event WHERE branch_id = ? AND revision IS NOT NULL",
            (head.branch_id,),
        )[0][0]
        if greatest is not None and greatest > head.revision:
            raise self._fault("the head's revision is less than an event's", position)

    def _pages(self) -> Iterator[tuple[list[int], list[bytes]]]:
        """Yield positions and leaf hashes of the branch's events as they are stored now."""
        at = self._info.fork
        try:
            for rows in self._database.stream(_EVENTS, (self._head.branch_id,)):
                at = rows[-1][0]
                yield [row[0] for row in rows], self._hashed(rows)
        except LogCorrupt as fault:
            if fault.position:
                raise
            raise self._fault(fault.what, at + 1) from fault

    def _hashed(self, rows: list[Row]) -> list[bytes]:
        objects = self._names.objects([row[6] for row in rows])
        named = self._names.texts(
            number for row in rows for number in (row[7], row[8], row[10]) if number is not None
        )
        texts: dict[int | None, str] = {None: ""}
        texts.update(named.items())
        unpack, branch, leaves = self._packer.unpack, self._info.name, []
        for row in rows:
            revision, version = row[4], row[12]
            try:
                kind, payload = texts[row[7]], unpack(row[3], row[11], row[14])
                cluster, reference = objects[row[6]]
                if version is None:
                    version = "" if revision is None else str(revision)
                told = (kind, row[2], cluster, reference, version, revision, row[5])
                header = packed_header(branch, row[0], *told, texts[row[10]], texts[row[8]], row[9])
            except (KeyError, ValueError) as fault:
                self._notes[row[0]] = f"the event cannot be read: {fault}"
                leaves.append(b"")
                continue
            info = KINDS.get(kind)
            if info is not None and info.effect != row[1]:
                self._notes[row[0]] = f"the event's effect is not that of {kind}"
                leaves.append(b"")
            elif row[13] != (
                None
                if revision is not None
                else identity_of(kind, cluster, reference, row[5], texts[row[10]], payload)
            ):
                self._notes[row[0]] = "the event's identity is not its own"
                leaves.append(b"")
            else:
                leaves.append(leaf_hash(header, payload))
        return leaves

    def _fault(self, what: str, position: int) -> LogCorrupt:
        return LogCorrupt(
            what,
            position=position,
            where=f"{self._database.location.shown} {self._info.name}@{position}",
            now=_NOW,
        )
