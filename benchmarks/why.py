"""Why a job waits, in a large cluster: from a log to the answer.

The peer is what the answer rests on: the scheduler's cache from the log, and one session.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.why import why_at
from plinian.replay.belief.stored_belief import build_beliefs
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import Log, opened
from plinian.replay.overview.overview import overview_at
from plinian.replay.overview.overview_task import OverviewTask
from plinian.replay.sessions.session_answer import session_at
from plinian.replay.truth.truth import build_index

from .measure import Result, clock

RELEASE = "v1.12.1"
NODES, JOBS, WAITING, PODS_OF_A_JOB = 5_000, 1_900, 100, 10
VOLCANO = "scheduling.volcano.sh/v1beta1"
ASKED = ("podgroup/ml/waits-3", "pod/ml/waits-3-1", "queue/b", "node/n00001")
LIMIT_MS = 3_000.0
OVERVIEW_SESSIONS = 6
"""An overview runs one session, and asks, compares and checks all objects beside."""
CONF = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Ask about waiting objects; at scale 1 among 5,000 nodes and 20,000 pods."""
    with opened(written(folder, scale), read_only=True) as log:
        with clock() as alone:
            session_at(log, release=RELEASE)
        size = f"{int(NODES * scale):,} nodes"
        yield _milliseconds(f"cache and one session, {size}", alone.cpu, None)
        for named in ASKED:
            yield _milliseconds(f"why {named}, {size}", _asked(log, named), LIMIT_MS)
        moment = log.moment("end")
        with clock() as took:
            found = overview_at(log, OverviewTask(moment=moment, release=RELEASE))
        assert found.waiting, "jobs wait"
        most = OVERVIEW_SESSIONS * alone.cpu * 1000
        yield _milliseconds(f"overview, {size}", took.cpu, most)


def written(folder: Path, scale: float) -> str:
    """Write the log as ``plinian ingest`` does, with the stored cache, and return its place."""
    (folder / "cluster.json").write_bytes(_listing(scale))
    (folder / "volcano-scheduler.conf").write_text(CONF)
    place = str(folder / "log.db")
    with opened(place, create=True) as log:
        ingest(log.store, [str(folder / "cluster.json"), str(folder / "volcano-scheduler.conf")])
        build_index(log.store, cluster="default")
        build_beliefs(log.store, resolve(RELEASE), branch="main", cluster="default")
    return place


def _asked(log: Log, named: str) -> float:
    with clock() as took:
        found = why_at(log, log.object(named), release=RELEASE)
    assert found.sentence, "every object has an answer"
    return took.cpu


def _milliseconds(figure: str, seconds: float, limit: float | None) -> Result:
    return Result(benchmark="why", figure=figure, value=seconds * 1000, unit="ms", limit=limit)


def _listing(scale: float) -> bytes:
    items = list(_objects(scale))
    for revision, item in enumerate(items, start=1):
        item["metadata"]["resourceVersion"] = str(revision)
    return msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items})


def _objects(scale: float) -> Iterator[dict[str, Any]]:
    for name in ("root", "default", "a", "b"):
        parent = {} if name == "root" else {"parent": "root"}
        yield _object(VOLCANO, "Queue", name, {"weight": 1, **parent}, {"state": "Open"})
    nodes = int(NODES * scale)
    allocatable = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    for number in range(nodes):
        status = {"allocatable": allocatable}
        yield _object("v1", "Node", f"n{number:05}", {"unschedulable": number % 100 == 0}, status)
    for number in range(int(JOBS * scale)):
        yield from _job(f"runs-{number}", "ab"[number % 2], number * PODS_OF_A_JOB, nodes)
    for number in range(max(4, int(WAITING * scale))):
        yield from _job(f"waits-{number}", "ab"[number % 2], None, nodes)


def _job(name: str, queue: str, first: int | None, nodes: int) -> Iterator[dict[str, Any]]:
    """Yield a PodGroup and its pods, on nodes from a number on; without one they wait."""
    spec = {"minMember": PODS_OF_A_JOB, "queue": queue, "minResources": {"cpu": "40"}}
    phase = "Inqueue" if first is None else "Running"
    yield _object(VOLCANO, "PodGroup", name, spec, {"phase": phase}, namespace="ml")
    for number in range(PODS_OF_A_JOB):
        requests = {"cpu": "15" if first is None else "4", "memory": "4Gi"}
        containers = [{"name": "main", "resources": {"requests": requests}}]
        node = {} if first is None else {"nodeName": f"n{(first + number) % nodes:05}"}
        status = {"phase": "Pending" if first is None else "Running"}
        made = _object(
            "v1",
            "Pod",
            f"{name}-{number}",
            {"schedulerName": "volcano", "containers": containers, **node},
            status,
            namespace="ml",
        )
        made["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": name}
        yield made


def _object(
    api: str, kind: str, name: str, spec: Any, status: Any, *, namespace: str = ""
) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"{kind}-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec, "status": status}
