"""A scheduler's cache as documents and tables: nodes, jobs, tasks, queues, hypernodes, work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.queue_items import name_of
from ...engine.kubernetes.units import format_amount
from ...engine.model.job import JobInfo
from ...engine.model.node import NodeInfo
from ...engine.model.queue import QueueInfo
from ...engine.model.resource import Resource
from ...engine.model.task import TaskInfo
from ...engine.model.task_status import STATUS_NAMES
from .amounts import resource_list
from .tables import NONE, Table

Document = dict[str, Any]

_ACCOUNTS = ("allocatable", "used", "idle", "releasing")


def documents_of(cache: SchedulerCache, part: str) -> list[Document]:
    """Return one part of a cache, by name.

    :param part: a key of :data:`PARTS`.
    """
    return list(PARTS[part](cache))


def marked(found: dict[str, Any], cache: SchedulerCache) -> dict[str, Any]:
    """Return parts of a cache, with the panic that leaves no session to run, if there is one."""
    return found if cache.crash is None else {**found, "panic": str(cache.crash)}


def table_of(cache: SchedulerCache, part: str, documents: list[Document]) -> Table:
    """Return the table of some of a part's documents.

    :param cache: the cache that they belong to.
    """
    headers, row = _TABLES[part]
    rows = [row(cache, document) for document in documents]
    return Table(headers, rows, keep=_KEPT)


def _amounts(resource: Resource) -> dict[str, str]:
    names = ["cpu", "memory", *sorted(resource.scalars or ())]
    return {name: format_amount(name, resource.get(name)) for name in names}


def _short(resource: Resource) -> str:
    """Return whether something is there, or what it lacks."""
    names = ["cpu", "memory", *sorted(resource.scalars or ())]
    return resource_list({name: resource.get(name) for name in names if resource.get(name)})


def _nodes(cache: SchedulerCache) -> Iterator[Document]:
    for name, node in sorted(cache.nodes.items()):
        yield {
            "name": name,
            "state": node.reason or ("Skipped" if node.skipped else "Ready"),
            **{account: _amounts(getattr(node, account)) for account in _ACCOUNTS},
            "outOfSync": node.out_of_sync() if node.ready else [],
            "pods": {key: STATUS_NAMES[noted.status] for key, noted in sorted(node.tasks.items())},
        }


def _node_row(cache: SchedulerCache, document: Document) -> tuple[str, ...]:
    node: NodeInfo = cache.nodes[document["name"]]
    lacking = document["outOfSync"]
    state = f"{document['state']},OutOfSync({','.join(lacking)})" if lacking else document["state"]
    amounts = (node.used, node.idle, node.releasing)
    return (node.name, state, str(len(node.tasks)), *map(_short, amounts))


def _jobs(cache: SchedulerCache) -> Iterator[Document]:
    for key, job in sorted(cache.jobs.items()):
        group = job.pod_group
        counts = Counter(task.status for task in job.tasks.values())
        yield {
            "job": key,
            "podGroup": None if group is None else group.uid,
            "resourceVersion": None if group is None else group.metadata.resource_version,
            "phase": None if group is None else group.status.phase,
            "queue": job.queue,
            "seen": _seen(cache, job),
            "minAvailable": job.min_available,
            "priority": cache.priority_of(job),
            "tasks": {STATUS_NAMES[status]: counts[status] for status in sorted(counts)},
            "allocated": _amounts(job.allocated),
        }


def _seen(cache: SchedulerCache, job: JobInfo) -> str:
    """Return whether sessions see a job, or why not."""
    if job.pod_group is None:
        return "no PodGroup"
    return "yes" if job.queue in cache.queues else "no queue"


def _job_row(cache: SchedulerCache, document: Document) -> tuple[str, ...]:
    tasks = ",".join(f"{status}={number}" for status, number in document["tasks"].items())
    return (
        document["job"],
        document["queue"] or NONE,
        document["phase"] or NONE,
        str(document["minAvailable"]),
        str(document["priority"]),
        tasks or NONE,
        _short(cache.jobs[document["job"]].allocated),
        document["seen"],
    )


def _tasks(cache: SchedulerCache) -> Iterator[Document]:
    found: dict[str, TaskInfo] = {}
    for job in cache.jobs.values():
        found |= {task.uid: task for task in job.tasks.values()}
    for node in cache.nodes.values():
        found |= {noted.task.uid: noted.task for noted in node.tasks.values()}
    for task in sorted(found.values(), key=lambda one: (one.key, one.uid)):
        yield {
            "task": task.key,
            "uid": task.uid,
            "job": task.job or None,
            "status": STATUS_NAMES[task.status],
            "node": task.node_name or None,
            "priority": task.priority,
            "request": _amounts(task.request),
        }


def _task_row(_: SchedulerCache, document: Document) -> tuple[str, ...]:
    request = ",".join(
        f"{name}={amount}" for name, amount in document["request"].items() if amount != "0"
    )
    places = (document["job"] or NONE, document["status"], document["node"] or NONE)
    return (document["task"], *places, str(document["priority"]), request)


def _queues(cache: SchedulerCache) -> Iterator[Document]:
    for name, queue in sorted(cache.queues.items()):
        yield {
            "name": name,
            "state": queue.state,
            "weight": queue.weight,
            "parent": queue.parent or None,
            "reclaimable": queue.reclaimable,
            "allocated": _amounts(queue.allocated),
            "resourceVersion": queue.queue.metadata.resource_version,
            "jobs": sum(job.queue == name for job in cache.jobs.values()),
        }


def _queue_row(cache: SchedulerCache, document: Document) -> tuple[str, ...]:
    queue: QueueInfo = cache.queues[document["name"]]
    facts = (queue.state or NONE, str(queue.weight), queue.parent or NONE, str(document["jobs"]))
    return (queue.name, *facts, _short(queue.allocated))


def _hypernodes(cache: SchedulerCache) -> Iterator[Document]:
    tree = cache.node_cache.hypernodes
    for name, info in sorted(tree.infos.items()):
        yield {
            "name": name,
            "tier": info.tier,
            "parent": info.parent or None,
            "nodes": sorted(tree.real_nodes.get(name, ())),
            "ready": tree.ready,
        }


def _hypernode_row(_: SchedulerCache, document: Document) -> tuple[str, ...]:
    nodes = ",".join(document["nodes"]) or NONE
    return (document["name"], str(document["tier"]), document["parent"] or NONE, nodes)


def _work(cache: SchedulerCache) -> Iterator[Document]:
    jobs, nodes = cache.job_cache, cache.node_cache
    waiting: tuple[tuple[str, list[str], list[str]], ...] = (
        ("nodes", nodes.queue.ready(), nodes.queue.delayed()),
        (
            "hypernodes",
            ["/".join(change) for change in nodes.hypernode_queue.ready()],
            ["/".join(change) for change in nodes.hypernode_queue.delayed()],
        ),
        (
            "cleanup",
            [job.key for job in jobs.deleted_jobs.ready()],
            [job.key for job in jobs.deleted_jobs.delayed()],
        ),
        (
            "resync",
            [*map(name_of, jobs.error_tasks.ready())],
            [*map(name_of, jobs.error_tasks.delayed())],
        ),
    )
    for worker, ready, delayed in waiting:
        for state, items in (("queued", ready), ("waits to be tried again", delayed)):
            yield from ({"worker": worker, "item": item, "state": state} for item in items)


def _work_row(_: SchedulerCache, document: Document) -> tuple[str, ...]:
    return document["worker"], document["item"], document["state"]


PARTS: Mapping[str, Callable[[SchedulerCache], Iterator[Document]]] = MappingProxyType(
    {
        "nodes": _nodes,
        "jobs": _jobs,
        "tasks": _tasks,
        "queues": _queues,
        "hypernodes": _hypernodes,
        "work": _work,
    }
)
"""The parts of a cache that can be shown; ``work`` is what its workers still have to do."""

NAME_OF: Mapping[str, str] = MappingProxyType(
    {
        "nodes": "name",
        "jobs": "job",
        "tasks": "task",
        "queues": "name",
        "hypernodes": "name",
        "work": "item",
    }
)
"""The field that names the object, by part."""

_KEPT = ("STATE", "STATUS", "PHASE", "ALLOCATED", "USED", "ITEM")
"""Columns that even a narrow terminal shows."""

_Row = Callable[[SchedulerCache, Document], tuple[str, ...]]
_TABLES: Mapping[str, tuple[tuple[str, ...], _Row]] = MappingProxyType(
    {
        "nodes": (("NODE", "STATE", "PODS", "USED", "IDLE", "RELEASING"), _node_row),
        "jobs": (
            ("JOB", "QUEUE", "PHASE", "MIN", "PRIORITY", "TASKS", "ALLOCATED", "IN SESSIONS"),
            _job_row,
        ),
        "tasks": (("TASK", "JOB", "STATUS", "NODE", "PRIORITY", "REQUEST"), _task_row),
        "queues": (("QUEUE", "STATE", "WEIGHT", "PARENT", "JOBS", "ALLOCATED"), _queue_row),
        "hypernodes": (("HYPERNODE", "TIER", "PARENT", "NODES"), _hypernode_row),
        "work": (("WORKER", "ITEM", "STATE"), _work_row),
    }
)
