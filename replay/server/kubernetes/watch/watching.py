"""The thread that all watches of a server share: it reads a log, and makes what each is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from typing import TypeVar

from .channels import ClientWatch, Queued
from .feeds import Feeds

T = TypeVar("T")


class Opening:
    """A watch that was opened.

    :param first: what it begins with; None if that is nothing. :param parts: what follows of that,
        made in the thread as it is read.
    :param revision: up to where it goes.
    """

    def __init__(
        self, watcher: ClientWatch, first: bytes | None, parts: Iterator[bytes], revision: int
    ) -> None:
        self.watcher, self.revision = watcher, revision
        self.parts = iter(()) if first is None else chain([first], parts)


class Watching:
    """One thread, and the watches that it serves; all but the watchers is used in it alone.

    :param name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._feeds = Feeds()
        self._queued = Queued()

    async def begin(self, opening: Opening) -> AsyncIterator[bytes]:
        """Yield what a watch begins with; other watches go on meanwhile."""
        while (part := await self._run(lambda: next(opening.parts, None))) is not None:
            yield part

    def drop(self, watcher: ClientWatch) -> None:
        """End a watch, soon: who asks may be cancelled, and cannot wait."""
        watcher.end(410, "the watch was ended")  # Nothing more may wait for it.
        watcher.forget()
        with suppress(RuntimeError):  # The thread has ended, and with it all watches.
            self._thread.submit(lambda: self._feeds.remove(watcher))

    async def _run(self, job: Callable[[], T]) -> T:
        """Return what a job in the thread returns."""
        return await asyncio.wrap_future(self._thread.submit(job))
