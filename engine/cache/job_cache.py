"""The scheduler's cache of jobs and tasks, and of tasks on nodes.

Source: pkg/scheduler/cache/event_handlers.go; pkg/scheduler/cache/cache.go.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import intern
from typing import TypeAlias

import msgspec

from ..kubernetes import objects
from ..kubernetes.api_errors import Refused
from ..kubernetes.work_queue import TokenRate, WorkQueue
from ..model.device_claims import DeviceClaimMissing, device_claims
from ..model.job import JobInfo
from ..model.panic import NIL_POINTER, Panic
from ..model.task import GROUP_NAME, TaskInfo
from ..model.task_status import ALLOCATED_STATUS, COMPLETED_STATUS, TaskStatus, status_of
from ..model.volumes import IGNORED_PROVISIONERS, ClaimMissing, ClaimUnknown, csi_volumes
from ..volcano.cache.binding import EvictionWithoutPodGroup
from ..volcano.cache.work_queues import FailedTasksKey
from ..volcano.session.pods import PodsWithoutClaims
from .cache_context import CacheContext
from .copied_on_use import CopiedOnUse
from .dirty_marks import DirtyMarks
from .informers import is_resync
from .job_cleanup import BURST_SECONDS, JobCleanup
from .node_cache import NodeCache
from .queue_items import DeletedJob, FailedItem, FailedTask

PodReader: TypeAlias = Callable[[str, str], objects.Pod | None]
"""Returns the pod of a namespace and name as the API server has it now, or None.

