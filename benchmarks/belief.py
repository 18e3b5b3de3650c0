"""Belief: the cache of a large cluster from its events, and the snapshots that sessions take of it.

The peer is what the original does for every session: look at every object again. Here that is a
snapshot by a builder that has seen nothing yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from plinian.engine.cache.cache import SchedulerCache
from plinian.engine.cache.dirty_marks import DirtyMarks
from plinian.engine.cache.snapshot import SnapshotBuilder
from plinian.engine.kubernetes import objects
from plinian.engine.model.task_classes import TaskClasses
from plinian.engine.volcano.session.history import resolve

from .measure import Result, clock

RELEASE = "v1.12.1"
NODES, PODS, JOBS = 5_000, 20_000, 2_000
TIMES = 5

Payload = tuple[str, bytes]


def run(_: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Build a cache and snapshots of it; at scale 1 of 5,000 nodes, 20,000 pods, 2,000 jobs."""
    payloads = list(_payloads(scale))
    size = f"{int(NODES * scale):,} nodes, {int(PODS * scale):,} pods"
    cache = SchedulerCache(resolve(RELEASE))
    with clock() as built:
        for kind, payload in payloads:
            cache.deliver(kind, objects.decode(objects.KINDS[kind], payload))
        cache.run_workers()
        cache.snapshot()
    yield _seconds(f"cache and first snapshot of {size}", built.cpu, 1.5 * scale)
    anew = _least(lambda: _first_look(cache))
    yield _seconds("a snapshot that looks at everything", anew, None)
    warm = _least(lambda: None, cache.snapshot)
    yield _seconds("a snapshot when nothing changed", warm, 0.005)
    pods = [objects.decode(objects.Pod, payload) for kind, payload in payloads if kind == "Pod"]
    for changes in (1, 100):
        some = pods[:changes]
        took = _least(lambda some=some: _touch(cache, some), cache.snapshot)
        yield Result(
            benchmark="belief",
            figure=f"a snapshot after {changes} pods changed, to one that looks at everything",
            value=took / anew,
            unit="×",
            limit=0.1,
            note=f"{took * 1000:.1f} ms",
        )


def _seconds(figure: str, value: float, limit: float | None) -> Result:
    return Result(
        benchmark="belief",
        figure=figure,
        value=value * 1000,
        unit="ms",
        limit=limit and limit * 1000,
    )


def _first_look(cache: SchedulerCache) -> None:
    changes = DirtyMarks()
    for name in cache.nodes:
        changes.node(name)
    for key in cache.jobs:
        changes.job(key)
    SnapshotBuilder(changes, TaskClasses()).take(cache)


def _touch(cache: SchedulerCache, pods: list[objects.Pod]) -> None:
    for pod in pods:
        cache.deliver("Pod", msgspec.structs.replace(pod))


def _least(prepare: Callable[[], Any], measured: Callable[[], Any] | None = None) -> float:
    """Return the least CPU seconds of several runs; of ``prepare`` itself if nothing else."""
    times = []
    for _ in range(TIMES):
        if measured is not None:
            prepare()
        with clock() as reading:
            (measured or prepare)()
        times.append(reading.cpu)
    return min(times)


def _payloads(scale: float) -> Iterator[Payload]:
    nodes, pods, jobs = (max(1, int(number * scale)) for number in (NODES, PODS, JOBS))
    room = {"cpu": "32", "memory": "128Gi", "pods": "110", "nvidia.com/gpu": "8"}
    for number in range(nodes):
        name = f"node-{number:05}"
        labels = {"kubernetes.io/hostname": name, "zone": f"z{number % 5}"}
        yield _payload("Node", name, labels=labels, status={"allocatable": room, "capacity": room})
    yield _payload("Queue", "default", spec={"weight": 1}, status={"state": "Open"})
    for number in range(jobs):
        spec = {"minMember": 5, "queue": "default"}
        status = {"phase": "Running"}
        yield _payload("PodGroup", f"job-{number:05}", "ns", spec=spec, status=status)
    for number in range(pods):
        job = number % jobs
        requests = {"cpu": str(1 + job % 4), "memory": "4Gi"}
        spec = {
            "schedulerName": "volcano",
            "containers": [{"name": "main", "resources": {"requests": requests}}],
        }
        phase = "Pending"
        if number % 4:
            spec["nodeName"], phase = f"node-{number % nodes:05}", "Running"
        group = {"scheduling.k8s.io/group-name": f"job-{job:05}"}
        name = f"job-{job:05}-{number}"
        yield _payload("Pod", name, "ns", annotations=group, spec=spec, status={"phase": phase})


def _payload(kind: str, name: str, namespace: str = "", **rest: Any) -> Payload:
    marks = {field: rest.pop(field) for field in ("labels", "annotations") if field in rest}
    created = "2025-01-01T00:00:00Z"
    metadata = {"name": name, "uid": f"{kind}-{name}", "creationTimestamp": created, **marks}
    if namespace:
        metadata["namespace"] = namespace
    return kind, msgspec.json.encode({"kind": kind, "metadata": metadata, **rest})
