"""Where a dump of a real scheduler's cache differs from the rebuilt one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ...kubernetes.units import format_amount
from ...model.job import JobInfo
from ...model.node import NodeInfo
from ...model.resource import MIN_RESOURCE, Resource
from ...model.task_status import STATUS_NAMES
from ..cache import SchedulerCache
from .drift import CacheMismatch
from .dumped_cache import DumpedAmounts, DumpedCache, DumpedJob, DumpedNode, placed

Moves = Callable[[str, str], bool]
"""Of a kind and a name: returns whether the object changed about when the dump was taken."""

_THERE = "there"
_OF_NODE = ("allocatable", "used", "releasing", "pipelined", "idle")
_OF_JOB = ("allocated", "total_request")


def dump_mismatches(
    dumped: DumpedCache, cache: SchedulerCache, moves: Moves
) -> tuple[list[CacheMismatch], int]:
    """Return what differs, and how many nodes and jobs were compared.

    ``truth`` of each is the dump. A node or job is left out if it, or a pod of it, changed about
    then: what an informer had delivered by the dump is not known.
    """
    seen = cache.snapshot()
    nodes = {name: cache.nodes[name] for name in seen.nodes.names}
    jobs = {key: cache.jobs[key] for key in seen.jobs.keys}
    found: list[CacheMismatch] = []
    compared = 0
    for name in sorted(nodes.keys() | dumped.nodes.keys()):
        node, info = dumped.nodes.get(name), nodes.get(name)
        if not moves("Node", name) and not _any_moves(_pods_of(node, info), moves):
            compared += 1
            found += _of_node(name, node, info)
    for key in sorted(jobs.keys() | dumped.jobs.keys()) if dumped.jobs is not None else ():
        job, known = (dumped.jobs or {}).get(key), jobs.get(key)
        if not moves("PodGroup", key) and not _any_moves(_pods_of(job, known), moves):
            compared += 1
            found += _of_job(key, job, known)
    return found, compared


def _any_moves(pods: Iterable[str], moves: Moves) -> bool:
    return any(moves("Pod", pod) for pod in pods)


def _pods_of(
    dumped: DumpedNode | DumpedJob | None, known: NodeInfo | JobInfo | None
) -> Iterator[str]:
    if dumped is not None:
        yield from (task.key for task in dumped.tasks.values())
    if isinstance(known, JobInfo):
        yield from (task.key for task in known.tasks.values())
    elif known is not None:
        yield from known.tasks


def _of_node(
    name: str, dumped: DumpedNode | None, info: NodeInfo | None
) -> Iterator[CacheMismatch]:
    if dumped is None or info is None:
        yield _one_sided("Node", name, dumped)
        return
    for field in _OF_NODE:
        yield from _amounts("Node", name, field, getattr(dumped, field), getattr(info, field))
    there = {task.key: task.state for task in dumped.tasks.values()}
    cached = {key: STATUS_NAMES[task.status] for key, task in info.tasks.items()}
    yield from _pods("Node", name, there, cached)


def _of_job(key: str, dumped: DumpedJob | None, job: JobInfo | None) -> Iterator[CacheMismatch]:
    if dumped is None or job is None:
        yield _one_sided("PodGroup", key, dumped)
        return
    for field in ("queue", "min_available"):
        one, other = str(getattr(dumped, field)), str(getattr(job, field))
        if one != other:
            yield CacheMismatch("PodGroup", key, field, one, other)
    for field in _OF_JOB:
        yield from _amounts("PodGroup", key, field, getattr(dumped, field), getattr(job, field))
    there = {task.key: placed(task.state, task.node_name) for task in dumped.tasks.values()}
    cached = {
        task.key: placed(STATUS_NAMES[task.status], task.node_name) for task in job.tasks.values()
    }
    yield from _pods("PodGroup", key, there, cached)


def _one_sided(kind: str, name: str, dumped: object) -> CacheMismatch:
    sides = (None, _THERE) if dumped is None else (_THERE, None)
    return CacheMismatch(kind, name, "", *sides)


def _amounts(
    kind: str, name: str, field: str, dumped: DumpedAmounts, cached: Resource
) -> Iterator[CacheMismatch]:
    amounts = dumped.by_name()
    for resource in sorted({"cpu", "memory", *amounts, *(cached.scalars or {})}):
        one, other = amounts.get(resource, 0.0), cached.get(resource)
        if abs(one - other) >= MIN_RESOURCE:
            texts = format_amount(resource, one), format_amount(resource, other)
            yield CacheMismatch(kind, name, f"{field}.{resource}", *texts)


def _pods(
    kind: str, name: str, dumped: Mapping[str, str], cached: Mapping[str, str]
) -> Iterator[CacheMismatch]:
    for pod in sorted(dumped.keys() | cached.keys()):
        if dumped.get(pod) != cached.get(pod):
            yield CacheMismatch(kind, name, f"pods[{pod}]", dumped.get(pod), cached.get(pod))
