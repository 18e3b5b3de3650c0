"""Snapshots: what a session sees of the cache, in columns that are updated with each change.

Volcano copies the whole cache for every session. Here a change marks its object, and the next
snapshot updates the marked rows. Earlier snapshots do not change.

Source: pkg/scheduler/cache/cache.go Snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kubernetes.objects import ResourceQuotaStatus
from ..model.growing_columns import Dimensions, Ids
from ..model.hypernode import HyperNodes
from ..model.job import JobInfo
from ..model.node import NodeInfo
from ..model.queue import QueueInfo
from ..model.resource import Resource
from ..model.session_tables import JobColumns, NodeTable, TaskTable
from ..model.task_classes import TaskClasses
from .dirty_marks import DirtyMarks
from .informers import Objects, Stores
from .node_cache import NodeCache
from .snapshot_rows import JobRows, NodeRows, TaskRows

Quotas = Mapping[str, Mapping[str, ResourceQuotaStatus]]


class Snapshot(NamedTuple):
    """What a session sees. It never changes; a session works on copies of the tables.

    :param dims: the resources of all matrices, in the order of their columns.
    :param nodes: those that are ready, by name.
    :param tasks: of the jobs, and all pods on the nodes. A row stays with its task from snapshot to
        snapshot; rows of tasks that are gone have neither job nor node.
    :param jobs: those with a PodGroup and a queue that exists, by ``namespace/name``.
    :param queues: by name, like all that follow.
    :param csi_nodes: node to driver to whether the node limits the driver's volumes.
    :param present: by resource, whether any node's allocatable has it.
    """

    dims: tuple[str, ...]
    nodes: NodeTable
    tasks: TaskTable
    jobs: JobColumns
    queues: dict[str, QueueInfo]
    quotas: Quotas
    objects: Objects
    hypernodes: HyperNodes
    csi_nodes: Mapping[str, Mapping[str, bool]]
    present: NDArray[np.bool_]

    def total(self) -> Resource:
        """Return the sum of the nodes' allocatable.

        Source: pkg/scheduler/framework/session.go openSession.
        """
        amounts = self.nodes.allocatable.sum(axis=0).tolist()
        total = Resource(amounts[0], amounts[1])
        for name, amount, present in zip(self.dims, amounts, self.present.tolist(), strict=True):
            if present and name not in {"cpu", "memory"}:
                total.set_scalar(name, amount)
        return total


class CacheContents(Protocol):
    """What snapshots read of a cache; :class:`.cache.SchedulerCache` says what each is."""

    stores: Stores
    node_cache: NodeCache
    nodes: dict[str, NodeInfo]
    jobs: dict[str, JobInfo]
    queues: dict[str, QueueInfo]
    quotas: dict[str, dict[str, ResourceQuotaStatus]]

    def priority_of(self, job: JobInfo) -> int:
        """Return the priority that the job's class gives it, or the default one."""


class SnapshotBuilder:
    """Keeps the columns of one cache, to which it does not refer: both are freed at once."""

    def __init__(self, changes: DirtyMarks, classes: TaskClasses) -> None:
        self._changes = changes
        self._dims = Dimensions()
        node_ids, job_ids = Ids(), Ids()
        self._tasks = TaskRows(self._dims, classes, node_ids, job_ids)
        self._nodes = NodeRows(self._dims, self._tasks)
        self._jobs = JobRows(self._dims, self._tasks)
        self._last: Snapshot | None = None

    def take(self, cache: CacheContents) -> Snapshot:
        """Update the columns and return them.

        :param cache: the one whose changes are marked.
        """
        if self._last is None:  # What was marked when does not matter: rows are in the maps' order.
            self._changes.clear()
            self._changes.mark(cache.nodes, cache.jobs)
        if self._last is None or self._changes:
            # Jobs before nodes: a node's account counts only for tasks of no visible job. The sweep
            # comes after both, as a row may pass from one to the other.
            self._refresh_jobs(cache)
            self._refresh_nodes(cache.nodes)
            self._tasks.sweep()
            widened = self._widen()
            self._tasks.write()
            self._nodes.write()
            self._jobs.write()
            # With more columns no table of the last snapshot fits.
            self._last = self._build(cache, None if widened else self._last)
            self._changes.clear()
        return self._last

    def _refresh_jobs(self, cache: CacheContents) -> None:
        changes, rows, queues = self._changes, self._jobs, cache.queues
        if changes.queue_names or changes.priorities:
            # A queue that comes or goes shows or hides its jobs, and a class changes their
            # priority, though the jobs themselves have no mark.
            for key, job in cache.jobs.items():
                visible = _is_visible(job, queues)
                if visible is not (key in rows) or (
                    visible and rows.priority(key) != cache.priority_of(job)
                ):
                    changes.job(key)
        for key in changes.jobs:
            changed = cache.jobs.get(key)
            if changed is not None and _is_visible(changed, queues):
                _take_priority(cache, changed)
                left = rows.put(changed, changed.priority)
            else:
                left = rows.remove(key) if key in rows else []
            # A task that left its visible job has the status of its node's account from now on.
            for node in left:
                changes.node(node)

    def _refresh_nodes(self, infos: Mapping[str, NodeInfo]) -> None:
        for name in self._changes.nodes:
            node = infos.get(name)
            if node is not None and node.ready:
                self._nodes.put(node)
            elif name in self._nodes:
                self._nodes.remove(name)

    def _widen(self) -> bool:
        """Add columns for new resources; return whether there are any."""
        places = self._dims.widen(chain(self._tasks.resources(), self._nodes.resources()))
        if places is not None:
            for rows in (self._tasks, self._nodes, self._jobs):
                rows.columns.widen(places, len(self._dims))
        return places is not None

    def _build(self, cache: CacheContents, last: Snapshot | None) -> Snapshot:
        """Put together what changed and what did not."""
        changes = self._changes
        nodes = self._nodes.table() if last is None or changes.nodes else last.nodes
        width = nodes.allocatable.shape[1]
        assert width == len(self._dims), "each column of the nodes' matrices is one resource"
        jobs = self._jobs.table() if last is None or changes.jobs else last.jobs
        tasks = self._tasks.table(self._nodes.order, self._jobs.order)
        assert tasks.node.max(initial=-1) < len(nodes), "a task is on a node of the same snapshot"
        assert tasks.job.max(initial=-1) < len(jobs), "a task is of a job of the same snapshot"
        hypernodes = (
            cache.node_cache.hypernodes.snapshot()
            if last is None or changes.hypernodes
            else last.hypernodes
        )
        return Snapshot(
            dims=self._dims.names,
            nodes=nodes,
            tasks=tasks,
            jobs=jobs,
            queues=dict(sorted(cache.queues.items())),
            quotas={
                namespace: dict(sorted(quotas.items()))
                for namespace, quotas in sorted(cache.quotas.items())
            },
            objects=cache.stores.objects(),
            hypernodes=hypernodes,
            csi_nodes=dict(sorted(cache.node_cache.csi_nodes.items())),
            present=self._nodes.present(),
        )


def take_priorities(cache: CacheContents) -> None:
    """Change of a cache's jobs what its next snapshot would: their priorities."""
    for job in cache.jobs.values():
        if _is_visible(job, cache.queues):
            _take_priority(cache, job)


def _take_priority(cache: CacheContents, job: JobInfo) -> None:
    job.priority = cache.priority_of(job)


def _is_visible(job: JobInfo, queues: Mapping[str, QueueInfo]) -> bool:
    return job.pod_group is not None and job.queue in queues
