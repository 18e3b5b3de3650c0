"""Checkpoints, the fact sidecar and the clock: rows that may be dropped and rebuilt.

Rows are checked when they are read (see :mod:`.seals`). Damaged rows are ignored, with a remark:
without them every answer is the same, but slower.
"""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ..errors import DerivedDamaged
from .branches import END, Segment, head_of, lineage
from .database import Database, Row
from .log_ids import Names
from .seals import (
    CHECKPOINTS,
    CLOCK,
    FACTS,
    MINE,
    DerivedTable,
    Seal,
    SealKey,
    data_hash,
    drop_rows,
    extend_seal,
    is_whole,
    listing,
    put_seal,
    stored_seal,
    whole_data,
)
from .store import NO_REVISION, Checkpoint, ClockBlock, FactBlock, FoldWindow

LAST_REVISION = 2**63 - 1
"""The greatest possible revision."""

_AT_ONCE = 16
"""Blocks whose data is read by one query."""

_FIRST, _LAST, _LOW, _HIGH, _UNREVISIONED = range(5)
"""Columns of a fact block in a list; the hash is the last."""


class Derived:
    """The derived rows of one log.

    :param remark: called once for each damage that is found, with a sentence.
    """

    def __init__(self, database: Database, names: Names, remark: Callable[[str], None]) -> None:
        self._database = database
        self._names = names
        self._remark = remark
        self._reported: set[str] = set()
        self._known: dict[tuple[DerivedTable, SealKey], tuple[Seal, list[Row]]] = {}
        self._cuts: dict[tuple[DerivedTable, SealKey], Row] = {}

    def put_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Store a checkpoint, replacing one at the same place; within ``writing``."""
        place = self._own(checkpoint.branch, checkpoint.cluster, checkpoint.version)
        # Damaged rows go first: a new seal would cover them as if they were sound.
        self._sound(CHECKPOINTS, place)
        self._database.run(
            f"DELETE FROM checkpoint WHERE {MINE} AND revision = ?",
            (*place.key, checkpoint.revision),
        )
        self._database.run(
            "INSERT INTO checkpoint (branch_id, cluster_id, version, revision, known, hash, data)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                *(*place.key, checkpoint.revision, checkpoint.known),
                *(data_hash(checkpoint.data), checkpoint.data),
            ),
        )
        put_seal(self._database, CHECKPOINTS, place, listing(self._database, CHECKPOINTS, place))

    def drop_checkpoints(self, *, branch: str, branch_id: int, cluster: str, least: int) -> None:
        """Delete a branch's checkpoints from a revision on; within ``writing``."""
        number = self._names.cluster_id(cluster)
        versions = self._database.rows(
            "SELECT DISTINCT version FROM checkpoint WHERE branch_id = ? AND cluster_id = ?",
            (branch_id, number),
        )
        for (version,) in versions:
            place = SealKey(branch_id, branch, number, cluster, version)
            if self._sound(CHECKPOINTS, place):
                self._database.run(
                    f"DELETE FROM checkpoint WHERE {MINE} AND revision >= ?", (*place.key, least)
                )
                left = listing(self._database, CHECKPOINTS, place)
                put_seal(self._database, CHECKPOINTS, place, left)

    def nearest_checkpoint(self, window: FoldWindow, version: int) -> Checkpoint | None:
        """Return the last checkpoint that a fold of the window can start from.

        A checkpoint of the branch's past serves too, as long as nothing that the branch added since
        happened before it.
        """
        limit = LAST_REVISION if window.until is None else window.until
        parts = lineage(self._database, window.branch, until=window.known)
        # The newest part first: its checkpoints are the nearest.
        for part in reversed(parts):
            place = self._place(part, window.cluster, version)
            for row in reversed(self._listed(CHECKPOINTS, place)):
                if row[0] <= limit and row[1] <= part.last:
                    data = self._data(CHECKPOINTS, place, row)
                    if data is not None:
                        return Checkpoint(
                            branch=part.branch,
                            cluster=window.cluster,
                            revision=row[0],
                            known=row[1],
                            version=version,
                            data=data,
                        )
            if part is not parts[0]:
                limit = min(limit, _least_revision(self._database, part) - 1)
        return None

    def put_clock(
        self, blocks: Sequence[ClockBlock], *, cluster: str, branch: str, version: int
    ) -> None:
        """Store a clock, replacing the one that the branch has; within ``writing``."""
        place = self._own(branch, cluster, version)
        # Of any version: a branch has one clock.
        self._database.run(
            "DELETE FROM clock_block WHERE branch_id = ? AND cluster_id = ?", place.key[:2]
        )
        self._database.run_many(
            "INSERT INTO clock_block (branch_id, cluster_id, version, part, number, known, hash,"
            " data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (*place.key, each.part, each.number, each.known, data_hash(each.data), each.data)
                for each in blocks
            ],
        )
        self._forget(CLOCK, place)
        put_seal(self._database, CLOCK, place, listing(self._database, CLOCK, place))

    def clock(
        self, *, cluster: str, branch: str, version: int, part: int | None, number: int | None
    ) -> list[ClockBlock]:
        """Return the blocks of a branch's clock in order; without ``number``, without their data.

        Damaged ones are ignored.
        """
        segment = lineage(self._database, branch)[-1]
        place = self._place(segment, cluster, version)
        blocks: list[ClockBlock] = []
        for row in self._listed(CLOCK, place):
            if (part is None or row[0] == part) and (number is None or row[1] == number):
                data = b"" if number is None else self._data(CLOCK, place, row)
                if data is not None:
                    blocks.append(ClockBlock(part=row[0], number=row[1], known=row[2], data=data))
        return blocks

    def put_facts(
        self, blocks: Sequence[FactBlock], *, cluster: str, branch: str, version: int
    ) -> None:
        """Add blocks to the fact sidecar; within ``writing``.

        Nothing is done if another process was faster.
        """
        place = self._own(branch, cluster, version)
        there = self._sound(FACTS, place)
        if not blocks:
            return
        if there and blocks[0].first != there[-1][_LAST] + 1:
            reached = self.facts_until(cluster=cluster, branch=branch, version=version)
            # Another process added blocks meanwhile, and these would leave a gap or overlap.
            if blocks[0].first != reached + 1:
                return
            drop_rows(self._database, FACTS, place)  # The blocks before them no longer exist.
        self._forget(FACTS, place)
        rows = [
            (
                *(block.first, block.last, block.low_revision, block.high_revision),
                *(block.unrevisioned, data_hash(block.data)),
            )
            for block in blocks
        ]
        self._database.run_many(
            f"INSERT INTO fact_block (branch_id, cluster_id, version, {FACTS.listed}, data)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*place.key, *row, block.data) for row, block in zip(rows, blocks, strict=True)],
        )
        # As they are read back: seals cover truth values as numbers.
        listed = [(*row[:_UNREVISIONED], int(row[_UNREVISIONED]), row[-1]) for row in rows]
        seal = stored_seal(self._database, FACTS, place)
        if seal is None:
            put_seal(self._database, FACTS, place, listed)
        else:
            extend_seal(self._database, FACTS, place, seal, listed)

    def facts_until(self, *, cluster: str, branch: str, version: int) -> int:
        """Return the position up to which the sidecar of a version reaches, 0 if there is none."""
        runs = self._runs(branch, cluster, version)
        return max((rows[-1][_LAST] for _, rows in runs), default=0)

    def facts(self, window: FoldWindow, version: int) -> Iterator[FactBlock]:
        """Yield the blocks that may hold events of a window, in position order.

        :raises DerivedDamaged: one of them is damaged; from now on, it and those after it are
            ignored.
        """
        until = LAST_REVISION if window.until is None else window.until
        for place, rows in self._runs(window.branch, window.cluster, version):
            # An event without a revision may belong anywhere, so its block is always read.
            wanted = [
                row
                for row in rows
                if row[_FIRST] <= window.known
                and (row[_UNREVISIONED] or (row[_HIGH] > window.after and row[_LOW] <= until))
            ]
            for start in range(0, len(wanted), _AT_ONCE):
                yield from self._fact_blocks(place, wanted[start : start + _AT_ONCE])

    def reaches(self, part: Segment, cluster: str) -> list[Row]:
        """Return (first, last, least, greatest revision) of a segment's blocks, in order.

        They are of the version that reaches furthest, without gaps.
        """
        versions = self._database.rows("SELECT DISTINCT version FROM seal WHERE part = 1")
        furthest: list[Row] = []
        for (version,) in sorted(versions, key=repr):  # Damaged values may have several types.
            rows = [
                row[:_UNREVISIONED]
                for row in self._listed(FACTS, self._place(part, cluster, version))
                if row[_FIRST] >= part.first and row[_LAST] <= part.last
            ]
            if rows and (not furthest or rows[-1][_LAST] > furthest[-1][_LAST]):
                furthest = rows
        return furthest

    def drop(self, *, checkpoints: bool, facts: bool, clock: bool) -> None:
        """Delete the chosen rows, for all branches and clusters; within ``writing``."""
        for kind, asked in ((CHECKPOINTS, checkpoints), (FACTS, facts), (CLOCK, clock)):
            if asked:
                self._database.run(f"DELETE FROM {kind.table}")
                self._database.run("DELETE FROM seal WHERE part = ?", (kind.part,))
        self.forget()

    def forget(self) -> None:
        """Forget what was found out about rows, after some were deleted."""
        self._known.clear()
        self._cuts.clear()

    def leave_out(self, kind: DerivedTable, place: SealKey, what: str) -> None:
        """Report that rows of a place are damaged; each damage once."""
        text = (
            f"{what} {kind.named} of branch {place.branch!r} are damaged and not used; answers"
            " stay the same, but take longer: plinian checkpoint build rebuilds them"
        )
        if text not in self._reported:
            self._reported.add(text)
            self._remark(text)

    def _runs(self, branch: str, cluster: str, version: int) -> list[tuple[SealKey, list[Row]]]:
        """Return which blocks of each branch of a lineage follow each other, oldest first.

        The first block of a branch may begin before the fork, where a block of the parent spans it.
        """
        runs: list[tuple[SealKey, list[Row]]] = []
        before: int | None = None
        for part in reversed(lineage(self._database, branch)):
            place = self._place(part, cluster, version)
            last = END if part.branch == branch else part.last
            there = [row for row in self._listed(FACTS, place) if row[_LAST] <= last]
            rows = [row for row in there if before is None or row[_LAST] < before]
            if before is not None and rows and rows[-1][_LAST] != before - 1:
                # The blocks before these no longer exist.
                self.leave_out(FACTS, runs[-1][0], "some")
                runs, rows = [], there
            if rows:
                runs.append((place, rows))
                before = rows[0][_FIRST]
        if before is not None and before != 1:
            self.leave_out(FACTS, runs[-1][0], "some")
            return []
        return runs[::-1]

    def _fact_blocks(self, place: SealKey, wanted: Sequence[Row]) -> Iterator[FactBlock]:
        rows = self._database.rows(
            f"SELECT first, data FROM fact_block WHERE {MINE} AND {self._database.any_of('first')}",
            (*place.key, self._database.listed([row[_FIRST] for row in wanted])),
        )
        data: dict[int, object] = dict(rows)
        for row in wanted:
            block_data = whole_data(data.get(row[_FIRST]), row[-1])
            if block_data is None:
                raise self._cut_off(FACTS, place, row)
            yield FactBlock(
                first=row[_FIRST],
                last=row[_LAST],
                low_revision=row[_LOW],
                high_revision=row[_HIGH],
                unrevisioned=bool(row[_UNREVISIONED]),
                data=block_data,
            )

    def _data(self, kind: DerivedTable, place: SealKey, row: Row) -> bytes | None:
        """Return the data of a row; None if it is damaged, and from now on the row is ignored."""
        keys = kind.columns[: kind.keys]
        rows = self._database.rows(
            f"SELECT data FROM {kind.table} WHERE {MINE}"
            f"{''.join(f' AND {column} = ?' for column in keys)}",
            (*place.key, *row[: kind.keys]),
        )
        data = whole_data(rows[0][0], row[-1]) if rows else None
        if data is None:
            self.leave_out(kind, place, "some")
        return data

    def _cut_off(self, kind: DerivedTable, place: SealKey, row: Row) -> DerivedDamaged:
        self._cuts[kind, place] = row
        self.leave_out(kind, place, "some")
        return DerivedDamaged(
            f"one of the {kind.named} of branch {place.branch!r} is damaged",
            where=self._database.location.shown,
            now="run the same command again; plinian checkpoint build rebuilds them",
        )

    def _listed(self, kind: DerivedTable, place: SealKey) -> list[Row]:
        """Return the undamaged rows of a place, without their data, in order."""
        seal = stored_seal(self._database, kind, place)
        known = self._known.get((kind, place))
        # A changed seal shows that another process wrote here.
        if known is None or seal is None or known[0] != seal:
            self._cuts.pop((kind, place), None)
            rows = self._checked(kind, place, seal)
            if rows is None:
                self.leave_out(kind, place, "all")
            known = (seal or Seal(b"", b""), rows or [])
            self._known[kind, place] = known
        # The rows after a damaged one are ignored with it, as fact blocks may have no gap.
        cut = self._cuts.get((kind, place))
        return known[1] if cut is None else known[1][: known[1].index(cut)]

    def _checked(self, kind: DerivedTable, place: SealKey, seal: Seal | None) -> list[Row] | None:
        """Return the rows of a place as they are stored; None if they are damaged."""
        rows = listing(self._database, kind, place)
        if seal is None:
            return None if rows else []
        whole = is_whole(self._database, kind, place, seal, rows)
        return rows if whole and follow(kind, rows) else None

    def _sound(self, kind: DerivedTable, place: SealKey) -> list[Row]:
        """Return the rows of a place, and delete them if they are damaged; within ``writing``."""
        rows = self._checked(kind, place, stored_seal(self._database, kind, place))
        self._forget(kind, place)
        if rows is None:
            self.leave_out(kind, place, "all")
            drop_rows(self._database, kind, place)
        return rows or []

    def _forget(self, kind: DerivedTable, place: SealKey) -> None:
        self._known.pop((kind, place), None)
        self._cuts.pop((kind, place), None)

    def _own(self, branch: str, cluster: str, version: int) -> SealKey:
        """Return the place of a branch's rows; creates the id of the cluster if it has none."""
        number = head_of(self._database, branch).branch_id
        return SealKey(number, branch, self._names.cluster_id(cluster), cluster, version)

    def _place(self, part: Segment, cluster: str, version: int) -> SealKey:
        number = self._names.find_cluster(cluster)
        return SealKey(
            part.branch_id, part.branch, -1 if number is None else number, cluster, version
        )


