"""Questions that take so long that a person wants to see how far they are, and to stop them.

Each runs once, however many requests look at it, in a thread for such work. Its result is kept for
a while. It ends early when a person stops it, or when no request has looked at it for long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any

from ...engine.errors import PlinianError
from ..facade.log import Log
from .answer_limits import AnswerLimit
from .readers import WORK_SECONDS, Readers, ServerBusy

MOST_KEPT = 8
"""Works whose results are kept, with those that run."""

ABANDONED_SECONDS = 90.0
"""So long after the last request that looked at it a work is ended. Browsers ask the server again
each second, and once a minute in a tab that is not seen."""


class StopRequested(KeyboardInterrupt):
    """A work must end. What an interrupt may end returns what was found by then."""


class WorkStopped(PlinianError):
    """A work was stopped before it had a result."""


class WorkWatch(AnswerLimit):
    """What a work reports to, and asks whether it must end.

    :ivar words: what is done at present. :ivar done: how much of it, and ``total``: of how much;
        0 if that is not known. :ivar seen: when a request looked at it last.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.words, self.done, self.total = "It waits for its turn.", 0, 0
        self.begun = self.seen = monotonic()
        self.awaited = 0

    @property
    def seconds(self) -> float:
        """Return how long ago the work was asked for."""
        return monotonic() - self.begun

    def report(self, words: str, done: int = 0, total: int = 0) -> None:
        """Note how far the work is.

        :raises Stopped: it must end.
        """
        self.words, self.done, self.total = words, done, total
        unseen = not self.awaited and monotonic() - self.seen > ABANDONED_SECONDS
        if self.is_over or unseen:
            raise StopRequested


class RunningWork:
    """A question that runs, or has its answer."""

    def __init__(self, watch: WorkWatch, task: asyncio.Task[Any]) -> None:
        self.watch, self._task = watch, task

    @property
    def is_done(self) -> bool:
        """Return whether there is an answer."""
        return self._task.done()

    @property
    def is_refused(self) -> bool:
        """Return whether the server was too busy to answer."""
        fault = self._task.exception() if self._task.done() else None
        return isinstance(fault, ServerBusy)

    async def wait(self, seconds: float | None) -> None:
        """Wait for the answer, at most so long."""
        self.watch.seen = monotonic()
        self.watch.awaited += 1
        try:
            await asyncio.wait({self._task}, timeout=seconds)
        finally:
            self.watch.awaited -= 1
            self.watch.seen = monotonic()

    def answer(self) -> Any:
        """Return the answer of a work that is done.

        :raises PlinianError: there is none.
        """
        return self._task.result()


class Works:
    """The works of a server; to be used in its event loop."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._works: dict[Hashable, RunningWork] = {}

    def of(self, key: Hashable, question: Callable[[Log, WorkWatch], Any]) -> RunningWork:
        """Return the work with a key; it begins if there is none.

        :param question: it reports to its watch now and then.
        """
        # Put back at the end: what is dropped is the work that no request saw for longest.
        work = self._works.pop(key, None)
        if work is None or work.is_refused:
            work = self._begun(question)
        self._works[key] = work
        for old in [work_key for work_key, each in self._works.items() if each.is_done]:
            if len(self._works) > MOST_KEPT and old != key:
                del self._works[old]
        return work

    def stop(self, key: Hashable) -> None:
        """End a work, and keep what it has found."""
        work = self._works.get(key)
        if work is not None:
            work.watch.stop()

    def forget(self, key: Hashable) -> None:
        """Drop a work, so that the next request for it begins it again."""
        self.stop(key)
        self._works.pop(key, None)

    def _begun(self, question: Callable[[Log, WorkWatch], Any]) -> RunningWork:
        watch = WorkWatch(WORK_SECONDS)

        def answer(log: Log) -> Any:
            try:
                # A work that was stopped while it waited for its turn ends here.
                watch.report("It begins.")
                return question(log, watch)
            except StopRequested:
                seconds = f"after {watch.seconds:.0f} s, before there was a result"
                raise WorkStopped(f"it was stopped {seconds}", now="run it again") from None

        task = asyncio.create_task(self._readers.work(answer, watch))
        task.add_done_callback(_noted)
        return RunningWork(watch, task)


def _noted(task: asyncio.Task[Any]) -> None:
    """Look at the error of a work; else asyncio prints it if no request asks for the answer."""
    if not task.cancelled():
        task.exception()
