"""The log for requests: a few threads that share it.

Short questions, long ones and work in the background have separate threads, so a look at the state
never waits for a session, and a session never for a search. But two caches of a large cluster take
more memory than a server should: there, a session and a search take turns. The number of questions
that wait is bounded, and so is how long a request waits: beyond that a server is busy, and says so.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from typing import Any, TypeVar

from ...engine.errors import PlinianError
from ...engine.kubernetes.objects.sharing import forget_shared
from ...engine.log.location import parse_location
from ..facade.log import Log, opened
from .answer_limits import AnswerLimit
from .freed_memory import keep_little, return_memory
from .settings import ServerSettings
from .shared_log import SharedLog

T = TypeVar("T")

SHORT_THREADS, LONG_THREADS, WORK_THREADS = 2, 1, 1
MOST_WAITING, MOST_WAITING_LONG, MOST_WAITING_WORKS = 256, 16, 4
"""Questions that wait or are being answered."""

SHORT_SECONDS, LONG_SECONDS = 60.0, 180.0
"""How long a request waits for its answer, with the time until its turn."""

WORK_SECONDS = 300.0
"""How long work in the background may take; a request for its progress waits for none of it."""

LARGE = 20_000
"""The caches of a log that names so many objects may be large: one question at a time has one."""

END_SECONDS = 1.0
"""How long the end of a server waits for the questions that are being answered."""


class ServerBusy(PlinianError):
    """More questions wait than the server accepts, or one waited for too long."""


class Readers:
    """The threads that read a log; close them at the end.

    :param settings: which log, branch and cluster.
    """

    def __init__(self, settings: ServerSettings) -> None:
        keep_little()
        self._log = SharedLog(
            parse_location(settings.place),
            lambda: opened(
                settings.place, read_only=True, branch=settings.branch, cluster=settings.cluster
            ),
        )
        self._turn = threading.Lock()
        self._short = _Lane("short", SHORT_THREADS, MOST_WAITING, SHORT_SECONDS)
        self._long = _Lane("long", LONG_THREADS, MOST_WAITING_LONG, LONG_SECONDS)
        waits = WORK_SECONDS * MOST_WAITING_WORKS
        self._works = _Lane("work", WORK_THREADS, MOST_WAITING_WORKS, waits)

    async def ask(
        self, question: Callable[[Log], T], *, long: bool = False, limit: AnswerLimit | None = None
    ) -> T:
        """Return what a question answers; it runs in one of the threads.

        :param long: it may take more than half a second, as sessions do.
        :param limit: the time that the answer may take; it is stopped if no request waits any more.
        :raises ServerBusy: too many questions wait, or this one waited too long.
        """
        if long:
            return await self._long.answer(lambda: self._answer_large(question), limit)
        return await self._short.answer(lambda: self._answer(question), limit)

    async def work(self, question: Callable[[Log], T], limit: AnswerLimit) -> T:
        """Return what a question answers that runs for minutes, in a thread for such work.

        :raises ServerBusy: too many of them wait.
        """
        return await self._works.answer(lambda: self._answer_large(question), limit)

    def close(self) -> None:
        """End: drop the questions that wait, stop those that can be stopped, and close the log.

        What still runs after that ends with the process; it only reads.
        """
        # As a list: ``all`` of a generator would leave lanes running after one that does not end.
        ended = [lane.end() for lane in (self._short, self._long, self._works)]
        if all(ended):
            self._log.close()

    def _answer(self, question: Callable[[Log], T]) -> T:
        with self._log.used() as log:
            return question(log)

    def _answer_large(self, question: Callable[[Log], T]) -> T:
        """Answer a question that needs a session or a cache, which can be half of the memory.

        Make room before, and let go of everything after it: sessions leave objects that refer to
        each other, which only a full collection finds, and the C library keeps what is freed unless
        it is asked to return it. Small parts that decoded objects share are in memory between those
        that were freed: as long as they are kept, so is what is around them.
        """
        with self._log.used() as log, self._turn if _is_large(log) else nullcontext():
            log.make_room()
            try:
                return question(log)
            finally:
                forget_shared()
                gc.collect()
                return_memory()


class _Lane:
    """Threads for questions of one length, and the questions that wait for them."""

    def __init__(self, name: str, threads: int, most: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._most, self._seconds = most, seconds
        self._asked: dict[Future[Any], AnswerLimit | None] = {}
        self._awaited: set[asyncio.Future[Any]] = set()
        self._has_ended = False

    async def answer(self, question: Callable[[], T], limit: AnswerLimit | None) -> T:
        """Return the answer to a question.

        :raises ServerBusy: too many questions wait, or this one waited too long.
        """
        if len(self._asked) >= self._most:
            raise ServerBusy(f"{self._most} requests wait already", now="try again in a moment")
        asked = self._pool.submit(_begun, question, limit)
        # Counted until the thread is done, not until the request is: what runs keeps its place.
        self._asked[asked] = limit
        loop = asyncio.get_running_loop()
        asked.add_done_callback(lambda done: _in_loop(loop, lambda: self._asked.pop(done, None)))
        awaited = asyncio.wrap_future(asked)
        self._awaited.add(awaited)
        try:
            async with asyncio.timeout(self._seconds):
                return await awaited
        except asyncio.CancelledError:
            # end() cancels it, or a client that goes. Only in the former case a client reads this.
            if self._has_ended:
                raise ServerBusy("the server ends", now="start it again") from None
            raise
        except TimeoutError:
            raise ServerBusy(
                f"there was no answer within {self._seconds:g} s",
                now="try again later, or narrow the question",
            ) from None
        finally:
            self._awaited.discard(awaited)
            # On every way out: an answer that no request waits for must leave its thread.
            if limit is not None:
                limit.stop()

    def end(self) -> bool:
        """Stop what can be stopped, and return whether nothing runs any more."""
        self._has_ended = True
        for awaited in list(self._awaited):
            awaited.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)
        for limit in list(self._asked.values()):
            if limit is not None:
                limit.stop()
        return not wait(list(self._asked), timeout=END_SECONDS).not_done


def _is_large(log: Log) -> bool:
    return log.store.info().objects >= LARGE


def _begun(question: Callable[[], T], limit: AnswerLimit | None) -> T:
    if limit is not None:
        limit.begin()
    return question()


def _in_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    """Call from a thread something in the event loop, unless that has ended."""
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:
        return
