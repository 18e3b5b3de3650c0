"""A branch that is served and changed: one thread carries out writes, appends and tells watches.

All writes and the beginnings of watches run in that thread, one after another. So every watch sees
each write once, and a write is in the log before a watch sees it. What requests read is a value
that no write changes.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from secrets import choice
from typing import NamedTuple
from uuid import uuid4

import msgspec
from starlette.responses import Response

from ....engine.errors import LogError, PositionConflict
from ....engine.kubernetes.resources import GroupKind
from ....engine.state.truth_fold import Entry
from ...logs.log import Log, opened
from ..fault_answers import report
from ..settings import ServerSettings
from .read.cluster_state import ClusterState, KeptStates, View
from .tables.columns import MALFORMED
from .watch.channels import Channel, ClientWatch
from .watch.resource_changes import Name, ResourceChange, name_of
from .watch.watching import Opening, Watching
from .wire.api_resources import CRD, ApiResource
from .wire.api_status import JSON, StatusError, expired, invalid, too_large, warnings
from .wire.list_options import ListOptions, Selection
from .write.appending import Batch, BranchWriter, batch_of, covered
from .write.bodies import WriteRequest
from .write.branch_objects import Altered, BranchState, Tables, known_kinds, loaded, one_pair
from .write.owners import Neighbours, Owned
from .write.writing import WriteContext, WriteOutcome, Writing

MOST_REMEMBERED = 20_000
"""Changes that a watch can continue from; before them its client lists again."""

_TRIES = 3
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_CHANGED = "the branch was read again: list again"


def wall_clock() -> int:
    """Return the time in microseconds since 1970 UTC."""
    return time.time_ns() // 1000


class _Decided(NamedTuple):
    """A write that nothing refuses any more.

    :param batch: what is to be stored; empty if it is only tried.
    """

    batch: Batch
    answer: Response


class Branch(Watching):
    """The objects of a branch; start it in the event loop, and stop it at the end.

    :param settings: which log and branch.
    :param clock: returns the time, in microseconds since 1970.
    """

    def __init__(self, settings: ServerSettings, clock: Callable[[], int] = wall_clock) -> None:
        self._settings, self._clock = settings, clock
        super().__init__("branch")
        self._kept = KeptStates()
        self._owned = Owned()
        self._recent: deque[Altered] = deque()
        self._began = self._since = 0
        self._known: frozenset[GroupKind] = frozenset()
        self._log: Log | None = None
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
        watcher = ClientWatch(resource, asked.form, self._queued)
        return await self._run(lambda: self._open(watcher, asked))

    def _state(self) -> BranchState:
        assert self._log is not None, "it was started"
        return BranchState(self._log, self.tables, self._kept)

    def _load(self) -> None:
        settings = self._settings
        if self._log is None:
            self._log = opened(settings.place, branch=settings.branch, cluster=settings.cluster)
        self._log.forget()
        self._tables = loaded(self._log)
        self._log.forget()  # The fold is large, and not needed again.
        self._owned = Owned()
        self._recent.clear()
        self._began = self.tables.revision
        if not self._since:
            self._since = self._began
            self._known = known_kinds(self._log, self.tables)
            self._log.forget()

    def _close(self) -> None:
        if self._log is None:
            return
        try:
            if self._tables is not None and self.revision > self._since:
                said = covered(self.tables, self._since, self._known)
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
        now = max(self._clock(), self.tables.when.estimate or 0)
        try:
            decided = self._decided(asking, now)
        except MALFORMED as fault:
            report(fault)
            raise invalid(
                "an object that this write is about has a field of a type that no API server "
                f"stores: {type(fault).__name__}"
            ) from fault
        if decided.batch.events:
            self._append(decided.batch, now)
        return decided.answer

    def _decided(self, asking: WriteRequest, now: int) -> _Decided:
        """Return what a write stores, and its answer; nothing is stored.

        :raises StatusError: it is refused.
        """
        state = self._state()
        given = WriteContext(now, lambda: str(uuid4()), _suffix)
        outcome = Writing(state, Neighbours(state, self._owned, self._known), given).outcome(asking)
        batch = batch_of(self.tables, outcome.versions, BranchWriter(now, asking.actor))
        answer = self._answer(asking, outcome, batch)
        return _Decided(Batch((), (), ()) if outcome.trial else batch, answer)

    def _append(self, batch: Batch, now: int) -> None:
        """Append what a write decided: all that can refuse it came before.

        If something fails all the same, the branch is read from the log again: what is served is
        what the log holds, and the client does not learn that its write failed.
        """
        assert self._log is not None, "it was started"
        tables, branch = self.tables, self._settings.branch
        last = tables.moment.known + len(batch.events)
        moment = msgspec.structs.replace(tables.moment, known=last, label=f"{branch}@{last}")
        after = tables.after(moment, now, batch.changes)
        appended = self._log.store.append(batch.events, branch=branch, expected=tables.moment.known)
        try:
            assert appended.last == last, "a revision of this branch is given out once"
            self._take(after, batch)
        except Exception as fault:  # noqa: BLE001 -- whatever it is, the log has the write
            report(fault)
            self._reload()

    def _take(self, after: Tables, batch: Batch) -> None:
        """Serve the objects after a write that is in the log."""
        assert self._log is not None, "it was started"
        if any(change.pair == CRD for change in batch.changes):
            catalog = ClusterState(self._log, after.moment, KeptStates(0)).catalog
            self._log.forget()
            after = after._replace(catalog=catalog)
        self._tables = after
        for change, document in zip(batch.changes, batch.documents, strict=True):
            if change.after is not None:
                self._owned.add(document, change.pair, change.after)
        self._remember(batch.changes)
        self._publish(batch.changes)

    def _reload(self) -> None:
        """Read the branch from the log again; watches end, and their clients list again."""
        self._load()
        self._tell_all(lambda watcher: watcher.end(410, _CHANGED), self._feeds.clear())

    def _remember(self, changes: Sequence[Altered]) -> None:
        self._recent += changes
        while len(self._recent) > MOST_REMEMBERED:
            self._began = self._recent.popleft().revision

    def _publish(self, changes: Sequence[Altered]) -> None:
        """Let watches see changes."""
        state = self._state()
        for feed in self._feeds.feeds:
            shown = _shown(state, feed.resource, changes)
            if shown:
                for channel in feed.channels.values():
                    for watcher, part in channel.news(state, shown):
                        self._tell_all(_putting(part), [watcher])

    def _tell_all(
        self, tell: Callable[[ClientWatch], None], watchers: Sequence[ClientWatch]
    ) -> None:
        """Tell watchers something in the event loop, where they live."""
        assert self._loop is not None, "it was started"
        for watcher in watchers:
            self._loop.call_soon_threadsafe(tell, watcher)

    def _answer(self, asking: WriteRequest, outcome: WriteOutcome, batch: Batch) -> Response:
        headers = {"Warning": warnings(outcome.warnings)} if outcome.warnings else {}
        body = msgspec.json.encode(outcome.document)
        resource = asking.place.resource
        own = [
            (change, entry)
            for change in batch.changes
            if (entry := change.after or change.before) is not None
            and one_pair(change.pair) == one_pair(resource.pair)
            and name_of(entry) == outcome.subject
        ]
        # The last version that is there; the one that is gone only if there is no other.
        for change, entry in sorted(own, key=lambda one: one[0].after is not None)[-1:]:
            body = self._state().shown(entry, change.payload, resource)
        return Response(body, status_code=outcome.code, media_type=JSON, headers=headers)

    def _open(self, watcher: ClientWatch, asked: ListOptions) -> Opening:
        state, resource = self._state(), watcher.resource
        since, now = asked.revision or 0, self.revision
        if since > now:
            late = f"resourceVersion {since} is later than that of the branch, {now}"
            raise too_large(since, now) if asked.initial else expired(late)
        if asked.initial or not since:
            parts = _channel(state, watcher, asked.selection, state.of(resource.pair)).initial(
                state
            )
        else:
            parts = self._past(state, since, watcher, asked.selection)
        first = next(parts, None)
        self._feeds.add(
            watcher,
            asked.selection,
            lambda: _channel(state, watcher, asked.selection, state.of(resource.pair)),
            dict,
            fresh=first is None,
        )
        return Opening(watcher, first, parts, now)

    def _past(
        self, state: BranchState, since: int, watcher: ClientWatch, selection: Selection
    ) -> Iterator[bytes]:
        """Return what happened after a revision."""
        if since < self._began:
            raise expired(f"too old resource version: {since} ({self._began})")
        resource = watcher.resource
        changes = _shown(state, resource, [one for one in self._recent if one.revision > since])
        held: dict[Name, Entry] = {name_of(entry): entry for entry in state.of(resource.pair)}
        for change in reversed(changes):
            if change.before is None:
                held.pop(change.name, None)
            else:
                held[change.name] = change.before
        channel = _channel(state, watcher, selection, [held[name] for name in sorted(held)])
        return channel.past(state, changes)


def _channel(
    state: BranchState, watcher: ClientWatch, selection: Selection, held: Sequence[Entry]
) -> Channel:
    return Channel(state, watcher.resource, selection, watcher.form, held)


def _shown(
    state: BranchState, resource: ApiResource, changes: Sequence[Altered]
) -> list[ResourceChange]:
    """Return the changes of a resource's objects, as it shows them."""
    found = []
    for one in changes:
        entry = one.after or one.before
        if entry is not None and one_pair(one.pair) == one_pair(resource.pair):
            body = state.shown(entry, one.payload, resource)
            found.append(ResourceChange(one.revision, one.before, one.after, body))
    return found


def _putting(part: bytes) -> Callable[[ClientWatch], None]:
    return lambda watcher: watcher.put(part)


def _suffix() -> str:
    """Return the end of a generated name: without vowels, so that it is no word."""
    return "".join(choice(_SUFFIX) for _ in range(_SUFFIX_LENGTH))
