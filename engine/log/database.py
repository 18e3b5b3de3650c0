"""The interface of a database to the log: a few methods, with SQL that both databases understand.

Placeholders are written ``?``. The adapters (:mod:`.sqlite`, :mod:`.postgres`) contain everything
that differs: connecting, locking, bulk insertion, waiting for appends, and what errors mean.
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
    patient: bool

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query."""

    def run(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run a statement and return how many rows it touched."""

    def together(self) -> AbstractContextManager[None]:
        """Send the statements of the body together, and wait for the server once."""

    def run_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row."""

    def writing(self) -> AbstractContextManager[None]:
        """Lock the log for writing: commit at the end, roll back on any exception."""

    def reading(self) -> AbstractContextManager[None]:
        """Read from one snapshot of the log."""

    def alone(self) -> AbstractContextManager[None]:
        """Lock this connection for one thread."""

    def checking(self) -> AbstractContextManager[Callable[[], list[str]]]:
        """Start the database's check of its tables and indexes, in parallel to the body.

        It gives a function that waits for the end and returns what is wrong, one sentence each.
        """

    def insert(self, table: str, rows: Iterable[Row]) -> None:
        """Insert rows of a table, with values in the order of :data:`COLUMNS`."""

    def inserting(self, table: str, rows: Iterable[Row]) -> AbstractContextManager[None]:
        """Insert rows while the body runs; the body must not query the database."""

    def versions(self, branch: int, until: int, keys: Sequence[tuple[int, int]]) -> list[Row]:
        """Return columns of events of a branch.

        They are revision, object, effect, actor, latest, earliest, kind and position.

        :param until: only up to this position.
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
        """Return integers as the parameter for :meth:`any_of` and :meth:`table_of`."""

    def notify(self, branch: str, last: int) -> None:
        """Notify followers, once the transaction is committed; within :meth:`writing`."""

    def wait(self, seconds: float, poll: float) -> None:
        """Sleep until something may have been appended, at most so many seconds."""

    def size(self) -> int:
        """Return the size of the log on disk, in bytes."""

    def close(self) -> None:
        """Close the connection."""
