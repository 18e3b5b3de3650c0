"""Streams of a recorder that run in the thread of a test, on answers that it gives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

import msgspec
from api_store import StoredKind
from model_api_server import Asked

from plinian.engine.events.payloads import WatchFollowed
from plinian.engine.state.coverage_events import coverage_of
from plinian.engine.state.log_coverage import LogCoverage
from plinian.replay.capture.cluster_access import Access, Body
from plinian.replay.capture.outbox import Outbox, Room, StreamDelivery
from plinian.replay.capture.recorded_kinds import RECORDED, RecordedKind
from plinian.replay.capture.recording_stream import RecordingStream, StreamPlan
from plinian.replay.capture.stream_state import StreamState
from plinian.replay.capture.watched_lines import Pace

AT_ONCE = Pace(first_wait=0, longest_wait=0, absent=0)
"""Waits for nothing."""

Piece = bytes | Exception
"""What arrives next: bytes, or that nothing more does."""

POD_RESOURCES = b'{"resources":[{"name":"pods","verbs":["list","watch"]}]}'


def recorded_kind(kind: StoredKind) -> RecordedKind:
    """Return the kind as recorders know it."""
    return next(each for each in RECORDED if each.pair == (kind.group, kind.kind))


class ScriptedBody:
    """A body of pieces that a test gives."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self.closed = False

    def chunks(self) -> Iterator[bytes]:
        """Yield the pieces."""
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def close(self) -> None:
        """Note that nothing more is read."""
        self.closed = True


class ScriptedAccess:
    """Answers requests with what a test gives, one after the other.

    :param answers: pieces, or the error of a request. :param over: called at the first request
        after the last answer, which gets an empty one.
    :ivar asked: all requests so far.
    """

    def __init__(self, *answers: Sequence[Piece] | Exception) -> None:
        self._answers = deque(answers)
        self.over: Callable[[], None] = lambda: None
        self.asked: list[Asked] = []
        self.bodies: list[ScriptedBody] = []

    def open(self, path: str, query: Mapping[str, str], *, quiet: float, accept: str = "") -> Body:
        """Answer with what is next."""
        del quiet
        if path == "/api/v1":
            return ScriptedBody([POD_RESOURCES])
        self.asked.append(Asked(path, dict(query), accept))
        if not self._answers:
            self.over()
            return ScriptedBody([])
        answer = self._answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        self.bodies.append(ScriptedBody(answer))
        return self.bodies[-1]


class StreamRun(NamedTuple):
    """What a stream did until it was stopped. :param crash: the error that ended it."""

    state: StreamState
    delivery: StreamDelivery
    crash: BaseException | None

    @property
    def kinds(self) -> list[str]:
        """The kinds of all events, in order."""
        return [event.kind for event in self.delivery.events]

    @property
    def versions(self) -> list[tuple[str, str, int | None]]:
        """Kind, name and revision of all versions, in order."""
        return [
            (event.kind, event.reference.name, event.revision)
            for event in (*self.delivery.events, *self.delivery.aside)
            if event.revision is not None and event.reference.name
        ]

    @property
    def spans(self) -> list[WatchFollowed]:
        """What it covered."""
        return [
            msgspec.json.decode(event.payload, type=WatchFollowed)
            for _, event in self.delivery.placed
            if event.kind == "watch.followed"
        ]

    @property
    def coverage(self) -> LogCoverage:
        """What the events cover."""
        covers = (event for _, event in self.delivery.placed)
        return coverage_of([*self.delivery.events, *covers])


def stream_of(
    access: Access,
    kind: RecordedKind,
    *,
    since: int | None = None,
    namespace: str = "",
    outbox: Outbox | None = None,
    pace: Pace = AT_ONCE,
) -> RecordingStream:
    """Return a stream whose ``run`` a test calls; its clock counts."""
    ticks = count(1_700_000_000_000_000, 1_000)
    return RecordingStream(
        access,
        StreamPlan(kind, namespace, since),
        outbox or Outbox(Room(2**30)),
        cluster="default",
        now=lambda: next(ticks),
        pace=pace,
    )


def streamed(access: Access, kind: RecordedKind, *, since: int | None = None) -> StreamRun:
    """Run a stream until the answers of an access are over; it must stop the stream then."""
    stream = stream_of(access, kind, since=since)
    access.over = stream.stop  # type: ignore[attr-defined] -- of the accesses of tests
    stream.run()
    delivery = stream.outbox.take() or StreamDelivery((), (), (), 0)
    return StreamRun(stream.state, delivery, stream.crash or stream.fell)
