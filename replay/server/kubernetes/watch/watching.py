"""The thread that all watches of a server share: it reads a log, and makes what each is sent."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from typing import NamedTuple, TypeVar

from .....engine.state.truth_fold import Entry
from ....logs.log import Log, opened
from ...settings import ServerSettings
from ..read.cluster_state import ClusterState, Name
from ..wire.api_resources import ApiResource
from ..wire.api_status import expired, too_large
from ..wire.list_options import ListOptions
from .channels import Channel, ClientWatch, Queued
from .resource_changes import held_at


class Feed:
    """The watches of one resource.

    :param held: its objects, as far as changes were found.
    """

    def __init__(self, resource: ApiResource, held: dict[Name, Entry]) -> None:
        self.resource, self.held = resource, held
        self.channels: dict[Hashable, Channel] = {}


class Feeds:
    """The watches of a server; one thread uses them.

    :ivar by_resource: the watches of each resource, by its place in URLs.
    """

    def __init__(self) -> None:
        self.by_resource: dict[Hashable, Feed] = {}

    def add(self, state: ClusterState, watcher: ClientWatch, *, fresh: bool) -> None:
        """Let a watch see what comes after a state.

        :param fresh: nothing was sent to it yet.
        """
        resource = watcher.resource
        feed = self.by_resource.get(resource.key)
        if feed is None:
            feed = self.by_resource[resource.key] = Feed(resource, held_at(state, resource))
        if watcher.key not in feed.channels:
            feed.channels[watcher.key] = Channel(state, watcher)
        feed.channels[watcher.key].add(watcher, fresh=fresh)

    def remove(self, watcher: ClientWatch) -> None:
        """Let a watch see no more."""
        feed = self.by_resource.get(watcher.resource.key)
        channel = None if feed is None else feed.channels.get(watcher.key)
        if feed is None or channel is None or watcher not in channel.watchers:
            return
        channel.remove(watcher)
        if not channel.watchers:
            del feed.channels[watcher.key]
        if not feed.channels:
            del self.by_resource[feed.resource.key]

    def clear(self) -> list[ClientWatch]:
        """Forget all watches, and return them."""
        ended = [
            watcher
            for feed in self.by_resource.values()
            for channel in feed.channels.values()
            for watcher in channel.watchers
        ]
        self.by_resource.clear()
        return ended


T = TypeVar("T")


class Opening(NamedTuple):
    """A watch that was opened.

    :param parts: what it begins with, made in the thread as it is read.
    :param revision: up to where that goes.
    """

    watcher: ClientWatch
    parts: Iterator[bytes]
    revision: int


class Watching(ABC):
    """One thread with a separate log, and the watches that it serves.

    All of it but the watchers themselves is used in its thread alone, so nothing is missed between
    what a watch begins with and what follows.

    :param name: of the thread. :param read_only: whether the log is not written.
    """

    def __init__(self, name: str, settings: ServerSettings, *, read_only: bool) -> None:
        self._settings, self._read_only = settings, read_only
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._log: Log | None = None
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

    def _opened(self) -> Log:
        if self._log is None:
            settings = self._settings
            self._log = opened(
                settings.place,
                read_only=self._read_only,
                branch=settings.branch,
                cluster=settings.cluster,
            )
        return self._log

    def _opening(
        self,
        state: ClusterState,
        resource: ApiResource,
        asked: ListOptions,
        end: str,
        *,
        follows: bool = True,
    ) -> Opening:
        """Open a watch at a state.

        :param end: says what its revision, ``{}``, is of. :param follows: it sees what comes.
        :raises StatusError: it begins at a revision that does not exist yet, or no more.
        """
        watcher = ClientWatch(resource, asked, self._queued)
        since, now = asked.revision or 0, state.revision
        if since > now:
            late = f"resourceVersion {since} is later than {end.format(now)}"
            raise too_large(since, now) if asked.initial else expired(late)
        if asked.initial or not since:
            parts = Channel(state, watcher).initial(state)
        else:
            parts = self._since(state, since, watcher)
        # Made at once: what fails in it can still refuse the watch.
        first = next(parts, None)
        if follows:
            self._feeds.add(state, watcher, fresh=first is None)
        return Opening(watcher, chain([] if first is None else [first], parts), now)

    @abstractmethod
    def _since(self, state: ClusterState, since: int, watcher: ClientWatch) -> Iterator[bytes]:
        """Return what happened after a revision, up to a state.

        :raises StatusError: it cannot be continued from there.
        """
