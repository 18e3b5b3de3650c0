"""Creates a log: its tables, and the rows that every log begins with; all or nothing.

New tables are created from a text that is shipped, for each database, because the tools for
migrations take longer to load than an ingest of some thousand lines. Tests check that text and
migrations create the same tables.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from importlib.resources import files
from typing import Literal

from ..errors import LogUnavailable
from ..version import __version__
from .chain import ALGORITHM, genesis_hash
from .event_packing import packed_dictionary
from .location import Location
from .schema_revision import REVISION
from .sqlite import APPLICATION_ID, BUSY_SECONDS, PAGE_BYTES, SqliteDatabase
from .store import MAIN

PRIVATE = 0o600
"""Mode of a new log's files: not every user may see what they contain."""

_BUSY = frozenset({5, 6})  # SQLITE_BUSY, SQLITE_LOCKED
_PAUSE = 0.02
"""Seconds between two tries to create a file that other processes create too."""

_BETWEEN = ";\n\n"
"""Separates the statements of the shipped text; occurs in none."""


def create_log(location: Location) -> None:
    """Create the tables of a new log and the rows that every log has.

    Does nothing if another process was faster.

    :raises LogUnavailable: the place cannot be written.
    """
    if location.database == "sqlite":
        _prepare_file(location)
        if _fill_file(location):
            return
    _migrate(location)


def shipped_tables(database: Literal["sqlite", "postgres"]) -> tuple[str, ...]:
    """Return the statements that create the newest tables in a database."""
    text = (files(__package__) / f"{database}_tables.sql").read_text("utf-8")
    return tuple(text.removesuffix(";\n").split(_BETWEEN))


def as_text(statements: Iterable[str]) -> str:
    """Return the text that is shipped of some statements."""
    return _BETWEEN.join(statements) + ";\n"


def tables_text(location: Location) -> str:
    """Return the text that creates the tables of a log's file, as it is shipped.

    It includes statistics of the tables, for the planner of SQLite.
    """
    with closing(SqliteDatabase(location, read_only=True)) as database:
        statements = database.rows(
            "SELECT sql FROM sqlite_master"
            " WHERE sql IS NOT NULL AND name != 'sqlite_stat1' ORDER BY rowid"
        )
        counts = database.rows(
            "SELECT printf('INSERT INTO sqlite_stat1 VALUES (%Q, %Q, %Q)', tbl, idx, stat)"
            " FROM sqlite_stat1 ORDER BY tbl, idx"
        )
    return as_text(str(row[0]).strip() for row in (*statements, ("ANALYZE",), *counts))


def first_rows() -> dict[str, dict[str, object]]:
    """Return the rows that every log begins with, by table and column."""
    genesis = genesis_hash(name=MAIN, parent=b"", fork=0)
    return {
        "log": {"id": 1, "hash_algorithm": ALGORITHM, "plinian": __version__},
        "branch": {"id": 1, "name": MAIN, "parent_id": None, "fork": 0, "genesis": genesis},
        "head": {
            "branch_id": 1,
            "position": 0,
            "revision": -1,
            "batch": 0,
            "recorded_at": 0,
            "hash": genesis,
        },
        "dictionary": {"id": 1, "data": packed_dictionary()},
    }


def _fill_file(location: Location) -> bool:
    """Create the tables of a file that has none; say whether it had none."""
    with closing(SqliteDatabase(location)) as database, database.writing():
        # Another process may have been faster.
        if database.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            return False
        for statement in shipped_tables("sqlite"):
            database.run(statement)
        database.run("INSERT INTO alembic_version (version_num) VALUES (?)", (REVISION,))
        for table, row in first_rows().items():
            columns, places = ", ".join(row), ", ".join("?" * len(row))
            sql = f"INSERT INTO {table} ({columns}) VALUES ({places})"  # noqa: S608 -- our own
            database.run(sql, tuple(row.values()))
    return True


def _migrate(location: Location) -> None:
    """Create a log on a server, or on tables that exist."""
    from sqlalchemy import text  # noqa: PLC0415 -- takes long to load

    from .migrating import connected, has_tables, migrate, run_together  # noqa: PLC0415
    from .schema import metadata  # noqa: PLC0415

    with connected(location, create=True) as connection:
        if location.database == "postgres" and not has_tables(connection):
            run_together(connection, shipped_tables("postgres"))
            revised = text("INSERT INTO alembic_version (version_num) VALUES (:revision)")
            connection.execute(revised, {"revision": REVISION})
        else:
            migrate(connection)
        if connection.execute(text("SELECT 1 FROM log")).first():
            return
        for table, row in first_rows().items():
            connection.execute(metadata.tables[table].insert(), row)


def _prepare_file(location: Location) -> None:
    """Create the file if there is none, and set what must be set before the first table.

    Several processes may do so at the same time. SQLite does not wait when a file gets its
    write-ahead log, so this function does.
    """
    import sqlite3  # noqa: PLC0415

    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            _make_private(location.path)
            _set_up(location.path)
        except (sqlite3.Error, OSError) as fault:
            busy = getattr(fault, "sqlite_errorcode", 0) & 0xFF in _BUSY
            if busy and time.monotonic() < until:
                time.sleep(_PAUSE)
                continue
            reason = getattr(fault, "strerror", None) or fault
            raise LogUnavailable(
                f"the file cannot be created: {reason}",
                where=location.shown,
                now="check that the folder exists, that you may write there, and that there is"
                " room",
            ) from fault
        return


def _make_private(path: str) -> None:
    """Create an empty file that only its owner may read; SQLite's other files get its mode.

    An existing file is not changed.
    """
    with suppress(FileExistsError):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE)
        try:
            os.fchmod(descriptor, PRIVATE)  # The umask may have removed more bits.
        finally:
            os.close(descriptor)


def _set_up(path: str) -> None:
    import sqlite3  # noqa: PLC0415

    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        # A block of some 2 KB would leave half of a page of 4 KiB empty.
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    finally:
        connection.close()
