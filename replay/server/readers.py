"""The log for requests: a few threads, each with a separate connection.

Short questions and long ones have separate threads, so a look at the state never waits for a
search. The number of questions that wait is bounded: beyond that a server is busy, and says so.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ...engine.errors import PlinianError
from ..facade.log import Log, opened
from .settings import Settings

T = TypeVar("T")

SHORT_THREADS, LONG_THREADS = 2, 1
MOST_WAITING = 256
"""Questions that wait or are being answered, of either length."""


class ServerBusy(PlinianError):
    """More questions wait than the server accepts."""


class Readers:
    """The threads that read a log; close them at the end.

    :param settings: which log, branch and cluster.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._own = threading.local()
        self._opened: list[Log] = []
        self._lock = threading.Lock()
        self._asked = {False: 0, True: 0}
        self._pools = {
            False: ThreadPoolExecutor(SHORT_THREADS, thread_name_prefix="short"),
            True: ThreadPoolExecutor(LONG_THREADS, thread_name_prefix="long"),
        }

    async def ask(self, question: Callable[[Log], T], *, long: bool = False) -> T:
        """Return what a question answers; it runs in one of the threads.

        :param long: it may take more than half a second, as sessions do.
        :raises ServerBusy: too many questions wait.
        """
        if self._asked[long] >= MOST_WAITING:
            raise ServerBusy(f"{MOST_WAITING} requests wait already", now="try again in a moment")
        self._asked[long] += 1
        answered = self._pools[long].submit(self._answer, question)
        loop = asyncio.get_running_loop()
        answered.add_done_callback(lambda _: loop.call_soon_threadsafe(self._answered, long))
        return await asyncio.wrap_future(answered)

    def close(self) -> None:
        """Wait for the questions that are being answered, drop the others, and close the log."""
        for pool in self._pools.values():
            pool.shutdown(cancel_futures=True)
        for log in self._opened:
            log.close()

    def _answered(self, long: bool) -> None:  # noqa: FBT001 -- a callback
        self._asked[long] -= 1

    def _answer(self, question: Callable[[Log], T]) -> T:
        log: Log | None = getattr(self._own, "log", None)
        if log is None:
            log = self._own.log = self._open()
        return question(log)

    def _open(self) -> Log:
        settings = self._settings
        log = opened(
            settings.place, read_only=True, branch=settings.branch, cluster=settings.cluster
        )
        with self._lock:
            self._opened.append(log)
        return log
