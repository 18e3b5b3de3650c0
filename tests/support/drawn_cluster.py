"""A small cluster whose queues, nodes and gangs change at known seconds, to be drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recorded_cluster import RecordedCluster, time

from plinian.engine.events import Reference, canonical_json, kind_of_version
from plinian.engine.kubernetes.units import format_time
from plinian.replay.facade.log import Log

Document = dict[str, Any]
GROUP = "scheduling.volcano.sh"


def _named(kind: str, name: str, second: float, **fields: Any) -> Document:
    place = {} if kind in {"Node", "Queue"} else {"namespace": "ml"}
    metadata = {"name": name, "uid": f"uid-{kind}-{name}", **place}
    metadata["creationTimestamp"] = format_time(time(second) // 1_000_000 * 1_000_000)
    annotations = fields.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    group = f"{GROUP}/v1beta1" if kind in {"Queue", "PodGroup"} else "v1"
    return {"apiVersion": group, "kind": kind, "metadata": metadata, **fields}


def node(name: str, cpu: str = "8", *, ready: str = "True", cordoned: bool = False) -> Document:
    """Return a node."""
    status = {
        "allocatable": {"cpu": cpu, "memory": "16Gi"},
        "conditions": [{"type": "Ready", "status": ready}],
    }
    return _named("Node", name, 0, spec={"unschedulable": cordoned}, status=status)


def queue(name: str, state: str = "Open", *, parent: str = "", **limits: str) -> Document:
    """Return a queue with limits of cpu, as in ``capability="4"``."""
    spec: Document = {kind: {"cpu": cpu} for kind, cpu in limits.items() if kind != "guarantee"}
    if "guarantee" in limits:
        spec["guarantee"] = {"resource": {"cpu": limits["guarantee"]}}
    if parent:
        spec["parent"] = parent
    return _named("Queue", name, 0, spec=spec, status={"state": state})


def podgroup(name: str, second: float = 1, *, queue: str, least: int, phase: str) -> Document:
    """Return a PodGroup, created at a second."""
    spec = {"queue": queue, "minMember": least}
    return _named("PodGroup", name, second, spec=spec, status={"phase": phase})


def pod(
    name: str, second: float = 1, *, group: str, cpu: str = "1", on: str = "", phase: str = ""
) -> Document:
    """Return a pod, created at a second."""
    spec: Document = {"containers": [{"resources": {"requests": {"cpu": cpu}}}]}
    if on:
        spec["nodeName"] = on
    noted = {"scheduling.k8s.io/group-name": group}
    status = {"phase": phase or "Pending"}
    return _named("Pod", name, second, spec=spec, status=status, annotations=noted)


class DrawnCluster(RecordedCluster):
    """A cluster whose log has whole seconds."""

    def gone(self, second: float, document: Document) -> None:
        """Add that an object was deleted."""
        self.revision += 1
        kind, metadata = document["kind"], document["metadata"]
        group = GROUP if kind in {"Queue", "PodGroup"} else ""
        place = (metadata.get("namespace", ""), metadata["name"], metadata["uid"])
        self._add(
            kind_of_version(group, kind, "deleted"),
            canonical_json({}),
            second,
            Reference(group, kind, *place),
            revision=self.revision,
        )


def busy(path: Path) -> Log:
    """Return a log of 20 seconds: two nodes, three queues, a gang of two that starts at 6."""
    cluster = DrawnCluster()
    cluster.saw(0, node("n1"), node("n2", "4"), queue("root"), queue("old", capability="3"))
    cluster.saw(0, queue("team", parent="root", capability="4", deserved="2"))
    cluster.saw(0, queue("child", parent="team", capability="6", guarantee="1"))
    cluster.saw(1, podgroup("gang", queue="child", least=2, phase="Inqueue"))
    cluster.saw(1.5, pod("a", 1, group="gang", cpu="2"))
    cluster.saw(2, pod("b", 2, group="gang", cpu="3"))
    cluster.bound(pod("a", 1, group="gang", cpu="2"), "n1", 5)
    cluster.bound(pod("b", 2, group="gang", cpu="3"), "n2", 6)
    cluster.saw(7, podgroup("gang", queue="child", least=2, phase="Running"), verb="updated")
    cluster.saw(8, pod("a", 1, group="gang", cpu="2", on="n1", phase="Running"), verb="updated")
    cluster.saw(9, node("n2", "4", cordoned=True), verb="updated")
    cluster.saw(10, pod("late", 10, group="gang", cpu="1"))
    cluster.saw(11, queue("old", "Closed", capability="3"), verb="updated")
    cluster.saw(12, node("n2", "2", ready="Unknown"), verb="updated")
    cluster.saw(14, pod("a", 1, group="gang", cpu="2", on="n1", phase="Succeeded"), verb="updated")
    cluster.gone(16, node("n2"))
    cluster.gone(18, pod("b", 2, group="gang"))
    cluster.saw(20, node("n1"), verb="updated")
    return cluster.log(path)
