"""Ingest: from the lines of a file to a committed log, against the eventsourcing library and COPY."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from plinian.engine.events import Event
from plinian.engine.log import open_log
from plinian.replay.ingest import IngestOptions, ingest

from . import corpus
from .measure import Clock, Result, clock

EVENTS = 40_000
BATCH = 1000


def run(folder: Path, *, scale: float) -> list[Result]:
    """Measure ingest into SQLite and, where there is a server, into Postgres."""
    count = int(EVENTS * scale)
    lines = list(corpus.watch_lines(count, alive=4000))
    path = folder / "watch.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    events = [corpus.event_of(line, number) for number, line in enumerate(lines, 1)]
    ours, peer = [], []
    for turn in range(3):
        ours.append(_ingest(path, str(folder / f"ingest-{turn}.db")))
        peer.append(
            min(
                (_eventsourcing(events, folder, size) for size in (200, 500, 1000)),
                key=lambda reading: reading.wall,
            )
        )
    best, best_peer = min(ours, key=lambda r: r.cpu), min(peer, key=lambda r: r.wall)
    wall = min(reading.wall for reading in ours)
    results = [
        Result(
            benchmark="ingest",
            figure="file to committed SQLite log, CPU per event",
            value=best.cpu / count * 1e6,
            unit="µs",
            limit=25.0,
            note=f"{path.stat().st_size / count / 1000:.1f} KB lines",
        ),
        Result(
            benchmark="ingest",
            figure="wall time, ratio to eventsourcing at its best batch",
            value=wall / best_peer.wall,
            unit="×",
            limit=1.0,
            note="the peer neither parses, compresses nor hashes",
        ),
    ]
    return results + _postgres(events)


def _ingest(path: Path, log: str) -> Clock:
    with open_log(log, create=True) as store, clock() as reading:
        ingest(store, [str(path)], IngestOptions(), None)
    return reading


def _eventsourcing(events: Sequence[Event], folder: Path, size: int) -> Clock:
    from eventsourcing.persistence import StoredEvent
    from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

    path = folder / f"peer-{size}.db"
    path.unlink(missing_ok=True)
    recorder = SQLiteApplicationRecorder(SQLiteDatastore(str(path)))
    recorder.create_table()
    originator = UUID(int=1)
    stored = [
        StoredEvent(
            originator_id=originator,
            originator_version=number,
            topic=event.kind,
            state=event.payload,
        )
        for number, event in enumerate(events, 1)
    ]
    with clock() as reading:
        for start in range(0, len(stored), size):
            recorder.insert_events(stored[start : start + size])
    return reading


def _postgres(events: Sequence[Event]) -> list[Result]:
    url = os.environ.get("PLINIAN_TEST_POSTGRES_URL")
    if url is None:
        return [
            Result(
                benchmark="ingest",
                figure="Postgres: not measured, set PLINIAN_TEST_POSTGRES_URL",
                value=0.0,
                unit="",
            )
        ]
    import psycopg

    rates = []
    for turn in range(3):
        separator = "&" if "?" in url else "?"
        address = f"{url}{separator}schema=benchmark_{os.getpid()}_{turn}"
        with open_log(address, create=True) as store, clock() as ours:
            for start in range(0, len(events), BATCH):
                store.append(events[start : start + BATCH])
        with psycopg.connect(url, autocommit=True) as connection:
            schema = f"benchmark_{os.getpid()}_{turn}"
            connection.execute(f"CREATE TABLE {schema}.bare (LIKE {schema}.event INCLUDING ALL)")
            rows = connection.execute(
                f"SELECT * FROM {schema}.event ORDER BY position", binary=True
            )
            types = [column.type_code for column in rows.description or ()]
            content = rows.fetchall()
            with clock() as bare:
                for part in (
                    itertools.batched(content, BATCH)
                    if hasattr(itertools, "batched")
                    else _batched(content)
                ):
                    with connection.cursor().copy(
                        f"COPY {schema}.bare FROM STDIN (FORMAT BINARY)"
                    ) as copy:
                        copy.set_types(types)
                        for row in part:
                            copy.write_row(row)
            connection.execute(f"DROP SCHEMA {schema} CASCADE")
        rates.append((ours.wall / bare.wall, ours, bare))
    ratio, ours, bare = sorted(rates, key=lambda rate: rate[0])[1]
    return [
        Result(
            benchmark="ingest",
            figure="Postgres append, time as multiple of a bare COPY",
            value=ratio,
            unit="×",
            limit=2.0,
            note=f"{len(events) / ours.wall:,.0f} against {len(events) / bare.wall:,.0f} "
            "events/s; ours compresses, hashes, chains",
        ),
    ]


def _batched(rows: Sequence[tuple[object, ...]]) -> list[Sequence[tuple[object, ...]]]:
    return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
