"""The scheduler's cache, as the informers' handlers build it from delivered objects.

Nothing here runs by itself: an informer delivers, a worker takes an item off its queue, a session
binds and evicts, and each of these is a call. :mod:`.driver` makes them.

Source: pkg/scheduler/cache/event_handlers.go; pkg/scheduler/cache/cache.go.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..kubernetes import objects
from ..model.job import JobInfo
from ..model.panic import Panic
from ..model.queue import QueueInfo
from ..model.task import TaskBuilder
from ..model.task_classes import TaskClasses
from .cache_context import CacheContext
from .dirty_marks import DirtyMarks
from .informers import Stores, is_resync
from .job_cache import JobCache
from .node_cache import NodeCache
from .rules import rules_of
from .scheduler_flags import CacheOptions
from .snapshot import Snapshot, SnapshotBuilder

if TYPE_CHECKING:
    from ..volcano.cache.behaviours import CacheBehaviours
    from ..volcano.session.behaviours import Behaviours


class _Handlers(NamedTuple):
    """The handlers of a kind: called with the object, or with the old and the new one."""

    added: Callable[[Any], None]
    updated: Callable[[Any, Any], None]
    deleted: Callable[[Any], None]


class SchedulerCache:
    """The cache of one scheduler process.

    :ivar jobs: by ``namespace/name`` of the PodGroup.
    :ivar nodes: by name, including nodes that only pods name.
    :ivar queues: by name. :ivar quotas: namespace to name to the quota's status.
    :ivar classes: groups pods that sessions treat the same.
    :ivar crash: the panic that ended the process before this one, if nothing was delivered since;
        or the one with which this process cannot start. No session can be run then.
    """

    def __init__(
        self,
        behaviours: Behaviours,
        options: CacheOptions | None = None,
        own: CacheBehaviours | None = None,
    ) -> None:
        self.behaviours = behaviours
        self.options = options or CacheOptions()
        self.crash: Panic | None = None
        rules = rules_of(behaviours, own)
        self.own = rules.own
        self.stores = Stores()
        self._changes = DirtyMarks()
        self.classes = TaskClasses()
        builder = TaskBuilder(self.classes, rules.nodes.uncounted, rules=rules.tasks)
        context = CacheContext(self.stores, self._changes, builder, self.options, rules)
        self.node_cache = NodeCache(context)
        self.job_cache = JobCache(context, self.node_cache)
        self.nodes = self.node_cache.infos
        self.jobs = self.job_cache.infos
        self.queues: dict[str, QueueInfo] = {}
        self.priority_classes: dict[str, objects.PriorityClass] = {}
        self.default_priority = 0
        self.quotas: dict[str, dict[str, objects.ResourceQuotaStatus]] = {}
        self._snapshots: SnapshotBuilder | None = None
        self._handlers = self._table()

    def _table(self) -> dict[str, _Handlers]:
        jobs, nodes = self.job_cache, self.node_cache
        changed = nodes.hypernode_changed
        return {
            "Pod": _Handlers(jobs.pod_added, jobs.pod_updated, jobs.pod_deleted),
            "PodGroup": _Handlers(
                jobs.pod_group_set, jobs.pod_group_updated, jobs.pod_group_deleted
            ),
            "Node": _Handlers(nodes.node_added, nodes.node_updated, nodes.node_deleted),
            "CSINode": _Handlers(
                nodes.csi_node_set, nodes.csi_node_updated, nodes.csi_node_deleted
            ),
            "HyperNode": _Handlers(changed, nodes.hypernode_updated, changed),
            "Numatopology": _Handlers(
                nodes.numatopology_set, nodes.numatopology_updated, nodes.numatopology_deleted
            ),
        }

    def _handlers_of(self, kind: str) -> _Handlers | None:
        """Return the handlers of a kind, if there are any.

        Those of the cache itself are not kept: a cache that refers to itself is freed late, and
        caches of one process after the other would fill the memory.
        """
        handlers = self._handlers.get(kind)
        if handlers is None:
            if kind == "Queue":
                return _Handlers(self._set_queue, self._queue_updated, self._queue_deleted)
            if kind == "ResourceQuota":
                return _Handlers(self._set_quota, self._quota_updated, self._quota_deleted)
            if kind == "PriorityClass" and self.options.priority_classes:
                added, updated = self._add_priority_class, self._priority_class_updated
                return _Handlers(added, updated, self._delete_priority_class)
        return handlers

    def deliver(self, kind: str, item: objects.Object) -> None:
        """Deliver an added or modified object to the informer of its kind.

        :param kind: one of :data:`.objects.KINDS`.
        """
        # As client-go's processDeltas: the store decides whether it is new, and has it first.
        before = self.stores.put(kind, item)
        self._changes.objects = True
        handlers = self._handlers_of(kind)
        if handlers is None:
            # Sessions look these kinds up themselves. Pods that a selector parts are treated
            # differently from now on, so classes of tasks become finer.
            self.classes.select(_selectors(item))
        elif before is None:
            handlers.added(item)
        else:
            handlers.updated(before, item)

    def deliver_deletion(self, kind: str, item: objects.Object) -> None:
        """Deliver the deletion of an object to the informer of its kind.

        :param item: its last version; skipped if the informer never had the object.
        """
        if self.stores.remove(kind, item.key) is None:
            return
        self._changes.objects = True
        handlers = self._handlers_of(kind)
        if handlers is not None:
            handlers.deleted(item)

    def snapshot(self) -> Snapshot:
        """Return what a session sees now; later events do not change it.

        Source: cache.go Snapshot.
        """
        if self._snapshots is None:  # Most caches of a search are never asked for one.
            self._snapshots = SnapshotBuilder(self._changes, self.classes)
        return self._snapshots.take(self)

    def start_again(self) -> None:
        """Let the process that follows the one that panicked run sessions: it knows of no panic."""
        self.crash = None

    def seen(self) -> Snapshot | Panic:
        """Return what a session sees now, or the panic outside of it that leaves none to run."""
        if self.crash is not None:
            return self.crash
        try:
            return self.snapshot()
        except Panic as panic:
            return panic.while_it("it takes the snapshot of a session")

    def copy(self) -> SchedulerCache:
        """Return a copy of the cache; parts that never change are shared.

        Its first snapshot is built from everything.
        """
        # deepcopy takes what its memo has: shared parts stay shared, and the copy has no columns of
        # snapshots.
        shared = (self.behaviours, self.own, self.classes, *self.stores.items())
        known: dict[int, Any] = {id(item): item for item in shared}
        known[id(self._snapshots)] = None
        return deepcopy(self, known)

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Begin to bind the task of a job; see :meth:`.JobCache.add_bind_task`."""
        return self.job_cache.add_bind_task(job, uid, node)

    def evict(self, job: str, uid: str, reason: str) -> str | None:  # noqa: ARG002 -- for the API
        """Begin to evict the task of a job; see :meth:`.JobCache.evict`."""
        return self.job_cache.evict(job, uid)

    def priority_of(self, job: JobInfo) -> int:
        """Return the priority that the job's class gives it, or the default one.

        Source: cache.go Snapshot.
        """
        group = job.pod_group
        named = None if group is None else group.spec.priority_class_name
        known = None if named is None else self.priority_classes.get(named)
        return self.default_priority if known is None else known.value

    def note_queue_status(self, name: str, allocated: dict[str, str]) -> None:
        """Store the queue status that a session wrote: sessions share the queue with the cache.

        Source: framework/session.go updateQueueStatus; api/queue_info.go Clone.
        """
        info = self.queues.get(name)
        if info is not None:
            status = msgspec.structs.replace(info.queue.status, allocated=allocated)
            self._set_queue(msgspec.structs.replace(info.queue, status=status))

    def run_workers(self) -> None:
        """End all delays, and let every worker process its queue once.

        Tasks whose resync is due stay: that needs the API server (see
        :meth:`.JobCache.resync_next_task`).
        """
        self.node_cache.run_workers()
        self.job_cache.clean_up()

    def _set_queue(self, queue: objects.Queue) -> None:
        self._changes.objects = True
        self._changes.queue_names |= queue.name not in self.queues
        self.queues[queue.name] = QueueInfo(queue, self.node_cache.ignored)

    def _queue_updated(self, old: objects.Queue, new: objects.Queue) -> None:
        if not is_resync(old, new):
            self._set_queue(new)

    def _queue_deleted(self, queue: objects.Queue) -> None:
        self.queues.pop(queue.name, None)
        self._changes.queue_names = True

    def _add_priority_class(self, priority_class: objects.PriorityClass) -> None:
        """Source: event_handlers.go addPriorityClass. The last default added wins."""
        if priority_class.global_default:
            self.default_priority = priority_class.value
        self.priority_classes[priority_class.name] = priority_class
        self._changes.priorities = True

    def _delete_priority_class(self, priority_class: objects.PriorityClass) -> None:
        """Source: event_handlers.go deletePriorityClass. No other default is searched for."""
        if priority_class.global_default:
            self.default_priority = 0
        self.priority_classes.pop(priority_class.name, None)
        self._changes.priorities = True

    def _priority_class_updated(
        self, old: objects.PriorityClass, new: objects.PriorityClass
    ) -> None:
        # As in UpdatePriorityClass. So an update of one default class takes the default away from
        # another one that was added later.
        self._delete_priority_class(old)
        self._add_priority_class(new)

    def _set_quota(self, quota: objects.ResourceQuota) -> None:
        self.quotas.setdefault(quota.namespace, {})[quota.name] = quota.status

    def _quota_updated(self, _: objects.ResourceQuota, new: objects.ResourceQuota) -> None:
        self._set_quota(new)

    def _quota_deleted(self, quota: objects.ResourceQuota) -> None:
        statuses = self.quotas.get(quota.namespace, {})
        statuses.pop(quota.name, None)
        if not statuses:
            self.quotas.pop(quota.namespace, None)


def _selectors(item: objects.Object) -> list[objects.LabelSelector | dict[str, str]]:
    """Return the selector of an object for pods: classes of tasks depend on its labels."""
    if isinstance(item, objects.Service | objects.ReplicationController):
        return [item.spec.selector]
    if isinstance(item, objects.ReplicaSet | objects.StatefulSet | objects.PodDisruptionBudget):
        return [] if item.spec.selector is None else [item.spec.selector]
    return []
