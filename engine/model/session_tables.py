"""The tables of a session: nodes, tasks and jobs as columns, addressed by row.

A snapshot holds these tables from the cache; a session works on a copy (:meth:`copy`), which
shares the immutable infos and copies only arrays. Rows of nodes and jobs are in order of name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .task_status import (
    ALLOCATED_STATUS,
    COMPLETED_STATUS,
    PREEMPTABLE_STATUS,
    READY_STATUS,
    STATUS_NAMES,
    VALID_STATUS,
    TaskStatus,
)

__all__ = [
    "ALLOCATED_STATUS",
    "COMPLETED_STATUS",
    "IS_ALLOCATED",
    "NO_JOB",
    "NO_NODE",
    "PREEMPTABLE_STATUS",
    "READY_STATUS",
    "STATUSES",
    "STATUS_NAMES",
    "TOLERANCE",
    "VALID_STATUS",
    "Floats",
    "Ints",
    "JobColumns",
    "NodeTable",
    "Rows",
    "TaskStatus",
    "TaskTable",
]

if TYPE_CHECKING:
    from .job import JobInfo
    from .node import NodeInfo
    from .task import TaskInfo

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Rows = NDArray[np.intp]

TOLERANCE = 0.1
"""Amounts that differ by less are equal (``api/resource_info.go:minResource``)."""

NO_NODE = -1
NO_JOB = -1


STATUSES = len(TaskStatus)
IS_ALLOCATED: NDArray[np.bool_] = np.array([status in ALLOCATED_STATUS for status in TaskStatus])
"""By status: whether it is in :data:`ALLOCATED_STATUS`; for whole columns at once."""
IS_ALLOCATED.setflags(write=False)


class NodeTable:
    """The nodes that a session may place on.

    Matrices are nodes × resources, in the units of
    :class:`~plinian.engine.model.resource.Resource`.
    """

    def __init__(
        self,
        *,
        info: Sequence[NodeInfo],
        names: list[str],
        row: dict[str, int],
        allocatable: Floats,
        idle: Floats,
        used: Floats,
        releasing: Floats,
        pipelined: Floats,
        max_pods: NDArray[np.int64],
        no_scalars: NDArray[np.bool_],
        placed: list[dict[str, tuple[int, int]]],
    ) -> None:
        self.info = info
        self.names = names
        self.row = row
        self.allocatable = allocatable
        self.idle = idle
        self.used = used
        self.releasing = releasing
        self.pipelined = pipelined
        self.max_pods = max_pods
        self.no_scalars = no_scalars
        """Nodes without any scalar resource: Volcano's ``sub`` loses scalars there."""
        self.promised = pipelined != 0
        """By node and resource, whether a task was pipelined in this session, or still is."""
        self.steady = not (releasing.any() or pipelined.any())
        """Whether nothing is releasing or pipelined on any node: future idle equals idle."""
        self._placed = placed
        self._own: set[int] = set()

    def __len__(self) -> int:
        return len(self.names)

    def copy(self) -> NodeTable:
        """Return a table that a session may change; the maps of tasks are copied when touched."""
        return NodeTable(
            info=self.info,
            names=self.names,
            row=self.row,
            allocatable=self.allocatable,
            idle=self.idle.copy(),
            used=self.used.copy(),
            releasing=self.releasing.copy(),
            pipelined=self.pipelined.copy(),
            max_pods=self.max_pods,
            no_scalars=self.no_scalars,
            placed=self._placed.copy(),
        )

    def tasks(self, node: int) -> dict[str, tuple[int, int]]:
        """Return ``{"ns/name": (task row, stored status)}`` of a node; not to be changed."""
        return self._placed[node]

    def count_tasks(self) -> int:
        """Return how many tasks the nodes have noted."""
        return sum(map(len, self._placed))

    def own_tasks(self, node: int) -> dict[str, tuple[int, int]]:
        """Return the map of a node's tasks, to be changed."""
        if node not in self._own:
            self._own.add(node)
            self._placed[node] = self._placed[node].copy()
        return self._placed[node]

    def account(self, node: int, request: Floats, status: int, *, checked: bool) -> None:
        """Add a task's request (or subtract it, if negative), depending on its status.

        :param checked: idle does not fall below 0; else it may, and a node without scalars gets
            none.
        """
        if status == TaskStatus.PIPELINED:
            self.pipelined[node] += request
            self.promised[node] |= request != 0
            self.steady = False
            return
        idle, used = self.idle[node], self.used[node]
        used += request
        if checked:
            np.maximum(self.allocatable[node] - used, 0.0, out=idle)
        elif self.no_scalars.item(node):
            # As Volcano's sub: without a map of scalars, only cpu and memory are subtracted.
            idle[:2] -= request[:2]
        else:
            idle -= request
        if status == TaskStatus.RELEASING:
            self.releasing[node] += request
            self.steady = False

    def overfull(self) -> NDArray[np.bool_]:
        """Return, by node, whether more of any resource is used than the node has."""
        overfull: NDArray[np.bool_] = np.any(self.used - self.allocatable >= TOLERANCE, axis=1)
        return overfull

    def future_idle(self, rows: Rows | slice | int = slice(None)) -> Floats:
        """Return idle + releasing − pipelined; it may be negative.

        Source: ``api/node_info.go:FutureIdle``.
        """
        future: Floats = self.idle[rows] + self.releasing[rows]
        future -= self.pipelined[rows]
        return future


