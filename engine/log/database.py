"""What the log asks of a database: a few verbs, with SQL that both databases understand.

Placeholders are written ``?``. The adapters (:mod:`.sqlite`, :mod:`.postgres`) own everything that
differs: connecting, locking, bulk insertion, waiting for news, and what errors mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol, TypeVar

from .location import Location

Row = tuple[Any, ...]

_V = TypeVar("_V", bytes, str)

EVENT_COLUMNS = (
    "branch_id",
    "effect",
    "schema",
    "codec",
    "position",
    "revision",
    "observed_at",
    "object_id",
    "kind_id",
    "source_id",
    "line",
    "actor_id",
    "dictionary_id",
    "resource_version",
    "identity",
    "payload",
)
"""Columns of ``event`` in the order in which rows are inserted."""


class Database(Protocol):
    """One connection to one log's database; safe to share between threads, one call at a time."""

    name: Literal["sqlite", "postgres"]
    location: Location
    read_only: bool

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query."""

    def stream(self, sql: str, parameters: Sequence[object] = ()) -> Iterator[list[Row]]:
        """Yield a large result in lists of rows; only within :meth:`reading`."""

    def run(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run a statement and return how many rows it touched."""

    def run_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row."""

    def writing(self) -> AbstractContextManager[None]:
        """Hold the log for writing alone: commit at the end, roll back on any exception."""

    def reading(self) -> AbstractContextManager[None]:
        """Hold one unchanging view of the log."""

    def alone(self) -> AbstractContextManager[None]:
        """Keep other threads from this connection."""

    def insert_events(self, rows: Iterable[Row]) -> None:
        """Insert rows of ``event``, in the order of :data:`EVENT_COLUMNS`."""

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert rows of any table."""

    def versions(self, branch: int, until: int, keys: Sequence[tuple[int, int]]) -> list[Row]:
        """Return (revision, object, effect, actor) of a branch's events up to a position.

        :param keys: (revision, object) pairs; only events with one of these.
        """

    def identities(self, branch: int, until: int, keys: Sequence[tuple[int, bytes]]) -> list[Row]:
        """Return (effect, identity) of a branch's events with these up to a position."""

    def ids_of(self, table: str, column: str, values: Sequence[_V]) -> dict[_V, int]:
        """Return the ids of those rows whose column has one of these values."""

    def any_of(self, column: str) -> str:
        """Return SQL that holds if a column is in the list bound to one placeholder."""

    def listed(self, values: Sequence[int]) -> object:
        """Return integers as the parameter that :meth:`any_of` wants."""

    def tell(self, branch: str, last: int) -> None:
        """Within :meth:`writing`: wake up followers once it is committed."""

    def wait(self, seconds: float, poll: float) -> None:
        """Sleep until somebody may have appended, at most so many seconds."""

    def size(self) -> int:
        """Return the bytes that the log takes on disk."""

    def close(self) -> None:
        """Let go of the connection."""
