"""Recorders that run in a thread of a test."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from plinian.engine.events import Event
from plinian.engine.log import LogStore
from plinian.engine.log.wall_clock import micros_now
from plinian.replay.capture.cluster_access import Access
from plinian.replay.capture.commit_writer import CommitPace
from plinian.replay.capture.outbox import Room
from plinian.replay.capture.recorded_cluster import RecordOptions, cluster_streams
from plinian.replay.capture.recorder import Recording, StreamRecorder
from plinian.replay.capture.stream_state import StreamPhase
from plinian.replay.capture.watched_lines import Pace

QUICK = Pace(watch=4, quiet=3, first_wait=0.05, longest_wait=0.2)
AT_ONCE = CommitPace(held=0.05, soon=0.1, late=0.2, covers=0.5)
LIMIT = 120
"""Seconds that a test waits for something that takes a few."""

_SETTLED = (StreamPhase.WATCHING, StreamPhase.ABSENT)


class Gate:
    """What stands before ``append`` of a log.

    :ivar opened: lets it through. :ivar fault: what it raises instead, if anything.
    """

    def __init__(self, log: LogStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened = threading.Event()
        self.fault: Exception | None = None
        self._real = log.append
        monkeypatch.setattr(log, "append", self._append)

    def _append(self, batch: Sequence[Event], **options: object) -> object:
        assert self.opened.wait(LIMIT)
        if self.fault is not None:
            raise self.fault
        return self._real(batch, **options)  # type: ignore[arg-type] -- of the real method


class RunningRecorder:
    """A recorder in a thread.

    :ivar fault: why it ended, if not because it was stopped.
    """

    def __init__(
        self, store: LogStore, access: Access, options: RecordOptions, *, room: int = 2**26
    ) -> None:
        shared = Room(room)
        streams = cluster_streams(store, access, options, shared, now=micros_now, pace=QUICK)
        self.recorder = StreamRecorder(
            store, streams, shared, branch=options.branch, commits=AT_ONCE
        )
        self.fault: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.recorder.run(lambda _: None)
        except Exception as fault:  # noqa: BLE001 -- the test says it
            self.fault = fault

    def waits_for(self, holds: Callable[[Recording], bool]) -> None:
        """Wait until something holds of what it did so far."""
        end = time.monotonic() + LIMIT
        while not holds(self.recorder.recording()):
            assert self._thread.is_alive(), f"it ended: {self.fault!r}"
            assert time.monotonic() < end, self.recorder.recording()
            time.sleep(0.02)

    def settles(self) -> None:
        """Wait until each kind is watched, or not there."""
        self.waits_for(lambda now: all(stream.phase in _SETTLED for stream in now.streams))

    def stop(self) -> None:
        """Stop it, and wait for it."""
        self.recorder.stop()
        self._thread.join(LIMIT)
        assert not self._thread.is_alive(), "it does not end"


@contextmanager
def recording(
    store: LogStore, access: Access, options: RecordOptions, *, room: int = 2**26
) -> Iterator[RunningRecorder]:
    """Record in the body."""
    running = RunningRecorder(store, access, options, room=room)
    try:
        yield running
    finally:
        running.stop()
    if running.fault is not None:
        raise running.fault
