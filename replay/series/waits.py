"""How long pods and gangs waited from their creation to their binding, by queue."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from ...engine.errors import ObjectNotFound
from ...engine.kubernetes.units import SECOND_US
from ...engine.state.facts import PodFact, PodGroupFact
from ..logs.log import Log, Progress
from .changes_in_order import StateChange, changes
from .period import Period, ShownPeriod

PODS, GANGS = "pods", "gangs"
MOST_QUEUES = 20
"""Queues in one picture; those with the most pods are kept."""

_FINISHED = frozenset({"Succeeded", "Failed"})
_Key = tuple[str, str]


class WaitSpread(msgspec.Struct, frozen=True, kw_only=True):
    """How long the pods (or gangs) of a queue waited, microseconds.

    :param what: pods, or gangs: a gang waits until as many of its pods as it needs have a node.
    :param least: to ``most``: of those that were bound; empty if none was. The quartiles are those
        of values that were measured, not values between them.
    :param waiting: how long those that still wait at the end have waited, longest first; at most
        :data:`_SHOWN`. :param still: how many those are in all.
    :param gone: how many were deleted while they waited.
    """

    queue: str
    what: str
    bound: int
    least: int | None
    quarter: int | None
    median: int | None
    three_quarters: int | None
    most: int | None
    still: int
    waiting: tuple[int, ...]
    gone: int


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """The waits of a period: of what was created in it, by queue.

    :param unknown: how many pods had a node when the log first saw them. :param left_out: how many
        queues are not shown, as there are too many.
    """

    period: Period
    spreads: tuple[WaitSpread, ...]
    unknown: int
    left_out: int


_SHOWN = 50


@dataclass(slots=True)
class _Wait:
    """:ivar since: and :ivar until: microseconds; None: not bound. :ivar gone: it was deleted."""

    queue: str
    since: int
    until: int | None = None
    gone: bool = False


@dataclass(slots=True)
class _Group:
    """A PodGroup: how many pods it needs, and which of them have had a node."""

    wait: _Wait
    needed: int
    placed: set[str] = field(default_factory=set)


def waits(
    log: Log, span: ShownPeriod, *, names: Collection[str] = (), progress: Progress | None = None
) -> Waits:
    """Return how long pods and gangs waited that were created in a period.

    :param names: only these queues. :param progress: called with (position, last position).
    :raises UsageError: the log has no such queue.
    """
    follow = _Follow(span.period)
    for change in changes(log, span.end, progress):
        follow.take(change)
    spreads = list(follow.spreads())
    queues = sorted({spread.queue for spread in spreads})
    missing = sorted(set(names) - set(queues))
    if missing:
        raise ObjectNotFound(
            f"nothing was created in queue {missing[0]!r} in this period",
            now=f"queues with pods: {', '.join(queues) or 'none'}",
        )
    chosen = [queue for queue in queues if not names or queue in names]
    size = {
        queue: sum(spread.bound + spread.still for spread in spreads if spread.queue == queue)
        for queue in chosen
    }
    shown = sorted(chosen, key=lambda queue: (-size[queue], queue))[:MOST_QUEUES]
    return Waits(
        period=span.period,
        spreads=tuple(spread for spread in spreads if spread.queue in shown),
        unknown=follow.unknown,
        left_out=len(chosen) - len(shown),
    )


class _Follow:
    """Follows changes, and keeps since when and until when each pod and PodGroup waits."""

    def __init__(self, period: Period) -> None:
        self._period = period
        self._pods: dict[str, _Wait] = {}
        self._seen: dict[str, int] = {}  # Since when: pods that belong to nothing yet.
        self._groups: dict[_Key, _Group] = {}
        self._done: list[tuple[str, _Wait]] = []
        self._queues: dict[_Key, str] = {}
        self.unknown = 0

    def take(self, change: StateChange) -> None:
        """Take the next change."""
        if isinstance(change.now or change.before, PodFact):
            self._pod(change)
        elif isinstance(change.now or change.before, PodGroupFact):
            self._podgroup(change)

    def _pod(self, change: StateChange) -> None:
        uid = change.reference.uid or f"{change.reference.namespace}/{change.reference.name}"
        before, now = change.before, change.now
        if before is None:
            self._seen[uid] = change.time
        if not isinstance(now, PodFact):
            self._seen.pop(uid, None)
            wait = self._pods.pop(uid, None)
            if wait is not None:
                wait.gone = wait.until is None
                self._done.append((PODS, wait))
            return
        if not (now.podgroup or now.queue):
            return
        key = (change.reference.namespace, now.podgroup)
        # Only now the pod says where it belongs; it waits since it was seen first.
        seen = self._seen.pop(uid, None)
        if seen is not None:
            self._created(uid, key, now, seen)
        wait = self._pods.get(uid)
        if wait is not None:
            wait.queue = self._queues.get(key, now.queue) or wait.queue
            if now.node and wait.until is None:
                wait.until = change.time
        if now.node:
            self._placed(key, uid, change.time)

    def _created(self, uid: str, key: _Key, pod: PodFact, time: int) -> None:
        since = _since(pod.created_at, time)
        if since < self._period.begin or pod.phase in _FINISHED:
            return
        if pod.node:
            self.unknown += 1
        else:
            self._pods[uid] = _Wait(self._queues.get(key, pod.queue), since)

    def _placed(self, key: _Key, uid: str, time: int) -> None:
        group = self._groups.get(key)
        if group is not None and group.wait.until is None:
            group.placed.add(uid)
            if len(group.placed) >= group.needed:
                group.wait.until, group.placed = time, set()

    def _podgroup(self, change: StateChange) -> None:
        key = (change.reference.namespace, change.reference.name)
        now = change.now
        if not isinstance(now, PodGroupFact):
            group = self._groups.pop(key, None)
            self._queues.pop(key, None)
            if group is not None:
                group.wait.gone = group.wait.until is None
                self._done.append((GANGS, group.wait))
            return
        self._queues[key] = queue = now.queue or "default"
        since = _since(now.created_at, change.time)
        # Since when the pods of one that runs when it is first seen have nodes is not known.
        if key not in self._groups and since >= self._period.begin and now.phase != "Running":
            self._groups[key] = _Group(_Wait(queue, since), max(now.min_member, 1))
        elif key in self._groups:
            self._groups[key].needed = max(now.min_member, 1)
            self._groups[key].wait.queue = queue

    def spreads(self) -> Iterator[WaitSpread]:
        """Yield what was found, by queue: pods, then gangs."""
        ended = [
            *self._done,
            *((PODS, wait) for wait in self._pods.values()),
            *((GANGS, group.wait) for group in self._groups.values()),
        ]
        for queue in sorted({wait.queue for _, wait in ended}):
            for what in (PODS, GANGS):
                of_queue = [wait for of, wait in ended if of == what and wait.queue == queue]
                if of_queue:
                    yield _spread(queue, what, of_queue, self._period.end)


def _spread(queue: str, what: str, waits: Iterable[_Wait], end: int) -> WaitSpread:
    known = list(waits)
    lengths = sorted(wait.until - wait.since for wait in known if wait.until is not None)
    left = [wait for wait in known if wait.until is None]
    waiting = sorted((end - wait.since for wait in left if not wait.gone), reverse=True)
    return WaitSpread(
        queue=queue,
        what=what,
        bound=len(lengths),
        least=_at(lengths, 0.0),
        quarter=_at(lengths, 0.25),
        median=_at(lengths, 0.5),
        three_quarters=_at(lengths, 0.75),
        most=_at(lengths, 1.0),
        still=len(waiting),
        waiting=tuple(max(length, 0) for length in waiting[:_SHOWN]),
        gone=sum(wait.gone for wait in left),
    )


def _at(lengths: Sequence[int], share: float) -> int | None:
    """Return the least value that this share of all values does not exceed."""
    if not lengths:
        return None
    # `//` rounds down: with the sign turned twice, the rank is rounded up.
    return max(0, lengths[max(0, -int(-share * len(lengths) // 1) - 1)])


def _since(created: int | None, seen: int) -> int:
    """Return when an object was created.

    Its creationTimestamp is a whole second. If the log saw it within that second, that is exact.
    """
    if created is None or created <= seen < created + SECOND_US:
        return seen
    return min(created, seen)
