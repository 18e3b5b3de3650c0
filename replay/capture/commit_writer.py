"""Commits what streams deliver: in the order of revisions, with what it covers, all or nothing.

Streams of several kinds run apart by some milliseconds, and a revision that is appended after a
greater one makes stored states invalid. So events wait a moment before they are committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ...engine.events import Event
from ...engine.ingest.order import EventOrder
from ...engine.ingest.reading.sizes import in_batches
from ...engine.ingest.watch.grown_spans import FOLLOWED, Placed, joined_spans
from ...engine.ingest.watch.watch_span import RESUMED
from ...engine.log import LogStore
from ..ingest.appended_batch import append_batch
from .outbox import Outbox, Room, StreamDelivery

_MOST_BYTES = 32 * 2**20


class CommitPace(NamedTuple):
    """When waiting events are committed.

    :param held: seconds that each waits for others with lesser revisions.
    :param few: so many are worth a commit after ``soon`` seconds; fewer wait up to ``late``, as
        each commit takes extra space.
    :param many: so many are committed at once, and no more than that together.
    :param covers: at least so long passes before it is said again what a stream covers. It must be
        less than the grace that coverage gives to the end of a log.
    """

    held: float = 0.5
    few: int = 20
    soon: float = 1.0
    late: float = 5.0
    many: int = 2000
    covers: float = 10.0


class Committed(NamedTuple):
    """How much is committed so far.

    :param at: when the last commit was, by the writer's clock; None before the first.
    :param lag: seconds that the oldest event of the last commit had waited.
    """

    commits: int = 0
    appended: int = 0
    known: int = 0
    last: int = 0
    at: float | None = None
    lag: float = 0.0


class _HeldDelivery(NamedTuple):
    arrived: float
    delivery: StreamDelivery
    begins: bool


class CommitWriter:
    """Takes what outboxes have, and commits it; used by one thread.

    :param clock: seconds, which begin anywhere and never go back.
    """

    def __init__(
        self,
        store: LogStore,
        branch: str,
        room: Room,
        clock: Callable[[], float],
        pace: CommitPace = CommitPace(),  # noqa: B008 -- a tuple
    ) -> None:
        self._store, self._branch, self._room = store, branch, room
        self._clock, self._pace = clock, pace
        self._waiting: deque[_HeldDelivery] = deque()
        self._events = 0
        # By source, what its stream covers and the log does not say yet.
        self._unsaid: dict[str, list[Placed]] = {}
        self._said_at: float | None = None
        self.committed = Committed(last=store.last(branch))

    @property
    def waiting(self) -> int:
        """How many events wait to be committed."""
        return self._events

    @property
    def oldest(self) -> float:
        """For how many seconds the first of them waits; another thread may ask."""
        try:
            return self._clock() - self._waiting[0].arrived
        except IndexError:
            return 0.0

    def collect(self, outboxes: Sequence[Outbox]) -> None:
        """Take what the outboxes have."""
        for outbox in outboxes:
            delivery = outbox.take()
            if delivery is not None:
                begins = any(map(_begins, delivery.placed))
                self._waiting.append(_HeldDelivery(self._clock(), delivery, begins))
                self._events += _count(delivery)

    def commit(self, *, all_of_it: bool = False) -> bool:
        """Commit what is due, and return whether anything was.

        :param all_of_it: also what would wait.
        :raises LogUnavailable: the log cannot be written; what was to be committed still waits.
        """
        now = self._clock()
        count = self._due(now, all_of_it=all_of_it)
        says = all_of_it or self._said_at is None or now - self._said_at >= self._pace.covers
        # A list ends a hole: should the recorder be killed, it must not be read again.
        says = says or any(self._waiting[place].begins for place in range(count))
        if not count and not (says and self._unsaid):
            return False
        deliveries = [self._waiting[place].delivery for place in range(count)]
        covered = self._covered(deliveries)
        oldest = now - self._waiting[0].arrived if count else 0.0
        self._commit(deliveries, _joined(covered) if says else (), oldest)
        # Only now: what could not be stored is stored, and said, the next time.
        if says and covered:
            covered, self._said_at = {}, now
        self._unsaid = covered
        for _ in range(count):
            done = self._waiting.popleft().delivery
            self._events -= _count(done)
            self._room.give(done.size)
            for stored in done.stored:
                stored.set()
        return True

    def _due(self, now: float, *, all_of_it: bool) -> int:
        """Return how many of the deliveries that wait are to be committed."""
        pace = self._pace
        # Where much comes at once, what waits for others would keep readers waiting.
        if all_of_it or self._room.presses or not self._waiting:
            return len(self._waiting)
        oldest = now - self._waiting[0].arrived
        due = (
            self._events >= pace.many
            or (self._events >= pace.few and oldest >= pace.soon)
            or oldest >= pace.late
            # Somebody waits for it: as soon as it was held.
            or (oldest >= pace.held and any(held.delivery.stored for held in self._waiting))
        )
        return sum(now - waiting.arrived >= pace.held for waiting in self._waiting) if due else 0

    def _covered(self, deliveries: Sequence[StreamDelivery]) -> dict[str, list[Placed]]:
        """Return what is covered with some deliveries, and was not said before, by source."""
        unsaid = {source: list(placed) for source, placed in self._unsaid.items()}
        for delivery in deliveries:
            for placed in delivery.placed:
                unsaid.setdefault(placed[1].source, []).append(placed)
        return unsaid

    def _commit(
        self, deliveries: Sequence[StreamDelivery], covers: Sequence[Event], lag: float
    ) -> None:
        """Append what was delivered, in one transaction unless it is much."""
        commits, appended, known, last, _, _ = self.committed
        batches = list(
            in_batches(_in_order(deliveries), most=self._pace.many, most_bytes=_MOST_BYTES)
        )
        # What is covered is true once all that it covers is stored: so with the last of it.
        *first, rest = batches or [[]]
        for batch in [*first, [*rest, *covers]]:
            if batch:
                result = append_batch(self._store, batch, self._branch)
                commits, last = commits + 1, result.last
                appended, known = appended + result.appended, known + result.known
        self.committed = Committed(commits, appended, known, last, self._clock(), lag)


class _Span(msgspec.Struct):
    begin: str = RESUMED


_SPAN = msgspec.json.Decoder(_Span).decode


def _begins(placed: Placed) -> bool:
    """Return whether what is covered begins with a list."""
    return placed[1].kind == FOLLOWED and _SPAN(placed[1].payload).begin != RESUMED


def _joined(covered: Mapping[str, Sequence[Placed]]) -> list[Event]:
    return [event for placed in covered.values() for _, event in joined_spans(placed)]


def _count(delivery: StreamDelivery) -> int:
    return len(delivery.events) + len(delivery.aside) + len(delivery.placed)


def _in_order(deliveries: Sequence[StreamDelivery]) -> Iterator[Event]:
    """Yield all events by revision; those of one stream stay in their order."""
    with EventOrder() as order:
        for delivery in deliveries:
            for source in (delivery.events, delivery.aside):
                order.begin_source()
                for event in source:
                    order.add(event)
        yield from order.events()
