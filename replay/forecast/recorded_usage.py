"""What the pods of each queue hold over time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from ...engine.kubernetes.api_server import ENDED, Document
from ...engine.kubernetes.pod_quota import quota_usage
from ...engine.kubernetes.quantity_lists import Amounts, amounts

_ONE = 10**9
BUCKETS = 60
"""So many samples are kept of each series."""


class QueueUse(msgspec.Struct, frozen=True, kw_only=True):
    """One resource of a queue over time, in the base unit: cores, bytes, pieces.

    :param peak: the most that was allocated at once. :param mean: over time.
    :param deserved: and ``capability``: of its spec at the end; None if it has none.
    :param series: means of equal stretches of time.
    """

    queue: str
    resource: str
    peak: float
    mean: float
    deserved: float | None
    capability: float | None
    series: tuple[float, ...]


class _Held(NamedTuple):
    """What a pod holds, in its queue and those above it."""

    queues: tuple[str, ...]
    amounts: Amounts


class UsageRecorder:
    """Follows which pods hold what in which queue, and in the queues above it.

    :param begin: microseconds since 1970.
    """

    def __init__(self, begin: int) -> None:
        self._begin = begin
        self._pods: dict[str, _Held] = {}
        self._now: dict[tuple[str, str], int] = {}
        self._steps: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._limits: dict[str, tuple[Amounts, Amounts]] = {}
        self._parents: dict[str, str] = {}

    def queue(self, document: Document) -> None:
        """Know the limits of a queue, as it is now."""
        spec = document.get("spec") or {}
        self._parents[document["metadata"]["name"]] = str(spec.get("parent") or "")
        limits = _amounts(spec.get("deserved")), _amounts(spec.get("capability"))
        self._limits[document["metadata"]["name"]] = limits

    def pod(self, time: int, key: str, pod: Document | None, queue: str) -> None:
        """Note a pod as it is from a time on; None if it is gone."""
        before = self._pods.pop(key, None)
        wanted = None
        if pod is not None and _holds(pod):
            # A pod keeps the queues that it was counted in: else a moved queue would leave amounts
            # behind.
            wanted = before or _Held(self._lineage(queue), _requests(pod))
            self._pods[key] = wanted
        if before != wanted:
            for holding, sign in ((before, -1), (wanted, 1)):
                self._add(time, holding, sign)

    def _add(self, time: int, holding: _Held | None, sign: int) -> None:
        if holding is None:
            return
        for place, amount in (
            ((queue, name), amount)
            for queue in holding.queues
            for name, amount in holding.amounts.items()
        ):
            total = self._now[place] = self._now.get(place, 0) + sign * amount.billionths
            steps = self._steps.setdefault(place, [(self._begin, 0)])
            if steps[-1][0] == time:
                steps[-1] = time, total
            else:
                steps.append((time, total))

    def _lineage(self, queue: str) -> tuple[str, ...]:
        lineage = [queue]
        # Queues may name each other in a circle.
        while (parent := self._parents.get(lineage[-1])) and parent not in lineage:
            lineage.append(parent)
        return tuple(lineage)

    def uses(self, end: int) -> tuple[QueueUse, ...]:
        """Return what was held until a time, by queue and resource."""
        return tuple(
            self._use(queue, name, steps, end)
            for (queue, name), steps in sorted(self._steps.items())
        )

    def _use(self, queue: str, name: str, steps: list[tuple[int, int]], end: int) -> QueueUse:
        deserved, capability = self._limits.get(queue, ({}, {}))
        areas = _Areas(steps)
        whole = end - self._begin
        edges = [self._begin + whole * number // BUCKETS for number in range(BUCKETS + 1)]
        return QueueUse(
            queue=queue,
            resource=name,
            peak=max(total for _, total in steps) / _ONE,
            mean=areas.mean(self._begin, end),
            deserved=deserved[name].billionths / _ONE if name in deserved else None,
            capability=capability[name].billionths / _ONE if name in capability else None,
            series=tuple(map(areas.mean, edges, edges[1:])),
        )


class _Areas:
    """Means over time of what changes in steps."""

    def __init__(self, steps: list[tuple[int, int]]) -> None:
        self._steps = steps
        self._times = [time for time, _ in steps]
        self._areas = [0]
        for (since, total), (until, _) in pairwise(steps):
            self._areas.append(self._areas[-1] + total * (until - since))

    def mean(self, begin: int, end: int) -> float:
        """Return the mean between two moments."""
        if end <= begin:
            return self._steps[-1][1] / _ONE
        return (self._until(end) - self._until(begin)) / (end - begin) / _ONE

    def _until(self, time: int) -> int:
        at = bisect_right(self._times, time) - 1
        return self._areas[at] + self._steps[at][1] * (time - self._times[at])


def _holds(pod: Mapping[str, Any]) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return bool(pod["spec"].get("nodeName")) and phase not in ENDED


def _requests(pod: Document) -> Amounts:
    try:
        usage = quota_usage(pod)
    except ValueError:
        return {}
    return {
        name: amount
        for name, amount in usage.items()
        # A quota counts one amount under several names, as cpu and requests.cpu.
        if not name.startswith(("requests.", "limits.", "count/")) and name != "pods"
    }


def _amounts(given: Mapping[str, Any] | None) -> Amounts:
    try:
        return amounts(given)
    except ValueError:
        return {}
