"""Invariants of jobs in the scheduler's cache: statuses, nodes and sums."""

from __future__ import annotations

from collections.abc import Iterator

from ..kubernetes.objects import Node
from ..kubernetes.units import format_amount
from ..model.job import JobInfo
from ..model.node import NodeInfo
from ..model.resource import MIN_RESOURCE, Resource
from ..model.task import TaskInfo
from ..model.task_status import ALLOCATED_STATUS, COMPLETED_STATUS, STATUS_NAMES
from .invariant import NODE, POD, PODGROUP, Invariant, Needs, Severity, Violation
from .view import ClusterView


def statuses_match_nodes(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield tasks whose status and node disagree, and sums that are not those of the tasks.

    A node that does not exist, or that the scheduler does not choose, holds no task.
    """
    job: JobInfo | None = view.cache.jobs.get(key)
    if job is None:
        return
    allocated, total = Resource(), Resource()
    for task in job.tasks.values():
        total.add(task.request)
        if task.status in ALLOCATED_STATUS:
            allocated.add(task.request)
        message = _fault(task, view.cache.nodes.get(task.node_name))
        if message and (not task.node_name or _exists(view, task.node_name)):
            yield Violation("Pod", task.key, message, "status")
    yield from _sum(key, "allocated", allocated, job.allocated)
    yield from _sum(key, "total request", total, job.total_request)


def _exists(view: ClusterView, name: str) -> bool:
    node: Node | None = view.truth.get("Node", name)
    return node is not None and view.cache.node_cache.chooses(node)


def _fault(task: TaskInfo, info: NodeInfo | None) -> str:
    """Return what is wrong about a task and its node in the cache; empty if nothing is."""
    status = STATUS_NAMES[task.status]
    placed = None if info is None else info.tasks.get(task.key)
    # The node may hold another pod of this name.
    holds = placed is not None and placed.task.uid == task.uid
    if task.status in COMPLETED_STATUS:
        where = f"is {status}, but still counts on node {task.node_name}"
        return f"the task {where}" if holds else ""
    if not task.node_name:
        free = task.status not in ALLOCATED_STATUS
        return "" if free else f"the task is {status}, but has no node"
    if not holds:
        return f"the task is {status} on node {task.node_name}, which does not hold it"
    assert placed is not None
    if placed.status != task.status:
        return (
            f"the task is {status}, but counts as {STATUS_NAMES[placed.status]} "
            f"on node {task.node_name}"
        )
    return ""


def _sum(key: str, what: str, true: Resource, resource: Resource) -> Iterator[Violation]:
    for name in ("cpu", "memory", *sorted({*(true.scalars or ()), *(resource.scalars or ())})):
        if abs(true.get(name) - resource.get(name)) >= MIN_RESOURCE:
            message = (
                f"its {what} of {name} is {format_amount(name, resource.get(name))}, "
                f"its tasks make {format_amount(name, true.get(name))}"
            )
            yield Violation("PodGroup", key, message, f"{what}.{name}")


INVARIANTS = (
    Invariant(
        id="I-06",
        name="status-node-agreement",
        severity=Severity.HIGH,
        statement=(
            "In the scheduler's cache, one node holds each task that has one, with the same status."
        ),
        needs=Needs.CACHE,
        unit="PodGroup",
        kinds=(NODE, POD, PODGROUP),
        settles=False,
        check=statuses_match_nodes,
    ),
)
"""The invariants of this module."""
