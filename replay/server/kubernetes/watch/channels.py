"""Watches that see the same: what is selected in one form is encoded once for all of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from .....engine.state.clock import UNDATED
from .....engine.state.truth_fold import Entry
from ..read.cluster_state import ClusterState, in_parts, name_of
from ..read.forms import Shaper
from ..read.lists import selected, shaper_of
from ..wire.api_resources import ApiResource
from ..wire.api_status import StatusError
from ..wire.list_options import ListOptions, ObjectShape
from .resource_changes import ResourceChange, at_revision

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"

MOST_QUEUED, MOST_QUEUED_IN_ALL = 32 << 20, 128 << 20
"""Bytes that wait for a client that reads slowly, and for all; beyond that its watch ends."""

_FAIR = 256 << 10
"""A client with less that waits is not slow, whatever waits for the others."""

_AT_ONCE = 500

_PART_BYTES = 64 << 10
"""A part of news ends with the line that exceeds this: each connection copies what it sends."""


class Queued:
    """The bytes that wait for all clients; a part that several watches share counts for each.

    :ivar size: so many.
    """

    def __init__(self) -> None:
        self.size = 0


class ClientWatch:
    """What waits for one client. It is used in the thread of the event loop.

    :param resource: what is watched. :param asked: which objects of it, and how they are shown.
    :param queued: what waits for all clients of the server.
    :ivar drained: whether its end was taken, so that nothing more comes.
    """

    def __init__(
        self, resource: ApiResource, asked: ListOptions, queued: Queued | None = None
    ) -> None:
        self.resource, self.selection, self.form = resource, asked.selection, asked.form
        self._queued = queued or Queued()
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self._last: bytes | None = None
        self.drained = False

    @property
    def key(self) -> Hashable:
        """What watches of a resource have in common that see the same."""
        return self.selection.key, self.form

    def put(self, part: bytes) -> None:
        """Add lines; a client that is too slow loses all that waits, and its watch."""
        if self._last is not None or not part:
            return
        self._parts.append(part)
        self._count(len(part))
        is_slow = self._size > _FAIR and self._queued.size > MOST_QUEUED_IN_ALL
        if self._size > MOST_QUEUED or is_slow:
            self.forget()
            self.end(410, "the client reads too slowly")
        self._news.set()

    def forget(self) -> None:
        """Drop all that waits."""
        self._parts.clear()
        self._count(-self._size)

    def _count(self, size: int) -> None:
        self._size += size
        self._queued.size += size

    def end(self, code: int, message: str) -> None:
        """Let the watch end, with an error after what waits."""
        if self._last is None:
            self._last = line("ERROR", msgspec.json.encode(StatusError(code, message).document))
            self._news.set()

    async def take(self, seconds: float) -> list[bytes]:
        """Return all that waits, with the error at the end; nothing if nothing comes in time."""
        if not self._parts and self._last is None:
            try:
                await asyncio.wait_for(self._news.wait(), seconds)
            except TimeoutError:
                return []
        self._news.clear()
        parts = [*self._parts, *([] if self._last is None else [self._last])]
        self.drained = self._last is not None
        self.forget()
        return parts

    def bookmark(self, revision: int, *, ends_initial: bool = False) -> bytes:
        """Return a line that only says how far the watch is."""
        shaper = Shaper(self.form, self.resource, UNDATED)
        return line("BOOKMARK", shaper.bookmark(revision, ends_initial=ends_initial))


def line(kind: str, body: bytes) -> bytes:
    """Return an event of a watch."""
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), body)


class SeenChange(NamedTuple):
    """A change as the watches of one channel see it."""

    kind: str
    entry: Entry
    body: bytes


class Channel:
    """The watches of one resource with one selection and one form.

    :param watcher: one of them.
    :param held: the objects of the resource that exist; None is those of the state.
    """

    def __init__(
        self, state: ClusterState, watcher: ClientWatch, held: Sequence[Entry] | None = None
    ) -> None:
        self.resource, self._form = watcher.resource, watcher.form
        self._selection = watcher.selection
        shown = selected(state, self.resource, self._selection, held)
        self._shown = {name_of(entry): entry for entry in shown}
        self.watchers: list[ClientWatch] = []
        self._fresh: set[int] = set()

    def add(self, watcher: ClientWatch, *, fresh: bool) -> None:
        """Let a watch see what comes.

        :param fresh: no table was sent to it yet, so the next one says what its columns are.
        """
        self.watchers.append(watcher)
        if fresh and self._form.shape is ObjectShape.TABLE:
            self._fresh.add(id(watcher))

    def remove(self, watcher: ClientWatch) -> None:
        """Let a watch see no more."""
        self.watchers.remove(watcher)
        self._fresh.discard(id(watcher))

    def initial(self, state: ClusterState) -> Iterator[bytes]:
        """Yield lines that add all objects, some at a time."""
        entries = [self._shown[name] for name in sorted(self._shown)]
        return self._some_at_a_time(
            state,
            (
                SeenChange(ADDED, entry, body)
                for portion in in_parts(entries, _AT_ONCE)
                for entry, body in zip(portion, state.bodies(portion, self.resource), strict=True)
            ),
        )

    def past(self, state: ClusterState, changes: Iterable[ResourceChange]) -> Iterator[bytes]:
        """Yield lines for a watch that begins with some changes, some at a time."""
        return self._some_at_a_time(state, self._seen(state, changes))

    def _some_at_a_time(self, state: ClusterState, seen: Iterator[SeenChange]) -> Iterator[bytes]:
        columns = True
        while portion := list(islice(seen, _AT_ONCE)):
            yield b"".join(self._lines(state, portion, columns=columns))
            columns = False

    def news(
        self, state: ClusterState, changes: Sequence[ResourceChange]
    ) -> list[tuple[ClientWatch, bytes]]:
        """Return what each watch is to see of some changes, in parts; all watches share them."""
        seen = list(self._seen(state, changes))
        if not seen:
            return []
        # A table says what its columns are only once for each watch.
        usual = list(_parts(self._lines(state, seen, columns=False)))
        first = list(_parts(self._lines(state, seen, columns=True))) if self._fresh else usual
        news = [
            (watcher, part)
            for watcher in self.watchers
            for part in (first if id(watcher) in self._fresh else usual)
        ]
        self._fresh.clear()
        return news

    def _seen(self, state: ClusterState, changes: Iterable[ResourceChange]) -> Iterator[SeenChange]:
        """Yield changes with their meaning for what is selected."""
        for change in changes:
            before = self._shown.get(change.name)
            after = change.after
            if after is not None and not selected(state, self.resource, self._selection, [after]):
                after = None
            if after is not None:
                self._shown[change.name] = after
                yield SeenChange(ADDED if before is None else MODIFIED, after, change.body)
            elif before is not None:
                del self._shown[change.name]
                yield SeenChange(DELETED, before, self._last(state, change, before))

    def _last(self, state: ClusterState, change: ResourceChange, before: Entry) -> bytes:
        """Return the last state that was selected, at the revision of the change."""
        if change.after is None:
            return change.body
        (body,) = state.bodies([before], self.resource)
        return at_revision(body, change.revision)

    def _lines(
        self, state: ClusterState, seen: Sequence[SeenChange], *, columns: bool
    ) -> Iterator[bytes]:
        shaper = shaper_of(self._form, self.resource, state)
        for seen_change in seen:
            yield line(
                seen_change.kind, shaper.one(seen_change.entry, seen_change.body, columns=columns)
            )
            columns = False


def _parts(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Join lines to parts."""
    pending, size = list[bytes](), 0
    for encoded in lines:
        pending.append(encoded)
        size += len(encoded)
        if size > _PART_BYTES:
            yield b"".join(pending)
            pending, size = [], 0
    if pending:
        yield b"".join(pending)
