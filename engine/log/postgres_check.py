"""Checks a log's indexes on Postgres: by amcheck, or by reading rows with and without an index.

The chain of hashes covers rows as they are read in order of position. Whether an index finds the
same rows must be checked separately.
"""

# ruff: noqa: S608 -- SQL is put together from names that the server returned
from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import psycopg

from .database import Row

_INDEXES = (
    "SELECT i.indexrelid, x.relname, t.relname, i.indisvalid,"
    " (SELECT array_agg(quote_ident(a.attname) ORDER BY k.place)"
    "  FROM unnest(i.indkey) WITH ORDINALITY AS k (number, place)"
    "  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number),"
    " coalesce(pg_get_expr(i.indpred, i.indrelid), 'true')"
    " FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid"
    " JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace"
    " WHERE n.nspname = current_schema() ORDER BY t.relname, x.relname"
)
_AMCHECK = (
    "SELECT quote_ident(n.nspname) FROM pg_extension e"
    " JOIN pg_namespace n ON n.oid = e.extnamespace"
    " JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = 'bt_index_check'"
    " WHERE e.extname = 'amcheck'"
    " AND has_function_privilege(p.oid, 'EXECUTE') ORDER BY p.pronargs DESC LIMIT 1"
)
_BY_TABLE = (
    "SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;"
    " SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = on; SET LOCAL enable_sort = on"
)
_BY_INDEX = (
    "SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on;"
    " SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off;"
    " SET LOCAL enable_sort = off"
)


_HASHES_RECORDS = 140_000
"""The first version of the server with hashes of records; before, texts are compared."""


class _Index(NamedTuple):
    number: int
    name: str
    table: str
    valid: bool
    columns: list[str]
    condition: str


@contextmanager
def checking(
    connect: Callable[[], psycopg.Connection[Row]],
) -> Iterator[Callable[[], list[str]]]:
    """Check a schema's indexes in a thread with a separate connection, in parallel to the body.

    :param connect: gives a connection that has entered the schema.
    """
    with connect() as connection, ThreadPoolExecutor(1) as thread:
        faults = thread.submit(_faults, connection)
        try:
            yield faults.result
        # If the body failed, what is left of the check is not needed.
        finally:
            connection.cancel()


def _faults(connection: psycopg.Connection[Row]) -> list[str]:
    indexes = [_Index(*row) for row in connection.execute(_INDEXES).fetchall()]
    faults = [f"index {index.name} is not valid" for index in indexes if not index.valid]
    amcheck = connection.execute(_AMCHECK).fetchone()
    for index in indexes:
        try:
            fault = (
                _answered_otherwise(connection, index)
                if amcheck is None
                else _checked(connection, str(amcheck[0]), index)
            )
        except (psycopg.errors.DataCorrupted, psycopg.errors.IndexCorrupted) as error:
            fault = str(error).partition("\n")[0]
        faults += [fault] if fault else []
    return faults


def _checked(connection: psycopg.Connection[Row], schema: str, index: _Index) -> str:
    """Check by amcheck that an index has every row of its table, in order."""
    connection.execute(f"SELECT {schema}.bt_index_check(%s::oid::regclass, true)", (index.number,))
    return ""


def _answered_otherwise(connection: psycopg.Connection[Row], index: _Index) -> str:
    """Read all rows of a table with and without an index; report a difference."""
    columns = ", ".join(index.columns)
    table = f'"{index.table}" WHERE {index.condition}'
    row = f"ROW({columns})"
    own = connection.info.server_version >= _HASHES_RECORDS
    digest = f"hash_record_extended({row}, 0)" if own else f"hashtextextended({row}::text, 0)"
    hashed = f"count(*), coalesce(sum({digest}::numeric), 0)"
    walk = (
        f"SELECT {hashed}, count(*) FILTER (WHERE before > ROW({columns}))"
        f" FROM (SELECT {columns}, lag(ROW({columns})) OVER (ORDER BY {columns}) AS before"
        f" FROM {table}) AS walk"
    )
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute(_BY_TABLE)
        expected = connection.execute(f"SELECT {hashed} FROM {table}").fetchone()
        connection.execute(_BY_INDEX)
        plan = connection.execute(f"EXPLAIN {walk}").fetchall()
        if not any(index.name in str(row[0]) for row in plan):
            return ""  # The server does not use the index for this, so no answer comes from it.
        walked = connection.execute(walk).fetchone()
    assert expected is not None
    assert walked is not None
    if tuple(walked[:2]) != tuple(expected):
        return f"index {index.name} does not have the rows of table {index.table}"
    return f"index {index.name} is out of order" if walked[2] else ""
