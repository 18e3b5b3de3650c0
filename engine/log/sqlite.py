"""A log on SQLite: one file, one writer at a time, any number of readers."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from ..errors import LogNotFound, LogUnavailable
from ..sqlite_side_files import remove_side_files
from .connection import SharedConnection
from .database import COLUMNS, Row
from .location import Location
from .sealed_folder import Stamp, is_sealed, is_unchanged, lacks_memory, read_past_writer, stamp_of
from .sqlite_faults import damage_of, explained

_V = TypeVar("_V", bytes, str)

APPLICATION_ID = 0x506C696E
"""``Plin``; in the file's header, so that Plinian and the command ``file`` recognise a log."""

PAGE_BYTES = 2048
"""Size of a page of the file."""

_WAL_PAGES = (16 << 20) // PAGE_BYTES
"""Pages of the write-ahead log after which it is folded into the file."""

_AT_ONCE = 64
"""Values in one query, and rows in one statement that inserts."""

_TRIES = 5
_PAUSE_SECONDS = 0.05
"""How often, and after how long, a file is opened again whose -wal or -shm came or went."""

BUSY_SECONDS = 30.0
"""How long a writer waits for another one before it gives up."""

_VERSION = (
    "SELECT revision, object_id, effect, actor_id, latest, earliest, kind_id, position"
    " FROM event"
    " WHERE branch_id = ? AND revision = ? AND object_id = ? AND +position <= ?"
)
_IDENTITY = (
    "SELECT effect, identity FROM event"
    " WHERE branch_id = ? AND effect = ? AND identity = ? AND +position <= ?"
)

_WRITTEN_KIB, _READ_KIB = 16_384, 2_048
"""Memory for pages. The system keeps pages that are read, so a reader need not keep many."""


