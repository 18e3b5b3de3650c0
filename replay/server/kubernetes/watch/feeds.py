"""Watches by what they watch: one feed a resource, one channel a selection and form."""

from __future__ import annotations

from collections.abc import Callable

from .....engine.state.truth import Entry
from ..wire.list_options import AnswerForm, Selection
from ..wire.resources import ApiResource
from .channels import Channel, ClientWatch
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
