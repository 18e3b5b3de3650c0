"""Checkpoints, the fact sidecar and the clock: rows that may be dropped and made again."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from collections.abc import Iterator, Sequence

from .branches import Segment, head_of, lineage
from .database import Database, Row
from .names import Names
from .store import NO_REVISION, Checkpoint, ClockBlock, FactBlock, Window

_BLOCK_COLUMNS = "first, last, low_revision, high_revision, unrevisioned, data"


def put_checkpoint(database: Database, names: Names, checkpoint: Checkpoint) -> None:
    """Store a checkpoint, replacing one at the same place; within ``writing``."""
    branch = head_of(database, checkpoint.branch).branch_id
    cluster = names.cluster_id(checkpoint.cluster)
    place = (branch, cluster, checkpoint.version, checkpoint.revision)
    database.run(
        "DELETE FROM checkpoint WHERE branch_id = ? AND cluster_id = ? AND version = ?"
        " AND revision = ?",
        place,
    )
    database.run(
        "INSERT INTO checkpoint (branch_id, cluster_id, version, revision, known, data)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (*place, checkpoint.known, checkpoint.data),
    )


def nearest_checkpoint(
    database: Database, names: Names, window: Window, version: int
) -> Checkpoint | None:
    """Return the last checkpoint that a fold of the window can start from.

    A checkpoint of the branch's past serves too, as long as nothing that the branch added since
    happened before it.
    """
    cluster = names.find_cluster(window.cluster)
    limit = 2**62 if window.until is None else window.until
    parts = lineage(database, window.branch, until=window.known)
    for part in reversed(parts):
        rows = database.rows(
            "SELECT revision, known, data FROM checkpoint WHERE branch_id = ? AND cluster_id = ?"
            " AND version = ? AND revision <= ? AND known <= ? ORDER BY revision DESC LIMIT 1",
            (part.branch_id, cluster, version, limit, part.last),
        )
        if rows:
            revision, known, data = rows[0]
            return Checkpoint(
                branch=part.branch,
                cluster=window.cluster,
                revision=revision,
                known=known,
                version=version,
                data=bytes(data),
            )
        if part is not parts[0]:
            limit = min(limit, _least_revision(database, part) - 1)
    return None


def drop_checkpoints(
    database: Database, names: Names, *, branch: str, cluster: str, version: int
) -> None:
    """Delete the checkpoints of a version that a branch has of a cluster; within ``writing``."""
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


def drop_derived(database: Database, *, checkpoints: bool, facts: bool, clock: bool) -> None:
    """Delete what is asked for; within ``writing``."""
    wanted = {"checkpoint": checkpoints, "fact_block": facts, "clock_block": clock}
    for table in (table for table, asked in wanted.items() if asked):
        database.run(f"DELETE FROM {table}")


def put_clock(
    database: Database,
    names: Names,
    blocks: Sequence[ClockBlock],
    *,
    cluster: str,
    branch: str,
    version: int,
) -> None:
    """Store a clock in place of the one that the branch has; within ``writing``."""
    place = (head_of(database, branch).branch_id, names.cluster_id(cluster))
    database.run("DELETE FROM clock_block WHERE branch_id = ? AND cluster_id = ?", place)
    database.run_many(
        "INSERT INTO clock_block (branch_id, cluster_id, version, part, number, known, data)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(*place, version, each.part, each.number, each.known, each.data) for each in blocks],
    )


def clock(
    database: Database,
    names: Names,
    *,
    cluster: str,
    branch: str,
    version: int,
    part: int | None,
    number: int | None,
) -> list[ClockBlock]:
    """Return the blocks of a branch's clock in order; without ``number``, without their data."""
    chosen = {"part": part, "number": number}
    narrowed = {column: value for column, value in chosen.items() if value is not None}
    data = "''" if number is None else "data"
    rows = database.rows(
        f"SELECT part, number, known, {data} FROM clock_block"
        " WHERE branch_id = ? AND cluster_id = ? AND version = ?"
        f"{''.join(f' AND {column} = ?' for column in narrowed)} ORDER BY part, number",
        (
            *(head_of(database, branch).branch_id, names.find_cluster(cluster), version),
            *narrowed.values(),
        ),
    )
    return [
        ClockBlock(
            part=row[0],
            number=row[1],
            known=row[2],
            data=bytes(row[3]) if number is not None else b"",
        )
        for row in rows
    ]


