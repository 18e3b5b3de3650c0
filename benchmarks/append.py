"""Ingest: from the lines of a file to a committed log, against the eventsourcing library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from plinian.engine.events import Event
from plinian.engine.log import open_log
from plinian.replay.ingest import IngestOptions, ingest

from . import corpus
from .measure import Clock, Result, clock

EVENTS = 40_000


def run(folder: Path, *, scale: float) -> list[Result]:
    """Measure ingest of one watch stream into SQLite."""
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
    return [
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