def drop_checkpoints(
    database: Database, names: Names, *, branch: str, cluster: str, version: int
) -> None:
    """Delete a branch's checkpoints of a version and a cluster; within ``writing``."""
    database.run(
        "DELETE FROM checkpoint WHERE branch_id = ? AND cluster_id = ? AND version = ?",
        (head_of(database, branch).branch_id, names.cluster_id(cluster), version),
    )


def checkpoints(database: Database) -> list[tuple[str, str, int, int, int, int]]:
    """Return (branch, cluster, revision, known, bytes, version) of every checkpoint, in order."""
    rows = database.rows(
        "SELECT b.name, c.name, k.revision, k.known, length(k.data), k.version FROM checkpoint k"
        " JOIN branch b ON b.id = k.branch_id JOIN cluster c ON c.id = k.cluster_id"
        " WHERE k.revision >= 0"
    )
    return sorted((b, c, revision, *rest) for b, c, revision, *rest in rows)


def follow(kind: DerivedTable, rows: Sequence[Row]) -> bool:
    """Say whether rows follow each other without gaps, as fact blocks must."""
    return kind is not FACTS or all(
        before[_LAST] + 1 == after[_FIRST] for before, after in pairwise(rows)
    )


def _least_revision(database: Database, part: Segment) -> int:
    """Return the least revision in a segment; -1 if an event without revision changes truth."""
    bounds = (part.branch_id, part.first, part.last)
    if database.rows(
        "SELECT 1 FROM event WHERE branch_id = ? AND position BETWEEN ? AND ? AND effect > 0"
        " AND identity IS NOT NULL LIMIT 1",
        bounds,
    ):
        return NO_REVISION
    least = database.rows(
        "SELECT min(revision) FROM event WHERE branch_id = ? AND position BETWEEN ? AND ?", bounds
    )[0][0]
    return LAST_REVISION if least is None else int(least)
