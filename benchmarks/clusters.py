"""Made-up clusters for sessions: equal nodes, gangs of equal pods, four queues.

The shape is that of the inputs on which Volcano itself was timed (see ``volcano_times.py``). Equal
nodes are hard on purpose: scores tie everywhere, so that no node is left out early.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

Document = dict[str, Any]

NODE_CPU, NODE_MEMORY, NODE_PODS = 32, 128, 110
"""What a node has: cores, Gi, pods."""
GANG = 10
QUEUES = 4
QUIET = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: {queues}
  - name: nodeorder
  - name: binpack
"""
EVICTING = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""
API_VERSIONS = {
    "Node": "v1",
    "Pod": "v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "PodGroup": "scheduling.volcano.sh/v1beta1",
    "Queue": "scheduling.volcano.sh/v1beta1",
}
_BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


class Cluster(NamedTuple):
    """A configuration of the scheduler, and objects in the order of their coming."""

    conf: str
    documents: list[Document]


class Gang(NamedTuple):
    """One PodGroup and its pods."""

    name: str
    queue: str
    number: int
    cpu: int
    memory: int
    least: int = GANG
    priority: str = ""
    nodes: tuple[str, ...] = ()
    """Where its pods run; none of them runs if empty."""


def flat(nodes: int, jobs: int, *, queues: int = QUEUES, gang: int = GANG) -> Cluster:
    """Return pending gangs in flat queues of different weights, for plugin ``proportion``."""
    weighed = [_queue(f"q{number}", number % QUEUES + 1) for number in range(queues)]
    return _cluster("proportion", [*_nodes(nodes), *weighed, *_pending(jobs, queues, gang)])


def tree(nodes: int, jobs: int) -> Cluster:
    """Return the same in two parents with two queues each, for plugin ``capacity``."""
    documents = [*_nodes(nodes), *_tree(nodes), *_pending(jobs, QUEUES, GANG)]
    return _cluster("capacity\n    enableHierarchy: true", documents)


def full(nodes: int, jobs: int, *, extra: int, waiting: int | None = None) -> Cluster:
    """Return nodes full of gangs, and others that have to evict to get a place.

    Odd ones of these are of higher priority and in the queues of the running ones (preempt), even
    ones in queues that have nothing yet (reclaim).

    :param extra: how many pods beyond its minimum a running gang has; with 0 no pod is preempted.
    :param waiting: how many gangs wait; half as many as run if not given.
    """
    classes = [
        {**_kind("PriorityClass"), "metadata": {"name": name}, "value": value}
        for name, value in (("low", 10), ("high", 1000))
    ]
    queues = [_queue(f"q{number}", 1) for number in range(2 * QUEUES)]
    names = [f"node-{number:05}" for number in range(nodes)]
    running = [
        Gang(
            name=f"runs-{number:05}",
            queue=f"q{number % QUEUES}",
            number=number,
            cpu=3,
            memory=8,
            least=GANG - extra,
            priority="low",
            nodes=tuple(names[(number * GANG + pod) % nodes] for pod in range(GANG)),
        )
        for number in range(jobs)
    ]
    waiting = [
        Gang(
            name=f"waits-{number:05}",
            queue=f"q{number % QUEUES}" if number % 2 else f"q{QUEUES + number % QUEUES}",
            number=jobs + number,
            cpu=1 + number % 4,
            memory=4,
            least=GANG // 2,
            priority="high" if number % 2 else "low",
        )
        for number in range(jobs // 2 if waiting is None else waiting)
    ]
    gangs = [document for gang in (*running, *waiting) for document in _gang(gang)]
    return Cluster(EVICTING, [*classes, *_nodes(nodes), *queues, *gangs])


def _cluster(queues: str, documents: list[Document]) -> Cluster:
    return Cluster(QUIET.format(queues=queues), documents)


def _kind(kind: str) -> Document:
    return {"apiVersion": API_VERSIONS[kind], "kind": kind}


def _nodes(count: int) -> Iterator[Document]:
    has = {"cpu": str(NODE_CPU), "memory": f"{NODE_MEMORY}Gi", "pods": str(NODE_PODS)}
    for number in range(count):
        name = f"node-{number:05}"
        yield {
            **_kind("Node"),
            "metadata": {
                "name": name,
                "labels": {"kubernetes.io/hostname": name, "zone": f"z{number % 4}"},
            },
            "status": {
                "allocatable": has,
                "capacity": has,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }


def _queue(name: str, weight: int, **spec: Any) -> Document:
    return {
        **_kind("Queue"),
        "metadata": {"name": name},
        "spec": {"weight": weight, "reclaimable": True, **spec},
        "status": {"state": "Open"},
    }


def _tree(nodes: int) -> Iterator[Document]:
    """Yield queues of which each parent may use half of the cluster, and each child a quarter."""
    yield _queue("root", 1)  # the scheduler itself makes it
    for name, part, parent in (
        *(("pa", 2, ""), ("pb", 2, "")),
        *(("q0", 4, "pa"), ("q1", 4, "pa"), ("q2", 4, "pb"), ("q3", 4, "pb")),
    ):
        amount = {
            "cpu": str(nodes * NODE_CPU // part),
            "memory": f"{nodes * NODE_MEMORY // part}Gi",
        }
        above = {"parent": parent} if parent else {}
        yield _queue(name, 1, deserved=amount, capability=amount, **above)


def _pending(jobs: int, queues: int, gang: int) -> Iterator[Document]:
    for number in range(jobs):
        cpu, memory = 1 + number % 4, 2 + 2 * (number % 3)
        name, queue = f"job-{number:05}", f"q{number % queues}"
        yield from _gang(Gang(name, queue, number, cpu, memory, least=gang), size=gang)


def _gang(gang: Gang, size: int = GANG) -> Iterator[Document]:
    created = (_BEGIN + timedelta(seconds=gang.number)).strftime("%Y-%m-%dT%H:%M:%SZ")
    where = {"namespace": "default", "creationTimestamp": created}
    yield {
        **_kind("PodGroup"),
        "metadata": {"name": gang.name, "uid": f"pg-{gang.name}", **where},
        "spec": {
            "minMember": gang.least,
            "minResources": {"cpu": str(gang.cpu * size), "memory": f"{gang.memory * size}Gi"},
            "queue": gang.queue,
            "priorityClassName": gang.priority,
        },
        "status": {"phase": "Running" if gang.nodes else "Pending"},
    }
    amounts = {"cpu": str(gang.cpu), "memory": f"{gang.memory}Gi"}
    spec = {
        "schedulerName": "volcano",
        "containers": [
            {"name": "c", "image": "busybox", "resources": {"requests": amounts, "limits": amounts}}
        ],
        "priorityClassName": gang.priority,
        "priority": {"": 0, "low": 10, "high": 1000}[gang.priority],
    }
    annotations = {"scheduling.k8s.io/group-name": gang.name, "volcano.sh/task-spec": "w"}
    for pod in range(size):
        name = f"{gang.name}-{pod}"
        on = {"nodeName": gang.nodes[pod]} if gang.nodes else {}
        yield {
            **_kind("Pod"),
            "metadata": {"name": name, "uid": name, "annotations": annotations, **where},
            "spec": {**spec, **on},
            "status": {"phase": "Running" if gang.nodes else "Pending"},
        }