It raises :class:`.Refused` if the API server does not answer.
"""


class JobCache:
    """Jobs by ``namespace/name`` of their PodGroups, made by PodGroups and by pods alike.

    :ivar infos: the jobs.
    :ivar error_tasks: tasks to be read again from the API server.
    """

    def __init__(self, context: CacheContext, nodes: NodeCache) -> None:
        own = context.rules.own
        self.infos: dict[str, JobInfo] = {}
        self._cleanup = JobCleanup(context, self.infos)
        self.error_tasks: WorkQueue[FailedItem] = WorkQueue(
            TokenRate(own.failed_tasks_rate, own.failed_tasks_rate * BURST_SECONDS)
        )
        self._release = context.rules
        self._rules = context.rules.jobs
        self._own = own
        self._stores = context.stores
        self._changes = context.changes
        self._builder = context.builder
        self._options = context.options
        self._nodes = nodes

    @property
    def deleted_jobs(self) -> WorkQueue[DeletedJob]:
        """The queue of the cleanup worker."""
        return self._cleanup.queue

    def dry_run(self) -> JobCache:
        """Return a cache that binds and evicts like this one, on copies.

        It is valid only for that, and only until this one changes.
        """
        # Other marks: what a dry run changes must not reach the next snapshot of this cache.
        context = CacheContext(
            self._stores, DirtyMarks(), self._builder, self._options, self._release
        )
        dry = JobCache(context, self._nodes.dry_run())
        dry.infos = CopiedOnUse(self.infos, JobInfo.twin)
        return dry

    def handles(self, pod: objects.Pod) -> bool:
        """Return whether the handlers are called for a pod.

        Source: cache.go addEventHandler; cache/util.go responsibleForPod.
        """
        spec = pod.spec
        return (
            not self._options.filters_pods
            or bool(spec.node_name)
            or spec.scheduler_name in self._options.scheduler_names
        )

    def pod_added(self, pod: objects.Pod) -> None:
        """Handle that a pod was added."""
        if self.handles(pod):
            self._add_pod(pod)

    def pod_updated(self, old: objects.Pod, new: objects.Pod) -> None:
        """Handle a new version of a pod; one that is now another scheduler's counts as deleted."""
        if not self.handles(old):
            self.pod_added(new)
        elif self.handles(new):
            self._update_pod(old, new)
        else:
            self._delete_pod(old)

    def pod_deleted(self, pod: objects.Pod) -> None:
        """Handle that a pod was deleted."""
        if self.handles(pod):
            self._delete_pod(pod)

    def _add_pod(self, pod: objects.Pod, before: TaskInfo | None = None) -> None:
        try:
            task = self._task_of(pod, before)
        except ClaimMissing as missing:
            # Volumes are counted before devices are looked up: a task without its devices has them.
            volumes = pod.spec.volumes and isinstance(missing, DeviceClaimMissing)
            task = self._with_volumes(pod) if volumes else self._builder.task(pod)
            self.resync_task(task)
            if not self._keeps(missing):
                return
        self._add_task(task)

    def _keeps(self, missing: ClaimMissing) -> bool:
        if isinstance(missing, DeviceClaimMissing):
            return missing.awaited
        if self._rules.claimless_pods is PodsWithoutClaims.AWAITED:
            return isinstance(missing, ClaimUnknown)
        return self._rules.claimless_pods is PodsWithoutClaims.KEPT

    def _task_of(self, pod: objects.Pod, before: TaskInfo | None = None) -> TaskInfo:
        """Return the task of a pod, with the volumes that it attaches and the devices it claims.

        :raises ClaimMissing: the volumes, or devices, cannot be counted.

        Source: event_handlers.go NewTaskInfo.
        """
        task = (
            self._with_volumes(pod, before)
            if pod.spec.volumes
            else self._builder.task(pod, before=before)
        )
        if pod.spec.resource_claims and self._rules.needs_device_claims:
            task.devices = device_claims(pod, self._stores.of("ResourceClaim"))
        return task

    def task_of_pod(self, pod: objects.Pod) -> TaskInfo:
        """Return the task of a pod as a session knew it, which is in no job."""
        return self._builder.task(pod)

    def _with_volumes(self, pod: objects.Pod, before: TaskInfo | None = None) -> TaskInfo:
        if not self._rules.volumes_counted:
            return self._builder.task(pod, before=before)
        stores = self._stores
        volumes = csi_volumes(
            pod,
            stores.of("PersistentVolumeClaim"),
            stores.of("PersistentVolume"),
            stores.of("StorageClass"),
            IGNORED_PROVISIONERS | self._options.ignored_provisioners,
        )
        return self._builder.task(pod, volumes, before=before)

    def _add_task(self, task: TaskInfo) -> str | None:
        """Add a task to its node and its job; if the node refuses it, not to the job.

        Source: event_handlers.go addTask.
        """
        if task.node_name:
            # Before the status is looked at: an ended pod makes its node known without being on it.
            node = self._nodes.get_or_create(task.node_name)
            if task.status not in COMPLETED_STATUS:
                error = node.add_task(task)
                if error is not None:
                    return error
                self._changes.node(node.name)
        if task.job:
            job = self._job(task.job)
            job.add_task(task)
            self._note(job.key)
        return None

    def new_job(self, key: str) -> JobInfo:
        """Return a new, empty job, which the cache does not have yet."""
        return JobInfo(key, self._rules.subtract)

    def _job(self, key: str) -> JobInfo:
        job = self.infos.get(key)
        if job is None:
            job = self.infos[key] = self.new_job(key)
        return job

    def _update_pod(self, old: objects.Pod, new: objects.Pod) -> None:
        """Replace the old pod by the new one, unless a binding is in progress.

        A pod that lost its controller keeps its old owners.

        Source: event_handlers.go updatePod.
        """
        cached = self._cached_task(new)
        if cached is not None and cached.status in ALLOCATED_STATUS and not new.spec.node_name:
            return
        self._delete_pod(old)
        controller = new.metadata.controller
        owners = old.metadata.owner_references
        if owners and (controller is None or not controller.uid):
            metadata = msgspec.structs.replace(new.metadata, owner_references=owners)
            new = msgspec.structs.replace(new, metadata=metadata)
            # updatePod writes the owners into the informer's object, so its store has them as well.
            self._stores.put("Pod", new)
        self._add_pod(new, cached)

    def _delete_pod(self, pod: objects.Pod) -> None:
        """Remove a pod's task: the cached one if there is one, as that may be binding.

        Source: event_handlers.go deletePod.
        """
        cached = self._cached_task(pod)
        node = pod.spec.node_name if cached is None else cached.node_name
        key = job_of(pod)
        # The cached pod decides: only if that had ended was the task removed from its node before.
        status = status_of(pod) if cached is None else cached.status
        on_node = not (self._rules.skips_terminated and status in COMPLETED_STATUS)
        self._delete_task(key, pod.uid, pod.key, node if on_node else "")
        job = self.infos.get(key)
        if job is not None and job.terminated:
            self._cleanup.add(job)

    def _cached_task(self, pod: objects.Pod) -> TaskInfo | None:
        job = self.infos.get(job_of(pod))
        return None if job is None else job.tasks.get(pod.uid)

    def _delete_task(self, job_key: str, uid: str, key: str, node_name: str) -> None:
        """Remove a task from its job by UID, and from its node by name.

        Source: event_handlers.go deleteTask.
        """
        job = self.infos.get(job_key)
        if job is not None and job.delete_task(uid):
            self._note(job.key)
        node = self._nodes.infos.get(node_name)
        if node is not None and node.remove_task(key, uid if self._rules.ignores_stale else ""):
            self._changes.node(node.name)

    def pod_group_set(self, pod_group: objects.PodGroup) -> None:
        """Handle an added or changed PodGroup: neither UID nor version is compared.

        Source: event_handlers.go setPodGroup.
        """
        job = self._job(pod_group.key)
        job.set_pod_group(
            pod_group,
            self._options.default_queue,
            self._nodes.ignored,
            forgets_minima=self._rules.forgets_minima,
        )
        if self._rules.ignores_stale:
            job.revision = pod_group.metadata.revision
        self._note(job.key)

    def pod_group_updated(self, old: objects.PodGroup, new: objects.PodGroup) -> None:
        """Handle a new version of a PodGroup."""
        if not is_resync(old, new):
            self.pod_group_set(new)

    def pod_group_deleted(self, pod_group: objects.PodGroup) -> None:
        """Handle the deletion of a PodGroup: the job of its name loses its PodGroup.

        If stale deletions are ignored, a job keeps a PodGroup with another UID or a newer version.

        Source: event_handlers.go deletePodGroup.
        """
        job = self.infos.get(pod_group.key)
        if job is not None and not self._is_stale(pod_group, job):
            job.unset_pod_group()
            self._note(job.key)
            self._cleanup.add(job)

    def _is_stale(self, gone: objects.PodGroup, job: JobInfo) -> bool:
        return self._rules.ignores_stale and (
            gone.uid != job.uid or gone.metadata.revision < job.revision
        )

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Start to bind a task: until its pod arrives with a node, it is Binding in the cache.

        :param job: ``namespace/name`` of the task's PodGroup.
        :return: the error, or None; after an error nothing has changed.

        Source: cache.go AddBindTask.
        """
        holder, task = self._find(job, uid)
        if holder is None or task is None:
            return _not_found(job, uid, holder)
        info = self._nodes.infos.get(node)
        if info is None:
            return f"failed to bind Task {uid} to host {node}, host does not exist"
        before = task.status
        # The status comes first: a node checks its room only for a task that is Binding.
        holder.update_task_status(task, TaskStatus.BINDING)
        error = info.add_task(task)
        if error is not None:
            holder.update_task_status(task, before)
        self._note(holder.key)
        self._changes.node(node)
        return error

    def evict(self, job: str, uid: str) -> str | None:
        """Start to evict a task: it is Releasing from now on.

        :param job: ``namespace/name`` of the task's PodGroup.
        :return: the error, or None. If the job's PodGroup is gone,
            :class:`.EvictionWithoutPodGroup` says whether the eviction is still started.
        :raises Panic: the node refuses the changed task, or there is no PodGroup; the process
            ends there.

        Source: cache.go Evict.
        """
        holder, task = self._find(job, uid)
        if holder is None or task is None:
            return _not_found(job, uid, holder)
        node = self._nodes.infos.get(task.node_name)
        if node is None:
            return f"failed to evict Task {uid} from host {task.node_name}, host does not exist"
        without_group, where = holder.pod_group is None, f"Job <{holder.namespace}/{holder.name}>"
        if without_group and self._own.eviction_without_podgroup is EvictionWithoutPodGroup.REFUSED:
            return f"cannot evict Task {uid}: PodGroup of {where} is nil"
        holder.update_task_status(task, TaskStatus.RELEASING)
        node.update_task(task)
        self._note(holder.key)
        self._changes.node(node.name)
        # Volcano's Evict looks at the PodGroup only now: task and node are changed, and the
        # deletion of the pod has begun beside it.
        if not without_group:
            return None
        if self._own.eviction_without_podgroup is EvictionWithoutPodGroup.CRASHES:
            raise Panic(NIL_POINTER, ("cache.(*SchedulerCache).Evict",))
        return f"the PodGroup of {where} is nil"

    def _find(self, key: str, uid: str) -> tuple[JobInfo | None, TaskInfo | None]:
        job = self.infos.get(key)
        return job, None if job is None else job.tasks.get(uid)

    def find_task(self, job: str, uid: str) -> TaskInfo | None:
        """Return the task of a job by its UID, or None."""
        return self._find(job, uid)[1]

    def finish_clean_up(self, item: DeletedJob) -> None:
        """Let the worker finish the item that it took, with the state of now."""
        self._cleanup.finish(item)

    def clean_up(self) -> None:
        """End all delays, and let the worker process its queue once."""
        self._cleanup.work()

    def _note(self, key: str) -> None:
        """Note that a job came, changed or went."""
        self._changes.job(key)
        self._cleanup.changed.add(key)

    def resync_task(self, task: TaskInfo) -> None:
        """Queue a task for resync: it is read again from the API server.

        Source: cache.go resyncTask.
        """
        if self._own.failed_tasks_delayed:
            self.error_tasks.add_rate_limited(self._failed_item(task))
        else:
            self.error_tasks.add(self._failed_item(task))

    def _failed_item(self, task: TaskInfo) -> FailedItem:
        if self._own.failed_tasks_key is FailedTasksKey.OBJECT:
            return FailedTask(task)
        return f"{task.job}/{task.uid}"

    def failed_task(self, item: FailedItem) -> TaskInfo | None:
        """Return the task that an item of ``error_tasks`` stands for; None if it is gone.

        Source: cache.go parseErrTaskKey.
        """
        if isinstance(item, FailedTask):
            return item.task
        key, _, uid = item.rpartition("/")
        return self.find_task(key, uid)

    def resync_next_task(self, read: PodReader) -> str | None:
        """Let the worker take the next task from the queue; return the error, or None.

        Source: cache.go processResyncTask; event_handlers.go syncTask.
        """
        return self.finish_resync(self.error_tasks.take(), read)

    def finish_resync(self, item: FailedItem, read: PodReader) -> str | None:
        """Let the worker finish the task that it took; return the error, or None."""
        task = self.failed_task(item)
        error = None if task is None else self.sync_task(task, read)
        if error is not None:
            self.error_tasks.add_rate_limited(item)
        elif self._own.failed_tasks_delay_resets:
            self.error_tasks.forget(item)
        self.error_tasks.done(item)
        return error

    def sync_task(self, old: TaskInfo, read: PodReader) -> str | None:
        """Replace a task by the API server's version; return the error, or None.

        UIDs are compared only if stale deletions are ignored.

        Source: event_handlers.go syncTask.
        """
        try:
            pod = read(old.namespace, old.name)
        except Refused as failure:
            return f"failed to get Pod <{old.key}>: err {failure}"
        if pod is None or (self._rules.ignores_stale and pod.uid != old.uid):
            # Only an item that holds a task, as in v1.8, outlives the task in its job: deleteTask
            # then takes it from its node, but reports an error, and the item is queued again.
            known = not old.job or self.find_task(old.job, old.uid) is not None
            self._delete_task(old.job, old.uid, old.key, old.node_name)
            return None if known else f"failed to find Job <{old.job}> for Task {old.key}"
        # The new task is made before the old one goes: if that fails, the old one stays.
        try:
            new = self._task_of(pod)
        except ClaimMissing as missing:
            return f"failed to generate taskInfo of pod({pod.name}), error: {missing}"
        self._delete_task(old.job, old.uid, old.key, old.node_name)
        return self._add_task(new)


def job_of(pod: objects.Pod) -> str:
    """Return ``namespace/name`` of the PodGroup that a pod names; empty if it names none.

    Source: pkg/scheduler/api/job_info.go getJobID.
    """
    group = pod.annotations.get(GROUP_NAME)
    return intern(f"{pod.namespace}/{group}") if group else ""


def _not_found(key: str, uid: str, job: JobInfo | None) -> str:
    if job is None:
        return f"failed to find Job {key} for Task {uid}"
    return f"failed to find task in status by id {uid}"
