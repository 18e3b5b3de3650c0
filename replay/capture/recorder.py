"""Records a live cluster: a thread for each kind reads, and one thread writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from ...engine.errors import ConnectionLost, PlinianError
from ...engine.events import Event
from ...engine.log import MAIN, LogStore
from .cluster_access import Access
from .commit_writer import CommitPace, Committed, CommitWriter
from .outbox import Outbox, Room
from .recorded_kinds import OF_VOLCANO_ALONE, RecordedKind, recorded_kinds
from .recording_stream import RecordingStream, StreamPlan
from .resume_points import resumed
from .stream_state import StreamState
from .watched_lines import Pace

if TYPE_CHECKING:
    from ...engine.ingest.objects.redaction import Redaction

_TICK = 0.25
_ROOM = 64 * 2**20
_PATIENCE = 4.0
"""Seconds that streams get to end."""


class RecordOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to record.

    :param namespaces: only in these; empty for all. Kinds without namespaces are always whole.
    :param kinds: only these, as kubectl names them; empty for all that are of use.
    :param scheduler_namespace: where the scheduler's ConfigMap and Lease are.
    :param cluster: the name that the log gives to the cluster.
    :param redact: leave out what often holds secrets.
    :param room: bytes that may wait to be stored.
    """

    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    scheduler_namespace: str = "volcano-system"
    cluster: str = "default"
    branch: str = MAIN
    redact: bool = False
    room: int = _ROOM


class Recording(msgspec.Struct, frozen=True):
    """What a recorder did so far.

    :param waiting: events that are not stored yet.
    :param fault: why the log could not be written at the last try; None if it could.
    """

    streams: Sequence[StreamState]
    committed: Committed
    waiting: int = 0
    bytes_waiting: int = 0
    fault: PlinianError | None = None


class RecordingFailed(PlinianError):
    """A recorder cannot go on."""


def planned(options: RecordOptions) -> Iterator[StreamPlan]:
    """Yield what each stream reads.

    :raises UsageError: a kind is not one that is recorded.
    """
    for kind in recorded_kinds(options.kinds):
        for namespace in _namespaces(kind, options):
            yield StreamPlan(kind, namespace)


def _namespaces(kind: RecordedKind, options: RecordOptions) -> tuple[str, ...]:
    if not kind.namespaced:
        return ("",)
    if kind.pair in OF_VOLCANO_ALONE:
        return (options.scheduler_namespace,)
    return options.namespaces or ("",)


class ClusterRecorder:
    """Records until it is stopped.

    :param now: microseconds since 1970. :param pace: of streams; ``commits``: of the writer.
    """

    def __init__(
        self,
        store: LogStore,
        access: Access,
        options: RecordOptions,
        *,
        now: Callable[[], int],
        pace: Pace = Pace(),  # noqa: B008 -- a tuple
        commits: CommitPace = CommitPace(),  # noqa: B008 -- a tuple
    ) -> None:
        room = Room(options.room)
        self._room, self._stop = room, threading.Event()
        self._fault: ConnectionLost | None = None
        self._redactions: list[tuple[StreamPlan, Redaction]] = []
        self._options = options
        self._writer = CommitWriter(store, options.branch, room, monotonic, commits)
        self._streams = [
            RecordingStream(
                access,
                resumed(store, plan, cluster=options.cluster, branch=options.branch),
                Outbox(room),
                cluster=options.cluster,
                now=now,
                pace=pace,
                redacted=self._redacted(plan),
            )
            for plan in planned(options)
        ]

    def _redacted(self, plan: StreamPlan) -> Callable[[Event], Event] | None:
        if not self._options.redact:
            return None
        from ...engine.ingest.objects.redaction import Redaction  # noqa: PLC0415 -- many patterns

        redaction = Redaction()
        self._redactions.append((plan, redaction))
        return redaction.redacted

    def stop(self) -> None:
        """End soon; called by another thread, or by a signal."""
        self._stop.set()

    def recording(self) -> Recording:
        """Return what was done so far."""
        states = [stream.state for stream in self._streams]
        writer = self._writer
        return Recording(states, writer.committed, writer.waiting, self._room.used, self._fault)

    def run(self, noticed: Callable[[Recording], None]) -> Recording:
        """Record until :meth:`stop`, and commit all that was read.

        :param noticed: called several times a second.
        :raises RecordingFailed: it cannot go on; what was read before is stored.
        :raises LogUnavailable: the log cannot be written.
        """
        for stream in self._streams:
            stream.start()
        try:
            while not self._stop.wait(_TICK) and not any(map(_has_ended, self._streams)):
                self._step()
                noticed(self.recording())
        finally:
            self._end()
        self._raise()
        return self.recording()

    def _step(self) -> None:
        self._writer.collect([stream.outbox for stream in self._streams])
        try:
            while self._writer.commit():
                pass
        except ConnectionLost as fault:
            self._fault = fault  # What was to be committed still waits for the next step.
        else:
            self._fault = None

    def _end(self) -> None:
        """Stop all streams, and commit what they read."""
        for stream in self._streams:
            stream.stop()
        end = monotonic() + _PATIENCE
        outboxes = [stream.outbox for stream in self._streams]
        while any(stream.is_alive() for stream in self._streams) and monotonic() < end:
            # A stream that waits for room ends when there is some.
            self._writer.collect(outboxes)
            self._writer.commit(all_of_it=True)
            for stream in self._streams:
                stream.join(_TICK / 10)
        self._room.close()
        for plan, redaction in self._redactions:
            account = redaction.account(source=plan.source, cluster=self._options.cluster)
            outboxes[0].add(account, aside=True)
        self._writer.collect(outboxes)
        self._writer.commit(all_of_it=True)

    def _raise(self) -> None:
        for stream in self._streams:
            if stream.fell is not None:
                fell = stream.fell
                raise RecordingFailed(
                    f"the revisions of the cluster fell: {fell}",
                    where=stream.state.name,
                    now="its etcd was restored from a backup, or this is another cluster; record "
                    "it under another name: --cluster NAME",
                )
            if stream.crash is not None:
                raise stream.crash


def _has_ended(stream: RecordingStream) -> bool:
    return stream.fell is not None or stream.crash is not None
