"""Migrations of the log's tables, forward and back, on both databases.

Works from an installed package: no ``alembic.ini`` and no working directory are needed. Only the
tables change here; the log's bytes are never rewritten (events of older schemas are upcast when
they are read).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import URL, Connection, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ..errors import LogNewer, LogNotFound, LogUnavailable, UsageError
from .location import Location, parse_location

__all__ = [
    "MigrationInfo",
    "connected",
    "downgrade",
    "has_tables",
    "info",
    "migrate",
    "run_together",
    "upgrade",
]

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # As in engine/log/postgres.py.

_STEPS = Path(__file__).parents[2] / "migrations"
_CREATION_LOCK = (
    0x506C696E  # any fixed number: it locks out a second process that creates the same log
)


class MigrationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The revision of a log's tables.

    :param current: the revision of the tables, None if there are none.
    :param newest: the newest revision that this Plinian knows.
    :param revisions: (revision, what it does) of all known ones, oldest first.
    """

    current: str | None
    newest: str
    revisions: tuple[tuple[str, str], ...]


def upgrade(url: str, revision: str = "head") -> None:
    """Migrate a log's tables to a revision, the newest by default; all or nothing.

    :raises LogNotFound: there is no such file or database.
    :raises LogNewer: the tables are of a newer Plinian.
    :raises UsageError: there is no such revision.
    """
    with connected(parse_location(url)) as connection:
        migrate(connection, revision)


def downgrade(url: str, revision: str) -> None:
    """Take a log's tables back to a revision; ``base`` drops the log with everything in it.

    :raises LogNotFound: there is no such file or database.
    :raises LogNewer: the tables are of a newer Plinian.
    :raises UsageError: there is no such revision.
    """
    with connected(parse_location(url)) as connection:
        _run(connection, command.downgrade, revision)


def info(url: str) -> MigrationInfo:
    """Return the revision of a log's tables, and all known ones.

    :raises LogNotFound: there is no such file or database.
    """
    scripts = ScriptDirectory.from_config(_config())
    with connected(parse_location(url)) as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    known = [(script.revision, (script.doc or "").strip()) for script in scripts.walk_revisions()]
    return MigrationInfo(current=current, newest=known[0][0], revisions=tuple(reversed(known)))


def migrate(connection: Connection, revision: str = "head") -> None:
    """Upgrade the tables in a transaction that the caller commits."""
    _run(connection, command.upgrade, revision)


def has_tables(connection: Connection) -> bool:
    """Say whether anything is in the Postgres schema of a connection."""
    table = connection.scalar(
        text(
            "SELECT 1 FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE nspname = current_schema() LIMIT 1"
        )
    )
    return table is not None


def run_together(connection: Connection, statements: Iterable[str]) -> None:
    """Run statements without parameters, which are sent to a Postgres server at once."""
    connection.exec_driver_sql(
        ";\n".join(statements), execution_options={"no_parameters": True}
    ).close()


@contextmanager
def connected(location: Location, *, create: bool = False) -> Iterator[Connection]:
    """Open a connection in a transaction that locks out other writers; commit it at the end.

    :param create: create the file or the Postgres schema if there is none.
    """
    if location.database == "sqlite" and not create and not Path(location.path).is_file():
        raise LogNotFound(
            "there is no such file",
            where=location.shown,
            now="check the path, or create a log with: plinian ingest --log PATH …",
        )
    arguments = {"client_encoding": "utf8"} if location.database == "postgres" else {}
    engine = create_engine(_sqlalchemy_url(location), poolclass=NullPool, connect_args=arguments)
    if location.database == "sqlite":
        event.listen(engine, "connect", _own_transactions)
        event.listen(engine, "begin", _begin_immediate)
    try:
        with engine.begin() as connection:
            if location.database == "postgres":
                _enter_schema(connection, location, create=create)
            yield connection
    except DBAPIError as fault:
        raise LogUnavailable(
            f"the database refuses: {str(fault.orig).strip()}",
            where=location.shown,
            now="check that it runs or its disk has room, that you may write to it, and that no "
            "other process locks it",
        ) from fault
    finally:
        engine.dispose()


def _sqlalchemy_url(location: Location) -> URL:
    if location.database == "sqlite":
        return URL.create("sqlite", database=location.path)
    return make_url(location.conninfo).set(drivername="postgresql+psycopg")


def _enter_schema(connection: Connection, location: Location, *, create: bool) -> None:
    # Two processes may create a schema at the same time, and there is no row to lock yet.
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CREATION_LOCK})
    schema = connection.scalar(
        text("SELECT 1 FROM pg_namespace WHERE nspname = :name"), {"name": location.schema}
    )
    if not schema and not create:
        raise LogNotFound(
            f"the database has no schema {location.schema!r}",
            where=location.shown,
            now="check ?schema=… of the URL, or create a log with: plinian ingest --log URL …",
        )
    if not schema:
        connection.execute(text(f"CREATE SCHEMA {location.quoted_schema}"))
    connection.execute(text(f"SET LOCAL search_path TO {location.quoted_schema}"))


def _own_transactions(connection: object, _record: object) -> None:
    # Python's driver would commit before DDL, and leave half a migration after an error.
    connection.isolation_level = None  # type: ignore[attr-defined]
    connection.execute("PRAGMA busy_timeout = 30000")  # type: ignore[attr-defined]


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _config() -> Config:
    config = Config()
    # The parser of the configuration would read a percent sign as a reference.
    config.set_main_option("script_location", str(_STEPS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _run(connection: Connection, verb: object, revision: str) -> None:
    config = _config()
    config.attributes["connection"] = connection
    scripts = ScriptDirectory.from_config(config)
    known = {script.revision for script in scripts.walk_revisions()}
    current = MigrationContext.configure(connection).get_current_revision()
    if current is not None and current not in known:
        raise LogNewer(
            f"the log's tables are at revision {current}, which this Plinian does not know",
            now="use the Plinian that wrote the log, or a newer one",
        )
    if revision not in known | {"head", "base"}:
        raise UsageError(
            f"there is no revision {revision!r}",
            now=f"choose one of: base, {', '.join(sorted(known))}, head",
        )
    try:
        verb(config, revision)  # type: ignore[operator]
    except CommandError as fault:
        raise UsageError(f"cannot go to revision {revision}: {fault}") from fault
