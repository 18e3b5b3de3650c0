"""Verification: recompute every hash of the log from what is stored, and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ..errors import LogCorrupt
from ..events import KINDS, Event
from .branches import all_branches, hash_at, head_of
from .chain import MARK_BYTES, batch_hash, event_hash, event_identity, genesis_hash, merkle_root
from .database import Database, Row
from .names import Names
from .packing import Packer
from .reading import resource_version
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
    """The verification of one branch: its own batches and events."""

    def __init__(self, database: Database, names: Names, packer: Packer, info: BranchInfo) -> None:
        self._database = database
        self._names = names
        self._packer = packer
        self._info = info
        self._head = head_of(database, info.name)
        self.hash = b""
        self.batches = 0

    def run(self) -> Iterator[int]:
        """Check everything; yield the number of events done now and then."""
        position = self._info.fork
        self.hash = self._genesis()
        leaves = self._leaves()
        for batch in self._batch_rows():
            self._check_place(batch, position)
            found = []
            for at in range(batch.first, batch.last + 1):
                leaf = next(leaves, None)
                if leaf is None or leaf[0] != at:
                    raise self._fault("the event is missing", at)
                found.append(leaf[1])
            self._check_batch(batch, found)
            position = batch.last
            self.hash = batch.hash
            self.batches = batch.number
            yield position - self._info.fork
        extra = next(leaves, None)
        if extra is not None:
            raise self._fault("the event belongs to no batch", extra[0])
        self._check_head(position)

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
                    raise self._fault("the event is not what was committed", batch.first + index)
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
            "SELECT max(revision) FROM event WHERE branch_id = ?", (head.branch_id,)
        )[0][0]
        if greatest is not None and greatest > head.revision:
            raise self._fault("the head's revision is less than an event's", position)

    def _leaves(self) -> Iterator[tuple[int, bytes]]:
        """Yield (position, leaf hash) of the branch's events as they are stored now."""
        at = self._info.fork
        try:
            for rows in self._database.stream(_EVENTS, (self._head.branch_id,)):
                for row in rows:
                    at = row[0]
                yield from self._hashed(rows)
        except LogCorrupt as fault:
            if fault.position:
                raise
            raise self._fault(fault.what, at + 1) from fault

    def _hashed(self, rows: list[Row]) -> Iterator[tuple[int, bytes]]:
        objects = self._names.objects(row[6] for row in rows)
        texts = self._names.texts(
            number for row in rows for number in (row[7], row[8], row[10]) if number is not None
        )
        unpack, branch = self._packer.unpack, self._info.name
        for (
            position,
            effect,
            schema,
            codec,
            revision,
            observed_at,
            object_id,
            kind_id,
            source_id,
            line,
            actor_id,
            dictionary,
            version,
            identity,
            payload,
        ) in rows:
            try:
                cluster, reference = objects[object_id]
                event = Event(
                    kind=texts[kind_id],
                    reference=reference,
                    payload=unpack(codec, dictionary, payload),
                    resource_version=resource_version(revision, version),
                    revision=revision,
                    observed_at=observed_at,
                    actor="" if actor_id is None else texts[actor_id],
                    source=texts[source_id],
                    line=line,
                    schema=schema,
                    cluster=cluster,
                )
            except (KeyError, ValueError) as fault:
                raise self._fault(f"the event cannot be read: {fault}", position) from fault
            info = KINDS.get(event.kind)
            if info is not None and info.effect != effect:
                raise self._fault(f"the event's effect is not that of {event.kind}", position)
            if identity != (event_identity(event) if revision is None else None):
                raise self._fault("the event's identity is not its own", position)
            yield position, event_hash(event, branch=branch, position=position)

    def _fault(self, what: str, position: int) -> LogCorrupt:
        return LogCorrupt(
            what,
            position=position,
            where=f"{self._database.location.shown} {self._info.name}@{position}",
            now=_NOW,
        )
