"""Appending to Postgres, against a bare COPY of the very same rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg

from plinian.engine.events import Event
from plinian.engine.log import open_log

from . import corpus
from .measure import Clock, Result, clock

sys.path.append(str(Path(__file__).parent.parent / "tests"))
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
            " given the rows ready, compressed and keyed",
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
        cursor = connection.cursor(binary=True)
        cursor.execute(f"SELECT * FROM {schema}.event ORDER BY position")
        columns = cursor.description or ()
        payload = [column.name for column in columns].index("payload")
        types = [column.type_code for column in columns]
        stored = cursor.fetchall()
        given = [
            (*row[:payload], event.payload, *row[payload + 1 :])
            for row, event in zip(stored, events, strict=True)
        ]
        clocks = [_copied(connection, schema, rows, types) for rows in (stored, given)]
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
    return ours, clocks[0], clocks[1]


def _copied(
    connection: psycopg.Connection[Any], schema: str, rows: Sequence[Any], types: list[int]
) -> Clock:
    connection.execute(f"CREATE TABLE {schema}.bare (LIKE {schema}.event INCLUDING ALL)")
    connection.commit()
    with clock() as reading:
        for part in _parts(rows):
            _copy(connection, schema, part, types)
    connection.execute(f"DROP TABLE {schema}.bare")
    return reading


def _copy(
    connection: psycopg.Connection[Any], schema: str, rows: Sequence[Any], types: list[int]
) -> None:
    with connection.cursor().copy(f"COPY {schema}.bare FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)
    connection.commit()


def _parts(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
