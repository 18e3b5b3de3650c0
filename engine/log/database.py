"""What the log asks of a database: a few verbs, with SQL that both databases understand.

Placeholders are written ``?``. The adapters (:mod:`.sqlite`, :mod:`.postgres`) own everything that
differs: connecting, locking, bulk insertion, waiting for news, and what errors mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeVar

from .location import Location

Row = tuple[Any, ...]

_V = TypeVar("_V", bytes, str)

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "event": (
            "branch_id",
            "effect",
            "schema",
            "position",
            "revision",
            "earliest",
            "latest",
            "object_id",
            "kind_id",
            "source_id",
            "line",
            "actor_id",
            "resource_version",
            "identity",
        ),
        "payload_block": (
            "branch_id",
            "first",
            "last",
            "codec",
            "dictionary_id",
            "sizes",
            "data",
        ),
        "object": (
            "id",
            "cluster_id",
            "group_id",
            "kind_id",
            "namespace_id",
            "key",
            "name",
            "uid",
        ),
        "symbol": ("id", "text"),
    }
)
"""Columns of the tables that an append fills, in the order in which rows are inserted."""


class Database(Protocol):
    """One connection to one log's database; safe to share between threads, one call at a time."""

    name: Literal["sqlite", "postgres"]
    location: Location
    read_only: bool

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query."""

    def run(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run a statement and return how many rows it touched."""

    def together(self) -> AbstractContextManager[None]:
        """Wait for a server once after all statements that are run in the body."""

    def run_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row."""

    def writing(self) -> AbstractContextManager[None]:
        """Hold the log for writing alone: commit at the end, roll back on any exception."""

    def reading(self) -> AbstractContextManager[None]:
        """Hold one unchanging view of the log."""

    def alone(self) -> AbstractContextManager[None]:
        """Keep other threads from this connection."""

    def checking(self) -> AbstractContextManager[Callable[[], list[str]]]:
        """Begin the database's own check of its tables and indexes, beside what the body does.

        What it gives waits for the end and returns what is wrong, one sentence each.
        """

    def insert(self, table: str, rows: Iterable[Row]) -> None:
        """Insert rows of a table, with values in the order of :data:`COLUMNS`."""

    def inserting(self, table: str, rows: Iterable[Row]) -> AbstractContextManager[None]:
        """Do the same, and let a server work on it during the body, which must not ask it."""

    def versions(self, branch: int, until: int, keys: Sequence[tuple[int, int]]) -> list[Row]:
        """Return (revision, object, effect, actor, latest) of a branch's events up to a position.

        :param keys: (revision, object) pairs; only events with one of these.
        """

    def identities(self, branch: int, until: int, keys: Sequence[tuple[int, bytes]]) -> list[Row]:
        """Return (effect, identity) of a branch's events with these up to a position."""

    def ids_of(self, table: str, column: str, values: Sequence[_V]) -> dict[_V, int]:
        """Return the ids of those rows whose column has one of these values."""

    def any_of(self, column: str) -> str:
        """Return SQL that holds if a column is in the list bound to one placeholder."""

    def table_of(self, name: str) -> str:
        """Return SQL of a table of the list bound to one placeholder, with a column ``value``."""

    def listed(self, values: Sequence[int]) -> object:
        """Return integers as the parameter that :meth:`any_of` and :meth:`table_of` want."""

    def tell(self, branch: str, last: int) -> None:
        """Within :meth:`writing`: wake up followers once it is committed."""

    def wait(self, seconds: float, poll: float) -> None:
        """Sleep until somebody may have appended, at most so many seconds."""

    def size(self) -> int:
        """Return the bytes that the log takes on disk."""

    def close(self) -> None:
        """Let go of the connection."""
