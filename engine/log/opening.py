"""Opens a log or creates one; refuses other files, and logs of other versions of Plinian."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ..errors import LogNewer, LogNotFound, LogOlder, LogUnavailable
from .branches import damaged
from .chain import ALGORITHM
from .database import Database
from .location import Location, parse_location
from .schema_revision import REVISION, REVISIONS
from .sql_log import SqlLog
from .sqlite import BUSY_SECONDS, SqliteDatabase
from .store import LogStore

_MOMENT = 2.0
"""Seconds that a log waits for another writer if it is opened not to wait."""


def open_log(
    place: str | Path,
    *,
    create: bool = False,
    read_only: bool = False,
    remark: Callable[[str], None] | None = None,
    waits: bool = True,
) -> LogStore:
    """Open the log at a path, an ``sqlite:///`` or a ``postgresql://`` URL.

    :param create: create a log if there is none.
    :param read_only: write nothing; works on a log that this user may not write.
    :param remark: called with a sentence for each damage to derived rows, which does not
        change answers.
    :param waits: wait half a minute for another writer, and for a database that restarts; without
        it only for a moment, as the caller tries again by itself.
    :raises LogNotFound: there is no log.
    :raises LogOlder: its tables must be upgraded first.
    :raises LogNewer: a newer Plinian made it.
    :raises LogUnavailable: the database does not answer, or it is not a log.
    """
    location = parse_location(str(place))

    def opened() -> LogStore:
        database = _open(location, read_only=read_only, waits=waits)
        return SqlLog(database, remark=remark, waits=waits)

    try:
        return opened()
    except LogNotFound:
        if not create or read_only:
            raise
    from .creation import create_log  # noqa: PLC0415 -- most commands create no log

    create_log(location)
    return opened()


def check_place(place: str | Path) -> None:
    """Check that a log can be created at a place, as far as its folder shows.

    :raises LogUnavailable: it is not a file, or its folder is missing or cannot be written to.
    """
    location = parse_location(str(place))
    if location.database != "sqlite":
        return
    path = Path(location.path)
    if path.is_dir():
        what, now = "this is a folder", f"name a file in it: --log {path / 'plinian.db'}"
    elif path.exists() and not path.is_file():
        what, now = "this is not a file", "choose another place for the log"
    elif not path.parent.is_dir():
        what, now = "its folder does not exist", f"create it: mkdir -p {path.parent}"
    elif not os.access(path.parent, os.W_OK):
        what, now = "its folder cannot be written to", "choose another place for the log"
    else:
        return
    raise LogUnavailable(f"a log cannot be created here: {what}", where=location.shown, now=now)


def _open(location: Location, *, read_only: bool, waits: bool) -> Database:
    database = _connect(location, read_only=read_only, waits=waits)
    try:
        _check_age(database)
    except BaseException:
        database.close()
        raise
    return database


def _connect(location: Location, *, read_only: bool, waits: bool) -> Database:
    busy_seconds = BUSY_SECONDS if waits else _MOMENT
    if location.database == "sqlite":
        return SqliteDatabase(location, read_only=read_only, busy_seconds=busy_seconds)
    from .postgres import PostgresDatabase  # noqa: PLC0415 -- needs libpq, which SQLite does not

    return PostgresDatabase(location, read_only=read_only, busy_seconds=busy_seconds)


def _check_age(database: Database) -> None:
    where = database.location.shown
    current = _revision(database)
    if current is None:
        raise LogNotFound(
            "there is a database, but no log in it",
            where=where,
            now="check the place, or create a log there with: plinian ingest --log … PATH",
        )
    if current not in REVISIONS:
        raise LogNewer(
            f"the log's tables are at revision {current}, this Plinian knows up to {REVISION}",
            where=where,
            now="use the Plinian that wrote the log, or a newer one",
        )
    if current != REVISION:
        raise LogOlder(
            f"the log's tables are at revision {current}, this Plinian needs {REVISION}",
            where=where,
            now=f"run: plinian db upgrade --log {where}",
        )
    algorithm = database.rows("SELECT hash_algorithm FROM log")
    # A log with a branch was created completely, so its row was lost since.
    if not algorithm and database.rows("SELECT 1 FROM branch LIMIT 1"):
        raise damaged(database, "the row of table log is missing", 0)
    if not algorithm:
        raise LogNotFound("the log has tables, but its creation was not finished", where=where)
    if algorithm[0][0] != ALGORITHM:
        raise LogNewer(
            f"the log is hashed by {algorithm[0][0]}, and this Plinian knows only {ALGORITHM}",
            where=where,
            now="use the Plinian that wrote the log, or ingest its inputs again into a new one",
        )


def _revision(database: Database) -> str | None:
    """Return the revision of the log's tables; None if there are none.

    :raises LogUnavailable: the SQLite file belongs to another program.
    """
    if database.name == "sqlite":
        tables = {row[0] for row in database.rows("SELECT name FROM sqlite_master")}
        if tables and "alembic_version" not in tables:
            raise LogUnavailable(
                "the file is an SQLite database, but not a Plinian log",
                where=database.location.shown,
                now="check the path",
            )
    else:
        tables = {
            row[0]
            for row in database.rows(
                "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            )
        }
    if "alembic_version" not in tables:
        return None
    rows = database.rows("SELECT version_num FROM alembic_version")
    return str(rows[0][0]) if rows else None
