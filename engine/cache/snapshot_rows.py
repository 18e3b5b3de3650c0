"""The rows of tasks, jobs and nodes, kept from snapshot to snapshot.

A refresh reads the changed jobs, then the changed nodes. It collects the new rows, which are
written together when the width of the matrices is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from ..model.growing_columns import Columns, Dimensions, Ids, Order
from ..model.job import JobInfo
from ..model.node import NodeInfo
from ..model.resource import Resource
from ..model.session_tables import JobColumns, NodeTable, TaskTable
from ..model.task import TaskInfo
from ..model.task_classes import TaskClasses
from ..model.task_status import ALLOCATED_STATUS, TaskStatus

_STATUSES = len(TaskStatus)
_IS_ALLOCATED = np.array([status in ALLOCATED_STATUS for status in TaskStatus])
_IS_ALLOCATED.setflags(write=False)


class TaskRows:
    """One row for each task of a visible job or a ready node."""

    def __init__(self, dims: Dimensions, classes: TaskClasses, nodes: Ids, jobs: Ids) -> None:
        self.columns = Columns(
            {
                "status": np.dtype(np.int8),
                "node": np.dtype(np.int32),
                "job": np.dtype(np.int32),
                "klass": np.dtype(np.int32),
                "best_effort": np.dtype(np.bool_),
                "gated": np.dtype(np.bool_),
            },
            ("request",),
            len(dims),
        )
        self._dims, self._classes, self._nodes, self._jobs = dims, classes, nodes, jobs
        self._info: list[TaskInfo] = []
        self._row: dict[int, int] = {}
        self._holders: list[int] = []
        self._in_job: list[bool] = []
        self._new: list[int] = []
        self._dropped: list[int] = []
        self._placed: list[tuple[int, int, int, int]] = []
        self._selected: tuple[str, ...] = ()

    def hold(self, tasks: Iterable[TaskInfo]) -> list[int]:
        """Return the rows of tasks, and count one more holder of each."""
        rows, row_of, holders = [], self._row, self._holders
        for task in tasks:
            row = row_of.get(id(task))
            if row is None:
                row = self._enter(task)
            holders[row] += 1
            rows.append(row)
        return rows

    def drop(self, rows: list[int]) -> None:
        """Count one holder less of these rows."""
        holders = self._holders
        for row in rows:
            holders[row] -= 1
            assert holders[row] >= 0, "a holder gives up only what it holds"
        self._dropped += rows

    def _enter(self, task: TaskInfo) -> int:
        row = self.columns.take_row()
        if row == len(self._info):
            self._info.append(task)
            self._holders.append(0)
            self._in_job.append(False)
        else:
            self._info[row] = task
        self._row[id(task)] = row
        self._new.append(row)
        return row

    def in_job(self, job: str, rows: list[int]) -> None:
        """Store status and node of tasks as in their visible job."""
        job_id, info, node_id = self._jobs.of(job), self._info, self._nodes.of
        for row in rows:
            task = info[row]
            self._in_job[row] = True
            node = node_id(task.node_name) if task.node_name else -1
            self._placed.append((row, task.status, node, job_id))

    def out_of_job(self, rows: list[int]) -> None:
        """Note that no visible job has these tasks."""
        for row in rows:
            self._in_job[row] = False

    def nodes_of(self, rows: list[int]) -> list[str]:
        """Return the nodes that may still have those tasks that are in no visible job."""
        return [self._info[row].node_name for row in rows if not self._in_job[row]]

    def on_node(self, node: str, rows: list[int], statuses: Iterable[TaskStatus]) -> None:
        """Store the status in the node's account, for tasks that are in no visible job."""
        node_id = self._nodes.of(node)
        for row, status in zip(rows, statuses, strict=True):
            if not self._in_job[row]:
                job = self._info[row].job
                self._placed.append((row, status, node_id, self._jobs.of(job) if job else -1))

    def sweep(self) -> None:
        """Free the rows that nothing holds."""
        gone = {row for row in self._dropped if not self._holders[row]}
        self._dropped = []
        # Freed rows are taken from the end of a list, so the lowest is used again first.
        for row in sorted(gone, reverse=True):
            if self._row.pop(id(self._info[row]), None) is not None:
                assert not self._in_job[row], "a visible job holds its tasks"
                self.columns.free_row(row)
                self._placed.append((row, TaskStatus.UNKNOWN, -1, -1))

    def resources(self) -> Iterator[Resource]:
        """Yield the requests that are to be written."""
        return (self._info[row].request for row in self._new)

    def write(self) -> None:
        """Write what was noted since the last time."""
        columns = self.columns
        if self._new:
            new = self._new
            tasks = [self._info[row] for row in new]
            columns["request"][new] = [self._dims.shared_vector(task.request) for task in tasks]
            if self._selected is self._classes.selected:
                columns["klass"][new] = self._klass(tasks)
            columns["best_effort"][new] = [task.best_effort for task in tasks]
            columns["gated"][new] = [task.gated for task in tasks]
        if self._selected is not self._classes.selected:
            # A new selector makes classes finer, so those of all tasks are read again, not of the
            # new only.
            self._selected = self._classes.selected
            columns["klass"][: len(self._info)] = self._klass(self._info)
        if self._placed:
            rows, statuses, nodes, jobs = np.array(self._placed, np.int32).T
            columns["status"][rows] = statuses
            columns["node"][rows] = nodes
            columns["job"][rows] = jobs
        self._new, self._placed = [], []

    def table(self, nodes: Order, jobs: Order) -> TaskTable:
        """Return the tasks, with nodes and jobs by their rows."""
        columns = self.columns
        return TaskTable(
            info=self._info.copy(),
            status=columns["status"].copy(),
            node=self._nodes.rows(nodes)[columns["node"]],
            job=self._jobs.rows(jobs)[columns["job"]],
            klass=columns["klass"].copy(),
            request=columns["request"].copy(),
        )

    def _klass(self, tasks: list[TaskInfo]) -> list[int]:
        finer = self._classes.finer
        return [finer(task.klass, task.pod) for task in tasks]


