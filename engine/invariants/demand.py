"""What the jobs of each queue hold and reserve, summed from the jobs of the scheduler's cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..model.job import JobInfo
from ..model.resource import Resource
from ..model.resource_names import PODS
from ..model.task import pod_request
from ..model.task_status import ALLOCATED_STATUS

if TYPE_CHECKING:
    from ..session.framework.session_outcome import SessionResult
    from .view import ClusterView

Amounts = Mapping[str, float]
"""By resource: milli-cores, bytes of memory, count of pods, milli of all else."""

ByQueue = Mapping[str, Amounts]


class DemandOfQueues:
    """The demand of queues at the moment of a view; with a tree, a queue has that of its children.

    :ivar held: what the tasks of each queue hold.
    """

    def __init__(self, view: ClusterView, *, tree: bool) -> None:
        self._view, self._tree = view, tree
        # As a snapshot of the cache: a job without a PodGroup is in no session.
        self._jobs = {key: job for key, job in view.cache.jobs.items() if job.pod_group is not None}
        self.held = self._by_queue(
            (job.queue, amounts_of(job.allocated)) for job in self._jobs.values()
        )

    def of_pods(self, keys: Iterable[str]) -> ByQueue:
        """Return what some pods request, by queue."""
        pods = ((self._view.queue_of_pod(key), self._view.pods.get(key)) for key in keys)
        return self._by_queue(
            (queue, amounts_of(pod_request(pod))) for queue, pod in pods if pod is not None
        )

    def of_groups(self, keys: Iterable[str]) -> ByQueue:
        """Return what PodGroups reserve when they are enqueued: minResources without gated pods."""
        jobs = (self._jobs[key] for key in keys if key in self._jobs)
        return self._by_queue((job.queue, _reserved(job)) for job in jobs)

    def inqueue(self, *, in_units: bool = False) -> ByQueue:
        """Return what enqueued PodGroups still need.

        :param in_units: of Running ones, scalars in whole units, as some releases count them.
        """
        lacking = _lacking_in_units if in_units else _lacking
        return self._by_queue(
            (job.queue, lacking(job)) for job in self._jobs.values() if _reserves(job)
        )

    def reserved_after(self, result: SessionResult) -> ByQueue:
        """Return what jobs hold or reserve up to their minResources after a session."""
        enqueued = frozenset(result.enqueued)
        return self._by_queue(
            (job.queue, _reserved(job) if key in enqueued else _within_least(job))
            for key, job in self._jobs.items()
        )

    def _by_queue(self, parts: Iterable[tuple[str, Amounts]]) -> ByQueue:
        demand: dict[str, dict[str, float]] = {}
        for queue, amounts in parts:
            for name in self._lineage(queue):
                _add(demand.setdefault(name, {}), amounts)
        return demand

    def _lineage(self, queue: str) -> list[str]:
        """Return a queue and, in a tree, those above it."""
        lineage = [queue]
        while self._tree and lineage[-1] in self._view.cache.queues:
            parent = self._view.cache.queues[lineage[-1]].parent
            # A queue that names no parent is a child of root.
            if not parent and lineage[-1] != "root":
                parent = "root"
            # Queues may name each other in a circle: truth may hold what admission refuses.
            if not parent or parent in lineage:
                break
            lineage.append(parent)
        return lineage


def amounts_of(resource: Resource) -> Amounts:
    """Return the amounts of a resource by name."""
    return {"cpu": resource.cpu, "memory": resource.memory, **(resource.scalars or {})}


def summed(one: ByQueue, other: ByQueue) -> ByQueue:
    """Return the sum of two demands."""
    total: dict[str, dict[str, float]] = {queue: dict(amounts) for queue, amounts in one.items()}
    for queue, amounts in other.items():
        _add(total.setdefault(queue, {}), amounts)
    return total


def _add(to: dict[str, float], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        to[name] = to.get(name, 0.0) + amount


def _reserves(job: JobInfo) -> bool:
    """Return whether a job reserves: it is Inqueue, or Running with minMember pods in place."""
    group = job.pod_group
    assert group is not None
    if group.status.phase == "Running":
        return (
            sum(len(job.index.get(status, ())) for status in ALLOCATED_STATUS) >= job.min_available
        )
    return group.status.phase == "Inqueue"


def _reserved(job: JobInfo) -> Amounts:
    """Return a job's minResources, without what its gated tasks request."""
    if job.min_resources is None:
        return {}
    # A gated task cannot start yet, so nothing is reserved for it.
    gated = Resource()
    for task in job.tasks.values():
        if task.gated:
            gated.add(task.request)
    return _positive(amounts_of(job.min_resources), amounts_of(gated))


def _lacking(job: JobInfo) -> Amounts:
    """Return what a job reserves and does not hold yet."""
    return _positive(_reserved(job), amounts_of(job.allocated))


def _lacking_in_units(job: JobInfo) -> Amounts:
    """Return the same, with units of scalars compared with thousandths if the job runs."""
    assert job.pod_group is not None
    right = _lacking(job)
    if job.pod_group.status.phase != "Running":
        return right
    allocated, least = amounts_of(job.allocated), _reserved(job)
    return {
        name: amount
        if name in {"cpu", "memory"}
        else max(0.0, least[name] / 1000 - allocated.get(name, 0.0))
        for name, amount in right.items()
    }


def _within_least(job: JobInfo) -> Amounts:
    """Return what a job holds up to its minResources; or reserves, if that is more."""
    least = {} if job.min_resources is None else amounts_of(job.min_resources)
    allocated = amounts_of(job.allocated)
    if _reserves(job):
        return least
    return {name: min(amount, allocated.get(name, 0.0)) for name, amount in least.items()}


def _positive(amounts: Amounts, less: Amounts) -> Amounts:
    return {
        name: max(0.0, amount - less.get(name, 0.0))
        for name, amount in amounts.items()
        if name != PODS
    }
