"""A cluster in which releases part: two jobs in two queues whose parent has room for one of them.

Until v1.11 a queue looks at itself when a PodGroup is to be enqueued, from v1.12 on at its parents
too. From v1.13 on a PodGroup that was bound just now is Inqueue for one session more.
"""

from __future__ import annotations

from typing import Any

Event = dict[str, Any]

VOLCANO = "scheduling.volcano.sh/v1beta1"
SMALL = {"cpu": "1", "memory": "1Gi"}

CONF = """\
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: capacity
    enableHierarchy: true
"""


def added(kind: str, name: str, api: str = "v1", **parts: Any) -> Event:
    """Return the arrival of an object; ``annotations`` are its own."""
    metadata = {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    if "annotations" in parts:
        metadata["annotations"] = parts.pop("annotations")
    return {
        "type": "ADDED",
        "object": {"apiVersion": api, "kind": kind, "metadata": metadata, **parts},
    }


def cluster() -> list[Event]:
    """Return a node of 8 CPUs, and the queue ``shared`` of one with two queues below it."""
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    ready = [{"type": "Ready", "status": "True"}]
    spec = {"weight": 1, "capability": SMALL}
    state = {"state": "Open"}
    return [
        added(
            "Node", "n1", status={"allocatable": amounts, "capacity": amounts, "conditions": ready}
        ),
        added("Queue", "shared", VOLCANO, spec=spec, status=state),
        *(
            added("Queue", name, VOLCANO, spec={**spec, "parent": "shared"}, status=state)
            for name in ("left", "right")
        ),
    ]


def job(name: str, queue: str) -> list[Event]:
    """Return a PodGroup that asks for all of a queue, and its only pod."""
    container = {"name": "c", "image": "i", "resources": {"requests": SMALL}}
    return [
        added(
            *("PodGroup", name, VOLCANO),
            spec={"minMember": 1, "queue": queue, "minResources": SMALL},
            status={"phase": "Pending"},
        ),
        added(
            *("Pod", f"{name}-0"),
            spec={"schedulerName": "volcano", "containers": [container]},
            status={"phase": "Pending"},
            annotations={"scheduling.k8s.io/group-name": name},
        ),
    ]


def scenario(steps: int = 2) -> dict[str, Any]:
    """Return the scenario: both jobs at once, and so many sessions."""
    first = {"events": [*cluster(), *job("first", "left"), *job("second", "right")]}
    return {
        "name": "shared-parent",
        "about": "two jobs in two queues whose parent has room for one",
        "conf": CONF,
        "steps": [first, *({"events": []} for _ in range(steps - 1))],
    }