class JobRows:
    """One row for each visible job."""

    def __init__(self, dims: Dimensions, tasks: TaskRows) -> None:
        self.columns = Columns(
            {
                "counts": np.dtype((np.int32, (_STATUSES,))),
                "priority": np.dtype(np.int64),
                "min_available": np.dtype(np.int64),
                "created": np.dtype(np.int64),
                "best_effort": np.dtype(np.bool_),
                "gated": np.dtype(np.bool_),
                "grouped": np.dtype(np.bool_),
            },
            ("allocated", "total_request"),
            len(dims),
        )
        self._tasks = tasks
        self._row: dict[str, int] = {}
        self._info: list[JobInfo] = []
        self._held: list[list[int]] = []
        self._dirty: dict[int, None] = {}
        self._order: Order | None = None

    def __contains__(self, key: str) -> bool:
        return key in self._row

    def priority(self, key: str) -> int:
        """Return the priority that a visible job had at the last snapshot."""
        return self._info[self._row[key]].priority

    def put(self, job: JobInfo, priority: int) -> list[str]:
        """Update a visible job; return the nodes that may have tasks that it lost."""
        row = self._row.get(job.key)
        view = job.view(priority)
        if row is None:
            row = self._row[job.key] = self.columns.take_row()
            assert row <= len(self._info), "rows are taken without gaps"
            self._order = None
            if row == len(self._info):
                self._info.append(view)
                self._held.append([])
        before = self._held[row]
        self._tasks.out_of_job(before)
        self._info[row] = view
        self._held[row] = self._tasks.hold(job.tasks.values())
        self._tasks.drop(before)
        self._tasks.in_job(job.key, self._held[row])
        self._dirty[row] = None
        return self._tasks.nodes_of(before)

    def remove(self, key: str) -> list[str]:
        """Remove a job; return the nodes that may still have its tasks."""
        row = self._row.pop(key)
        self._order = None
        task_rows, self._held[row] = self._held[row], []
        self._tasks.out_of_job(task_rows)
        self._tasks.drop(task_rows)
        self.columns.free_row(row)
        return self._tasks.nodes_of(task_rows)

    def write(self) -> None:
        """Write the rows of the updated jobs."""
        rows = list(self._dirty)
        self._dirty = {}
        if not rows:
            return
        columns, info = self.columns, [self._info[row] for row in rows]
        columns["priority"][rows] = [job.priority for job in info]
        columns["min_available"][rows] = [job.min_available for job in info]
        columns["created"][rows] = [job.created for job in info]
        columns["grouped"][rows] = [job.is_grouped for job in info]
        self._sum_up(rows)

    def _sum_up(self, rows: list[int]) -> None:
        """Count the jobs' tasks and add up their requests."""
        rows_of_jobs = [self._held[row] for row in rows]
        tasks = np.fromiter(chain.from_iterable(rows_of_jobs), np.intp)
        owner = np.repeat(np.arange(len(rows)), [len(of_job) for of_job in rows_of_jobs])
        of_tasks = self._tasks.columns
        status, request = of_tasks["status"][tasks], of_tasks["request"][tasks]
        counts = np.bincount(owner * _STATUSES + status, minlength=len(rows) * _STATUSES)
        self.columns["counts"][rows] = counts.reshape(len(rows), _STATUSES)
        total = np.zeros((len(rows), request.shape[1]))
        np.add.at(total, owner, request)
        allocated = np.zeros_like(total)
        holds = _IS_ALLOCATED[status]
        np.add.at(allocated, owner[holds], request[holds])
        self.columns["total_request"][rows] = total
        self.columns["allocated"][rows] = allocated
        for name in ("best_effort", "gated"):
            count = np.bincount(owner[of_tasks[name][tasks]], minlength=len(rows))
            self.columns[name][rows] = count > 0

    @property
    def order(self) -> Order:
        """The visible jobs; sorted again after every change of the set."""
        if self._order is None:
            self._order = Order(self._row)
        return self._order

    def table(self) -> JobColumns:
        """Return the jobs in the order of their keys."""
        order, columns = self.order, self.columns
        rows, info = order.rows, order.pick(self._info)
        return JobColumns(
            info=info,
            keys=order.names,
            row=order.row,
            tasks=order.pick(self._held),
            counts=columns["counts"][rows],
            allocated=columns["allocated"][rows],
            total_request=columns["total_request"][rows],
            queue=list(map(attrgetter("queue"), info)),
            phase=list(map(attrgetter("pod_group.status.phase"), info)),
            priority=columns["priority"][rows],
            min_available=columns["min_available"][rows],
            created=columns["created"][rows],
            best_effort=columns["best_effort"][rows],
            gated=columns["gated"][rows],
            grouped=frozenset(np.flatnonzero(columns["grouped"][rows]).tolist()),
        )


