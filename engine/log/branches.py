"""Branches: named continuations of the log, and which rows belong to one."""

from __future__ import annotations

import msgspec

from ..errors import LogCorrupt, PointUnknown, UsageError
from .chain import genesis_hash
from .database import Database, Row
from .store import MAIN, BranchInfo, HeadInfo

END = 2**62
"""Greater than every position."""

_ENDS = (
    "SELECT b.id, h.position, h.revision, h.batch, h.recorded_at, h.hash, h.branch_id,"
    " b.fork, b.genesis, t.number, t.last, t.hash"
    " FROM branch b LEFT JOIN head h ON h.branch_id = b.id LEFT JOIN batch t"
    " ON t.branch_id = b.id AND t.number = (SELECT max(l.number) FROM batch l"
    " WHERE l.branch_id = b.id) WHERE b.name = ?"
)


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """Where a branch ends.

    :param revision: no event of the branch or its past has a greater one; -1 if none has any.
    :param batch: number of the last batch, 0 before the first.
    :param hash: of the last batch, or the branch's genesis hash.
    """

    branch_id: int
    position: int
    revision: int
    batch: int
    recorded_at: int
    hash: bytes


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a lineage in one branch: positions ``first`` to ``last`` inclusive."""

    branch_id: int
    branch: str
    first: int
    last: int


def head_of(database: Database, name: str) -> Head:
    """Return where a branch ends.

    :raises PointUnknown: there is no such branch.
    :raises LogCorrupt: its head is missing, or is not that of its last batch.
    """
    rows = database.rows(_ENDS, (name,))
    if not rows:
        raise _no_branch(database, name)
    _, fork, genesis, number, last, digest = rows[0][6:]
    head = _head(database, name, rows[0])
    # A branch without a batch ends where it begins.
    end = (fork, 0, bytes(genesis)) if number is None else (last, number, bytes(digest))
    if (head.position, head.batch, bytes(head.hash)) != end:
        raise damaged(
            database,
            f"the head of branch {name!r} says that it ends at @{head.position} in batch"
            f" {head.batch}, but its last batch is {end[1]}, which ends at @{end[0]}",
            head.position,
        )
    return head


def stored_head(database: Database, name: str) -> Head:
    """Return where a branch ends by its stored head alone; its batches are not checked.

    :raises LogCorrupt: there is none.
    """
    rows = database.rows(_ENDS, (name,))
    if not rows:
        raise _no_branch(database, name)
    return _head(database, name, rows[0])


def _head(database: Database, name: str, row: Row) -> Head:
    number, position, revision, batch, recorded_at, digest, there = row[:7]
    if there is None:
        raise damaged(database, f"the row of branch {name!r} is missing in table head", 0)
    return Head(
        branch_id=number,
        position=position,
        revision=revision,
        batch=batch,
        recorded_at=recorded_at,
        hash=digest,
    )


def damaged(database: Database, what: str, position: int) -> LogCorrupt:
    """Return the error for damaged rows that cannot be rebuilt."""
    return LogCorrupt(
        what,
        position=position,
        where=database.location.shown,
        now="restore a copy of the log, or ingest the inputs again into a new one",
    )


def lineage(
    database: Database, name: str, *, after: int = 0, until: int | None = None
) -> list[Segment]:
    """Return the segments of a branch, oldest first: of its parents up to the fork, then its own.

    :param after: only positions greater than this.
    :param until: only positions up to this.
    :raises PointUnknown: there is no such branch.
    """
    last = END if until is None else until
    segments: list[Segment] = []
    rows = database.rows("SELECT id, name, parent_id, fork FROM branch WHERE name = ?", (name,))
    if not rows:
        raise _no_branch(database, name)
    while True:
        number, branch, parent, fork = rows[0]
        first = max(fork, after) + 1
        if first <= last:
            segments.append(Segment(branch_id=number, branch=branch, first=first, last=last))
        if parent is None:
            break
        # Of the parent, only what is before the fork belongs to the lineage.
        last = min(last, fork)
        rows = database.rows("SELECT id, name, parent_id, fork FROM branch WHERE id = ?", (parent,))
        if not rows or parent >= number:  # A parent has a smaller id, so this loop ends.
            raise damaged(database, f"the parent of branch {branch!r} is missing", fork)
    return segments[::-1]


def all_branches(database: Database) -> list[BranchInfo]:
    """Return all branches, ``main`` first, then by name.

    :raises LogCorrupt: one has no head, or no parent where it should have one.
    """
    rows = database.rows(
        "SELECT b.name, b.parent_id, p.name, b.fork, h.position FROM branch b"
        " LEFT JOIN head h ON h.branch_id = b.id LEFT JOIN branch p ON p.id = b.parent_id"
    )
    for name, parent_id, parent, fork, last in rows:
        if last is None:
            raise damaged(database, f"the row of branch {name!r} is missing in table head", 0)
        if parent_id is not None and parent is None:
            raise damaged(database, f"the parent of branch {name!r} is missing", fork)
    branch_infos = [
        BranchInfo(name=n, parent=p, fork=fork, last=last) for n, _, p, fork, last in rows
    ]
    if not any(info.name == MAIN for info in branch_infos):
        raise damaged(database, f"the row of branch {MAIN!r} is missing in table branch", 0)
    return sorted(branch_infos, key=lambda info: (info.name != MAIN, info.name))


def heads(database: Database) -> list[HeadInfo]:
    """Return where each branch ends, ``main`` first, then by name.

    :raises LogCorrupt: a head is missing, or is not that of the branch's last batch.
    """
    ends = [(info.name, head_of(database, info.name)) for info in all_branches(database)]
    return [
        HeadInfo(
            branch=name,
            position=head.position,
            batch=head.batch,
            hash=bytes(head.hash).hex(),
        )
        for name, head in ends
    ]


def create_branch(database: Database, name: str, *, parent: str, fork: int | None) -> BranchInfo:
    """Create a branch; within the database's ``writing``.

    :raises UsageError: the name is taken or cannot be written in a point.
    :raises PointUnknown: there is no such parent, or it does not reach to ``fork``.
    """
    _check_name(database, name)
    head = head_of(database, parent)
    fork = head.position if fork is None else fork
    if not 0 <= fork <= head.position:
        raise PointUnknown(
            f"@{fork} is not in branch {parent!r}, which ends at @{head.position}",
            now=f"fork at a position between 0 and {head.position}",
        )
    genesis = genesis_hash(name=name, parent=hash_at(database, parent, fork), fork=fork)
    # Rising, as a parent must have a smaller id than its branches.
    number = int(database.rows("SELECT max(id) + 1 FROM branch")[0][0])
    database.run(
        "INSERT INTO branch (id, name, parent_id, fork, genesis) VALUES (?, ?, ?, ?, ?)",
        (number, name, head.branch_id, fork, genesis),
    )
    database.run(
        "INSERT INTO head (branch_id, position, revision, batch, recorded_at, hash)"
        " VALUES (?, ?, ?, 0, ?, ?)",
        (number, fork, head.revision, head.recorded_at, genesis),
    )
    return BranchInfo(name=name, parent=parent, fork=fork, last=fork)


def hash_at(database: Database, branch: str, position: int) -> bytes:
    """Return the hash of the batch with a position; before the first batch, the genesis hash."""
    segments = lineage(database, branch, until=position)
    if not segments or position == 0:
        rows = database.rows("SELECT genesis FROM branch WHERE parent_id IS NULL")
        if not rows:
            raise damaged(database, f"the row of branch {MAIN!r} is missing in table branch", 0)
        return bytes(rows[0][0])
    rows = database.rows(
        "SELECT hash FROM batch WHERE branch_id = ? AND last >= ? ORDER BY last LIMIT 1",
        (segments[-1].branch_id, position),
    )
    if not rows:
        raise LogCorrupt("no batch holds this position", position=position)
    return bytes(rows[0][0])


def _check_name(database: Database, name: str) -> None:
    if not name or name != name.strip() or set(name) & set("@:\n\t\0") or name == "end":
        raise UsageError(
            f"{name!r} cannot name a branch",
            now="use letters, digits and dashes, as in: what-if",
        )
    if database.rows("SELECT 1 FROM branch WHERE name = ?", (name,)):
        raise UsageError(f"a branch {name!r} already exists", now="choose another name")


def _no_branch(database: Database, name: str) -> PointUnknown:
    names = ", ".join(info.name for info in all_branches(database))
    return PointUnknown(f"there is no branch {name!r}", now=f"choose one of: {names}")
