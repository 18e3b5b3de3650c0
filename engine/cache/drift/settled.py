"""Settled units, which need no new comparison: nothing differed, and an event changed nothing.

A comparison of a node or of a job reads all of its pods. Where nothing differed before, an
event about one pod can only change that pod and the node's sums.
"""

from __future__ import annotations

from ...kubernetes.objects import Node, Pod, PodGroup
from ...model.node import NodeInfo
from ...model.resource import Resource
from ...model.task_status import COMPLETED_STATUS, TaskStatus, status_of
from ..cache import SchedulerCache
from ..job_cache import job_of
from ..node_sync import with_volume_limits
from .drift import Unit, same_version

_EXACT = 2.0**52
"""Sums of whole numbers below this do not depend on the order."""


class _Sums:
    """What the pods of one node ask for."""

    __slots__ = ("count", "releasing", "used")

    def __init__(self) -> None:
        self.count = 0
        self.used, self.releasing = Resource(), Resource()


class Settled:
    """Units in which nothing differs, and what decides whether an event changed that.

    :param cache: truth is what was delivered to its informers.
    """

    def __init__(self, cache: SchedulerCache) -> None:
        self._cache = cache
        self._units: set[Unit] = set()
        self._sums: dict[str, _Sums] = {}

    def put(self, pod: Pod, request: Resource) -> None:
        """Take note that there is a pod."""
        if self._counts(pod):
            sums = self._sums.setdefault(pod.spec.node_name, _Sums())
            sums.count += 1
            sums.used.add(request)
            if status_of(pod) == TaskStatus.RELEASING:
                sums.releasing.add(request)

    def remove(self, pod: Pod, request: Resource) -> None:
        """Take note that a pod is no more, as it was."""
        if self._counts(pod):
            sums = self._sums[pod.spec.node_name]
            sums.count -= 1
            sums.used.sub_unchecked(request)
            if status_of(pod) == TaskStatus.RELEASING:
                sums.releasing.sub_unchecked(request)
            if not sums.count:
                del self._sums[pod.spec.node_name]

    def note(self, unit: Unit, *, differs: bool) -> None:
        """Note that a whole unit was compared."""
        # A comparison of a node ends early if one side lacks it: nothing is known about its pods
        # then.
        if differs or (unit[0] == "Node" and self._node(unit[1]) is None):
            self._units.discard(unit)
        else:
            self._units.add(unit)

    def stays(self, unit: Unit, kind: str, before: Pod | None, now: Pod | None) -> bool:
        """Return whether nothing differs in a unit after an event of an object of some kind.

        :param before: and ``now``: the pod of the event before and after it.
        """
        if unit not in self._units:
            return False
        if unit[0] == "Node":
            return self._node_stays(unit[1], before, now, read=kind != "Pod")
        return unit[0] == "PodGroup" and self._job_stays(unit[1], before, now)

    def _counts(self, pod: Pod) -> bool:
        return (
            bool(pod.spec.node_name)
            and self._cache.job_cache.handles(pod)
            and status_of(pod) not in COMPLETED_STATUS
        )

    def _node(self, name: str) -> tuple[Node, NodeInfo, Node] | None:
        """Return a node, and its info in the cache, if all of it is compared."""
        node: Node | None = self._cache.stores.get("Node", name)
        info = self._cache.nodes.get(name)
        if node is None or info is None or info.node is None:
            return None
        return (node, info, info.node) if self._cache.node_cache.chooses(node) else None

    def _node_stays(self, name: str, before: Pod | None, now: Pod | None, *, read: bool) -> bool:
        versions = self._node(name)
        if versions is None:
            return False
        node, info, believed = versions
        sums = self._sums.get(name) or _Sums()
        return (
            same_version(node, believed)
            and len(info.tasks) == sums.count
            and _alike(sums.used, info.used)
            and _alike(sums.releasing, info.releasing)
            and all(self._noted(info, pod, now) for pod in (before, now) if pod is not None)
            # No event of a pod changes what is allocatable.
            and not (read and not _alike(self._allocatable(node, info), info.allocatable))
        )

    def _noted(self, info: NodeInfo, pod: Pod, now: Pod | None) -> bool:
        """Return whether a node's account has the current state of a pod, or rightly lacks it."""
        noted = info.tasks.get(pod.key)
        there = now is not None and now.spec.node_name == info.name and self._counts(now)
        if now is None or not there:
            return noted is None
        return noted is not None and noted.task.uid == now.uid

    def _allocatable(self, node: Node, info: NodeInfo) -> Resource:
        limits = self._cache.stores.get("CSINode", node.name)
        limited = with_volume_limits(node, limits)
        return info.fresh(limited, self._cache.node_cache.ignored).allocatable

    def _job_stays(self, key: str, before: Pod | None, now: Pod | None) -> bool:
        info = self._cache.jobs.get(key)
        believed = None if info is None else info.pod_group
        group: PodGroup | None = self._cache.stores.get("PodGroup", key)
        if not same_version(group, believed):
            return False
        if group is not None and info and group.spec.min_task_member != info.task_min_available:
            return False
        tasks = {} if info is None else info.tasks
        uids = {pod.uid: None for pod in (before, now) if pod is not None}
        for uid in uids:
            task = tasks.get(uid)
            if now is None or now.uid != uid or job_of(now) != key or not self._handles(now):
                if task is not None:
                    return False
            elif (
                task is None
                or task.status != status_of(now)
                or task.node_name != now.spec.node_name
            ):
                return False
        return True

    def _handles(self, pod: Pod) -> bool:
        return self._cache.job_cache.handles(pod)


def _alike(true: Resource, resource: Resource) -> bool:
    """Return whether amounts are certainly equal; absent ones are 0."""
    if true.cpu != resource.cpu or true.memory != resource.memory:
        return False
    if true.cpu >= _EXACT or true.memory >= _EXACT:
        return False
    mine, theirs = true.scalars or {}, resource.scalars or {}
    return all(mine.get(name, 0.0) == theirs.get(name, 0.0) < _EXACT for name in mine | theirs)
