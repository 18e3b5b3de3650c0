"""The thread that all watches of a server share: it reads a log, and makes what each is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from typing import TypeVar

from .....engine.state.truth_fold import Entry
from ..wire.api_resources import ApiResource
from ..wire.list_options import AnswerForm, Selection
from .channels import Channel, ClientWatch, Queued
from .resource_changes import Name

_Key = tuple[tuple[str, str, tuple[str, str]], AnswerForm]


class Feed:
    """The watches of one resource.

    :param held: its objects, as far as changes were found.
    """

    def __init__(self, resource: ApiResource, held: dict[Name, Entry]) -> None:
        self.resource, self.held = resource, held
        self.channels: dict[_Key, Channel] = {}


class Feeds:
    """The watches of a server; one thread uses them."""

    def __init__(self) -> None:
        self._feeds: dict[tuple[str, str, str], Feed] = {}
        self._of: dict[ClientWatch, tuple[Feed, _Key]] = {}

    @property
    def watchers(self) -> list[ClientWatch]:
        """All that watch."""
        return list(self._of)

    @property
    def feeds(self) -> list[Feed]:
        """All resources that are watched."""
        return list(self._feeds.values())

    def add(
        self,
        watcher: ClientWatch,
        selection: Selection,
        channel: Callable[[], Channel],
        held: Callable[[], dict[Name, Entry]],
        *,
        fresh: bool,
    ) -> None:
        """Let a watch see what comes.

        :param channel: makes what it needs, if no other watch sees the same.
        :param held: returns the objects of its resource, if no other watch is of it.
        :param fresh: nothing was sent to it yet.
        """
        resource = watcher.resource
        feed = self._feeds.get(resource.key)
        if feed is None:
            feed = self._feeds[resource.key] = Feed(resource, held())
        key = selection.key, watcher.form
        if key not in feed.channels:
            feed.channels[key] = channel()
        feed.channels[key].add(watcher, fresh=fresh)
        self._of[watcher] = feed, key

    def remove(self, watcher: ClientWatch) -> None:
        """Let a watch see no more."""
        found = self._of.pop(watcher, None)
        if found is None:
            return
        feed, key = found
        channel = feed.channels[key]
        channel.remove(watcher)
        if not channel.watchers:
            del feed.channels[key]
        if not feed.channels:
            self._feeds.pop(feed.resource.key, None)

    def clear(self) -> list[ClientWatch]:
        """Forget all watches, and return them."""
        ended = self.watchers
        self._feeds.clear()
        self._of.clear()
        return ended


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
