"""What a scheduler's cache writes: bindings, evictions, statuses, and queues at the start.

A :class:`CacheWriter` stands between a session and its cache where an API server answers. It
changes the cache as :class:`.SchedulerCache` does, and sends the requests that follow from it.

Source: pkg/scheduler/cache/cache.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from ..kubernetes.api_errors import AlreadyExists, NotFound, Refused
from ..kubernetes.objects import Pod, PodGroup
from ..kubernetes.objects.pods import PodCondition
from ..model.panic import NIL_POINTER, Panic
from ..model.task import TaskInfo
from ..volcano.cache.binding import EvictionWithoutPodGroup
from ..volcano.cache.status import QueueStatusWrite
from .cache import SchedulerCache
from .cache_requests import (
    BindPod,
    CacheRequests,
    CreateQueue,
    DeletePod,
    GetQueue,
    WriteAllocated,
    WriteConditions,
    WritePodGroup,
)

PENDING_PHASES = ("Unknown", "Pending", "Inqueue")
SCHEDULER_ERROR = "SchedulerError"
READY_MESSAGE = "pod group is ready"


class ClosedJobStatus(NamedTuple):
    """What a session writes about a job when it closes.

    :param pod_group: with the status and annotations that the session set.
    :param message: why its pods are pending, for the whole job.
    :param reasons: by pod UID, the reason and message of its condition.
    :param status_changed: the status must be written.
    :param annotations_changed: the job's hypernode in the topology must be written.
    """

    pod_group: PodGroup
    message: str
    reasons: Mapping[str, tuple[str, str]]
    status_changed: bool = False
    annotations_changed: bool = False


class CacheWriter:
    """Writes for one cache.

    :param batch: how many bindings are made together (``BATCH_BIND_NUM``).
    :ivar waiting: the tasks to bind, in the order of the session.
    """

    def __init__(self, cache: SchedulerCache, api: CacheRequests, batch: int = 1) -> None:
        self._cache = cache
        self._own = cache.own
        self._api = api
        self.batch = batch
        self.waiting: list[TaskInfo] = []

    def create_queues(self) -> None:
        """Create the root queue, if the release has one, and the default queue.

        Source: cache.go newDefaultQueue, newDefaultAndRootQueue.
        """
        if self._cache.behaviours.root_queue:
            self._create_queue("root", reclaimable=False)
        self._create_queue(self._cache.options.default_queue, reclaimable=True)

    def _create_queue(self, name: str, *, reclaimable: bool) -> None:
        if self._own.startup_queues_checked_first:
            try:
                self._api.send(GetQueue(name))
            except NotFound:
                pass
            else:
                return
        try:
            self._api.send(CreateQueue(name, reclaimable))
        except AlreadyExists:
            return

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Begin to bind a task; see :meth:`.JobCache.add_bind_task`."""
        error = self._cache.add_bind_task(job, uid, node)
        task = None if error else self._cache.job_cache.find_task(job, uid)
        assert error or task is not None, "a task that is Binding is in its job"
        if task is not None:
            self.waiting.append(msgspec.structs.replace(task, node_name=node))
        return error

    def process_binds(self) -> None:
        """Bind the waiting tasks, batch by batch.

        Source: cache.go processBindTask, BindTask.
        """
        while self.waiting:
            batch, self.waiting = self.waiting[: self.batch], self.waiting[self.batch :]
            self._bind(list(filter(self._pre_bind, batch)))

    def _pre_bind(self, task: TaskInfo) -> bool:
        """Bind the volumes and devices of a task; return whether it worked.

        Source: cache.go BindTask, executePreBinds.
        """
        error = self._api.bind_volumes(task.pod)
        if error is None:
            return True
        self._cache.job_cache.resync_task(task)
        if self._own.pre_bind_failures_in_condition:
            # The message names the pod since the binders are not locked any more.
            of_pod = "" if self._own.pre_bind_blocks_sessions else f" for pod {task.key}"
            message = f"execute preBind{of_pod} failed: {error}, resync the task"
            self._write_pod_condition(task.pod, SCHEDULER_ERROR, message)
        return False

    def _bind(self, tasks: list[TaskInfo]) -> None:
        """Create the bindings of a batch; refused tasks are resynced.

        Source: cache.go Bind, DefaultBinder.Bind.
        """
        errors: dict[str, Refused] = {}
        for task in tasks:
            try:
                self._api.send(BindPod(task.pod, task.node_name))
            except Refused as refused:
                errors[task.uid] = refused
        # Two loops, as in Go: the binder sends all of a batch before any answer is looked at.
        for task in tasks:
            refused_by = errors.get(task.uid)
            if refused_by is None:
                if self._own.scheduled_events_by_pod or not errors:
                    message = f"Successfully assigned {task.key} to {task.node_name}"
                    self._api.emit(task.pod, "Scheduled", message)
                continue
            if self._own.bind_failures_in_condition:
                message = f"failed to bind to node {task.node_name}: {refused_by}"
                self._write_pod_condition(task.pod, SCHEDULER_ERROR, message)
            self._cache.job_cache.resync_task(task)

    def evict(self, job: str, uid: str, reason: str) -> str | None:
        """Evict a task; return the error, or None.

        :raises Panic: the process ends; see :meth:`.JobCache.evict`.

        Source: cache.go Evict.
        """
        task = self._cache.job_cache.find_task(job, uid)
        try:
            error = self._cache.evict(job, uid, reason)
        except Panic:
            if (
                task is not None
                and self._own.eviction_without_podgroup is EvictionWithoutPodGroup.CRASHES
            ):
                self._evict_pod(task, reason)  # This goes on beside the crash.
            raise
        holder = self._cache.jobs.get(job)
        if task is None or holder is None:
            return error
        begun_without_group = (
            holder.pod_group is None
            and task.node_name in self._cache.nodes
            and self._own.eviction_without_podgroup is EvictionWithoutPodGroup.HALF_DONE
        )
        if error is None or begun_without_group:
            self._evict_pod(task, reason)
        if error is None and holder.pod_group is not None:
            self._api.emit(holder.pod_group, "Evict", reason)
        return error

    def _evict_pod(self, task: TaskInfo, reason: str) -> None:
        """Set the condition of an evicted pod, and delete it; after a refusal it is resynced.

        Source: cache.go defaultEvictor.Evict.
        """
        pod, message = task.pod, f"Pod is evicted, because of {reason}"
        self._api.emit(pod, "Evict", message)
        wanted = [PodCondition(type="Ready", status="False", reason="Evict", message=message)]
        if self._own.evicted_pods_get_disruption_target:
            text = f"{pod.spec.scheduler_name}: preempting to accommodate a higher priority pod"
            wanted.append(
                PodCondition(
                    type="DisruptionTarget",
                    status="True",
                    reason="PreemptionByScheduler",
                    message=text,
                )
            )
        conditions = pod.status.conditions
        for condition in wanted:
            changed = with_condition(conditions, condition)
            # defaultEvictor returns without an error if the condition says so already: no deletion.
            if changed == conditions:
                return
            conditions = changed
        try:
            self._api.send(WriteConditions(pod, conditions))
            self._api.send(DeletePod(pod))
        except Refused:
            self._cache.job_cache.resync_task(task)

    def _write_pod_condition(self, pod: Pod, reason: str, message: str) -> None:
        """Write into a pod's condition why it is pending, unless it already says so.

        Source: cache.go taskUnschedulable.
        """
        condition = PodCondition(
            type="PodScheduled", status="False", reason=reason, message=message
        )
        conditions = with_condition(pod.status.conditions, condition)
        if conditions == pod.status.conditions:
            return
        self._api.emit(pod, "FailedScheduling", message)
        try:
            self._api.send(WriteConditions(pod, conditions))
        except Refused:
            return  # It is logged; the next session tries again.

    def write_queue_status(self, name: str, allocated: dict[str, str]) -> str | None:
        """Write a queue's ``status.allocated``; return the error, or None.

        Source: cache.go defaultStatusUpdater.UpdateQueueStatus.
        """
        apply = self._own.queue_status_write is QueueStatusWrite.APPLY
        queue = self._cache.queues[name].queue
        try:
            self._api.send(WriteAllocated(queue, allocated, apply))
        except Refused as refused:
            return str(refused)
        return None

    def write_job_status(self, key: str, status: ClosedJobStatus) -> str | None:
        """Write a session's results for a job; return the error, or None.

        :raises Panic: its PodGroup was removed from the cache since.

        Source: cache.go UpdateJobStatus, updateJobAnnotations.
        """
        if status.annotations_changed:
            self._take_over_annotations(key)
        if status.status_changed or status.annotations_changed:
            try:
                self._api.send(WritePodGroup(status.pod_group))
            except Refused as refused:
                return str(refused)
        self.record_job_status(key, status)
        return None

    def _take_over_annotations(self, key: str) -> None:
        job = self._cache.jobs.get(key)
        lost = job is None or job.pod_group is None
        if lost and self._own.deleted_podgroup_crashes_close:
            raise Panic(NIL_POINTER, ("cache.(*SchedulerCache).updateJobAnnotations",))

    def record_job_status(self, key: str, status: ClosedJobStatus) -> None:
        """Write to a job's PodGroup and pods why they are pending, or that the PodGroup is ready.

        Source: cache.go RecordJobStatusEvent.
        """
        job, group = self._cache.jobs[key], status.pod_group
        waiting = [task for task in job.tasks.values() if task.uid in status.reasons]
        if group.status.phase in PENDING_PHASES:
            message = f"{len(waiting)}/{len(job.tasks)} tasks in gang unschedulable: "
            self._api.emit(group, "Unschedulable", message + status.message)
        elif status.status_changed or self._own.ready_podgroup_events_repeated:
            self._api.emit(group, "Scheduled", READY_MESSAGE)
        for task in waiting:
            self._write_pod_condition(task.pod, *status.reasons[task.uid])

    def resync_waits(self, read: Callable[[str, str], Pod | None], task: TaskInfo) -> bool:
        """Return whether a resync waits for the cache's lock, which sessions hold.

        Source: event_handlers.go syncTask.
        """
        vanished = read(task.namespace, task.name) is None
        return not (vanished and self._own.missing_pods_removed_without_lock)


def with_condition(
    conditions: tuple[PodCondition, ...], wanted: PodCondition
) -> tuple[PodCondition, ...]:
    """Return conditions with one added, or replaced by type.

    If it is equal to the old one, they are returned unchanged.

    Source: k8s.io/kubernetes/pkg/api/v1/pod UpdatePodCondition.
    """
    for place, condition in enumerate(conditions):
        if condition.type == wanted.type:
            if (condition.status, condition.reason, condition.message) == wanted_of(wanted):
                return conditions
            return (*conditions[:place], wanted, *conditions[place + 1 :])
    return (*conditions, wanted)


def wanted_of(condition: PodCondition) -> tuple[str, str, str]:
    """Return the fields of a condition that decide whether it changed."""
    return condition.status, condition.reason, condition.message
