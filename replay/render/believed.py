"""A scheduler's cache as records and tables: nodes, jobs, tasks, queues, hypernodes, work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.queue_items import name_of
from ...engine.kubernetes.units import format_amount
from ...engine.model.job import JobInfo
from ...engine.model.resource import Resource
from ...engine.model.task_status import STATUS_NAMES
from ..belief.logged_drift import Drift
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import shown_as
from ..tabular.record_columns import AmountColumns
from ..tabular.tabular import Tabular
from .amounts import listed, resource_list
from .tables import NONE, Table


class BelievedNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A node in the scheduler's cache.

    :param state: ``Ready``, or why sessions skip it.
    :param out_of_sync: resources of which more is used than exists.
    :param pods: the status of the task of each pod on it, by ``namespace/name``.
    """

    name: str
    state: str
    allocatable: AmountColumns
    used: AmountColumns
    idle: AmountColumns
    releasing: AmountColumns
    out_of_sync: list[str]
    pods: dict[str, str]


class BelievedJob(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A job in the scheduler's cache: a PodGroup and the tasks that are its pods.

    :param job: ``namespace/name``.
    :param pod_group: the uid of its PodGroup; None if pods name one that the cache does not have.
    :param seen: ``yes`` if sessions see it, else why they do not.
    :param tasks: the number of tasks, by status.
    """

    job: str
    pod_group: str | None
    resource_version: str | None
    phase: str | None
    queue: str
    seen: str
    min_available: int
    priority: int
    tasks: dict[str, int]
    allocated: AmountColumns


class BelievedTask(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A task in the scheduler's cache, which is a pod.

    :param task: the pod, ``namespace/name``.
    """

    task: str
    uid: str
    job: str | None
    status: str
    node: str | None
    priority: int
    request: AmountColumns


class BelievedQueue(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A queue in the scheduler's cache.

    :param jobs: the number of jobs in it.
    """

    name: str
    state: str
    weight: int
    parent: str | None
    reclaimable: bool
    allocated: AmountColumns
    resource_version: str
    jobs: int


class BelievedHyperNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A hypernode in the scheduler's cache.

    :param nodes: the nodes below it. :param ready: whether the tree could be built.
    """

    name: str
    tier: int
    parent: str | None
    nodes: list[str]
    ready: bool


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """An item that a worker of the cache still has to do.

    :param worker: ``nodes``, ``hypernodes``, ``cleanup`` or ``resync``.
    """

    worker: str
    item: str
    state: str


class BeliefDocument(msgspec.Struct, frozen=True, kw_only=True):
    """All parts of the cache. :param panic: the one that leaves no session to run, if there is."""

    nodes: list[BelievedNode]
    jobs: list[BelievedJob]
    tasks: list[BelievedTask]
    queues: list[BelievedQueue]
    hypernodes: list[BelievedHyperNode]
    work: list[Waiting]
    panic: str | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True)
class Belief(Tabular):
    """The cache of a release's scheduler at a moment.

    Each part is computed when it is first used, in the order of names.

    :param at: the moment, as printed.
    :param cache: the scheduler's cache itself, which may change between releases of Plinian.
    """

    at: str
    release: str
    cache: SchedulerCache

    @property
    def panic(self) -> str:
        """The panic that leaves no session to run here, with its place; empty if there is none."""
        return "" if self.cache.crash is None else str(self.cache.crash)

    @property
    def document(self) -> BeliefDocument:
        """What answers show of it."""
        return shown_as(BeliefDocument, self, panic=self.panic or msgspec.UNSET)

    @cached_property
    def nodes(self) -> list[BelievedNode]:
        """The nodes."""
        return list(_nodes(self.cache))

    @cached_property
    def jobs(self) -> list[BelievedJob]:
        """The jobs."""
        return list(_jobs(self.cache))

    @cached_property
    def tasks(self) -> list[BelievedTask]:
        """The tasks, of jobs and on nodes."""
        return list(_tasks(self.cache))

    @cached_property
    def queues(self) -> list[BelievedQueue]:
        """The queues."""
        return list(_queues(self.cache))

    @cached_property
    def hypernodes(self) -> list[BelievedHyperNode]:
        """The hypernodes."""
        return list(_hypernodes(self.cache))

    @cached_property
    def work(self) -> list[Waiting]:
        """What the cache's workers still have to do."""
        return list(_work(self.cache))

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return all parts as tables."""
        return {name: table_of(part.kind, getattr(self, name)) for name, part in PARTS.items()}


def _resources(resource: Resource) -> list[str]:
    return ["cpu", "memory", *sorted(resource.scalars or ())]


def _amounts(resource: Resource) -> dict[str, str]:
    return {name: format_amount(name, resource.get(name)) for name in _resources(resource)}


def _nodes(cache: SchedulerCache) -> Iterator[BelievedNode]:
    for name, node in sorted(cache.nodes.items()):
        yield BelievedNode(
            name=name,
            state=node.reason or ("Skipped" if node.skipped else "Ready"),
            allocatable=_amounts(node.allocatable),
            used=_amounts(node.used),
            idle=_amounts(node.idle),
            releasing=_amounts(node.releasing),
            out_of_sync=node.out_of_sync() if node.ready else [],
            pods={key: STATUS_NAMES[noted.status] for key, noted in sorted(node.tasks.items())},
        )


def _jobs(cache: SchedulerCache) -> Iterator[BelievedJob]:
    for key, job in sorted(cache.jobs.items()):
        group = job.pod_group
        counts = Counter(task.status for task in job.tasks.values())
        yield BelievedJob(
            job=key,
            pod_group=None if group is None else group.uid,
            resource_version=None if group is None else group.metadata.resource_version,
            phase=None if group is None else group.status.phase,
            queue=job.queue,
            seen=_seen(cache, job),
            min_available=job.min_available,
            priority=cache.priority_of(job),
            tasks={STATUS_NAMES[status]: counts[status] for status in sorted(counts)},
            allocated=_amounts(job.allocated),
        )


def _seen(cache: SchedulerCache, job: JobInfo) -> str:
    """Return whether sessions see a job, or why not."""
    if job.pod_group is None:
        return "no PodGroup"
    return "yes" if job.queue in cache.queues else "no queue"


def _tasks(cache: SchedulerCache) -> Iterator[BelievedTask]:
    tasks = {task.uid: task for job in cache.jobs.values() for task in job.tasks.values()}
    # A node may have tasks whose job the cache does not have any more.
    for node in cache.nodes.values():
        tasks |= {noted.task.uid: noted.task for noted in node.tasks.values()}
    for task in sorted(tasks.values(), key=lambda task_info: (task_info.key, task_info.uid)):
        yield BelievedTask(
            task=task.key,
            uid=task.uid,
            job=task.job or None,
            status=STATUS_NAMES[task.status],
            node=task.node_name or None,
            priority=task.priority,
            request=_amounts(task.request),
        )


def _queues(cache: SchedulerCache) -> Iterator[BelievedQueue]:
    for name, queue in sorted(cache.queues.items()):
        yield BelievedQueue(
            name=name,
            state=queue.state,
            weight=queue.weight,
            parent=queue.parent or None,
            reclaimable=queue.reclaimable,
            allocated=_amounts(queue.allocated),
            resource_version=queue.queue.metadata.resource_version,
            jobs=sum(job.queue == name for job in cache.jobs.values()),
        )


def _hypernodes(cache: SchedulerCache) -> Iterator[BelievedHyperNode]:
    tree = cache.node_cache.hypernodes
    for name, info in sorted(tree.infos.items()):
        yield BelievedHyperNode(
            name=name,
            tier=info.tier,
            parent=info.parent or None,
            nodes=sorted(tree.real_nodes.get(name, ())),
            ready=tree.ready,
        )


def _work(cache: SchedulerCache) -> Iterator[Waiting]:
    jobs, nodes = cache.job_cache, cache.node_cache
    queues: tuple[tuple[str, Any, Callable[[Any], str]], ...] = (
        ("nodes", nodes.queue, str),
        ("hypernodes", nodes.hypernode_queue, "/".join),
        ("cleanup", jobs.deleted_jobs, lambda job: job.key),
        ("resync", jobs.error_tasks, name_of),
    )
    for worker, queue, name in queues:
        for state, items in (
            ("queued", queue.ready()),
            ("waits to be tried again", queue.delayed()),
        ):
            yield from (Waiting(worker=worker, item=name(item), state=state) for item in items)


class CachePart(NamedTuple):
    """A part of a cache.

    :param name: the field that names an object. :param shown: the fields that are columns.
    """

    kind: type
    name: str
    records: Callable[[SchedulerCache], Iterator[Any]]
    shown: tuple[str, ...]


_NODE = ("name", "state", "pods", "used", "idle", "releasing")
_JOB = ("job", "queue", "phase", "min_available", "priority", "tasks", "allocated", "seen")
_TASK = ("task", "job", "status", "node", "priority", "request")
_QUEUE = ("name", "state", "weight", "parent", "jobs", "allocated")
_HYPERNODE = ("name", "tier", "parent", "nodes")

PARTS: Mapping[str, CachePart] = MappingProxyType(
    {
        "nodes": CachePart(BelievedNode, "name", _nodes, _NODE),
        "jobs": CachePart(BelievedJob, "job", _jobs, _JOB),
        "tasks": CachePart(BelievedTask, "task", _tasks, _TASK),
        "queues": CachePart(BelievedQueue, "name", _queues, _QUEUE),
        "hypernodes": CachePart(BelievedHyperNode, "name", _hypernodes, _HYPERNODE),
        "work": CachePart(Waiting, "item", _work, ("worker", "item", "state")),
    }
)
"""The parts of a cache that can be shown; ``work`` is what its workers still have to do."""

_HEADS = MappingProxyType({"min_available": "MIN", "seen": "IN SESSIONS"})
_KEPT = ("STATE", "STATUS", "PHASE", "ALLOCATED", "USED", "ITEM")
"""Columns that even a narrow terminal shows."""


def records_of(cache: SchedulerCache, part: str) -> list[Any]:
    """Return one part of a cache, by name.

    :param part: a key of :data:`PARTS`.
    """
    return list(PARTS[part].records(cache))


def part_table(cache: SchedulerCache, part: str, records: Iterable[Any]) -> Table:
    """Return the table of some of a part's records.

    :param cache: the cache that they belong to.
    """
    heads = {**_HEADS, "name": part.removesuffix("s").upper()}
    _, name, _, shown = PARTS[part]
    infos: Mapping[str, Any] = getattr(cache, part) if part in {"nodes", "jobs", "queues"} else {}
    rows = [
        [_cell(record, field, infos.get(getattr(record, name))) for field in shown]
        for record in records
    ]
    return Table([heads.get(field, field.upper()) for field in shown], rows, keep=_KEPT)


def _cell(record: Any, field: str, info: Any) -> str:
    """Return a field in a few characters. :param info: what the cache itself has of the object."""
    value, amounts = getattr(record, field), getattr(info, field, None)
    if isinstance(amounts, Resource):  # Whether something is there, or what it lacks.
        by_name = {name: amounts.get(name) for name in _resources(amounts)}
        return resource_list({name: amount for name, amount in by_name.items() if amount})
    if field == "pods":
        return str(len(value))
    if field == "state" and (lost := getattr(record, "out_of_sync", None)):
        return f"{value},OutOfSync({','.join(lost)})"
    if field == "request":
        return ",".join(f"{name}={amount}" for name, amount in value.items() if amount != "0")
    if isinstance(value, dict):
        return listed(value)
    text = ",".join(value) if isinstance(value, list) else value
    return NONE if text is None else str(text) or NONE


def crash_texts(drift: Drift) -> list[str]:
    """Return in sentences which panics the scheduler had by then."""
    return [
        f"The scheduler of {drift.release} had panicked by then: {crash}" for crash in drift.crashes
    ]


def drift_table(drift: Drift) -> Table:
    """Return a row for each difference."""
    sides = ("API SERVER", "CACHE") if drift.compared is None else ("DUMP", "REBUILT")
    return Table(
        ("KIND", "NAME", "FIELD", *sides, "SINCE"),
        [
            (
                difference.kind,
                difference.name or NONE,
                difference.field or NONE,
                difference.truth if difference.truth is not None else NONE,
                difference.belief if difference.belief is not None else NONE,
                f"@{difference.since}",
            )
            for difference in drift.differences
        ],
        keep=("NAME", "FIELD", *sides),
    )
