"""Scenarios of machines, as files have them."""

from __future__ import annotations

from typing import Any

_AMOUNTS = {"cpu": "8", "memory": "16Gi", "pods": "110"}

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": _AMOUNTS, "capacity": _AMOUNTS},
}

BREAKS, HOLDS = "v1.15.1", "v1.12.4"
"""Releases in which the scaled StatefulSet can lose its PodGroup, and in which not."""


def workload(replicas: int, kind: str = "StatefulSet", scheduler: str = "volcano") -> Any:
    """Return an object that has pods which Volcano schedules."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"schedulerName": scheduler, "containers": [container]},
    }
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": replicas, "selector": selector, "template": template}
    metadata = {"name": "web", "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


def steps(*events: tuple[str, Any]) -> list[Any]:
    """Return a step for each event."""
    return [{"events": [{"type": verb, "object": document}]} for verb, document in events]


def scaled(kind: str = "StatefulSet") -> dict[str, Any]:
    """Return a scenario in which a user scales a workload up, down and up again."""
    writes = [("ADDED", NODE), ("ADDED", workload(1, kind))]
    writes += [("MODIFIED", workload(0, kind)), ("MODIFIED", workload(1, kind))]
    return {"name": "scaled", "mode": "machine", "conf": "", "steps": steps(*writes)}


def one_pod(*, deleted: bool = True) -> dict[str, Any]:
    """Return a scenario in which a user creates a pod and deletes it: nothing can go wrong."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"schedulerName": "volcano", "containers": [container]},
    }
    writes = [("ADDED", NODE), ("ADDED", pod), *([("DELETED", pod)] if deleted else [])]
    return {"name": "one-pod", "mode": "machine", "steps": steps(*writes)}
