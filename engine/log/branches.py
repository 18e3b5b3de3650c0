"""Branches: named continuations of the log, and which rows belong to one."""

from __future__ import annotations

import msgspec

from ..errors import LogCorrupt, PointUnknown, UsageError
from .chain import genesis_hash
from .database import Database
from .store import MAIN, BranchInfo

END = 2**62
"""A position behind every position."""


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
    """The part of a lineage that lies in one branch: positions ``first`` to ``last`` inclusive."""

    branch_id: int
    branch: str
    first: int
    last: int


def head_of(database: Database, name: str) -> Head:
    """Return where a branch ends.

    :raises PointUnknown: there is no such branch.
    """
    rows = database.rows(
        "SELECT h.branch_id, h.position, h.revision, h.batch, h.recorded_at, h.hash"
        " FROM head h JOIN branch b ON b.id = h.branch_id WHERE b.name = ?",
        (name,),
    )
    if not rows:
        raise _no_branch(database, name)
    number, position, revision, batch, recorded_at, digest = rows[0]
    return Head(
        branch_id=number,
        position=position,
        revision=revision,
        batch=batch,
        recorded_at=recorded_at,
        hash=digest,
    )


def lineage(
    database: Database, name: str, *, after: int = 0, until: int | None = None
) -> list[Segment]:
    """Return the rows that make up a branch, oldest first: its past in its parents, then its own.

    :param after: only positions greater than this.
    :param until: only positions up to this.
    :raises PointUnknown: there is no such branch.
    """
    last = END if until is None else until
    segments: list[Segment] = []
    rows = database.rows("SELECT id, name, parent_id, fork FROM branch WHERE name = ?", (name,))
    if not rows:
        raise _no_branch(database, name)
    while rows:
        number, branch, parent, fork = rows[0]
        first = max(fork, after) + 1
        if first <= last:
            segments.append(Segment(branch_id=number, branch=branch, first=first, last=last))
        if parent is None:
            break
        last = min(last, fork)
        rows = database.rows("SELECT id, name, parent_id, fork FROM branch WHERE id = ?", (parent,))
    return segments[::-1]


def all_branches(database: Database) -> list[BranchInfo]:
    """Return all branches, ``main`` first, then by name."""
    rows = database.rows(
        "SELECT b.name, p.name, b.fork, h.position FROM branch b"
        " JOIN head h ON h.branch_id = b.id LEFT JOIN branch p ON p.id = b.parent_id"
    )
    found = [BranchInfo(name=n, parent=p, fork=fork, last=last) for n, p, fork, last in rows]
    return sorted(found, key=lambda info: (info.name != MAIN, info.name))


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
    """Return the hash of the batch that holds a position; the genesis hash before the first one."""
    segments = lineage(database, branch, until=position)
    if not segments or position == 0:
        rows = database.rows("SELECT genesis FROM branch WHERE parent_id IS NULL")
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
        raise UsageError(f"there is a branch {name!r} already", now="choose another name")


def _no_branch(database: Database, name: str) -> PointUnknown:
    names = ", ".join(info.name for info in all_branches(database))
    return PointUnknown(f"there is no branch {name!r}", now=f"choose one of: {names}")
