"""Checks all derived rows: for verification, and to delete those that are damaged."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .database import Database, Row
from .derived_rows import Derived, follow
from .seals import (
    KINDS,
    MINE,
    DerivedTable,
    SealKey,
    drop_rows,
    is_whole,
    listing,
    stored_seal,
    whole_data,
)

_AT_ONCE = 64
"""Rows whose data is read by one query."""


class Damage(NamedTuple):
    """Derived rows that differ from what was stored.

    :param place: where they are; a name is empty if its id is not in the log.
    """

    kind: DerivedTable
    place: SealKey

    @property
    def what(self) -> str:
        """What is damaged, without the consequence."""
        branch = self.place.branch or f"number {self.place.branch_id}"
        return f"the {self.kind.named} of branch {branch!r} are damaged"

    @property
    def text(self) -> str:
        """Return what is damaged, and the consequence."""
        return (
            f"{self.what}; they are not used, and answers stay the same:"
            " plinian checkpoint build rebuilds them"
        )


def damages(database: Database) -> Iterator[Damage]:
    """Yield all damage to derived rows and their data."""
    branches: dict[int, str] = dict(database.rows("SELECT id, name FROM branch"))
    clusters: dict[int, str] = dict(database.rows("SELECT id, name FROM cluster"))
    for kind in KINDS:
        for branch, cluster, version in _places(database, kind):
            place = SealKey(
                branch, branches.get(branch, ""), cluster, clusters.get(cluster, ""), version
            )
            named = branch in branches and cluster in clusters
            if not named or not _is_sound(database, kind, place):
                yield Damage(kind, place)


def mended(database: Database, derived: Derived) -> list[str]:
    """Delete damaged rows; return one sentence for each; within ``writing``."""
    damaged = list(damages(database))
    for damage in damaged:
        drop_rows(database, damage.kind, damage.place)
    if damaged:
        derived.forget()
    return [f"{damage.what}, and were deleted" for damage in damaged]


def _places(database: Database, kind: DerivedTable) -> list[Row]:
    rows = database.rows(f"SELECT DISTINCT branch_id, cluster_id, version FROM {kind.table}")
    sealed = database.rows(
        "SELECT branch_id, cluster_id, version FROM seal WHERE part = ?", (kind.part,)
    )
    return sorted({*rows, *sealed}, key=repr)  # Damaged ids may have several types.


def _is_sound(database: Database, kind: DerivedTable, place: SealKey) -> bool:
    seal = stored_seal(database, kind, place)
    rows = listing(database, kind, place)
    if seal is None or not is_whole(database, kind, place, seal, rows) or not follow(kind, rows):
        return False
    # All keys were checked to be integers.
    return all(
        _has_data(database, kind, place, rows[start : start + _AT_ONCE])
        for start in range(0, len(rows), _AT_ONCE)
    )


def _has_data(database: Database, kind: DerivedTable, place: SealKey, rows: Sequence[Row]) -> bool:
    keys = kind.columns[: kind.keys]
    marks = f"({', '.join('?' * len(keys))})"
    data = database.rows(
        f"SELECT hash, data FROM {kind.table} WHERE {MINE}"
        f" AND ({', '.join(keys)}) IN (VALUES {', '.join([marks] * len(rows))})",
        (*place.key, *(value for row in rows for value in row[: kind.keys])),
    )
    return len(data) == len(rows) and all(
        whole_data(content, digest) is not None for digest, content in data
    )
