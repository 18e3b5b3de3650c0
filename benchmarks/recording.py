"""Record: from the chunks of a watch to a committed log, against ingesting the same lines.

The server is a list of chunks in memory, one event a chunk, as API servers send them: so TLS and
the socket are not in the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from plinian.engine.log import open_log
from plinian.engine.log.wall_clock import micros_now
from plinian.replay.capture.outbox import Room
from plinian.replay.capture.recorded_cluster import RecordOptions, cluster_streams
from plinian.replay.capture.recorded_kinds import recorded_kinds
from plinian.replay.capture.recorder import ROOM, RecordedStream, StreamRecorder
from plinian.replay.capture.served_kinds import ServedKind, bookmark_line
from plinian.replay.ingest.ingest_run import IngestOptions, ingest

from . import corpus
from .measure import Result, clock

EVENTS = 100_000


class _Chunks:
    """The body of an answer."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks

    def chunks(self) -> Iterator[bytes]:
        """Yield the pieces."""
        yield from self._chunks

    def close(self) -> None:
        """Do nothing: nothing is open."""


class _Server:
    """Serves pods: the list is empty, and the watch is all lines; after it the recorder stops."""

    def __init__(self, lines: Sequence[bytes], recorder: list[StreamRecorder]) -> None:
        self._lines, self._recorder = lines, recorder

    def open(
        self,
        path: str,
        query: Mapping[str, str],
        *,
        quiet: float,  # noqa: ARG002 -- nothing is ever quiet here
        accept: str = "",  # noqa: ARG002 -- only lists come in another form
    ) -> _Chunks:
        """Answer what a recorder asks at its start."""
        if path == "/api/v1":
            answer = {"resources": [{"name": "pods", "verbs": ["watch"]}]}
            return _Chunks(msgspec.json.encode(answer))
        if "sendInitialEvents" in query:
            return _Chunks(_INITIAL_END, *self._lines)
        self._recorder[0].stop()
        return _Chunks()


(_PODS,) = recorded_kinds(("pods",))
_INITIAL_END = bookmark_line(ServedKind(_PODS, "v1"), 1, ends_list=True)


def run(folder: Path, *, scale: float) -> list[Result]:
    """Measure the recording of one busy kind into SQLite."""
    count = int(EVENTS * scale)
    lines = [line + b"\n" for line in corpus.watch_lines(count, alive=4000)]
    path = folder / "watch.jsonl"
    path.write_bytes(b"".join(lines))
    with open_log(str(folder / "ingested.db"), create=True) as store, clock() as ingested:
        ingest(store, [str(path)], IngestOptions(), None)
    made: list[StreamRecorder] = []
    options, room = RecordOptions(kinds=("pods",)), Room(ROOM)
    with open_log(str(folder / "recorded.db"), create=True) as store:
        streams: list[RecordedStream] = [
            *cluster_streams(store, _Server(lines, made), options, room, now=micros_now)
        ]
        made.append(StreamRecorder(store, streams, room))
        with clock() as recorded:
            made[0].run(lambda _recording: None)
        stored = store.last()
    assert stored >= count, "all events are stored"
    return [
        Result(
            benchmark="record",
            figure="chunks of a watch to committed SQLite log, CPU per event",
            value=recorded.cpu / count * 1e6,
            unit="µs",
            limit=80.0,
            note=f"{path.stat().st_size / count / 1000:.1f} KB lines",
        ),
        Result(
            benchmark="record",
            figure="CPU per event, ratio to ingesting the same lines from a file",
            value=recorded.cpu / ingested.cpu,
            unit="×",
            limit=3.0,
        ),
        Result(
            benchmark="record",
            figure="events a second, with one core",
            value=count / recorded.wall,
            unit="1/s",
            better="more",
            note="wall time, with whatever else runs",
        ),
    ]
