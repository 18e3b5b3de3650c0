"""Records what never ends: threads read, and one thread writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Protocol

import msgspec

from ...engine.errors import LogUnavailable, PlinianError
from ...engine.log import MAIN, LogStore
from .commit_writer import CommitPace, Committed, CommitWriter
from .hole_repair import EpochFell
from .outbox import Outbox, Room
from .stream_state import StreamState

_TICK = 0.25
ROOM = 16 * 2**20
"""Bytes that may wait to be stored: a third of a second of the busiest cluster."""

_AGAIN = 1.0
"""Seconds between two tries to write a log that cannot be written."""

_PATIENCE = 2.0
"""Seconds that streams get to end; with all that follows, a recorder ends within five."""


class RecordedStream(Protocol):
    """A thread that reads something without an end.

    :ivar fell: the revisions of the cluster fell, so it ended. :ivar crash: an error, likewise.
    """

    state: StreamState
    outbox: Outbox
    fell: EpochFell | None
    crash: BaseException | None

    def start(self) -> None:
        """Begin to read."""

    def stop(self) -> None:
        """End soon."""

    def is_alive(self) -> bool:
        """Return whether it reads."""

    def join(self, timeout: float | None = None) -> None:
        """Wait until it ended."""


class Recording(msgspec.Struct, frozen=True):
    """What a recorder did so far.

    :param waiting: events that are not stored yet, and ``oldest``: seconds that one of them waits.
    :param fault: why the log could not be written at the last try; None if it could.
    :param epochs: how often the revisions of the cluster fell, so that a new epoch began.
    """

    streams: Sequence[StreamState]
    committed: Committed
    waiting: int = 0
    bytes_waiting: int = 0
    fault: PlinianError | None = None
    oldest: float = 0.0
    epochs: int = 0


class RecordingFailed(PlinianError):
    """A recorder cannot go on."""


class StreamRecorder:
    """Stores what streams read, until it is stopped or all of them have ended.

    :param room: what their outboxes share. :param commits: the pace of the writer.
    :param renewed: returns the streams of the next epoch of the cluster, which begins when its
        revisions fall; None ends the recording then.
    """

    def __init__(
        self,
        store: LogStore,
        streams: Sequence[RecordedStream],
        room: Room,
        *,
        branch: str = MAIN,
        commits: CommitPace = CommitPace(),  # noqa: B008 -- a tuple
        renewed: Callable[[], Sequence[RecordedStream]] | None = None,
    ) -> None:
        self._room, self._stop = room, threading.Event()
        self._renewed, self._epochs = renewed, 0
        self._fault: LogUnavailable | None = None
        self._streams = streams
        self._writer = CommitWriter(store, branch, room, monotonic, commits)

    def stop(self) -> None:
        """End soon; called by another thread, or by a signal."""
        self._stop.set()

    def recording(self) -> Recording:
        """Return what was done so far."""
        states = [stream.state for stream in self._streams]
        writer = self._writer
        return Recording(
            states,
            writer.committed,
            writer.waiting,
            self._room.used,
            self._fault,
            writer.oldest,
            self._epochs,
        )

    def last(self) -> int:
        """Return the last position that was committed."""
        return self._writer.committed.last

    def run(self, noticed: Callable[[Recording], None]) -> Recording:
        """Record until :meth:`stop`, and commit all that was read.

        :param noticed: called several times a second.
        :raises RecordingFailed: it cannot go on; what was read before is stored.
        :raises LogUnavailable: the log cannot be written, and that does not pass, or not before
            the end.
        """
        self._start()
        try:
            while not self._stop.wait(_TICK if self._fault is None else _AGAIN):
                if not self._is_over():
                    self._step()
                elif self._end_epoch():
                    break
                noticed(self.recording())
        finally:
            self._end()
        self._raise()
        return self.recording()

    def _end_epoch(self) -> bool:
        """Store all that was read, and begin the next epoch of the cluster if this one fell.

        Return whether none begins. While the log cannot be written, this is done again.
        """
        with self._told():
            self._end_streams(monotonic() + _PATIENCE)
            if self._renewed is None or not any(stream.fell for stream in self._streams):
                return True
            self._streams = self._renewed()
            self._epochs += 1
            self._start()
        return False

    def _start(self) -> None:
        for stream in self._streams:
            stream.start()

    def _is_over(self) -> bool:
        failed = any(stream.fell or stream.crash for stream in self._streams)
        return failed or not any(stream.is_alive() for stream in self._streams)

    def _step(self) -> None:
        self._writer.collect([stream.outbox for stream in self._streams])
        with self._told():
            while self._writer.commit():
                pass

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell a fault of the log that may pass: what was to be committed still waits."""
        try:
            yield
        except LogUnavailable as fault:
            if not fault.may_pass:
                raise
            self._fault = fault
        else:
            self._fault = None

    def _end_streams(self, end: float) -> None:
        """Stop all streams, and commit what they read until they have ended, or it is time.

        :raises LogUnavailable: the log cannot be written; the same can be done again.
        """
        for stream in self._streams:
            stream.stop()
        outboxes = [stream.outbox for stream in self._streams]
        while any(stream.is_alive() for stream in self._streams) and monotonic() < end:
            # A stream that waits for room ends when there is some.
            self._writer.collect(outboxes)
            self._writer.commit(all_of_it=True)
            for stream in self._streams:
                stream.join(_TICK / 10)
        self._writer.collect(outboxes)
        self._writer.commit(all_of_it=True)

    def _end(self) -> None:
        """Store all that was read, and let no stream wait for room any more.

        :raises LogUnavailable: the log could not be written as long as patience lasted.
        """
        end = monotonic() + _PATIENCE
        try:
            while True:
                with self._told():
                    self._end_streams(end)
                if self._fault is None:
                    break
                if monotonic() >= end:
                    raise self._fault
                sleep(_TICK)
        finally:
            self._room.close()
        # The last words of streams that are still alive.
        self._writer.collect([stream.outbox for stream in self._streams])
        self._writer.commit(all_of_it=True)

    def _raise(self) -> None:
        for stream in self._streams:
            if stream.fell is not None and self._renewed is None:
                fell = stream.fell
                raise RecordingFailed(
                    f"the revisions of the cluster fell: {fell}",
                    where=stream.state.name,
                    now="its etcd was restored from a backup, or this is another cluster; record "
                    "it under another name: --cluster NAME",
                )
            if stream.crash is not None:
                raise stream.crash
