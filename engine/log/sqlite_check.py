"""Checks a log's file by SQLite: its pages, its indexes, and the definitions of its tables.

The chain of hashes covers rows as they are read in order of position. Only the database can check
that an index finds the same rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from .sealed_folder import read_past_writer
from .sqlite_faults import is_damage

if TYPE_CHECKING:
    from sqlalchemy import Table

_MOST = 5
"""Faults that are reported at most."""


@contextmanager
def checking(uri: str, busy_seconds: float) -> Iterator[Callable[[], list[str]]]:
    """Check the file at a URI in a thread with a separate connection, in parallel to the body.

    SQLite works without the interpreter's lock, so the check is free if a processor is idle.

    :param busy_seconds: how long it waits for another process that has locked the file.
    """
    # The last to finish, thread or body, closes the connection.
    with (
        closing(
            sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=busy_seconds)
        ) as connection,
        ThreadPoolExecutor(1) as thread,
    ):
        faults = thread.submit(_faults, connection)
        try:
            yield faults.result
        finally:
            connection.interrupt()


def _faults(connection: sqlite3.Connection) -> list[str]:
    """Return what is damaged.

    :raises sqlite3.Error: the check could not be done, which says nothing of the file's content.
    """
    try:
        return read_past_writer(
            lambda: [*_shape_faults(connection), *_page_faults(connection)][:_MOST]
        )
    except UnicodeDecodeError as fault:
        return [str(fault)]
    except sqlite3.Error as fault:
        if is_damage(fault):
            return [str(fault)]
        raise


def _page_faults(connection: sqlite3.Connection) -> list[str]:
    """Return what is wrong with pages and indexes."""
    connection.execute("PRAGMA cache_size = -16384")
    rows = connection.execute(f"PRAGMA integrity_check({_MOST})").fetchall()
    return [
        str(row[0]).removeprefix("*** in database main ***\n") for row in rows if row != ("ok",)
    ]


def _shape_faults(connection: sqlite3.Connection) -> list[str]:
    """Return how the tables differ from those that Plinian creates."""
    # Imported here, because only verification needs it and it loads slowly.
    from .schema import metadata  # noqa: PLC0415

    faults = []
    there = set(connection.execute("SELECT type, name, tbl_name FROM sqlite_master"))
    wanted: list[tuple[str, str, str]] = []
    for table in metadata.sorted_tables:
        wanted.append(("table", table.name, table.name))
        wanted += [("index", str(index.name), table.name) for index in table.indexes]
        if _columns(connection, table.name) != _columns_of(table):
            faults.append(f"table {table.name} has other columns than it was created with")
        if _indexes(connection, table.name) != _indexes_of(table):
            faults.append(f"table {table.name} has other indexes than it was created with")
    missing = sorted(entry[1] for entry in wanted if entry not in there)
    return faults + [f"{name} is missing from the tables' definitions" for name in missing]


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    rows = connection.execute(
        'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?)', (table,)
    )
    return rows.fetchall()


def _columns_of(table: Table) -> list[tuple[object, ...]]:
    from sqlalchemy.dialects.sqlite import dialect  # noqa: PLC0415

    keys = [column.name for column in table.primary_key.columns]
    own = dialect()
    return [
        (
            column.name,
            column.type.compile(own),
            int(not column.nullable),
            keys.index(column.name) + 1 if column.name in keys else 0,
        )
        for column in table.columns
    ]


def _indexes(connection: sqlite3.Connection, table: str) -> set[tuple[object, ...]]:
    indexes: set[tuple[object, ...]] = set()
    for name, unique, origin, partial in connection.execute(
        'SELECT name, "unique", origin, partial FROM pragma_index_list(?)', (table,)
    ).fetchall():
        columns = connection.execute(
            'SELECT name, "desc", coll FROM pragma_index_xinfo(?) WHERE key = 1', (name,)
        ).fetchall()
        plain = all(row[1:] == (0, "BINARY") for row in columns)
        named = name if origin == "c" else ""
        where = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,))
        condition = _condition((where.fetchone() or [None])[0]) if partial else ""
        names = tuple(row[0] for row in columns)
        # A plain primary key was compared with the columns.
        if origin != "pk" or not plain:
            indexes.add((named, unique, names, condition, plain))
    return indexes


def _indexes_of(table: Table) -> set[tuple[object, ...]]:
    from sqlalchemy import UniqueConstraint  # noqa: PLC0415

    indexes: set[tuple[object, ...]] = {
        ("", 1, tuple(column.name for column in constraint.columns), "", True)
        for constraint in table.constraints
        if isinstance(constraint, UniqueConstraint)
    }
    for index in table.indexes:
        where = index.dialect_options["sqlite"]["where"]
        names = tuple(column.name for column in index.columns)
        condition = "" if where is None else str(where).lower()
        indexes.add((str(index.name), int(index.unique), names, condition, True))
    return indexes


def _condition(sql: str | None) -> str:
    """Return the condition of a partial index."""
    return " ".join((sql or "").partition(" WHERE ")[2].lower().split())
