"""Keeps the index of a log up to date while it is recorded: clock, facts, stored states.

Without it every answer is the same, and slower: answers about the last seconds would read all that
came since. A separate process builds it, so that it takes neither time nor memory from what
reads and stores.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import monotonic, process_time

from ...engine.errors import PlinianError

LEAST_WAIT = 5.0
"""Seconds between two builds."""

_SHARE = 3.0
"""So many times what a build took passes before the next: a part of it grows with the log."""

_MANY = 500
"""New events that make a build worth that share of a processor: answers play them otherwise."""

_QUIET_SHARE = 400.0
"""With fewer new events so many times passes: a quiet cluster takes 0.25 % of a processor."""

_PATIENCE = 2.0
"""Seconds that the process gets to end."""

_NICE = 10
"""The machine prefers the recorder, and those who ask, to the process."""

_TICK = 0.25

Build = Callable[[str], int]
"""Builds the index of a cluster of a log, and returns the position that it reaches.

Another process runs it, so it must be a function of a module, or a ``partial`` of one.
"""


class IndexBuilder(threading.Thread):
    """Has a process build the index now and then, until it is stopped.

    :param cluster: returns the cluster, or the epoch of it, that is recorded now.
    :param last: returns the last position of the branch. :param wait: seconds between two builds.
    :ivar built: up to which position the index was built.
    """

    def __init__(
        self,
        build: Build,
        *,
        cluster: Callable[[], str],
        last: Callable[[], int],
        wait: float = LEAST_WAIT,
    ) -> None:
        super().__init__(name="index", daemon=True)
        self._cluster, self._last, self._wait = cluster, last, wait
        self._process = _BuildProcess(build)
        self._stop_soon = threading.Event()
        self.built = 0

    def stop(self) -> None:
        """End soon. What a build did not finish, the next one does."""
        self._stop_soon.set()

    def run(self) -> None:
        """Build until it is stopped."""
        spent, ended = 0.0, monotonic()
        try:
            while not self._stop_soon.wait(self._wait):
                new = self._last() - self.built
                share = _SHARE if new >= _MANY else _QUIET_SHARE
                if new <= 0 or monotonic() - ended < share * spent:
                    continue
                # If it fails, the writer meets the same fault, and says it.
                built = self._process.build(self._cluster(), self._stop_soon)
                if built is not None:
                    self.built, spent = built
                ended = monotonic()
        finally:
            self._process.end()


class _BuildProcess:
    """A process that builds when it is asked; it starts with the first request."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._process: BaseProcess | None = None
        self._asking: Connection | None = None

    def build(self, cluster: str, stop_soon: threading.Event) -> tuple[int, float] | None:
        """Build once. Return the position that was reached, and the seconds of a processor it took.

        None if it failed, or had to stop.

        :param stop_soon: set if the result is no longer needed.
        """
        if self._process is None or not self._process.is_alive():
            self._start()
        assert self._asking is not None, "a process that runs can be asked"
        try:
            self._asking.send(cluster)
            while not self._asking.poll(_TICK):
                if stop_soon.is_set():
                    return None
            built: tuple[int, float] | None = self._asking.recv()
        except (OSError, EOFError):  # Something ended the process; the next request starts another.
            return None
        return built

    def _start(self) -> None:
        self.end()
        context = multiprocessing.get_context("spawn")
        self._asking, asked = context.Pipe()
        self._process = context.Process(
            target=_build_when_asked, args=(self._build, asked), daemon=True
        )
        # An interrupt of a terminal reaches both processes, and only the recorder handles it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        asked.close()

    def end(self) -> None:
        """End the process; the transaction that it may be in leaves nothing behind."""
        if self._process is None or self._asking is None:
            return
        self._asking.close()
        self._process.kill()
        self._process.join(_PATIENCE)
        self._process = self._asking = None


def _build_when_asked(build: Build, asked: Connection) -> None:
    """Build for each cluster that is named, until the recorder is gone."""
    os.nice(_NICE)
    with suppress(EOFError, OSError):
        while True:
            cluster = asked.recv()
            begun = process_time()
            try:
                built = build(cluster), process_time() - begun
            except PlinianError:
                built = None
            asked.send(built)


@contextmanager
def indexed(
    build: Build,
    *,
    cluster: Callable[[], str],
    last: Callable[[], int],
    wait: float = LEAST_WAIT,
) -> Iterator[IndexBuilder]:
    """Keep the index of a log up to date in the body; parameters as of :class:`IndexBuilder`."""
    builder = IndexBuilder(build, cluster=cluster, last=last, wait=wait)
    builder.start()
    try:
        yield builder
    finally:
        builder.stop()
        builder.join(_PATIENCE)
