"""Jobs and pods that hold, or have reserved, what a waiting object lacks, tried as gone.

Those whose end would suffice come first, the smallest of them before the others. What suffices is
only computed from amounts: whether the object starts then is found by running the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import floor
from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.objects import Pod
from ...engine.kubernetes.quantity_lists import amounts
from ...engine.model.job import JobInfo
from ...engine.model.resource import Resource
from ...engine.model.task import TaskInfo
from ...engine.model.task_status import ALLOCATED_STATUS, TaskStatus
from ..answers.answering_session import named_as
from ..answers.records import Gang, Held, Link, Nodes, Overcommitted, QueuePath
from ..objects.kind_names import object_named
from .cluster_changes import Delete, WhatIfChange
from .queue_room import lacking
from .suggestion import GONE, Suggestion, WaitingObject, finite, single

MOST_GONE = 40
"""So many jobs are tried as gone."""

_TOO_SMALL = 12
"""So many of these may be jobs that hold too little: the largest ones."""

MOST_PODS_GONE = 10
"""So many pods without a job are tried as gone."""

_ENDED = frozenset({"Succeeded", "Failed"})


def holders(asked: WaitingObject) -> Iterator[Suggestion]:
    """Yield other jobs as gone, and pods without a job.

    A job counts with what it holds, and with the nodes that the session gives to its pods.
    """
    chain, podgroup, cache = asked.why.chain, asked.podgroup, asked.cache
    short = [shortage for link in chain if (shortage := _short_of(link)) is not None]
    place = next((_Place.of(link, asked) for link in chain if _full(link)), None)
    named = {holder.podgroup for link in short for holder in link.holders}
    enough: list[tuple[tuple[float, float, str], str]] = []
    others: list[tuple[tuple[float, float, str], str]] = []
    for key, job in cache.jobs.items():
        used = _used_by(job, asked.placed)
        if key == podgroup or job.pod_group is None or not (used or key in named):
            continue
        size, cpu = float(len(used)), sum(task.request.cpu for task, _ in used)
        suffices = all(shortage.is_met_by(key) for shortage in short)
        if suffices and (place is None or place.takes_them_without(used)):
            enough.append(((size, cpu, key), key))
        else:
            others.append(((-size, -cpu, key), key))
    first = [key for _, key in sorted(enough)[:MOST_GONE]]
    rest = [key for _, key in sorted(others)[: min(_TOO_SMALL, MOST_GONE - len(first))]]
    for rank, key in enumerate((*first, *rest)):
        yield without(key, cache, rank)
    yield from _pods_gone(cache, place)


def holding(job: JobInfo) -> list[TaskInfo]:
    """Return the pods of a job that hold resources, or for which a node is kept."""
    return [
        task
        for status in (*sorted(ALLOCATED_STATUS), TaskStatus.PIPELINED)
        for task in job.index.get(status, {}).values()
    ]


_Used = tuple[TaskInfo, str]
"""A pod, and the node where it uses resources."""


def _used_by(job: JobInfo, placed: Mapping[str, str]) -> list[_Used]:
    """Return the pods of a job that hold resources, or get a node in the session."""
    waiting = job.index.get(TaskStatus.PENDING, {}).values()
    return [
        *((task, task.node_name) for task in holding(job)),
        *((task, placed[task.key]) for task in waiting if task.key in placed),
    ]


class _Short(NamedTuple):
    """What a limit lacks, by resource in billionths, and the jobs that count towards it."""

    lacks: Mapping[str, int]
    holders: Sequence[Held]

    def is_met_by(self, podgroup: str) -> bool:
        """Return whether a job holds and has reserved at least what is lacking."""
        for holder in self.holders:
            if holder.podgroup == podgroup:
                parts = amounts(holder.allocated), amounts(holder.reserved)
                return all(
                    sum(part[name].billionths for part in parts if name in part) >= lack
                    for name, lack in self.lacks.items()
                )
        return False


def _short_of(link: Link) -> _Short | None:
    """Return what a refusal says is lacking; None if it says nothing of amounts."""
    if isinstance(link, QueuePath) and not link.permits:
        full = next(
            (account for account in link.accounts if account.checked and account.exceeded), None
        )
        return None if full is None else _Short(lacking(full, link.point), link.holders)
    if isinstance(link, Overcommitted):
        reserved, idle = amounts(link.reserved), finite(link.idle)
        lacks = {
            name: reserved[name].billionths - idle[name].billionths
            for name in link.exceeded
            if name in reserved and name in idle
        }
        return _Short(lacks, link.holders)
    return None


def _full(link: Link) -> bool:
    return isinstance(link, Nodes) and link.blocks


class _Place(NamedTuple):
    """Nodes that refuse a pod, and for how many such pods they must have room.

    :param free: by node, what is idle and goes to no other job in the session.
    :param full: they lack amounts. :param other: they refuse it for what else runs there.
    """

    free: Mapping[str, Resource]
    request: Resource
    needed: int
    full: frozenset[str]
    other: frozenset[str]

    @classmethod
    def of(cls, link: Link, asked: WaitingObject) -> _Place | None:
        """Return it for a link about nodes; None if the cache does not have the pod."""
        if not isinstance(link, Nodes):
            return None
        cache, full, other = asked.cache, set[str](), set[str]()
        tasks = {task.key: task for job in cache.jobs.values() for task in job.tasks.values()}
        if link.pod not in tasks:
            return None
        for group in link.groups:
            if not group.final:
                # If all of its reasons are amounts, these nodes lack nothing but room.
                scarce = len(group.lacks) == len(group.reasons)
                (full if scarce else other).update(group.nodes)
        free = {
            name: cache.nodes[name].idle.clone()
            for name in sorted({*full, *link.passing} & cache.nodes.keys())
        }
        for pod, node in asked.placed.items():
            if node in free and pod in tasks and tasks[pod].job != asked.podgroup:
                free[node].sub_unchecked(tasks[pod].request)
        gang = next((link for link in asked.why.chain if isinstance(link, Gang)), None)
        needed = 1 if gang is None else max(1, gang.least - gang.ready)
        return cls(free, tasks[link.pod].request, needed, frozenset(full), frozenset(other))

    def takes_them_without(self, gone: Sequence[_Used]) -> bool:
        """Return whether nodes may take as many pods as are needed once others are gone."""
        by_node: dict[str, list[TaskInfo]] = {}
        for task, node in gone:
            by_node.setdefault(node, []).append(task)
        # Amounts do not say whether such a node takes the pod without what runs there: a session
        # does.
        if self.other & by_node.keys():
            return True
        near = sorted(self.free.keys() & by_node.keys())
        more = sum(self._fits(name, by_node[name]) - self._fits(name, ()) for name in near)
        return more > 0 and sum(self._fits(name, ()) for name in self.free) + more >= self.needed

    def _fits(self, node: str, gone: Sequence[TaskInfo]) -> int:
        """Return how many such pods a node has room for without some of its pods."""
        most: float = self.needed
        for name in self.request.resource_names():
            asked = self.request.get(name)
            if asked > 0:
                free = self.free[node].get(name) + sum(task.request.get(name) for task in gone)
                most = min(most, floor(max(free, 0.0) / asked))
        return int(most)


def _pods_gone(cache: SchedulerCache, place: _Place | None) -> Iterator[Suggestion]:
    """Yield each pod on a node that belongs to no job as gone, but for those of DaemonSets."""
    alone = [
        pod
        for _, pod in sorted(cache.stores.of("Pod").items())
        if isinstance(pod, Pod)
        and pod.spec.node_name
        and pod.status.phase not in _ENDED
        and not job_of(pod)
        # The DaemonSet would create its pod again.
        and all(owner.kind != "DaemonSet" for owner in pod.metadata.owner_references)
    ]
    near = frozenset[str]() if place is None else place.full | place.other
    alone.sort(key=lambda pod: pod.spec.node_name not in near)
    for rank, pod in enumerate(alone[:MOST_PODS_GONE]):
        key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        change = Delete(object_named(f"pod/{key}"))
        yield single(GONE, MOST_GONE + rank, f"pod {key} is gone", change)


def without(podgroup: str, cache: SchedulerCache, rank: int, *also: WhatIfChange) -> Suggestion:
    """Return a job or PodGroup that is gone, with its pods.

    :param also: what changes with that.
    """
    kind, name = named_as(podgroup, cache.jobs[podgroup].pod_group)
    gone = Delete(object_named(f"{kind}/{name}"))
    return single(GONE, rank, f"{kind} {name} is gone", gone, *also)
