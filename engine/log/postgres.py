"""A log on Postgres: one schema per log, many readers, one writer at a time."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import psycopg
from psycopg import errors
from psycopg import sql as psql
from psycopg.conninfo import conninfo_to_dict

from ..errors import ConnectionLost, LogCorrupt, LogError, LogNotFound, LogUnavailable
from .connection import SharedConnection
from .database import COLUMNS, Row
from .location import Location
from .patience import patiently
from .postgres_check import checking

# A lost connection becomes an error of ours; the warning of the driver would be printed too.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_V = TypeVar("_V", bytes, str)
_R = TypeVar("_R")

CONNECT_SECONDS = 10
BUSY_SECONDS = 30
"""How long a writer waits for another one before it gives up."""

_TYPES = MappingProxyType(
    {
        "event": (
            *("int2",) * 3,  # branch_id, effect, schema
            *("int8",) * 4,  # position, revision, earliest, latest
            *("int4",) * 5,  # object_id, kind_id, source_id, line, actor_id
            *("text", "bytea"),  # resource_version, identity
        ),
        "payload_block": ("int2", "int8", "int8", "int2", "int4", "bytea", "bytea"),
        "object": ("int4", "int2", "int4", "int4", "int4", "bytea", "text", "text"),
        "symbol": ("int4", "text"),
    }
)
"""Types of :data:`~.database.COLUMNS`; binary COPY needs them exactly."""

_VERSIONS = (
    "SELECT e.revision, e.object_id, e.effect, e.actor_id, e.latest, e.earliest,"
    " e.kind_id, e.position"
    " FROM unnest(%s::bigint[], %s::int[]) AS k (revision, object_id)"
    " JOIN event e ON e.branch_id = %s AND e.revision = k.revision AND e.object_id = k.object_id"
    " WHERE e.position <= %s"
)
_IDENTITIES = (
    "SELECT e.effect, e.identity"
    " FROM unnest(%s::smallint[], %s::bytea[]) AS k (effect, identity)"
    " JOIN event e ON e.branch_id = %s AND e.effect = k.effect AND e.identity = k.identity"
    " WHERE e.position <= %s"
)


class PostgresDatabase(SharedConnection):
    """A :class:`~.database.Database` in one schema of a Postgres database."""

    name: Literal["sqlite", "postgres"] = "postgres"

    def __init__(
        self, location: Location, *, read_only: bool = False, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        super().__init__(location, read_only=read_only)
        self._listener: psycopg.Connection[Row] | None = None
        self._busy_seconds = busy_seconds
        self._inside = False
        with self._guard():
            self._connection = self._entered()

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query."""

        def read() -> list[Row]:
            with self._guard(), self._connection.cursor(binary=True) as cursor:
                return cursor.execute(_translated(sql), parameters).fetchall()

        with self._lock:
            return self._again(read)

    def run(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run a statement and return how many rows it touched."""
        with self._lock, self._guard():
            return self._connection.execute(_translated(sql), parameters).rowcount

    @contextmanager
    def together(self) -> Iterator[None]:
        """Send the statements of the body at once."""
        with self._guard(), self._connection.pipeline():
            yield

    def run_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row."""
        with self._lock, self._guard(), self._connection.cursor() as cursor:
            cursor.executemany(_translated(sql), rows)

    @contextmanager
    def checking(self) -> Iterator[Callable[[], list[str]]]:
        """Start to check the indexes, in parallel to the body."""
        with self._guard(), checking(self._connected) as faults:
            yield faults

    def insert(self, table: str, rows: Iterable[Row]) -> None:
        """Insert rows by binary COPY, which is cheaper than a statement for each."""
        with self._guard(), self._connection.cursor() as cursor, cursor.copy(_copy(table)) as copy:
            _write(copy, table, rows)

    @contextmanager
    def inserting(self, table: str, rows: Iterable[Row]) -> Iterator[None]:
        """Send rows by binary COPY, and wait for the server after the body.

        The server does nearly all its work after the last row, while the body runs.
        """
        with self._guard(), self._connection.cursor() as cursor, ExitStack() as copying:
            _write(copying.enter_context(cursor.copy(_copy(table))), table, rows)
            with ThreadPoolExecutor(1) as waiting:
                # The end of COPY waits for the server, so it runs beside the body.
                done = waiting.submit(copying.pop_all().close)
                yield
                done.result()

    def versions(self, branch: int, until: int, keys: Sequence[tuple[int, int]]) -> list[Row]:
        """Return the columns of events with these keys."""
        return self._matching(_VERSIONS, keys, branch, until)

    def identities(self, branch: int, until: int, keys: Sequence[tuple[int, bytes]]) -> list[Row]:
        """Return (effect, identity) of the events with these keys."""
        return self._matching(_IDENTITIES, keys, branch, until)

    def ids_of(self, table: str, column: str, values: Sequence[_V]) -> dict[_V, int]:
        """Return the ids of those rows whose column has one of these values."""
        rows = self.rows(
            f"SELECT {column}, id FROM {table} WHERE {column} = ANY(?)",
            (list(values),),
        )
        return dict(rows) if values else {}

    def any_of(self, column: str) -> str:
        """Return SQL that holds if a column is in the list bound to one placeholder."""
        return f"{column} = ANY(?::bigint[])"

    def table_of(self, name: str) -> str:
        """Return SQL of a table of the list bound to one placeholder, with a column ``value``."""
        return f"unnest(?::bigint[]) AS {name} (value)"

    def listed(self, values: Sequence[int]) -> object:
        """Return integers as the parameter for :meth:`any_of` and :meth:`table_of`."""
        return list(values)

    def notify(self, branch: str, last: int) -> None:
        """Notify followers; Postgres delivers it when the transaction commits."""
        self.run("SELECT pg_notify(?, ?)", (self._channel(), f"{branch}@{last}"))

    def wait(self, seconds: float, poll: float) -> None:
        """Sleep until an append notifies, at most so many seconds; ``poll`` is not needed.

        The first call returns at once, because appends before it were not notified.
        """
        del poll
        try:
            with self._guard():
                if self._listener is None:
                    self._listener = self._connect()
                    self._listener.execute(
                        psql.SQL("LISTEN {}").format(psql.Identifier(self._channel()))
                    )
                    return
                for _ in self._listener.notifies(timeout=max(0.0, seconds), stop_after=1):
                    return
        except LogUnavailable as fault:
            # The next call listens again, and returns at once: it may have missed something.
            if self._listener is not None:
                self._listener.close()
                self._listener = None
            raise _lost(fault) from fault

    def size(self) -> int:
        """Return the size of the schema's tables and indexes, in bytes."""
        return int(
            self.rows(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
                " JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = current_schema() AND c.relkind = 'r'"
            )[0][0]
        )

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._connection.close()
            if self._listener is not None:
                self._listener.close()

    def _connect(self) -> psycopg.Connection[Row]:
        given = conninfo_to_dict(self.location.conninfo)
        return psycopg.connect(
            self.location.conninfo,
            autocommit=True,
            application_name="plinian",
            client_encoding="utf8",
            connect_timeout=given.get("connect_timeout", CONNECT_SECONDS),
        )

    def _entered(self) -> psycopg.Connection[Row]:
        """Return a new connection to the schema."""
        connection = self._connect()
        try:
            self._enter(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _again(self, job: Callable[[], _R]) -> _R:
        """Do what is safe to do twice; if the connection is lost, do it with another one.

        Within a transaction nothing is repeated: what it did is lost with the connection.
        """

        def anew() -> _R:
            with self._guard():
                self._connection = self._entered()
            return job()

        try:
            return job()
        except ConnectionLost:
            if self._inside:
                raise
        return patiently(anew) if self.patient else anew()

    def _connected(self) -> psycopg.Connection[Row]:
        """Return another connection to the schema, for reading."""
        connection = self._connect()
        connection.execute(
            "SELECT set_config('search_path', %s, false)", (self.location.quoted_schema,)
        )
        return connection

    def _enter(self, connection: psycopg.Connection[Row]) -> None:
        run = connection.execute
        if not run(
            "SELECT 1 FROM pg_namespace WHERE nspname = %s", (self.location.schema,)
        ).fetchone():
            raise LogNotFound(
                f"the database has no schema {self.location.schema!r}",
                where=self.location.shown,
                now="check ?schema=… of the URL, or create a log with: plinian ingest --log URL …",
            )
        run("SELECT set_config('search_path', %s, false)", (self.location.quoted_schema,))
        run(
            "SELECT set_config('lock_timeout', %s, false)", (f"{int(self._busy_seconds * 1000)}ms",)
        )
        if self.read_only:
            run("SET default_transaction_read_only = on")

    def _matching(
        self, sql: str, keys: Sequence[tuple[int, Any]], branch: int, until: int
    ) -> list[Row]:
        if not keys:
            return []
        left, right = zip(*keys, strict=True)
        with self._guard(), self._connection.cursor(binary=True) as cursor:
            return cursor.execute(sql, (list(left), list(right), branch, until)).fetchall()

    def _channel(self) -> str:
        # Postgres cuts names after 63 bytes.
        return f"plinian:{self.location.schema}"[:63]

    def _begin(self, *, writing: bool) -> None:
        def begin() -> None:
            with self._guard():
                if writing:
                    # READ COMMITTED: after the lock is taken, reads include the last commit.
                    self._connection.execute("BEGIN; SELECT 1 FROM log FOR UPDATE")
                else:
                    self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

        self._again(begin)
        self._inside = True

    def _commit(self) -> None:
        try:
            with self._guard():
                self._connection.execute("COMMIT")
        except ConnectionLost as fault:
            fault.committing = True
            raise
        self._inside = False

    def _roll_back(self) -> None:
        self._inside = False
        # After the connection is lost, the server rolls back by itself.
        with suppress(psycopg.Error):
            self._connection.execute("ROLLBACK")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as fault:
            explained = _explained(fault, self.location)
            if isinstance(fault, psycopg.OperationalError) and self._is_lost(fault):
                raise _lost(explained) from fault
            raise explained from fault

    def _is_lost(self, fault: psycopg.OperationalError) -> bool:
        """Return whether the server went away, or does not answer (yet)."""
        # While the first connection is opened there is none yet.
        connection = getattr(self, "_connection", None)
        gone = connection is None or connection.closed or fault.sqlstate is None
        return gone or isinstance(fault, errors.AdminShutdown | errors.CannotConnectNow)


@cache
def _copy(table: str) -> str:
    return f"COPY {table} ({', '.join(COLUMNS[table])}) FROM STDIN (FORMAT BINARY)"


def _write(copy: psycopg.Copy, table: str, rows: Iterable[Row]) -> None:
    copy.set_types(_TYPES[table])
    for row in rows:
        copy.write_row(row)


@lru_cache(maxsize=512)
def _translated(sql: str) -> str:
    return sql.replace("?", "%s")


_MAY_PASS = (errors.LockNotAvailable, errors.DiskFull, errors.OutOfMemory)


def _lost(fault: LogError) -> ConnectionLost:
    return ConnectionLost(fault.what, where=fault.where, now=fault.now)


def _explained(fault: psycopg.Error, location: Location) -> LogError:
    where = location.shown
    what = location.without_secrets(str(fault).strip().partition("\n")[0])
    if isinstance(fault, errors.DataCorrupted | errors.IndexCorrupted):
        return LogCorrupt(
            f"the database is damaged: {what}",
            position=0,
            where=where,
            now="restore a copy, or ingest the inputs again into a new log",
        )
    if isinstance(fault, errors.LockNotAvailable):
        now = "wait until the other writer is done, or stop it"
    elif isinstance(fault, errors.DiskFull | errors.OutOfMemory):
        now = "make room on the server and run the same command again"
    elif isinstance(fault, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
        now = "connect as a user who may write, or read only"
    elif isinstance(fault, psycopg.OperationalError | psycopg.InterfaceError):
        now = (
            "check that the server runs and answers at this address, and that user, password and"
            " database are right; then run the command again"
        )
    elif isinstance(fault, psycopg.ProgrammingError) and fault.sqlstate is None:
        what = what.partition('"')[0].rstrip(": ")  # What is quoted can be a part of a password.
        now = "check the URL: postgresql://user@host:port/database?schema=name"  # libpq refused it.
    else:
        now = "run: plinian verify"
    unavailable = LogUnavailable(what or type(fault).__name__, where=where, now=now)
    unavailable.may_pass = isinstance(fault, _MAY_PASS)
    return unavailable
