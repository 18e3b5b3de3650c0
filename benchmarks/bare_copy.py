"""Appending to Postgres, against a bare COPY of the very same rows."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg

from plinian.engine.events import Event
from plinian.engine.log import open_log

from . import corpus
from .measure import Clock, Result, clock

sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))
from postgres import server_url, stop_server  # the tests' ladder finds a server

EVENTS = 40_000
BATCH = 1000


def run(folder: Path, *, scale: float) -> list[Result]:
    """Append and copy the same rows three times; report the median ratio."""
    url = server_url(folder)
    try:
        lines = corpus.watch_lines(int(EVENTS * scale), alive=4000)
        events = [corpus.event_of(line, number) for number, line in enumerate(lines, 1)]
        rounds = sorted(
            (_round(url, events, f"benchmark_{turn}") for turn in range(3)),
            key=lambda clocks: clocks[0].wall / clocks[1].wall,
        )
    finally:
        stop_server(folder)
    ours, stored, given = rounds[1]
    rate = len(events) / ours.wall
    return [
        Result(
            benchmark="copy",
            figure="Postgres append, time as multiple of a bare COPY of what is stored",
            value=ours.wall / stored.wall,
            unit="×",
            limit=2.0,
            note=f"{rate:,.0f} against {len(events) / stored.wall:,.0f} events/s; the peer is"
            " given the rows ready, compressed, hashed and keyed",
        ),
        Result(
            benchmark="copy",
            figure="Postgres append, time as multiple of a bare COPY of what is given",
            value=ours.wall / given.wall,
            unit="×",
            limit=2.0,
            note=f"{rate:,.0f} against {len(events) / given.wall:,.0f} events/s; the same rows with"
            " payloads as they came",
        ),
    ]


def _round(url: str, events: Sequence[Event], schema: str) -> tuple[Clock, Clock, Clock]:
    separator = "&" if "?" in url else "?"
    with open_log(f"{url}{separator}schema={schema}", create=True) as store, clock() as ours:
        for start in range(0, len(events), BATCH):
            store.append(events[start : start + BATCH])
    with psycopg.connect(url) as connection:
        rows = _Rows(connection, f"{schema}.event", "position")
        blocks = _Rows(connection, f"{schema}.payload_block", "first")
        stored = _copied(connection, [rows, blocks])
        rows.widen([event.payload for event in events])
        given = _copied(connection, [rows])
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
    return ours, stored, given


class _Rows:
    """All rows of a table, ready to be copied into a bare one like it."""

    def __init__(self, connection: psycopg.Connection[Any], table: str, key: str) -> None:
        cursor = connection.cursor(binary=True)
        cursor.execute(f"SELECT * FROM {table} ORDER BY {key}")
        columns = cursor.description or ()
        at = [column.name for column in columns].index(key)
        self.table = table
        self.types = [column.type_code for column in columns]
        self.extra = ""
        self._rows = cursor.fetchall()
        self._keys = [row[at] for row in self._rows]

    def widen(self, payloads: Sequence[bytes]) -> None:
        """Give each row a payload as it came."""
        self._rows = [(*row, payload) for row, payload in zip(self._rows, payloads, strict=True)]
        self.types.append(psycopg.adapters.types["bytea"].oid)
        self.extra = "ADD payload bytea, ALTER payload SET STORAGE EXTERNAL"

    def between(self, first: int, last: int) -> Sequence[Any]:
        """Return the rows of some positions."""
        return self._rows[bisect_left(self._keys, first) : bisect_right(self._keys, last)]

    def __len__(self) -> int:
        return self._keys[-1]


def _copied(connection: psycopg.Connection[Any], tables: Sequence[_Rows]) -> Clock:
    """Copy the rows of some tables in batches, one transaction per batch."""
    for rows in tables:
        connection.execute(f"CREATE TABLE {rows.table}_bare (LIKE {rows.table} INCLUDING ALL)")
        if rows.extra:
            connection.execute(f"ALTER TABLE {rows.table}_bare {rows.extra}")
    connection.commit()
    with clock() as reading:
        for first in range(1, len(tables[0]) + 1, BATCH):
            for rows in tables:
                _copy(connection, rows, rows.between(first, first + BATCH - 1))
            connection.commit()
    for rows in tables:
        connection.execute(f"DROP TABLE {rows.table}_bare")
    return reading


def _copy(connection: psycopg.Connection[Any], rows: _Rows, part: Sequence[Any]) -> None:
    with connection.cursor().copy(f"COPY {rows.table}_bare FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(rows.types)
        for row in part:
            copy.write_row(row)
