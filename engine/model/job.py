"""Jobs: a PodGroup and the tasks that name it, as the scheduler's cache holds them.

Source: pkg/scheduler/api/job_info.go.
"""

from __future__ import annotations

from typing import NamedTuple

from ..kubernetes.duration import parse_go_duration
from ..kubernetes.go.text import parse_bool
from ..kubernetes.objects import PodGroup
from .panic import Panic
from .resource import Resource
from .subtraction import Subtract
from .task import PREEMPTABLE, REVOCABLE_ZONE, TaskInfo
from .task_status import ALLOCATED_STATUS, TaskStatus

WAITING_TIMES = ("volcano.sh/sla-waiting-time", "sla-waiting-time")
MIN_AVAILABLE = "volcano.sh/jdb-min-available"
MAX_UNAVAILABLE = "volcano.sh/jdb-max-unavailable"


class DisruptionBudget(NamedTuple):
    """A job's disruption budget: a number or a percentage, as written; empty if none."""

    min_available: str = ""
    max_unavailable: str = ""


class JobInfo:
    """One job; after its PodGroup is deleted, it exists as long as it has tasks.

    :param key: ``namespace/name`` of the PodGroup (``UID``).
    :ivar uid: UID of the last PodGroup that was set (``PgUID``); it stays when that is unset.
    :ivar revision: the resourceVersion of that PodGroup, if the cache compares it; it stays too.
    :ivar pod_group: None while there is none; tasks then count on nodes, but are not scheduled.
    :ivar queue: name of the queue; by default the default queue.
    :ivar min_available: ``minMember``.
    :ivar priority: computed at each snapshot.
    :ivar created: creation of the PodGroup, in seconds since 1970.
    :ivar waiting_time: nanoseconds, or None.
    :ivar min_resources: None if the PodGroup names none.
    :ivar tasks: by UID; ``index`` has the same by status.
    :ivar allocated: requests of the tasks in allocated status; ``total_request`` of all.
    """

    __slots__ = (
        "_subtract",
        "allocated",
        "budget",
        "created",
        "index",
        "key",
        "min_available",
        "min_resources",
        "name",
        "namespace",
        "pod_group",
        "preemptable",
        "priority",
        "queue",
        "revision",
        "revocable_zone",
        "task_min_available",
        "task_min_available_total",
        "tasks",
        "total_request",
        "uid",
        "waiting_time",
    )

    def __init__(self, key: str, subtract: Subtract = Resource.sub) -> None:
        self._subtract = subtract
        self.key = key
        self.uid = ""
        self.revision = 0
        self.namespace = ""
        self.name = ""
        self.pod_group: PodGroup | None = None
        self.queue = ""
        self.min_available = 0
        self.priority = 0
        self.created = 0
        self.task_min_available: dict[str, int] = {}
        self.task_min_available_total = 0
        self.waiting_time: int | None = None
        self.preemptable = False
        self.revocable_zone = ""
        self.budget = DisruptionBudget()
        self.min_resources: Resource | None = None
        self.tasks: dict[str, TaskInfo] = {}
        self.index: dict[TaskStatus, dict[str, TaskInfo]] = {}
        self.allocated = Resource()
        self.total_request = Resource()

    @property
    def is_grouped(self) -> bool:
        """Whether a policy divides the tasks into groups (``ContainsSubJobPolicy``)."""
        return self.pod_group is not None and bool(self.pod_group.spec.sub_group_policy)

    @property
    def terminated(self) -> bool:
        """Whether the job has neither PodGroup nor tasks (``JobTerminated``)."""
        return self.pod_group is None and not self.tasks

    def set_pod_group(
        self,
        pod_group: PodGroup,
        default_queue: str,
        ignored: frozenset[str] = frozenset(),
        *,
        forgets_minima: bool = False,
    ) -> None:
        """Set the PodGroup; minima of roles that only an older one named are kept.

        :param forgets_minima: those minima are dropped instead.
        :param ignored: resources that shared devices count themselves.

        Source: job_info.go SetPodGroup; cache/event_handlers.go setPodGroup.
        """
        spec, annotations = pod_group.spec, pod_group.annotations
        self.namespace, self.name = pod_group.namespace, pod_group.name
        self.min_available = spec.min_member
        self.queue = spec.queue or default_queue
        self.created = pod_group.metadata.created
        self.waiting_time = _waiting_time(annotations)
        self.preemptable = _preemptable(pod_group)
        self.revocable_zone = _revocable_zone(annotations)
        self.budget = _budget(annotations)
        # A new map: an earlier snapshot keeps the old one.
        before = {} if forgets_minima else self.task_min_available
        self.task_min_available = {**before, **spec.min_task_member}
        # The total is of the new PodGroup alone, also where minima of an older one are kept.
        self.task_min_available_total = sum(spec.min_task_member.values())
        asked = spec.min_resources
        self.min_resources = None if asked is None else Resource.of(asked, ignored)
        self.uid = pod_group.uid
        self.pod_group = pod_group

    def unset_pod_group(self) -> None:
        """Unset the PodGroup, but keep the fields that were set from it."""
        self.pod_group = None

    def add_task(self, task: TaskInfo) -> None:
        """Add a task; one of the same UID is replaced, but its request still counts.

        Source: job_info.go AddTaskInfo.
        """
        self.tasks[task.uid] = task
        self.index.setdefault(task.status, {})[task.uid] = task
        self.total_request.add(task.request)
        if task.status in ALLOCATED_STATUS:
            self.allocated.add(task.request)

    def delete_task(self, uid: str) -> bool:
        """Remove the task of a UID; return whether there was one.

        :raises Panic: its request is more than the sum that it is part of.

        Source: job_info.go DeleteTaskInfo.
        """
        task = self.tasks.get(uid)
        if task is None:
            return False
        try:
            self._subtract(self.total_request, task.request)
            if task.status in ALLOCATED_STATUS:
                self._subtract(self.allocated, task.request)
        except Panic as panic:
            raise panic.through("api.(*JobInfo).DeleteTaskInfo") from None
        del self.tasks[uid]
        # A task that replaced another one of its UID does not take the old one out of the index, so
        # what is under this status may be the old task, or nothing.
        with_status = self.index.get(task.status)
        if with_status is not None:
            with_status.pop(uid, None)
            if not with_status:
                del self.index[task.status]
        return True

    def update_task_status(self, task: TaskInfo, status: TaskStatus) -> None:
        """Move a task to another status, and to the end of the tasks.

        Source: job_info.go UpdateTaskStatus.
        """
        try:
            self.delete_task(task.uid)
        except Panic as panic:
            raise panic.through("api.(*JobInfo).UpdateTaskStatus") from None
        task.status = status
        self.add_task(task)

    def view(self, priority: int) -> JobInfo:
        """Return the job as a session sees it: a copy without tasks."""
        copy = JobInfo(self.key)
        for name in _COPIED:
            setattr(copy, name, getattr(self, name))
        copy.priority = priority
        return copy

    def twin(self) -> JobInfo:
        """Return a copy of the job, with copies of its tasks."""
        twin = self.view(self.priority)
        twin.allocated, twin.total_request = self.allocated.clone(), self.total_request.clone()
        twin.tasks = {uid: task.clone() for uid, task in self.tasks.items()}
        twin.index = {
            status: {
                uid: twin.tasks[uid] if self.tasks.get(uid) is task else task.clone()
                for uid, task in tasks.items()
            }
            for status, tasks in self.index.items()
        }
        return twin


