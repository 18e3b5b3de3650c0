"""Seals: hashes that show damage to derived rows before they are used.

Each derived row has the hash of its data. A seal covers all rows of one table that belong together
(a branch, a cluster, a version): their places, ranges and hashes in order. So a missing, changed,
swapped or repeated row is found. A seal also names the last batch that the rows were built from, so
rows of a batch that was cut off the log are found too.
"""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from blake3 import blake3

from ..errors import LogCorrupt
from .branches import hash_at
from .database import Database, Row

DATA_HASH_BYTES = 16
"""Bytes of the hash of one row's data."""

_PACK = msgspec.msgpack.Encoder()


class DerivedTable(msgspec.Struct, frozen=True):
    """A table of derived rows.

    :param part: its number in seals. :param columns: what a seal covers besides the hash, with the
        key first. :param keys: how many of them are the key, in which rows are ordered.
    :param reach: which of them is the position up to which the log was known.
    :param named: what messages call its rows.
    """

    part: int
    table: str
    columns: tuple[str, ...]
    keys: int
    reach: int
    named: str

    @property
    def listed(self) -> str:
        """The columns that a seal covers, as SQL."""
        return ", ".join((*self.columns, "hash"))

    @property
    def order(self) -> str:
        """The columns in which rows are ordered, as SQL."""
        return ", ".join(self.columns[: self.keys])


CHECKPOINTS = DerivedTable(0, "checkpoint", ("revision", "known"), 1, 1, "checkpoints")
FACTS = DerivedTable(
    1,
    "fact_block",
    ("first", "last", "low_revision", "high_revision", "unrevisioned"),
    1,
    1,
    "fact blocks",
)
CLOCK = DerivedTable(2, "clock_block", ("part", "number", "known"), 2, 2, "blocks of the clock")

KINDS = (CHECKPOINTS, FACTS, CLOCK)


class SealKey(msgspec.Struct, frozen=True):
    """Which derived rows of a table belong together."""

    branch_id: int
    branch: str
    cluster_id: int
    cluster: str
    version: int

    @property
    def key(self) -> tuple[int, int, int]:
        """The values that all rows of the place have."""
        return self.branch_id, self.cluster_id, self.version


MINE = "branch_id = ? AND cluster_id = ? AND version = ?"
"""SQL that holds for the rows of a place, bound to its :attr:`Place.key`."""


class Seal(msgspec.Struct, frozen=True):
    """A stored seal: the hash of the rows, and that of the last batch they were built from."""

    rows: bytes
    batch: bytes


def data_hash(data: bytes) -> bytes:
    """Return the hash of a row's data."""
    return blake3(data).digest(length=DATA_HASH_BYTES)


def whole_data(data: object, digest: object) -> bytes | None:
    """Return a row's data if it matches its hash; None if not, or if its type is wrong."""
    if isinstance(data, bytes | memoryview) and isinstance(digest, bytes | memoryview):
        plain = bytes(data)
        return plain if data_hash(plain) == bytes(digest) else None
    return None


def stored_seal(database: Database, kind: DerivedTable, place: SealKey) -> Seal | None:
    """Return the seal of a place as it is stored."""
    rows = database.rows(
        f"SELECT rows, batch FROM seal WHERE {MINE} AND part = ?", (*place.key, kind.part)
    )
    return Seal(rows[0][0], rows[0][1]) if rows else None


def listing(database: Database, kind: DerivedTable, place: SealKey) -> list[Row]:
    """Return what a seal covers of each row, in order."""
    rows = database.rows(
        f"SELECT {kind.listed} FROM {kind.table} WHERE {MINE} ORDER BY {kind.order}", place.key
    )
    # Postgres returns truth values, SQLite numbers: both must have one hash.
    return [tuple(int(v) if isinstance(v, bool) else v for v in row) for row in rows]


def is_whole(
    database: Database, kind: DerivedTable, place: SealKey, seal: Seal, rows: Sequence[Row]
) -> bool:
    """Say whether a seal covers exactly these rows, built from batches of this log."""
    try:
        return (
            bool(rows)
            and seal.rows == linked(_begin(kind, place), rows)
            and seal.batch == _batch(database, kind, place, rows)
        )
    except (LogCorrupt, TypeError, OverflowError):  # The reach is not a position of a batch.
        return False


def put_seal(database: Database, kind: DerivedTable, place: SealKey, rows: Sequence[Row]) -> None:
    """Store the seal of a place for some rows, which are all that it has; within ``writing``."""
    drop_seal(database, kind, place)
    if rows:
        _insert(
            database,
            kind,
            place,
            Seal(linked(_begin(kind, place), rows), _batch(database, kind, place, rows)),
        )


def extend_seal(
    database: Database, kind: DerivedTable, place: SealKey, seal: Seal, rows: Sequence[Row]
) -> None:
    """Store the seal of a place to which some rows are added; within ``writing``."""
    drop_seal(database, kind, place)
    whole = Seal(linked(seal.rows, rows), _batch(database, kind, place, rows))
    _insert(database, kind, place, whole)


def drop_seal(database: Database, kind: DerivedTable, place: SealKey) -> None:
    """Delete the seal of a place; within ``writing``."""
    database.run(f"DELETE FROM seal WHERE {MINE} AND part = ?", (*place.key, kind.part))


def drop_rows(database: Database, kind: DerivedTable, place: SealKey) -> None:
    """Delete all rows of a place with their seal; within ``writing``."""
    database.run(f"DELETE FROM {kind.table} WHERE {MINE}", place.key)
    drop_seal(database, kind, place)


def linked(link: bytes, rows: Iterable[Row]) -> bytes:
    """Return the hash that covers some rows and all before them."""
    for row in rows:
        link = blake3(link + _PACK.encode(row)).digest()
    return link


def _begin(kind: DerivedTable, place: SealKey) -> bytes:
    header = ("plinian-derived", kind.table, place.branch, place.cluster, place.version)
    return blake3(_PACK.encode(header)).digest()


def _batch(database: Database, kind: DerivedTable, place: SealKey, rows: Sequence[Row]) -> bytes:
    """Return the hash of the last batch that the rows were built from."""
    return hash_at(database, place.branch, max(row[kind.reach] for row in rows))


def _insert(database: Database, kind: DerivedTable, place: SealKey, seal: Seal) -> None:
    database.run(
        "INSERT INTO seal (branch_id, cluster_id, version, part, rows, batch)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (*place.key, kind.part, seal.rows, seal.batch),
    )
