"""The jobs of a session: how many tasks are where, and the questions that plugins ask of that.

Source: ``pkg/scheduler/api/job_info.go``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from ..belief.objects import PodGroup
from ..belief.resource import Resource, exceeded_part
from .fit_errors import FitErrors, histogram
from .tables import (
    ALLOCATED_STATUS,
    READY_STATUS,
    STATUS_NAMES,
    VALID_STATUS,
    JobColumns,
    NodeTable,
    Status,
    TaskTable,
)

POD_GROUP_NOT_READY = "pod group is not ready"
SCHEDULABLE = "Schedulable"
UNSCHEDULABLE = "Unschedulable"

_READY_OR_PIPELINED = READY_STATUS | {Status.PIPELINED}


class JobTable:
    """Jobs by row; all functions take a row."""

    def __init__(self, columns: JobColumns, tasks: TaskTable, nodes: NodeTable) -> None:
        self.info = columns.info
        self.keys = columns.keys
        self.row = columns.row
        self.tasks = columns.tasks
        self.queue = columns.queue
        self.priority = columns.priority
        self.created: list[int] = columns.created.tolist()
        self.min_available: list[int] = columns.min_available.tolist()
        self.counts: list[list[int]] = columns.counts.tolist()
        """By job and status: how many tasks. They are read and changed one at a time."""
        self.allocated = columns.allocated
        """As at the opening; :meth:`allocated_resource` is as it is now."""
        self.total_request = columns.total_request
        self.phase = columns.phase.copy()
        self.hypernode: dict[int, str] = {}
        """Annotation of the allocated hypernode, where this session changed it."""
        self.fit_errors: dict[int, FitErrors] = {}
        """By task row: why no node takes it."""
        self.job_fit_errors: dict[int, str] = {}
        self.best_effort: list[bool] = columns.best_effort.tolist()
        self._gated: list[bool] = columns.gated.tolist()
        self._tasks = tasks
        self._nodes = nodes
        self._min_resources: dict[int, Resource] = {}

    def __len__(self) -> int:
        return len(self.keys)

    def pod_group(self, job: int) -> PodGroup:
        """Return a job's PodGroup; a job without one is in no session."""
        group = self.info[job].pod_group
        if group is None:
            raise LookupError(f"{self.keys[job]} has no PodGroup")
        return group

    def tasks_with(self, job: int, statuses: Collection[int]) -> list[int]:
        """Return the job's tasks that have one of these statuses, in their order."""
        status = self._tasks.status.item
        return [task for task in self.tasks[job] if status(task) in statuses]

    def pending_tasks(self, job: int) -> list[int]:
        """Return the job's pending tasks."""
        if not self.counts[job][Status.PENDING]:
            return []
        status = self._tasks.status.item
        return [task for task in self.tasks[job] if status(task) == Status.PENDING]

    def is_pending(self, job: int) -> bool:
        """Return whether the PodGroup has not been enqueued."""
        return self.phase[job] in {"", "Pending"}

    def ready_task_num(self, job: int) -> int:
        """Return how many tasks hold resources or have succeeded."""
        _, allocated, _, binding, bound, running, _, succeeded, _, _ = self.counts[job]
        return allocated + binding + bound + running + succeeded

    def allocated_task_num(self, job: int) -> int:
        """Return how many tasks hold resources."""
        return self.ready_task_num(job) - self.counts[job][Status.SUCCEEDED]

    def waiting_task_num(self, job: int) -> int:
        """Return how many tasks are pipelined."""
        return self.counts[job][Status.PIPELINED]

    def pending_best_effort_task_num(self, job: int) -> int:
        """Return how many pending tasks ask for nothing."""
        if not self.best_effort[job]:
            return 0
        info = self._tasks.info
        return sum(info[task].best_effort for task in self.pending_tasks(job))

    def valid_task_num(self, job: int) -> int:
        """Return how many tasks are not lost: neither releasing, failed nor unknown."""
        counts = self.counts[job]
        return sum(counts[status] for status in VALID_STATUS)

    def is_ready(self, job: int) -> bool:
        """Return whether the gang has its minimum."""
        return (
            self.ready_task_num(job) + self.pending_best_effort_task_num(job)
            >= self.min_available[job]
        )

    def is_pipelined(self, job: int) -> bool:
        """Return whether the gang has its minimum when what is released counts."""
        return (
            self.waiting_task_num(job)
            + self.ready_task_num(job)
            + self.pending_best_effort_task_num(job)
            >= self.min_available[job]
        )

    def is_starving(self, job: int) -> bool:
        """Return whether the gang lacks tasks; those that ask for nothing do not count."""
        return self.waiting_task_num(job) + self.ready_task_num(job) < self.min_available[job]

    def check_task_valid(self, job: int) -> bool:
        """Return whether each role has as many valid tasks as its minimum."""
        if not self._checks_roles(job):
            return True
        actual = self._roles(job, VALID_STATUS)
        minima = self.info[job].task_min_available
        return all(actual[role] >= least for role, least in minima.items() if least)

    def check_task_ready(self, job: int) -> bool:
        """Return whether each role has its minimum of ready tasks."""
        return not self._checks_roles(job) or self._has_minima(
            job, self._roles(job, READY_STATUS, with_best_effort=True)
        )

    def check_task_pipelined(self, job: int) -> bool:
        """Return whether each role has its minimum of ready or pipelined tasks."""
        return not self._checks_roles(job) or self._has_minima(
            job, self._roles(job, _READY_OR_PIPELINED, with_best_effort=True)
        )

    def check_task_starving(self, job: int) -> bool:
        """Return whether a role lacks tasks; true if roles are not looked at."""
        info = self.info[job]
        if info.min_available < info.task_min_available_total:
            return True
        return not self._has_minima(job, self._roles(job, _READY_OR_PIPELINED))

    def min_resources(self, job: int) -> Resource:
        """Return the PodGroup's minResources; empty if there are none. Not to be changed."""
        known = self._min_resources.get(job)
        if known is None:
            given = self.info[job].min_resources
            known = self._min_resources[job] = Resource() if given is None else given
        return known

    def allocated_resource(self, job: int) -> Resource:
        """Return the sum of the requests of the tasks that now hold resources."""
        return self.sum_requests(self.tasks_with(job, ALLOCATED_STATUS))

    def elastic_resources(self, job: int) -> Resource:
        """Return what the job holds beyond its minResources."""
        elastic = exceeded_part(self.allocated_resource(job), self.min_resources(job))
        return Resource() if elastic is None else elastic

    def sum_requests(self, tasks: Collection[int]) -> Resource:
        """Return the sum of the requests of tasks."""
        total = Resource()
        for task in tasks:
            total.add(self._tasks.info[task].request)
        return total

    def deduct_sch_gated_resources(self, job: int, amount: Resource) -> Resource:
        """Return an amount without what the job's gated tasks ask for, at least 0."""
        if not self._gated[job]:
            return amount
        info = self._tasks.info
        gated = self.sum_requests([task for task in self.tasks[job] if info[task].gated])
        if gated.is_empty():
            return amount
        rest = amount.clone()
        rest.cpu = max(rest.cpu - gated.cpu, 0.0)
        rest.memory = max(rest.memory - gated.memory, 0.0)
        for name in rest.scalars or ():
            if rest.scalars is not None and gated.scalars and name in gated.scalars:
                rest.scalars[name] = max(rest.scalars[name] - gated.scalars[name], 0.0)
        return rest

    def task_has_fit_errors(self, job: int, task: int) -> bool:
        """Return whether a task of the same role was found to fit nowhere in this session."""
        role = self._tasks.info[task].role
        return bool(role) and role in self._failed_roles(job)

    def need_continue_allocating(self, job: int) -> bool:
        """Return whether the gang can still be met after a task that fits nowhere.

        Source: ``JobInfo.NeedContinueAllocating``.
        """
        info = self.info[job]
        if info.min_available == len(self.tasks[job]):
            return False
        failed = self._failed_roles(job)
        if info.min_available < info.task_min_available_total:
            roles = Counter(self._tasks.info[task].role for task in self.pending_tasks(job))
            left = sum(number for role, number in roles.items() if role not in failed)
            return self.ready_task_num(job) + left >= info.min_available
        allocated = self._roles(job, READY_STATUS, with_best_effort=True)
        minima = info.task_min_available
        return all(allocated[role] >= minima.get(role, 0) for role in sorted(failed))

    def reset_fit_errors(self, job: int) -> None:
        """Forget why the job and its tasks did not fit."""
        self.job_fit_errors.pop(job, None)
        for task in self.tasks[job]:
            self.fit_errors.pop(task, None)

    def fit_error(self, job: int) -> str:
        """Return the sentence of a PodGroup's condition: why the gang is not ready.

        Source: ``JobInfo.FitError``.
        """
        counts = self.counts[job]
        states: Counter[str] = Counter(
            {STATUS_NAMES[status]: number for status, number in enumerate(counts) if number}
        )
        states["minAvailable"] = self.info[job].min_available
        text = f"{POD_GROUP_NOT_READY}, {', '.join(histogram(states))}"
        pending = Counter(self.task_scheduling_reason(t)[0] for t in self.pending_tasks(job))
        if pending:
            text += f"; Pending: {', '.join(histogram(pending))}"
        return text + self._origin(job)

    def task_scheduling_reason(self, task: int) -> tuple[str, str, str]:
        """Return (reason, message, nominated node) that a task's condition says.

        Source: ``JobInfo.TaskSchedulingReason``.
        """
        status, node, evicted = self._tasks.last_transaction.get(
            task,
            (
                int(self._tasks.status[task]),
                int(self._tasks.node[task]),
                task in self._tasks.eviction_occurred,
            ),
        )
        message = self.job_fit_errors.get(int(self._tasks.job[task]), "")
        info = self._tasks.info[task]
        if status == Status.ALLOCATED:
            name = self._nodes.names[node]
            return (
                SCHEDULABLE,
                (
                    f"Pod {info.key} can possibly be assigned to {name},"
                    " once minAvailable is satisfied"
                ),
                "",
            )
        if status == Status.PIPELINED:
            name = self._nodes.names[node]
            text = (
                f"Pod {info.key} can possibly be assigned to {name},"
                " once resource is released and minAvailable is satisfied"
            )
            return UNSCHEDULABLE, text, name if evicted else ""
        if status == Status.PENDING:
            errors = self.fit_errors.get(task)
            return UNSCHEDULABLE, message if errors is None else errors.error(), ""
        return STATUS_NAMES[status], message, ""

    def _origin(self, job: int) -> str:
        text = self.job_fit_errors.get(job, "")
        if text:
            return f". Origin reason is: {text}"
        for task in self.tasks[job]:
            errors = self.fit_errors.get(task)
            if errors is not None:
                return f". Origin reason is {self._tasks.info[task].name}: {errors.error()}"
        return ""

    def _checks_roles(self, job: int) -> bool:
        """Return whether roles' minima matter: there are some, and they do not exceed the gang's."""
        info = self.info[job]
        return bool(info.task_min_available) and info.min_available >= info.task_min_available_total

    def _has_minima(self, job: int, roles: Counter[str]) -> bool:
        return all(
            roles[role] >= least for role, least in self.info[job].task_min_available.items()
        )

    def _roles(
        self, job: int, statuses: Collection[int], *, with_best_effort: bool = False
    ) -> Counter[str]:
        """Count the tasks by role in these statuses, and pending ones that ask for nothing."""
        return Counter(self._counted(job, statuses, with_best_effort=with_best_effort))

    def _counted(
        self, job: int, statuses: Collection[int], *, with_best_effort: bool
    ) -> Iterator[str]:
        status, info = self._tasks.status.item, self._tasks.info
        for task in self.tasks[job]:
            now = status(task)
            if now in statuses or (
                with_best_effort and now == Status.PENDING and info[task].best_effort
            ):
                yield info[task].role

    def _failed_roles(self, job: int) -> set[str]:
        if not self.fit_errors:
            return set()
        info = self._tasks.info
        return {info[task].role for task in self.tasks[job] if task in self.fit_errors}
