"""What invariants remember of earlier moments: phases, decisions, evictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..kubernetes.objects import Node, Pod, PodGroup, Queue
from ..session.framework.session_outcome import SessionResult

WAITING = frozenset({"Pending", "Inqueue"})
"""Phases in which a PodGroup waits."""

_EVICTED = "Evict"
"""Reason of the condition that Volcano gives a pod before it deletes it.

Source: pkg/scheduler/cache/cache.go defaultEvictor.Evict.
"""


_ROOT = ("Queue", "root")
"""The queue whose spec the scheduler writes."""


_EVICTIONS = 2
"""So many evictions are between two occurrences of a situation: one each way."""

_CYCLES = 2
"""A situation comes back so often before it counts: once may be the end of it."""


class DecidedPhase(NamedTuple):
    """A phase that sessions decided and the API server does not have.

    :param times: in how many sessions, one after the other.
    """

    uid: str
    phase: str
    times: int


class Phases:
    """The phases of PodGroups.

    :ivar left: by key, the uid of each PodGroup that left Running although its pods were there.
    :ivar decided: by key, what sessions decided and the API server did not show.
    """

    def __init__(self) -> None:
        self.left: dict[str, str] = {}
        self.decided: dict[str, DecidedPhase] = {}
        self._before: dict[str, tuple[str, str]] = {}

    def take(self, key: str, group: PodGroup | None, occupied: int) -> None:
        """Note a version of a PodGroup, or its deletion.

        :param occupied: how many of its pods have a node.
        """
        uid, before = self._before.pop(key, ("", ""))
        if group is None:
            self.left.pop(key, None)
            return
        phase = group.status.phase
        self._before[key] = (group.uid, phase)
        if phase not in WAITING or group.uid != uid:
            self.left.pop(key, None)
        elif before == "Running" and 0 < group.spec.min_member <= occupied:
            self.left[key] = group.uid

    def presume(self, group: PodGroup, occupied: int) -> None:
        """Presume that a PodGroup left Running, if it may have."""
        if group.status.phase in WAITING and 0 < group.spec.min_member <= occupied:
            self.left[group.key] = group.uid

    def decide(self, result: SessionResult, groups: Mapping[str, PodGroup]) -> None:
        """Note what a session decided, before any of it is written."""
        before, self.decided = self.decided, {}
        for key, status in result.pod_groups.items():
            group = groups.get(key)
            if group is None or not status.written or status.phase == group.status.phase:
                continue
            last = before.get(key)
            same = last is not None and last[:2] == (group.uid, status.phase)
            times = 1 + (last.times if same and last is not None else 0)
            self.decided[key] = DecidedPhase(group.uid, status.phase, times)


class Repeated(NamedTuple):
    """Evictions after which everything is as before. :param evictions: by PodGroup."""

    evictions: Mapping[str, int]


class Evictions:
    """Evictions since something else changed, and where pods had nodes meanwhile.

    What is compared is how many pods of each PodGroup have a node, as a difference from the last
    outside change: a node, a queue, a PodGroup, the end of a pod.

    :ivar repeated: set when a situation came back twice, each time after evictions, until something
        changes.
    """

    def __init__(self) -> None:
        self.repeated: Repeated | None = None
        self._outside: dict[tuple[str, str], object] = {}
        self._begin()

    def _begin(self) -> None:
        self.repeated = None
        self._uids: set[str] = set()
        self._evicted: dict[str, int] = {}
        self._moved: dict[str, int] = {}
        # The situation at the begin is the first that can come back.
        self._seen: dict[tuple[tuple[str, int], ...], tuple[int, int]] = {(): (0, 0)}

    def outside(self, kind: str, key: str, item: Node | Queue | PodGroup | None) -> None:
        """Note a version of an object that sessions do not change, as far as its spec goes."""
        if (kind, key) == _ROOT:
            return
        now = None if item is None else _outside(item)
        if self._outside.get((kind, key)) != now:
            self._outside[kind, key] = now
            self._begin()

    def pod(self, group: str, before: Pod | None, now: Pod | None, *, ended: bool) -> None:
        """Note a change of a pod.

        :param group: its PodGroup. :param ended: it has succeeded or failed by itself now.
        """
        # Once for each pod: its later versions have the condition too.
        if now is not None and now.uid not in self._uids and is_evicted(now):
            self._uids.add(now.uid)
            self._evicted[group] = self._evicted.get(group, 0) + 1
        either = now or before
        # It ended without an eviction: a change from outside.
        if (ended or now is None) and either is not None and either.uid not in self._uids:
            self._begin()
            return
        step = _has_node(now) - _has_node(before)
        if step:
            count = self._moved.get(group, 0) + step
            self._moved[group] = count
            # Without zeros, so that equal situations compare as equal.
            if not count:
                del self._moved[group]
            self._compare()

    def _compare(self) -> None:
        evictions, state = sum(self._evicted.values()), tuple(sorted(self._moved.items()))
        last, times = self._seen.setdefault(state, (evictions, 0))
        if evictions - last >= _EVICTIONS:
            self._seen[state] = (evictions, times + 1)
            if times + 1 >= _CYCLES:
                self.repeated = Repeated(dict(self._evicted))


def _outside(item: Node | Queue | PodGroup) -> object:
    if isinstance(item, Node):
        return item.uid, item.spec, tuple(sorted(item.status.allocatable.items()))
    return item.uid, item.spec


def is_evicted(pod: Pod) -> bool:
    """Return whether a scheduler evicted a pod."""
    return any(
        condition.type == "Ready" and condition.reason == _EVICTED
        for condition in pod.status.conditions
    )


def _has_node(pod: Pod | None) -> int:
    return int(pod is not None and bool(pod.spec.node_name))
