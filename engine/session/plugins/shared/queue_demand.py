"""What the jobs of each queue hold, request, hold beyond their minimum, and reserve.

Source: ``OnSessionOpen`` of pkg/scheduler/plugins/proportion/proportion.go and
pkg/scheduler/plugins/capacity/capacity.go, which begin alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....model.resource import ZERO, Resource
from ....model.session_tables import IS_ALLOCATED, Floats, Rows, TaskStatus
from ....volcano.session.queues import Elastic
from ...framework.session import Session
from .inqueue import reserved_by_job


class QueueDemand(NamedTuple):
    """Sums over a queue's jobs, as the session opens.

    ``request`` is ``allocated`` and what pending tasks ask for; ``elastic`` is what jobs hold
    beyond their minResources; ``inqueue`` is what is kept for them (:mod:`.inqueue`).
    """

    allocated: Resource
    request: Resource
    elastic: Resource
    inqueue: Resource


def queue_demands(ssn: Session, *, until: int | None = None) -> dict[str, QueueDemand]:
    """Return the demand of each queue that has a job, in order of the queues' names.

    :param until: only jobs of rows before this count.
    """
    jobs, tasks = ssn.jobs, ssn.tasks
    queues = jobs.queue[:until]
    names = sorted(set(queues))
    number = {name: index for index, name in enumerate(names)}
    of_job = np.array([number[name] for name in queues], dtype=np.intp)

    counted = np.flatnonzero((tasks.job >= 0) & (tasks.job < len(queues)))
    status = tasks.status[counted]
    holding = counted[IS_ALLOCATED[status]]
    asking = counted[IS_ALLOCATED[status] | (status == TaskStatus.PENDING)]
    spare = ELASTIC[ssn.behaviours.elastic_resources](ssn)[: len(queues)]

    sums = _Sums(ssn, of_job, len(names))
    demands = {
        name: QueueDemand(allocated, request, elastic, Resource())
        for name, allocated, request, elastic in zip(
            names, sums.requests(holding), sums.requests(asking), sums.of_jobs(spare), strict=True
        )
    }
    for job, reserved in reserved_by_job(
        ssn, lacking=ssn.behaviours.inqueue_jobs_reserve_missing_only
    ):
        if job < len(queues):
            demands[jobs.queue[job]].inqueue.add(reserved)
    return demands


def _each(ssn: Session) -> Floats:
    """Return, jobs × resources, what is held beyond minResources."""
    beyond: Floats = np.maximum(ssn.jobs.allocated - _least(ssn), 0.0)
    return beyond


def _all_or_nothing(ssn: Session) -> Floats:
    """Return the same of jobs that hold more than minResources of everything.

    Source: api/job_info.go GetElasticResources.
    """
    beyond: Floats = ssn.jobs.allocated - _least(ssn)
    for job in range(len(ssn.jobs)):
        if ssn.jobs.allocated_resource(job).less_equal_partly(ssn.jobs.min_resources(job), ZERO):
            beyond[job] = 0.0
    return beyond


ELASTIC: Mapping[Elastic, Callable[[Session], Floats]] = MappingProxyType(
    {Elastic.EACH: _each, Elastic.ALL_OR_NOTHING: _all_or_nothing}
)


class _Sums:
    """Sums by queue; a scalar is present where there is more than 0 of it, or a task names it."""

    def __init__(self, ssn: Session, of_job: Rows, queues: int) -> None:
        self._ssn = ssn
        self._of_job = of_job
        self._queues = queues

    def of_jobs(self, amounts: Floats) -> Iterator[Resource]:
        """Yield each queue's sum of a matrix jobs × resources."""
        return self._resources(self._of_job, amounts)

    def requests(self, tasks: Rows) -> Iterator[Resource]:
        """Yield each queue's sum of what tasks request."""
        queue = self._of_job[self._ssn.tasks.job[tasks]]
        named = self._named_without_amount(tasks, queue)
        for number, total in enumerate(self._resources(queue, self._ssn.tasks.request[tasks])):
            for name in named.get(number, ()):
                total.add_scalar(name, 0.0)
            yield total

    def _resources(self, queue: Rows, amounts: Floats) -> Iterator[Resource]:
        columns = [
            np.bincount(queue, weights=amounts[:, dim], minlength=self._queues)
            for dim in range(amounts.shape[1])
        ]
        for row in np.column_stack(columns).tolist() if columns else ():
            total = Resource()
            for name, amount in zip(self._ssn.dims, row, strict=True):
                if amount:
                    total.set(name, amount)
            yield total

    def _named_without_amount(self, tasks: Rows, queue: NDArray[np.intp]) -> dict[int, list[str]]:
        """Return the scalars that tasks of a queue request 0 of: present all the same."""
        by_queue: dict[int, list[str]] = {}
        first = self._ssn.tasks.first_of_class(tasks)
        for klass in np.flatnonzero(first >= 0).tolist():
            scalars = self._ssn.tasks.info[first[klass]].request.scalars or {}
            if all(scalars.values()):
                continue
            empty = [name for name, amount in scalars.items() if not amount]
            for number in np.unique(queue[self._ssn.tasks.klass[tasks] == klass]).tolist():
                by_queue.setdefault(number, []).extend(empty)
        return by_queue


def _least(ssn: Session) -> Floats:
    """Return the jobs' minResources, jobs × resources."""
    return ssn.snapshot.jobs.min_resources(ssn.dims).amounts