class SqliteDatabase(SharedConnection):
    """A :class:`~.database.Database` in one SQLite file (WAL, synchronous NORMAL)."""

    name: Literal["sqlite", "postgres"] = "sqlite"

    def __init__(
        self, location: Location, *, read_only: bool = False, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        super().__init__(location, read_only=read_only)
        path = Path(location.path)
        if not path.is_file():
            raise LogNotFound(
                "there is no such file" if not path.exists() else "this is not a file",
                where=location.shown,
                now="check the path, or create a log with: plinian ingest --log PATH …",
            )
        self._path = path
        self._busy_seconds = busy_seconds
        with self._guard():
            self._open()

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query."""
        with self._lock, self._guard():
            # Nothing locks a file that is opened as immutable, so each query is checked afterwards.
            if self._stamp is not None:
                return self._sealed_rows(sql, parameters, self._stamp)
            return read_past_writer(lambda: self._connection.execute(sql, parameters).fetchall())

    def run(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run a statement and return how many rows it touched."""
        with self._guard():
            return self._connection.execute(sql, parameters).rowcount

    @contextmanager
    def together(self) -> Iterator[None]:
        """Do nothing: there is no server to wait for."""
        yield

    def run_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row."""
        with self._guard():
            self._connection.executemany(sql, rows)

    @contextmanager
    def checking(self) -> Iterator[Callable[[], list[str]]]:
        """Start to check pages, indexes and tables' definitions, in parallel to the body."""
        from .sqlite_check import checking  # noqa: PLC0415 -- only verify needs it

        with self._guard(), checking(self._uri, self._busy_seconds) as faults:
            yield faults

    def insert(self, table: str, rows: Iterable[Row]) -> None:
        """Insert rows of a table, many with one statement, which is a quarter cheaper."""
        rest = iter(rows)
        with self._guard():
            while len(chunk := list(islice(rest, _AT_ONCE))) == _AT_ONCE:
                self._connection.execute(_insert(table, _AT_ONCE), list(chain.from_iterable(chunk)))
            self._connection.executemany(_insert(table, 1), chunk)

    @contextmanager
    def inserting(self, table: str, rows: Iterable[Row]) -> Iterator[None]:
        """Insert rows before the body: there is no server."""
        self.insert(table, rows)
        yield

    def versions(self, branch: int, until: int, keys: Sequence[tuple[int, int]]) -> list[Row]:
        """Return the columns of events with these keys."""
        rows: list[Row] = []
        with self._guard():
            for revision, object_id in keys:
                rows += self._connection.execute(_VERSION, (branch, revision, object_id, until))
        return rows

    def identities(self, branch: int, until: int, keys: Sequence[tuple[int, bytes]]) -> list[Row]:
        """Return (effect, identity) of the events with these keys."""
        rows: list[Row] = []
        with self._guard():
            for effect, identity in keys:
                rows += self._connection.execute(_IDENTITY, (branch, effect, identity, until))
        return rows

    def ids_of(self, table: str, column: str, values: Sequence[_V]) -> dict[_V, int]:
        """Return the ids of those rows whose column has one of these values."""
        marks = ", ".join("?" * _AT_ONCE)
        sql = f"SELECT {column}, id FROM {table} WHERE {column} IN ({marks})"
        ids: dict[_V, int] = {}
        with self._guard():
            for first in range(0, len(values), _AT_ONCE):
                wanted = list(values[first : first + _AT_ONCE])
                # Filled up with a repeated value, so that one prepared statement serves.
                wanted += wanted[:1] * (_AT_ONCE - len(wanted))
                ids.update(self._connection.execute(sql, wanted))
        return ids

    def any_of(self, column: str) -> str:
        """Return SQL that holds if a column is in the list bound to one placeholder."""
        return f"{column} IN (SELECT value FROM json_each(?))"

    def table_of(self, name: str) -> str:
        """Return SQL of a table of the list bound to one placeholder, with a column ``value``."""
        return f"json_each(?) AS {name}"

    def listed(self, values: Sequence[int]) -> object:
        """Return integers as the parameter for :meth:`any_of` and :meth:`table_of`."""
        return msgspec.json.encode(values).decode()

    def notify(self, branch: str, last: int) -> None:
        """Do nothing: followers of a file poll for appends."""

    def wait(self, seconds: float, poll: float) -> None:
        """Sleep for one poll."""
        time.sleep(max(0.0, min(seconds, poll)))

    def size(self) -> int:
        """Return the size of the file and its write-ahead log, in bytes."""
        path = Path(self.location.path)
        files = (path, path.with_name(path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def _open(self) -> None:
        """Connect to the file; as ``immutable`` only if nothing else is possible."""
        for left in reversed(range(_TRIES)):
            sealed = self.read_only and is_sealed(self._path)
            self._stamp = stamp_of(self._path) if sealed else None
            mode = "immutable=1" if sealed else "mode=ro" if self.read_only else "mode=rw"
            self._uri = f"{self._path.absolute().as_uri()}?{mode}"
            self._connection = sqlite3.connect(
                self._uri,
                uri=True,
                isolation_level=None,
                # Threads share it, one at a time: the lock of SharedConnection sees to that.
                check_same_thread=False,
                timeout=self._busy_seconds,
            )
            try:
                self._connection.execute("PRAGMA synchronous = NORMAL")
                cache_kib = _READ_KIB if self.read_only else _WRITTEN_KIB
                self._connection.execute(f"PRAGMA cache_size = -{cache_kib}")
                self._connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
                if self.read_only and not os.access(self._path.parent, os.W_OK):
                    # The -wal and -shm files may come and go until the first query opens them.
                    self._connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            except sqlite3.Error as fault:
                self._connection.close()
                if not left and lacks_memory(self._path) and self.read_only:
                    raise LogUnavailable(
                        f"the log was not closed: {self._path.name}-wal is there, but not"
                        f" {self._path.name}-shm, and the folder may not be written to",
                        where=self.location.shown,
                        now="copy the log with its -wal into a folder of your own, or run any"
                        " command on it as a user who may write there",
                    ) from fault
                if not left or not self.read_only:
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                return

    def _sealed_rows(self, sql: str, parameters: Sequence[object], stamp: Stamp) -> list[Row]:
        """Return all rows of a query; the file must not change meanwhile."""
        try:
            rows = self._connection.execute(sql, parameters).fetchall()
        # Pages that a writer changes meanwhile may look damaged.
        except (sqlite3.Error, UnicodeDecodeError):
            if is_unchanged(self._path, stamp):
                raise
        else:
            if is_unchanged(self._path, stamp):
                return rows
        if self._connection.in_transaction:
            raise LogUnavailable(
                "another process writes to the log, and its folder may not be written to: what was"
                " read until now does not go together with what comes",
                where=self.location.shown,
                now="run the same command again",
            )
        self._connection.close()
        self._open()
        return self.rows(sql, parameters)

    def close(self) -> None:
        """Close the file; the last connection to close merges the write-ahead log."""
        with self._lock, self._guard():
            self._connection.close()
            if self.read_only:
                remove_side_files(self._path)

    def _begin(self, *, writing: bool) -> None:
        with self._guard():
            self._connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")

    def _commit(self) -> None:
        with self._guard():
            self._connection.execute("COMMIT")

    def _roll_back(self) -> None:
        # SQLite may have rolled back by itself, for example on a full disk.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as fault:
            raise explained(fault, self.location.shown) from fault
        except UnicodeDecodeError as fault:  # The message may quote damaged bytes.
            raise damage_of(fault, self.location.shown) from fault


@cache
def _insert(table: str, rows: int) -> str:
    """Return the statement that inserts so many rows."""
    columns = COLUMNS[table]
    row = f"({', '.join('?' * len(columns))})"
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * rows)}"
