"""Takes the batches of an audit webhook: in the log within a second, or on disk until they are.

An API server sends a batch again if it gets no answer, and drops records without a trace when its
buffer is full. So a batch is answered soon, and only once it cannot be lost; and nothing is claimed
of the records that came: the log of a webhook covers no revisions.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from ...engine.errors import InputError
from ...engine.ingest.audit.audit_log import FORMAT
from ...engine.ingest.reading.formats import Context
from .audit_losses import AuditLosses
from .event_taker import EventTaker
from .outbox import Outbox, Room
from .stream_state import StreamPhase, StreamState
from .stream_thread import StreamThread

ANSWER_SECONDS = 0.9
"""How long a batch waits for its commit before it is kept on disk."""

SOURCE = "audit webhook"
_SUFFIX = ".json"
_HEAD = 2**16
_LOOK = 5.0
"""Seconds between two looks at what was kept, and at what is missing."""


class AuditInbox(StreamThread):
    """Takes batches from the threads of a server, and stores those that were kept on disk.

    :param spool: the folder of batches that are not in the log yet; another run stores them, as of
        the epoch in which they came.
    :param now: microseconds since 1970. :param losses: what watches show is compared there.
    """

    def __init__(
        self,
        outbox: Outbox,
        room: Room,
        spool: Path,
        *,
        cluster: str,
        now: Callable[[], int],
        redact: bool = False,
        losses: AuditLosses | None = None,
    ) -> None:
        super().__init__(SOURCE, StreamState(resource=SOURCE, may_be_silent=True), outbox)
        self._room, self._spool, self._cluster, self._now = room, spool, cluster, now
        self._losses = losses
        seen = None if losses is None else losses.recorded
        self._taker = EventTaker(outbox, self.state, redact=redact, seen=seen)
        self._wake, self._halt = threading.Event(), threading.Event()
        # One batch at a time: what is read of it counts in the state, and in the redaction.
        self._lock = threading.Lock()
        # Of batches that are on disk and in the outbox: what is set when they are stored.
        self._underway: dict[Path, threading.Event] = {}

    def stop(self) -> None:
        """End soon; batches that come after it are kept on disk."""
        self._halt.set()
        self._wake.set()

    def read(self) -> None:
        """Store what was kept on disk, until it is stopped."""
        self.state.phase = StreamPhase.WATCHING
        while not self._halt.is_set():
            for path in self._kept():
                self._store_kept(path)
                if self._halt.is_set():
                    break
            self._say_losses()
            self._wake.wait(_LOOK)
            self._wake.clear()

    def _say_losses(self) -> None:
        if self._losses is not None:
            for lacking in self._losses.found():
                self.state.holes += 1
                self.outbox.add(lacking, aside=True)

    def accept(self, body: bytes) -> None:
        """Take a batch; when this returns, it is in the log or on disk.

        :raises InputError: it is no batch of audit records. :raises OSError: the disk is full.
        """
        self.state.heard_at = self._now()
        self.state.bytes += len(body)
        if not FORMAT.sniff(body[:_HEAD], SOURCE):
            raise InputError("this is no batch of audit records", where=SOURCE)
        if self._halt.is_set() or not self._room.has(len(body)):
            self._keep(body)
            self._wake.set()
            return
        stored = self._take(body, self._cluster)
        if not stored.wait(ANSWER_SECONDS):
            # It will be committed. If not, because this process ends, the next run does it.
            self._underway[self._place_of(body)] = stored
            self._keep(body)
            self._wake.set()

    def _take(self, body: bytes, cluster: str) -> threading.Event:
        """Put the events of a batch into the outbox; return what is set when they are stored."""
        with self._lock:
            context = Context(source=SOURCE, cluster=cluster, skip_malformed=True)
            for event in FORMAT.events(io.BytesIO(body), context):
                self._taker.take(event, context)
            context.spans = []  # Nothing shows that no record is missing.
            self._taker.cover(context)
            return self.outbox.mark()

    def _keep(self, body: bytes) -> None:
        """Write a batch to disk, whole or not at all."""
        self._spool.mkdir(parents=True, exist_ok=True)
        path = self._place_of(body)
        partial = path.with_suffix(".part")
        with partial.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)

    def _place_of(self, body: bytes) -> Path:
        """Return where a batch is kept; the name of the file says of which cluster it is."""
        digest = hashlib.blake2b(body, digest_size=16).hexdigest()
        return self._spool / f"{digest}-{_in_file_name(self._cluster)}{_SUFFIX}"

    def _kept(self) -> Iterator[Path]:
        if self._spool.is_dir():
            yield from sorted(self._spool.glob(f"*{_SUFFIX}"))

    def _store_kept(self, path: Path) -> None:
        """Store a batch from disk, unless that is underway; remove it once it is in the log."""
        stored = self._underway.pop(path, None)
        if stored is None:
            # Version 0.1.0 kept batches without a cluster.
            cluster = unquote(path.stem.partition("-")[2]) or self._cluster
            stored = self._take(path.read_bytes(), cluster)
        while not stored.wait(0.2):
            if self._halt.is_set():
                return
        path.unlink(missing_ok=True)


def _in_file_name(cluster: str) -> str:
    """Return a name of a cluster without what no file may have; letters of all scripts stay."""
    return "".join(quote(each, safe="") if each.isascii() else each for each in cluster)