_COPIED = tuple(
    sorted({*JobInfo.__slots__} - {"allocated", "index", "key", "tasks", "total_request"})
)


def _waiting_time(annotations: dict[str, str]) -> int | None:
    """Source: job_info.go extractWaitingTime."""
    for name in WAITING_TIMES:
        text = annotations.get(name)
        if text is None:
            continue
        try:
            duration = parse_go_duration(text)
        except ValueError:
            continue
        # Of two annotations the first with a usable time counts; a malformed one is only logged.
        if duration > 0:
            return duration
    return None


def _preemptable(pod_group: PodGroup) -> bool:
    """Source: job_info.go extractPreemptable."""
    for texts in (pod_group.annotations, pod_group.labels):
        if PREEMPTABLE in texts:
            return bool(parse_bool(texts[PREEMPTABLE]))
    return False


def _revocable_zone(annotations: dict[str, str]) -> str:
    """Source: job_info.go extractRevocableZone."""
    if REVOCABLE_ZONE in annotations:
        return "*" if annotations[REVOCABLE_ZONE] == "*" else ""
    return "*" if parse_bool(annotations.get(PREEMPTABLE, "")) else ""


def _budget(annotations: dict[str, str]) -> DisruptionBudget:
    """Source: job_info.go extractBudget."""
    if MIN_AVAILABLE in annotations:
        return DisruptionBudget(min_available=annotations[MIN_AVAILABLE])
    return DisruptionBudget(max_unavailable=annotations.get(MAX_UNAVAILABLE, ""))
