"""Ingest: from the lines of a file to a committed log, against the eventsourcing library.

The peer is given the same bytes, the lines of the file, since it does not parse them. Beside it
stands what it takes for the payloads alone, a good half of these bytes, made before the clock runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

from plinian.engine.log import open_log
from plinian.replay.ingest.ingest_run import IngestOptions, ingest

from . import corpus
from .measure import Clock, Result, clock

EVENTS = 40_000
BATCHES = (200, 500, 1000, 2000)
"""Sizes among which the peer's best is looked for."""

TURNS = 3


def run(folder: Path, *, scale: float) -> list[Result]:
    """Measure ingest of one watch stream into SQLite."""
    count = int(EVENTS * scale)
    lines = list(corpus.watch_lines(count, alive=4000))
    path = folder / "watch.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    events = [corpus.event_of(line, number) for number, line in enumerate(lines, 1)]
    payloads = list(_stored((event.kind, event.payload) for event in events))
    ours, same_bytes, bare = [], [], []
    for turn in range(TURNS):
        ours.append(_ingest(path, str(folder / f"ingest-{turn}.db")))
        same_bytes.append(_best(folder, lambda: _stored(_lines(path))))
        bare.append(_best(folder, lambda: payloads))
    best = min(ours, key=lambda reading: reading.cpu)
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
            figure="wall time, ratio to eventsourcing appending the same lines",
            value=wall / min(same_bytes),
            unit="×",
            limit=1.0,
            note=f"at its best batch; {wall / min(bare):.2f} × of payloads in memory",
        ),
    ]


def _ingest(path: Path, log: str) -> Clock:
    with open_log(log, create=True) as store, clock() as reading:
        ingest(store, [str(path)], IngestOptions(), None)
    return reading


def _best(folder: Path, stored: Callable[[], Iterable[StoredEvent]]) -> float:
    """Return the wall seconds of the peer at its best batch."""
    return min(_eventsourcing(stored(), _recorder(folder, size), size).wall for size in BATCHES)


def _recorder(folder: Path, size: int) -> SQLiteApplicationRecorder:
    path = folder / f"peer-{size}.db"
    for old in folder.glob(f"{path.name}*"):
        old.unlink()
    recorder = SQLiteApplicationRecorder(SQLiteDatastore(str(path)))
    recorder.create_table()
    return recorder


def _eventsourcing(
    stored: Iterable[StoredEvent], recorder: SQLiteApplicationRecorder, size: int
) -> Clock:
    with clock() as reading:
        rest = iter(stored)
        while some := list(islice(rest, size)):
            recorder.insert_events(some)
    return reading


def _stored(topics_and_states: Iterable[tuple[str, bytes]]) -> Iterator[StoredEvent]:
    originator = UUID(int=1)
    for number, (topic, state) in enumerate(topics_and_states, 1):
        yield StoredEvent(
            originator_id=originator, originator_version=number, topic=topic, state=state
        )


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as file:
        for line in file:
            yield "watch", line
