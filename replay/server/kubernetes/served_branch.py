"""A branch that is served and changed: one thread carries out writes, appends and tells watches.

All writes and the beginnings of watches run in that thread, one after another. So every watch sees
each write once, and a write is in the log before a watch sees it. What requests read is a value
that no write changes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from secrets import choice
from uuid import uuid4

import msgspec
from starlette.responses import Response

from ....engine.errors import LogError, PositionConflict
from ....engine.kubernetes.resources import GroupKind
from ....engine.log.wall_clock import micros_now
from ..fault_answers import report
from ..settings import ServerSettings
from .read.cluster_state import ClusterState, KeptStates, View
from .tables.columns import MALFORMED
from .watch.channels import Channel, ClientWatch
from .watch.resource_changes import ResourceChange, held_at
from .watch.watching import Opening, Watching
from .wire.api_resources import CRD, ApiResource
from .wire.api_status import JSON, StatusError, expired, invalid, warnings
from .wire.event_groups import one_pair
from .wire.list_options import ListOptions
from .write.appending import Batch, covered
from .write.bodies import WriteRequest
from .write.branch_objects import BranchState, Tables, known_kinds, loaded
from .write.owners import Neighbours, Owned
from .write.writing import WriteOutcome, Writing

MOST_REMEMBERED = 20_000
"""Changes that a watch can continue from; before them its client lists again."""

_TRIES = 3
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_CHANGED = "the branch was read again: list again"


class Branch(Watching):
    """The objects of a branch; start it in the event loop, and stop it at the end.

    :param settings: which log and branch.
    :param clock: returns the time, in microseconds since 1970.
    """

    def __init__(self, settings: ServerSettings, clock: Callable[[], int] = micros_now) -> None:
        super().__init__("branch", settings, read_only=False)
        self._clock = clock
        self._kept = KeptStates()
        self._owned = Owned()
        self._recent: deque[ResourceChange] = deque()
        self._began = self._since_start = 0
        self._known: frozenset[GroupKind] = frozenset()
        self._tables: Tables | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Read the objects of the branch.

        :raises PlinianError: there is no such branch, or it cannot be written.
        """
        self._loop = asyncio.get_running_loop()
        await self._run(self._load)

    async def stop(self) -> None:
        """End the thread, and close the log."""
        await self._run(self._close)
        self._thread.shutdown()

    @property
    def tables(self) -> Tables:
        """The objects of now."""
        assert self._tables is not None, "it was started"
        return self._tables

    @property
    def revision(self) -> int:
        """Up to where all watches have seen everything."""
        return self.tables.revision

    def view(self) -> View:
        """Return the state of now, for any thread."""
        tables = self.tables
        return lambda log: BranchState(log, tables, self._kept)

    async def write(self, asking: WriteRequest) -> Response:
        """Carry out a write, and return the answer to it.

        :raises StatusError: it is refused.
        """
        return await self._run(lambda: self._write(asking))

    async def open(self, resource: ApiResource, asked: ListOptions) -> Opening:
        """Open a watch.

        :raises StatusError: it begins at a revision that does not exist yet, or no more.
        """
        return await self._run(
            lambda: self._opening(self._state(), resource, asked, "that of the branch, {}")
        )

    def _state(self) -> BranchState:
        return BranchState(self._opened(), self.tables, self._kept)

    def _load(self) -> None:
        log = self._opened()
        # Another process may have appended: what was read before does not count any more.
        log.forget()
        self._tables = loaded(log)
        log.forget()  # The fold is large, and not needed again.
        self._owned = Owned()
        self._recent.clear()
        self._began = self.tables.revision
        # Only the first time: the remark at the end is about all that happened since then.
        if not self._since_start:
            self._since_start = self._began
            self._known = known_kinds(log, self.tables)
            log.forget()

    def _close(self) -> None:
        if self._log is None:
            return
        try:
            if self._tables is not None and self.revision > self._since_start:
                said = covered(self.tables, self._since_start, self._known)
                self._log.store.append(said, branch=self._settings.branch)
        except LogError:  # What it covers is only a remark; the log may be gone.
            pass
        self._log.close()

    def _write(self, asking: WriteRequest) -> Response:
        for _ in range(_TRIES):
            try:
                return self._written(asking)
            except PositionConflict:
                self._reload()
        raise StatusError(503, "others append to the branch all the time: try again")

    def _written(self, asking: WriteRequest) -> Response:
        """Carry out a write on the branch as it is known here.

        :raises PositionConflict: another process appended to it; nothing was stored.
        """
        # Time never goes back on a branch, even if the clock of this machine does.
        now = max(self._clock(), self.tables.when.estimate or 0)
        state = self._state()
        others = Neighbours(state, self._owned, self._known)
        writing = Writing(state, others, now=now, uid=lambda: str(uuid4()), suffix=_suffix)
        batch = Batch(self.tables, now, asking.actor)
        try:
            outcome = writing.outcome(asking)
            for version in outcome.versions:
                batch.add(version)
            # Before anything is stored: what cannot be shown is refused, too.
            answer = self._answer(asking, outcome, batch)
        except MALFORMED as fault:
            report(fault)
            raise invalid(
                "an object that this write is about has a field of a type that no API server "
                f"stores: {type(fault).__name__}"
            ) from fault
        if batch.events and not outcome.trial:
            self._append(batch, now)
        return answer

    def _append(self, batch: Batch, now: int) -> None:
        """Append what a write decided: all that can refuse it came before.

        If something fails all the same, the branch is read from the log again: what is served is
        what the log holds, and the client does not learn that its write failed.
        """
        tables, branch = self.tables, self._settings.branch
        last = tables.moment.known + len(batch.events)
        moment = msgspec.structs.replace(tables.moment, known=last, label=f"{branch}@{last}")
        after = tables.after(moment, now, batch.changes)
        # It fails if another process appended since, as that has taken these revisions.
        appended = self._opened().store.append(
            batch.events, branch=branch, expected=tables.moment.known
        )
        try:
            assert appended.last == last, "a revision of this branch is given out once"
            self._take(after, batch)
        except Exception as fault:  # noqa: BLE001 -- whatever it is, the log has the write
            report(fault)
            self._reload()

    def _take(self, after: Tables, batch: Batch) -> None:
        # A definition of resources decides which paths there are.
        """Serve the objects after a write that is in the log."""
        if any(change.pair == CRD for change in batch.changes):
            catalog = ClusterState(self._opened(), after.moment, KeptStates(0)).catalog
            self._opened().forget()
            after = after._replace(catalog=catalog)
        self._tables = after
        for change, document in zip(batch.changes, batch.documents, strict=True):
            if change.after is not None:
                self._owned.add(document, change.pair, change.name)
        self._recent += batch.changes
        while len(self._recent) > MOST_REMEMBERED:
            # A watch can go on after the newest change that is forgotten.
            self._began = self._recent.popleft().revision
        self._publish(batch.changes)

    def _reload(self) -> None:
        """Read the branch from the log again; watches end, and their clients list again."""
        self._load()
        for watcher in self._feeds.clear():
            self._in_loop(watcher.end, 410, _CHANGED)

    def _publish(self, changes: Sequence[ResourceChange]) -> None:
        """Let watches see changes."""
        state = self._state()
        for feed in self._feeds.by_resource.values():
            shown = _shown(state, feed.resource, changes)
            for channel in feed.channels.values():
                for watcher, part in channel.news(state, shown):
                    self._in_loop(watcher.put, part)

    def _in_loop(self, act: Callable[..., None], *given: object) -> None:
        """Do something with a watcher in the event loop, where it lives."""
        assert self._loop is not None, "it was started"
        self._loop.call_soon_threadsafe(act, *given)

    def _answer(self, asking: WriteRequest, outcome: WriteOutcome, batch: Batch) -> Response:
        headers = {"Warning": warnings(outcome.warnings)} if outcome.warnings else {}
        body = msgspec.json.encode(outcome.document)
        resource = asking.place.resource
        own = [
            change
            for change in batch.changes
            if one_pair(change.pair) == one_pair(resource.pair) and change.name == outcome.subject
        ]
        # The last version that is there; the one that is gone only if there is no other.
        for change in sorted(own, key=lambda change: change.after is not None)[-1:]:
            body = self._state().shown(change.entry, change.body, resource)
        return Response(body, status_code=outcome.code, media_type=JSON, headers=headers)

    def _since(self, state: ClusterState, since: int, watcher: ClientWatch) -> Iterator[bytes]:
        """Return what happened after a revision."""
        if since < self._began:
            raise expired(f"too old resource version: {since} ({self._began})")
        resource = watcher.resource
        recent = [change for change in self._recent if change.revision > since]
        changes = _shown(state, resource, recent)
        held = held_at(state, resource)
        # Undone from the newest on, the objects of now become those at that revision.
        for change in reversed(changes):
            if change.before is None:
                held.pop(change.name, None)
            else:
                held[change.name] = change.before
        earlier = [held[name] for name in sorted(held)]
        return Channel(state, watcher, earlier).past(state, changes)


def _shown(
    state: ClusterState, resource: ApiResource, changes: Sequence[ResourceChange]
) -> list[ResourceChange]:
    """Return the changes of a resource's objects, as it shows them."""
    return [
        change._replace(body=state.shown(change.entry, change.body, resource))
        for change in changes
        if one_pair(change.pair) == one_pair(resource.pair)
    ]


def _suffix() -> str:
    """Return the end of a generated name: without vowels, so that it is no word."""
    return "".join(choice(_SUFFIX) for _ in range(_SUFFIX_LENGTH))
