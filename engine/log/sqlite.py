"""SQLite underneath a log: one file, one writer at a time, any number of readers."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import Literal, TypeVar

from ..errors import LogCorrupt, LogError, LogNotFound, LogUnavailable
from .database import EVENT_COLUMNS, Row
from .location import Location

_V = TypeVar("_V", bytes, str)

APPLICATION_ID = 0x506C696E
"""``Plin``; in the file's header, so that ``file`` and we recognise a log."""

_AT_ONCE = 64
"""Values that one query looks up."""

BUSY_SECONDS = 30.0
"""How long a writer waits for another one before it gives up."""

_INSERT_EVENT = (
    f"INSERT INTO event ({', '.join(EVENT_COLUMNS)}) VALUES ({', '.join('?' * len(EVENT_COLUMNS))})"
)
_VERSION = (
    "SELECT revision, object_id, effect, actor_id FROM event"
    " WHERE branch_id = ? AND revision = ? AND object_id = ? AND +position <= ?"
)
_IDENTITY = (
    "SELECT effect, identity FROM event"
    " WHERE branch_id = ? AND effect = ? AND identity = ? AND +position <= ?"
)
_ADVICE = MappingProxyType(
    {
        "SQLITE_BUSY": "wait until the other writer is done, or stop it",
        "SQLITE_LOCKED": "wait until the other writer is done, or stop it",
        "SQLITE_READONLY": "make the file and its folder writable, or copy the log elsewhere",
        "SQLITE_CANTOPEN": "make the file and its folder readable and writable",
        "SQLITE_PERM": "make the file and its folder readable and writable",
        "SQLITE_FULL": "make room on the disk and run the same command again",
        "SQLITE_IOERR": "check the disk and run the same command again",
    }
)


class SqliteDatabase:
    """A :class:`~.database.Database` in one SQLite file (WAL, synchronous NORMAL)."""

    name: Literal["sqlite", "postgres"] = "sqlite"

    def __init__(
        self, location: Location, *, read_only: bool = False, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        self.location = location
        self.read_only = read_only
        self._lock = RLock()
        path = Path(location.path)
        if not path.is_file():
            raise LogNotFound(
                "there is no such file" if not path.exists() else "this is no file",
                where=location.shown,
                now="check the path, or make a log with: plinian ingest --log PATH …",
            )
        with self._guard():
            uri = path.absolute().as_uri() + _mode(path, read_only=read_only)
            self._connection = sqlite3.connect(
                uri, uri=True, isolation_level=None, check_same_thread=False, timeout=busy_seconds
            )
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA cache_size = -16384")
            self._connection.execute("PRAGMA wal_autocheckpoint = 4096")

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query."""
        with self._guard():
            return self._connection.execute(sql, parameters).fetchall()

    def stream(self, sql: str, parameters: Sequence[object] = ()) -> Iterator[list[Row]]:
        """Yield a large result in lists of rows; only within :meth:`reading`."""
        with self._guard():
            cursor = self._connection.execute(sql, parameters)
        while True:
            with self._guard():
                rows = cursor.fetchmany(1024)
            if not rows:
                return
            yield rows

    def run(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run a statement and return how many rows it touched."""
        with self._guard():
            return self._connection.execute(sql, parameters).rowcount

    def run_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row."""
        with self._guard():
            self._connection.executemany(sql, rows)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the file's only write lock: commit at the end, roll back on any exception."""
        if self.read_only:
            raise LogUnavailable("the log was opened for reading only", where=self.location.shown)
        with self._transaction("BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one unchanging view of the log."""
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads from this connection."""
        with self._lock:
            yield

    def insert_events(self, rows: Iterable[Row]) -> None:
        """Insert rows of ``event``."""
        with self._guard():
            self._connection.executemany(_INSERT_EVENT, rows)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert rows of any table."""
        marks = ", ".join("?" * len(columns))
        self.run_many(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)

    def versions(self, branch: int, until: int, keys: Sequence[tuple[int, int]]) -> list[Row]:
        """Return (revision, object, effect, actor) of the events with these keys."""
        found: list[Row] = []
        with self._guard():
            for revision, object_id in keys:
                found += self._connection.execute(_VERSION, (branch, revision, object_id, until))
        return found

    def identities(self, branch: int, until: int, keys: Sequence[tuple[int, bytes]]) -> list[Row]:
        """Return (effect, identity) of the events with these keys."""
        found: list[Row] = []
        with self._guard():
            for effect, identity in keys:
                found += self._connection.execute(_IDENTITY, (branch, effect, identity, until))
        return found

    def ids_of(self, table: str, column: str, values: Sequence[_V]) -> dict[_V, int]:
        """Return the ids of those rows whose column has one of these values."""
        marks = ", ".join("?" * _AT_ONCE)
        sql = f"SELECT {column}, id FROM {table} WHERE {column} IN ({marks})"
        found: dict[_V, int] = {}
        with self._guard():
            for first in range(0, len(values), _AT_ONCE):
                wanted = list(values[first : first + _AT_ONCE])
                # Filled up with a value that is there anyway: one statement, prepared once.
                wanted += wanted[:1] * (_AT_ONCE - len(wanted))
                found.update(self._connection.execute(sql, wanted))
        return found

    def any_of(self, column: str) -> str:
        """Return SQL that holds if a column is in the list bound to one placeholder."""
        return f"{column} IN (SELECT value FROM json_each(?))"

    def listed(self, values: Sequence[int]) -> object:
        """Return integers as the parameter that :meth:`any_of` wants."""
        return json.dumps(values)

    def tell(self, branch: str, last: int) -> None:
        """Do nothing: followers of a file poll."""

    def wait(self, seconds: float, poll: float) -> None:
        """Sleep for one poll."""
        time.sleep(max(0.0, min(seconds, poll)))

    def size(self) -> int:
        """Return the bytes of the file and its write-ahead log."""
        path = Path(self.location.path)
        files = (path, path.with_name(path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Close the file; the write-ahead log is folded into it by the last one out."""
        with self._lock, self._guard():
            self._connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._lock:
            with self._guard():
                self._connection.execute(begin)
            try:
                yield
                with self._guard():
                    self._connection.execute("COMMIT")
            except BaseException:
                # SQLite may have rolled back by itself, on a full disk for one.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as fault:
            raise _explained(fault, self.location.shown) from fault


def _mode(path: Path, *, read_only: bool) -> str:
    if not read_only:
        return "?mode=rw"
    # Even a reader needs a place for SQLite's shared memory, unless nobody can be writing.
    sealed = not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists()
    return "?immutable=1" if sealed else "?mode=ro"


def _explained(fault: sqlite3.Error, where: str) -> LogError:
    code = getattr(fault, "sqlite_errorname", "") or ""
    family = "_".join(code.split("_")[:2])
    if family == "SQLITE_NOTADB":
        return LogUnavailable(
            "the file is no SQLite database",
            where=where,
            now="check the path; input files are given to: plinian ingest PATH",
        )
    if family == "SQLITE_CORRUPT":
        return LogCorrupt(
            f"the file is damaged: {fault}",
            position=0,
            where=where,
            now="restore a copy, or ingest the inputs again into a new log",
        )
    if family in _ADVICE:
        return LogUnavailable(str(fault), where=where, now=_ADVICE[family])
    return LogUnavailable(
        f"SQLite refuses: {fault}",
        where=where,
        now="see whether it is damaged: plinian verify; if that says the same, restore a copy",
    )
