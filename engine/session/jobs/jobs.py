"""The jobs of a session: counts of their tasks by status, and queries for plugins.

Source: ``pkg/scheduler/api/job_info.go``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import add

from ...kubernetes.objects import PodGroup
from ...model.resource import Resource, exceeded_part
from ...model.session_tables import (
    ALLOCATED_STATUS,
    READY_STATUS,
    STATUS_NAMES,
    STATUSES,
    VALID_STATUS,
    JobColumns,
    NodeTable,
    TaskStatus,
    TaskTable,
)
from ...volcano.session.behaviours import Behaviours
from ...volcano.session.status import Nomination
from ..reasons.fit_errors import FitErrors, histogram

POD_GROUP_NOT_READY = "pod group is not ready"
POD_GROUP_READY = "pod group is ready"
SCHEDULABLE = "Schedulable"
UNSCHEDULABLE = "Unschedulable"

FREE = STATUSES
"""The index after all statuses: pending tasks without requests."""

_IS_READY = tuple(int(status in READY_STATUS) for status in TaskStatus)
_NO_TASKS = (0,) * (STATUSES + 1)
_VALID = tuple(sorted(VALID_STATUS))
_PLACED = (*sorted(READY_STATUS), TaskStatus.PIPELINED)
_READY = (*sorted(READY_STATUS), FREE)
_READY_OR_PIPELINED = (*_PLACED, FREE)


Choose = Callable[[int, Sequence[str]], int]
"""Of a job and names: returns the index of one of them."""


class JobTable:
    """Jobs by row; all functions take a row."""

    def __init__(
        self,
        columns: JobColumns,
        tasks: TaskTable,
        nodes: NodeTable,
        behaviours: Behaviours,
        choose: Choose = lambda _job, _names: 0,
    ) -> None:
        """:param choose: chooses the pod whose reason a gang's message has."""
        self._behaviours, self._choose = behaviours, choose
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
        self.ready: list[int] = columns.counts[:, sorted(READY_STATUS)].sum(axis=1).tolist()
        """By job: how many tasks hold resources or have succeeded."""
        assert len(self.keys) == len(self.counts) == len(self.tasks), "each job has one row"
        self.allocated = columns.allocated
        """The value at the opening; :meth:`allocated_resource` is the current one."""
        self.total_request = columns.total_request
        self.phase = columns.phase.copy()
        self.hypernode: dict[int, str] = {}
        """Annotation of the allocated hypernode, where this session changed it."""
        self.fit_errors: dict[int, FitErrors] = {}
        """By task row: why no node takes it."""
        self.job_fit_errors: dict[int, str] = {}
        self.best_effort: list[bool] = columns.best_effort.tolist()
        self._gated: list[bool] = columns.gated.tolist()
        self._tasks, self._nodes = tasks, nodes
        self._min_resources: dict[int, Resource] = {}
        self.grouped: frozenset[int] = columns.grouped if behaviours.sub_groups else frozenset()
        """Jobs that a policy divides into groups."""
        self.group_of: dict[int, str] = {}
        """By task of such jobs: the UID of its group, once it was needed."""
        self._failed_roles: dict[int, dict[str, set[str]]] = {}
        """By job and group, which is "" for all tasks of jobs that are one group."""
        self._known_errors: dict[int, FitErrors] = {}
        """By class of tasks: the last that were noted."""
        self._by_role: dict[int, dict[str, list[int]]] = {}
        """By job and role what ``counts`` is by job, for jobs whose roles were asked for; the last
        number is :data:`FREE`."""
        self._free = [
            self._count_free(job) if has_any else 0 for job, has_any in enumerate(self.best_effort)
        ]
        """By job: how many pending tasks have no requests."""

    def __len__(self) -> int:
        return len(self.keys)

    def pod_group(self, job: int) -> PodGroup:
        """Return a job's PodGroup; a job without one is in no session."""
        group = self.info[job].pod_group
        if group is None:
            raise LookupError(f"{self.keys[job]} has no PodGroup")
        return group

    def move(self, job: int, task: int, status: int) -> None:
        """Move a task of a job to another status."""
        before = self._tasks.status.item(task)
        self._tasks.status[task] = status
        counts, info, roles = self.counts[job], self._tasks.info[task], self._by_role.get(job)
        counts[before] -= 1
        counts[status] += 1
        assert counts[before] >= 0, "a task leaves only a status that its job counts it under"
        self.ready[job] += _IS_READY[status] - _IS_READY[before]
        assert self.ready[job] >= 0, "it is the sum of counts, each of which is at least 0"
        freed = (
            (status == TaskStatus.PENDING) - (before == TaskStatus.PENDING)
            if info.best_effort
            else 0
        )
        self._free[job] += freed
        if roles is not None:
            of_role = roles[info.role]
            of_role[before] -= 1
            of_role[status] += 1
            of_role[FREE] += freed
            assert of_role[before] >= 0 <= of_role[FREE], "a role counts its tasks as its job does"

    def tasks_with(self, job: int, statuses: Collection[int]) -> list[int]:
        """Return the job's tasks that have one of these statuses, in their order."""
        status = self._tasks.status.item
        return [task for task in self.tasks[job] if status(task) in statuses]

    def pending_tasks(self, job: int) -> list[int]:
        """Return the job's pending tasks."""
        if not self.counts[job][TaskStatus.PENDING]:
            return []
        status = self._tasks.status.item
        return [task for task in self.tasks[job] if status(task) == TaskStatus.PENDING]

    def is_pending(self, job: int) -> bool:
        """Return whether the PodGroup has not been enqueued."""
        return self.phase[job] in {"", "Pending"}

    def ready_task_num(self, job: int) -> int:
        """Return how many tasks hold resources or have succeeded, or else count as ready."""
        if self._behaviours.best_effort_is_ready:
            return self.ready[job] + self._free[job]
        return self.ready[job]

    def ready_task_nums(self) -> list[int]:
        """Return, by job, :meth:`ready_task_num`; callers do not change the list."""
        if self._behaviours.best_effort_is_ready:
            return [*map(add, self.ready, self._free)]
        return self.ready

    def waiting_task_num(self, job: int) -> int:
        """Return how many tasks are pipelined."""
        return self.counts[job][TaskStatus.PIPELINED]

    def pending_best_effort_task_num(self, job: int) -> int:
        """Return how many pending tasks have no requests."""
        return self._free[job]

    def valid_task_num(self, job: int) -> int:
        """Return how many tasks are valid: neither releasing, failed nor unknown."""
        counts = self.counts[job]
        return sum(counts[status] for status in VALID_STATUS)

    def is_ready(self, job: int) -> bool:
        """Return whether the gang has its minimum."""
        return self.ready[job] + self._free[job] >= self.min_available[job]

    def is_pipelined(self, job: int) -> bool:
        """Return whether the gang has its minimum if pipelined tasks count."""
        waiting = self.counts[job][TaskStatus.PIPELINED]
        return waiting + self.ready[job] + self._free[job] >= self.min_available[job]

    def is_starving(self, job: int) -> bool:
        """Return whether the gang lacks tasks; those without requests do not count."""
        return self.waiting_task_num(job) + self.ready_task_num(job) < self.min_available[job]

    def check_task_valid(self, job: int) -> bool:
        """Return whether each role has as many valid tasks as its minimum."""
        return not self._checks_roles(job) or self._has_minima(job, _VALID)

    def check_task_ready(self, job: int) -> bool:
        """Return whether each role has its minimum of ready tasks."""
        return not self._checks_roles(job) or self._has_minima(job, _READY)

    def check_task_pipelined(self, job: int) -> bool:
        """Return whether each role has its minimum of ready or pipelined tasks."""
        return not self._checks_roles(job) or self._has_minima(job, _READY_OR_PIPELINED)

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
        """Return an amount minus the requests of the job's gated tasks, at least 0."""
        if not self._gated[job]:
            return amount
        info = self._tasks.info
        gated = self.sum_requests([task for task in self.tasks[job] if info[task].gated])
        if gated.is_empty():
            return amount
        rest = amount.clone()
        # Gated tasks can request more than the amount: minAvailable may be less than all of them.
        rest.cpu = max(rest.cpu - gated.cpu, 0.0)
        rest.memory = max(rest.memory - gated.memory, 0.0)
        for name in rest.scalars or ():
            if rest.scalars is not None and gated.scalars and name in gated.scalars:
                rest.scalars[name] = max(rest.scalars[name] - gated.scalars[name], 0.0)
        return rest

    def task_has_fit_errors(self, job: int, task: int) -> bool:
        """Return whether a task of the same role was found to fit nowhere in this session."""
        failed = self._failed_roles.get(job)
        if not failed:
            return False
        role = self._tasks.info[task].role
        return bool(role) and role in failed.get(self.group_of.get(task, ""), ())

    def need_continue_allocating(self, job: int) -> bool:
        """Return whether the gang can still be ready after a task that fits nowhere.

        Source: ``JobInfo.NeedContinueAllocating``.
        """
        info = self.info[job]
        size = len(self.tasks[job])
        # All tasks must run, and one of them cannot.
        if info.min_available == size:
            return False
        if info.min_available > size and self._behaviours.impossible_gangs_stop_early:
            return False
        failed = self._failed_roles.get(job, {}).get("", set())
        # The minima of roles bind only a gang that needs all of them; else the sum decides.
        if info.min_available < info.task_min_available_total:
            roles = self._roles(job)
            left = sum(
                counts[TaskStatus.PENDING] for role, counts in roles.items() if role not in failed
            )
            return self.ready_task_num(job) + left >= info.min_available
        # What failed can grow no more; a role without failures may still get its minimum.
        minima = {role: info.task_min_available.get(role, 0) for role in sorted(failed)}
        return self._has_minima(job, _READY, minima)

    def set_fit_errors(self, job: int, task: int, errors: FitErrors) -> None:
        """Store why a task fits no node; the errors must not change afterwards.

        Equal errors of tasks of one class are stored once.
        """
        klass = self._tasks.klass.item(task)
        known = self._known_errors.get(klass)
        if known is None or not known.covers(errors):
            known = self._known_errors[klass] = errors
        self.fit_errors[task] = known
        failed = self._failed_roles.setdefault(job, {})
        failed.setdefault(self.group_of.get(task, ""), set()).add(self._tasks.info[task].role)

    def reset_fit_errors(self, job: int) -> None:
        """Forget why the job and its tasks did not fit."""
        self.job_fit_errors.pop(job, None)
        if self._failed_roles.pop(job, None):
            for task in self.tasks[job]:
                self.fit_errors.pop(task, None)

    def reset_group_fit_errors(self, job: int, tasks: Collection[int]) -> None:
        """Forget why the tasks of one of a job's groups did not fit."""
        failed = self._failed_roles.get(job)
        if failed:
            for task in tasks:
                failed.pop(self.group_of.get(task, ""), None)
                self.fit_errors.pop(task, None)

    def fit_error(self, job: int) -> str:
        """Return the sentence of a PodGroup's condition: why the gang is not ready.

        Source: ``JobInfo.FitError``.
        """
        counts = self.counts[job]
        states: Counter[str] = Counter(
            {name: number for name, number in zip(STATUS_NAMES, counts, strict=True) if number}
        )
        states["minAvailable"] = self.info[job].min_available
        ready = self._behaviours.gang_message_says_ready and self.is_ready(job)
        head = POD_GROUP_READY if ready else POD_GROUP_NOT_READY
        text = f"{head}, {', '.join(histogram(states))}"
        pending = Counter(self.task_scheduling_reason(t)[0] for t in self.pending_tasks(job))
        if pending:
            text += f"; Pending: {', '.join(histogram(pending))}"
        return (
            text + self._origin(job) if self._behaviours.gang_message_includes_pod_reason else text
        )

    def task_scheduling_reason(self, task: int) -> tuple[str, str, str]:
        """Return (reason, message, nominated node) for a task's condition.

        Source: ``JobInfo.TaskSchedulingReason``.
        """
        # What a discard undid counts before the present state (`LastTransaction`): a pod without
        # room for its gang is reported as assignable.
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
        if status == TaskStatus.ALLOCATED:
            text = f"Pod {info.key} can possibly be assigned to {self._nodes.names[node]}"
            if self._behaviours.pod_message_shows_min_available:
                text += ", once minAvailable is satisfied"
            return SCHEDULABLE, text, ""
        if status == TaskStatus.PIPELINED:
            name = self._nodes.names[node]
            text = f"Pod {info.key} can possibly be assigned to {name}, once resource is released"
            if self._behaviours.pod_message_shows_min_available:
                text += " and minAvailable is satisfied"
            nominates = self._behaviours.nomination is Nomination.PIPELINED or (
                evicted and self._behaviours.nomination is Nomination.EVICTED
            )
            return UNSCHEDULABLE, text, name if nominates else ""
        # Unschedulable even if no node was tried: a cluster autoscaler looks for this reason.
        if status == TaskStatus.PENDING:
            errors = self.fit_errors.get(task)
            return UNSCHEDULABLE, message if errors is None else errors.error(), ""
        return STATUS_NAMES[status], message, ""

    def _origin(self, job: int) -> str:
        text = self.job_fit_errors.get(job, "")
        if text:
            return f". Origin reason is: {text}"
        # `FitError` takes the first of a map (`ji.Tasks`), so any; by default the first row.
        failed = [task for task in self.tasks[job] if task in self.fit_errors]
        if not failed:
            return ""
        names = [self._tasks.info[task].name for task in failed]
        place = self._choose(job, names) if len(names) > 1 else 0
        return f". Origin reason is {names[place]}: {self.fit_errors[failed[place]].error()}"

    def _checks_roles(self, job: int) -> bool:
        """Return whether roles' minima count: there are some, at most the gang's in sum."""
        info = self.info[job]
        return bool(info.task_min_available) and info.min_available >= info.task_min_available_total

    def _has_minima(
        self, job: int, statuses: tuple[int, ...], minima: Mapping[str, int] | None = None
    ) -> bool:
        """Return whether each role has its minimum of tasks that are in some statuses.

        :param minima: by role; the job's own if ``None``.
        """
        wanted = self.info[job].task_min_available if minima is None else minima
        roles = self._roles(job) if any(wanted.values()) else {}
        for role, least in wanted.items():
            counts = roles.get(role, _NO_TASKS)
            if sum(counts[status] for status in statuses) < least:
                return False
        return True

    def _roles(self, job: int) -> dict[str, list[int]]:
        """Return, by role, the counts of a job's tasks by status."""
        known = self._by_role.get(job)
        if known is None:
            known = self._by_role[job] = {}
            for task in self.tasks[job]:
                info, status = self._tasks.info[task], self._tasks.status.item(task)
                counts = known.setdefault(info.role, [0] * (STATUSES + 1))
                counts[status] += 1
                counts[FREE] += info.best_effort and status == TaskStatus.PENDING
        return known

    def _count_free(self, job: int) -> int:
        info = self._tasks.info
        return sum(info[task].best_effort for task in self.pending_tasks(job))
