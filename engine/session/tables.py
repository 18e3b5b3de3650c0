"""What a session calculates with: nodes, tasks and jobs as columns, addressed by row.

A snapshot holds these tables as belief made them; a session works on a copy (:meth:`copy`), which
shares the immutable infos and copies only arrays. Rows of nodes and jobs are in order of name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..belief.status import (
    ALLOCATED_STATUS,
    COMPLETED_STATUS,
    PREEMPTABLE_STATUS,
    READY_STATUS,
    STATUS_NAMES,
    VALID_STATUS,
    Status,
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
    "VALID_STATUS",
    "Floats",
    "Ints",
    "JobColumns",
    "NodeTable",
    "Rows",
    "Status",
    "TaskTable",
]

if TYPE_CHECKING:
    from ..belief.job import JobInfo
    from ..belief.node import NodeInfo
    from ..belief.task import TaskInfo

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Rows = NDArray[np.intp]

NO_NODE = -1
NO_JOB = -1


STATUSES = len(Status)
IS_ALLOCATED: NDArray[np.bool_] = np.array([status in ALLOCATED_STATUS for status in Status])
"""By status: whether it is in :data:`ALLOCATED_STATUS`; for whole columns at once."""
IS_ALLOCATED.setflags(write=False)


class NodeTable:
    """The nodes that a session may place on.

    Matrices are nodes × resources, in the units of
    :class:`~plinian.engine.belief.resource.Resource`.
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
        """Nodes without any scalar resource: the original's ``sub`` loses scalars there."""
        self.steady = not (releasing.any() or pipelined.any())
        """Whether nothing is releasing or pipelined anywhere: what is idle now is so later."""
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

    def own_tasks(self, node: int) -> dict[str, tuple[int, int]]:
        """Return the map of a node's tasks, to be changed."""
        if node not in self._own:
            self._own.add(node)
            self._placed[node] = self._placed[node].copy()
        return self._placed[node]

    def future_idle(self, rows: Rows | slice | int = slice(None)) -> Floats:
        """Return idle + releasing − pipelined; it may be negative.

        Source: ``api/node_info.go:FutureIdle``.
        """
        future: Floats = self.idle[rows] + self.releasing[rows] - self.pipelined[rows]
        return future


class TaskTable:
    """All tasks of the session's jobs, and all pods that lie on its nodes."""

    def __init__(
        self,
        *,
        info: Sequence[TaskInfo],
        status: NDArray[np.int8],
        node: Ints,
        job: Ints,
        klass: Ints,
        request: Floats,
    ) -> None:
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
        )


class JobColumns:
    """Columns of the jobs as belief makes them; :class:`~.jobs.JobTable` is a session's copy."""

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

    def __len__(self) -> int:
        return len(self.keys)
