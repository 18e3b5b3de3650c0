"""Follows the moment that is served, for all watches: one thread with a separate log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from .....engine.errors import PointTooEarly
from ....logs.log import Log
from ....moments.moment import Moment
from ...settings import ServerSettings
from ..read.cluster_state import ClusterState, KeptStates
from ..wire.api_resources import ApiResource
from ..wire.api_status import StatusError, expired
from ..wire.list_options import ListOptions
from ..wire.shifted_times import NONE, Shift
from .channels import Channel, ClientWatch
from .resource_changes import changes_between, held_at
from .watching import Opening, Watching

T = TypeVar("T")

_MOST_ENTRIES = 1


class WatchFollower(Watching):
    """The watches of a server; close it at the end.

    :ivar revision: up to where all watches have seen everything.
    :ivar shift: by how much times are moved at the moment that is served.
    """

    def __init__(self, settings: ServerSettings) -> None:
        super().__init__("follower", settings, read_only=True)
        # Moments that are played pass quickly: what is kept of them would be of no use to others.
        self._kept = KeptStates(_MOST_ENTRIES)
        self.revision = 0
        self.shift = NONE
        self._moment: Moment | None = None

    @property
    def has_watchers(self) -> bool:
        """Whether anybody watches."""
        return bool(self._feeds.by_resource)

    async def ask(self, question: Callable[[Log], T]) -> T:
        """Return what a question to the log answers, in the thread."""
        return await self._run(lambda: question(self._opened()))

    async def advance(self, moment: Moment) -> None:
        """Go on to a later moment, and let watches see what happened until then.

        If that is too much they end, and their clients ask again.
        """
        try:
            news, revision = await self._run(lambda: self._advance(moment))
        except StatusError as fault:
            await self._end(moment, str(fault))
            return
        for watcher, part in news:
            watcher.put(part)
        self.revision = revision

    async def rewind(self, moment: Moment) -> None:
        """Go back to an earlier moment: watches end, and their clients ask again."""
        await self._end(moment, f"the moment that is served went back to {moment.label}")

    async def open(
        self, resource: ApiResource, asked: ListOptions, at: Moment | None, shift: Shift = NONE
    ) -> Opening:
        """Open a watch.

        :param at: a moment that does not move; None is the one that is served.
        :param shift: by how much times are moved at that moment.
        :raises StatusError: it begins at a revision that does not exist yet, or no more.
        """
        return await self._run(lambda: self._open(resource, asked, at, shift))

    def close(self) -> None:
        """End the thread, and close its log."""
        self._thread.shutdown(cancel_futures=True)
        if self._log is not None:
            self._log.close()

    def _state(self, moment: Moment, shift: Shift | None = None) -> ClusterState:
        shift = self.shift if shift is None else shift
        return ClusterState(self._opened(), moment, self._kept, shift)

    def _advance(self, moment: Moment) -> tuple[list[tuple[ClientWatch, bytes]], int]:
        # Nothing has to be compared if nothing is watched.
        if self._moment is None or not self._feeds.by_resource:
            self._moment = moment
            return [], self._state(moment).revision
        self._opened().forget()  # States are large, and of those that passed none is needed.
        before, after = self._state(self._moment), self._state(moment)
        news = []
        for feed in self._feeds.by_resource.values():
            changes = list(changes_between(self._opened(), before, after, feed.resource, feed.held))
            for channel in feed.channels.values():
                news += channel.news(after, changes)
        self._moment = moment
        return news, after.revision

    async def _end(self, moment: Moment, why: str) -> None:
        """End all watches, and serve another moment."""

        def ended() -> tuple[list[ClientWatch], int]:
            self._moment = moment
            return self._feeds.clear(), self._state(moment).revision

        watchers, self.revision = await self._run(ended)
        for watcher in watchers:
            watcher.end(410, why)

    def _open(
        self, resource: ApiResource, asked: ListOptions, at: Moment | None, shift: Shift
    ) -> Opening:
        moment = at or self._moment
        assert moment is not None, "a moment is served before anybody watches"
        state = self._state(moment) if at is None else self._state(moment, shift)
        end = "the moment that is served, at rv:{}"
        return self._opening(state, resource, asked, end, follows=at is None)

    def _since(self, state: ClusterState, since: int, watcher: ClientWatch) -> Iterator[bytes]:
        """Return what happened after a revision."""
        try:
            before = state.at(since)
        except PointTooEarly as fault:
            raise expired(f"too old resource version: {since}: {fault.what}") from fault
        held = held_at(before, watcher.resource)
        changes = changes_between(self._opened(), before, state, watcher.resource, held)
        return Channel(before, watcher).past(state, changes)
