"""Where a log knows all that an invariant needs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import msgspec

from ...engine.events.payloads import ListObserved, WatchFollowed
from ...engine.log.store import Query
from ...engine.state.clock import Clock
from ...engine.state.log_coverage import Pair
from ..coverage.coverage import doubtful, unknown_at, unknown_between, unknown_text
from ..logs.log import Log
from ..moments.moment import Moment
from ..moments.unknown import Unknown

Pairs = tuple[Pair, ...]


class Knowledge:
    """Where the kinds that invariants need are fully known, up to a moment."""

    def __init__(self, log: Log, end: Moment, clock: Clock) -> None:
        self._log, self._end, self._clock = log, end, clock
        self._coverage = log.coverage(end)
        self._begins: dict[Pairs, int | None] = {}
        self._gaps: dict[Pairs, list[Unknown]] = {}

    def begin(self, kinds: Pairs) -> int | None:
        """Return the first revision at which some kinds are all known; None if they never are."""
        if kinds not in self._begins:
            never = any(self._coverage.begin(pair) is None for pair in kinds)
            begin = None if never else self._coverage.begin_together(kinds)
            last = self._end.revision
            late = begin is not None and last is not None and begin > last
            self._begins[kinds] = None if late else begin
        return self._begins[kinds]

    @cached_property
    def listed_without_revision(self) -> frozenset[Pair]:
        """The kinds of which the log holds a list of kubectl: it has no revision."""
        end = self._end
        query = Query(
            branch=end.branch,
            cluster=end.cluster,
            until=end.known,
            kinds=("list.observed",),
            about_kinds=True,
        )
        payloads = (event.event.payload for event in self._log.store.read(query))
        listings = (msgspec.json.decode(payload, type=ListObserved) for payload in payloads)
        return frozenset(
            (listing.group, listing.listed) for listing in listings if not listing.exact
        )

    @cached_property
    def _followed_until(self) -> dict[Pair, int]:
        """By kind, the time until which a watch showed all changes."""
        end, until = self._end, dict[Pair, int]()
        if end.revision is not None or end.time is not None:
            return until  # A watch may go on after a moment that is not the end.
        query = Query(
            branch=end.branch,
            cluster=end.cluster,
            until=end.known,
            kinds=("watch.followed",),
            about_kinds=True,
        )
        for recorded in self._log.store.read(query):
            watch = msgspec.json.decode(recorded.event.payload, type=WatchFollowed)
            if watch.until_at is not None and not watch.interrupted:
                pair = (watch.group, watch.listed)
                until[pair] = max(watch.until_at, until.get(pair, 0))
        return until

    def silent_until(self, kinds: Pairs) -> int | None:
        """Return until when watches show that nothing else changed of some kinds at the end.

        A watch sends bookmarks when nothing changes, so it goes on after its last event. Without a
        watch of each kind the result is None.
        """
        times = [self._followed_until.get(pair) for pair in kinds]
        known = [time for time in times if time is not None]
        return min(known) if kinds and len(known) == len(times) else None

    def at(self, kinds: Pairs, revision: int | None) -> bool:
        """Return whether some kinds are all known at a revision."""
        begin = self.begin(kinds)
        if begin is None or (revision or 0) < begin:
            return False
        gaps = self.gaps(kinds)
        return not gaps or not doubtful(gaps, revision or 0, self._clock.time_of(revision))

    def gaps(self, kinds: Pairs) -> list[Unknown]:
        """Return what is not known of some kinds from their begin on."""
        if kinds not in self._gaps:
            first = self.begin(kinds)
            self._gaps[kinds] = unknown_between(self._log, first, self._end, kinds)
        return self._gaps[kinds]

    def lacking(self, kinds: Pairs) -> str:
        """Return why some kinds are never all known."""
        unknowns = unknown_at(self._log, self._end, kinds)
        return unknown_text(unknowns) or "the log never knows all of the kinds that it needs"

    def not_known(self, kinds: Iterable[Pair]) -> list[Unknown]:
        """Return what is not known of some kinds anywhere in the log, by kind."""
        return unknown_between(self._log, None, self._end, kinds)