_ACCOUNTS = ("allocatable", "idle", "used", "releasing", "pipelined")


class NodeRows:
    """One row for each ready node."""

    def __init__(self, dims: Dimensions, tasks: TaskRows) -> None:
        self.columns = Columns(
            {"max_pods": np.dtype(np.int64), "no_scalars": np.dtype(np.bool_)},
            (*_ACCOUNTS, "present"),
            len(dims),
        )
        self._dims, self._tasks = dims, tasks
        self._row: dict[str, int] = {}
        self._info: list[NodeInfo] = []
        self._held: list[list[int]] = []
        self._placed: list[dict[str, tuple[int, int]]] = []
        self._dirty: dict[int, None] = {}
        self._order: Order | None = None

    def __contains__(self, name: str) -> bool:
        return name in self._row

    def put(self, node: NodeInfo) -> None:
        """Take over a ready node as it is now."""
        view = node.view()
        row = self._row.get(view.name)
        if row is None:
            row = self._row[view.name] = self.columns.take_row()
            assert row <= len(self._info), "rows are taken without gaps"
            self._order = None
            if row == len(self._info):
                self._info.append(view)
                self._held.append([])
                self._placed.append({})
        before = self._held[row]
        placed = view.tasks
        rows = self._tasks.hold(noted.task for noted in placed.values())
        self._tasks.on_node(view.name, rows, [noted.status for noted in placed.values()])
        self._tasks.drop(before)
        self._info[row] = view
        self._held[row] = rows
        self._placed[row] = {
            key: (task, int(noted.status))
            for task, (key, noted) in zip(rows, placed.items(), strict=True)
        }
        self._dirty[row] = None

    def remove(self, name: str) -> None:
        """Take out a node."""
        row = self._row.pop(name)
        self._order = None
        task_rows, self._held[row] = self._held[row], []
        self._tasks.drop(task_rows)
        self.columns.free_row(row)

    def resources(self) -> Iterator[Resource]:
        """Yield the amounts that are to be written."""
        for row in self._dirty:
            info = self._info[row]
            yield info.allocatable
            yield info.used
            yield info.pipelined

    def write(self) -> None:
        """Write the rows of the updated nodes."""
        rows = list(self._dirty)
        self._dirty = {}
        if not rows:
            return
        columns, vector = self.columns, self._dims.vector
        info = [self._info[row] for row in rows]
        for name in _ACCOUNTS:
            columns[name][rows] = list(map(vector, map(attrgetter(name), info)))
        columns["present"][rows] = [self._dims.present(node.allocatable) for node in info]
        columns["max_pods"][rows] = [node.allocatable.max_task_num for node in info]
        columns["no_scalars"][rows] = [node.idle.scalars is None for node in info]

    @property
    def order(self) -> Order:
        """The ready nodes; sorted again after every change of the set."""
        if self._order is None:
            self._order = Order(self._row)
        return self._order

    def present(self) -> NDArray[np.bool_]:
        """Return by resource whether any node's allocatable has it."""
        return np.asarray(self.columns["present"][self.order.rows].any(axis=0), np.bool_)

    def table(self) -> NodeTable:
        """Return the nodes in the order of their names."""
        order, columns = self.order, self.columns
        rows = order.rows
        return NodeTable(
            info=order.pick(self._info),
            names=order.names,
            row=order.row,
            placed=order.pick(self._placed),
            max_pods=columns["max_pods"][rows],
            no_scalars=columns["no_scalars"][rows],
            **{name: columns[name][rows] for name in _ACCOUNTS},
        )