class TaskTable:
    """All tasks of the session's jobs, and all pods on its nodes."""

    def __init__(
        self,
        *,
        info: Sequence[TaskInfo],
        status: NDArray[np.int8],
        node: Ints,
        job: Ints,
        klass: Ints,
        request: Floats,
        class_list: list[int] | None = None,
    ) -> None:
        columns = (status, node, job, klass, request)
        assert {len(column) for column in columns} == {len(info)}, "each task has one row"
        self._class_list: list[int] = [] if class_list is None else class_list
        self.info = info
        self.status = status
        self.node = node
        self.job = job
        self.klass = klass
        self.request = request
        self.eviction_occurred: set[int] = set()
        """Pipelined tasks for which others were evicted."""
        self.last_transaction: dict[int, tuple[int, int, bool]] = {}
        """(status, node, eviction occurred) before the last discard, by task."""
        self.job_hypernode: dict[int, str] = {}
        """Hypernode that the job was placed in when the task was last looked at."""

    def __len__(self) -> int:
        return len(self.info)

    def copy(self) -> TaskTable:
        """Return a table that a session may change."""
        return TaskTable(
            info=self.info,
            status=self.status.copy(),
            node=self.node.copy(),
            job=self.job,
            klass=self.klass,
            request=self.request,
            class_list=self._class_list,
        )

    @property
    def class_list(self) -> list[int]:
        """The classes as a list, which all copies share."""
        if not self._class_list:
            self._class_list += self.klass.tolist()
        return self._class_list

    def first_of_class(self, tasks: Rows) -> Rows:
        """Return, by class, the first of some tasks; -1 if there is none."""
        first = np.full(int(self.klass.max(initial=-1)) + 1, -1, dtype=np.intp)
        first[self.klass[tasks[::-1]]] = tasks[::-1]  # what is assigned last stays
        return first


class JobColumns:
    """Columns of the jobs from the cache; :class:`~.jobs.JobTable` is a session's copy."""

    def __init__(
        self,
        *,
        info: Sequence[JobInfo],
        keys: list[str],
        row: dict[str, int],
        tasks: Sequence[Sequence[int]],
        counts: Ints,
        allocated: Floats,
        total_request: Floats,
        queue: list[str],
        phase: list[str],
        priority: NDArray[np.int64],
        min_available: NDArray[np.int64],
        created: NDArray[np.int64],
        best_effort: NDArray[np.bool_],
        gated: NDArray[np.bool_],
        grouped: frozenset[int],
    ) -> None:
        self.info = info
        self.keys = keys
        """``namespace/podgroup`` in ascending order."""
        self.row = row
        self.tasks = tasks
        """Task rows of each job, in the order of being added."""
        self.counts = counts
        """Jobs × statuses: how many tasks."""
        self.allocated = allocated
        """Jobs × resources: sum of the requests in allocated status, at the snapshot."""
        self.total_request = total_request
        self.queue = queue
        self.phase = phase
        self.priority = priority
        self.min_available = min_available
        self.created = created
        """Seconds since 1970 of the PodGroup's creation."""
        self.best_effort = best_effort
        """Whether the job has a task without request."""
        self.gated = gated
        """Whether the job has a task with scheduling gates."""
        self.grouped = grouped
        """Jobs whose tasks a policy divides into groups."""

        self._minima: tuple[tuple[str, ...], MinResources] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def min_resources(self, dims: tuple[str, ...]) -> MinResources:
        """Return the jobs' minResources; the result is cached until the jobs change.

        :param dims: the resources that count; no task has others.
        """
        if self._minima is None or self._minima[0] != dims:
            self._minima = dims, _min_resources(self.info, dims)
        return self._minima[1]


class MinResources(NamedTuple):
    """The minResources of jobs.

    :param amounts: jobs × resources; 0 where a job names none.
    :param given: by job, whether it has minResources.
    :param scalars: by job, whether they name more than cpu and memory.
    """

    amounts: Floats
    given: NDArray[np.bool_]
    scalars: NDArray[np.bool_]


def _min_resources(info: Sequence[JobInfo], dims: tuple[str, ...]) -> MinResources:
    given = [(job, info_of_job.min_resources) for job, info_of_job in enumerate(info)]
    named = [(job, amount) for job, amount in given if amount is not None]
    with_scalars = [(job, amount.scalars) for job, amount in named if amount.scalars]
    least = MinResources(
        np.zeros((len(info), len(dims))),
        np.zeros(len(info), np.bool_),
        np.zeros(len(info), np.bool_),
    )
    rows = [job for job, _ in named]
    least.given[rows] = True
    least.amounts[rows, :2] = np.array(
        [(amount.cpu, amount.memory) for _, amount in named]
    ).reshape(-1, 2)
    column = {name: dim for dim, name in enumerate(dims)}
    for job, scalars in with_scalars:
        least.scalars[job] = True
        for name, amount in scalars.items():
            if name in column:
                least.amounts[job, column[name]] = amount
    return least