def put_facts(
    database: Database,
    names: Names,
    blocks: Sequence[FactBlock],
    *,
    cluster: str,
    branch: str,
    version: int,
) -> None:
    """Store blocks of the fact sidecar; within ``writing``."""
    branch_id, cluster_id = head_of(database, branch).branch_id, names.cluster_id(cluster)
    rows = [
        (
            branch_id,
            cluster_id,
            version,
            block.first,
            block.last,
            block.low_revision,
            block.high_revision,
            block.unrevisioned,
            block.data,
        )
        for block in blocks
    ]
    database.run_many(
        "DELETE FROM fact_block WHERE branch_id = ? AND cluster_id = ? AND version = ?"
        " AND first = ?",
        [row[:4] for row in rows],
    )
    database.run_many(
        f"INSERT INTO fact_block (branch_id, cluster_id, version, {_BLOCK_COLUMNS})"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def facts_until(
    database: Database, names: Names, *, cluster: str, branch: str, version: int
) -> int:
    """Return the position up to which the sidecar of this version reaches, 0 if there is none."""
    cluster_id = names.find_cluster(cluster)
    return max((last for _, _, last in _runs(database, branch, cluster_id, version)), default=0)


def facts(database: Database, names: Names, window: Window, version: int) -> Iterator[FactBlock]:
    """Yield the blocks that may hold events of a window, in position order."""
    cluster_id = names.find_cluster(window.cluster)
    until = 2**62 if window.until is None else window.until
    for part, first, last in _runs(database, window.branch, cluster_id, version):
        after = first - 1
        while rows := database.rows(
            f"SELECT {_BLOCK_COLUMNS} FROM fact_block WHERE branch_id = ? AND cluster_id = ?"
            " AND version = ? AND first > ? AND last <= ? AND first <= ?"
            " AND (unrevisioned OR (high_revision > ? AND low_revision <= ?))"
            " ORDER BY first LIMIT 16",
            (part.branch_id, cluster_id, version, after, last, window.known, window.after, until),
        ):
            yield from map(_block, rows)
            after = rows[-1][0]


def _runs(
    database: Database, branch: str, cluster_id: int | None, version: int
) -> list[tuple[Segment, int, int]]:
    """Return (segment, first, last): which blocks of each branch of a lineage follow each other.

    A branch's own blocks may begin before its fork, where its parent's would have straddled it.
    """
    runs: list[tuple[Segment, int, int]] = []
    before: int | None = None
    for part in reversed(lineage(database, branch)):
        own = part.branch == branch
        limit = 2**62 if own else part.last if before is None else min(part.last, before - 1)
        rows = database.rows(
            "SELECT min(first), max(last) FROM fact_block WHERE branch_id = ? AND cluster_id = ?"
            " AND version = ? AND last <= ?",
            (part.branch_id, cluster_id, version, limit),
        )
        if rows[0][0] is not None:
            runs.append((part, rows[0][0], rows[0][1]))
            before = rows[0][0]
    return runs[::-1]


def _block(row: Row) -> FactBlock:
    first, last, low, high, unrevisioned, data = row
    return FactBlock(
        first=first,
        last=last,
        low_revision=low,
        high_revision=high,
        unrevisioned=bool(unrevisioned),
        data=bytes(data),
    )


def _least_revision(database: Database, part: Segment) -> int:
    """Return the least revision in a segment; -1 if it changes truth without having a revision."""
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
    return 2**62 if least is None else int(least)
