"""Clusters and configurations whose sessions depend on what no object tells."""

from __future__ import annotations

from typing import Any

Event = dict[str, Any]

VOLCANO = "scheduling.volcano.sh/v1beta1"
CREATED = "2025-01-01T00:00:00Z"
MIG_CARD = "GPU-a,7,81920,NVIDIA-A100,true,mig:"
DEVICES = """
nvidia:
  defaultGPUNum: 1
  knownMigGeometries:
  - models: [A100]
    allowedGeometries:
    - group: group1
      geometries:
      - {name: 1g.10gb, memory: 10240, count: 7}
"""


def conf(plugin: str, **arguments: Any) -> str:
    """Return a configuration with a plugin; arguments are named after the plugin and a dot."""
    given = "".join(f"\n      {plugin}.{name}: {value}" for name, value in arguments.items())
    return (
        "actions: enqueue, allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n"
        f"  - name: {plugin}\n    arguments:\n      thresholds: {{cpu: 80}}{given}\n"
    )


USAGE = conf("usage")
EXTENDER = conf("extender", predicateVerb="filter")
DEVICESHARE = conf("deviceshare", VGPUEnable="true")


def added(kind: str, name: str, api: str = "v1", **parts: Any) -> Event:
    """Return the arrival of an object; ``metadata`` adds to what there is."""
    metadata = {"name": name, "creationTimestamp": CREATED, **parts.pop("metadata", {})}
    document = {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}
    return {"type": "ADDED", "object": document}


def node(name: str, **annotations: str) -> Event:
    """Return the arrival of a node of 4 CPUs."""
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10", "volcano.sh/vgpu-number": "7"}
    status = {"allocatable": amounts, "capacity": amounts}
    return added("Node", name, status=status, metadata={"annotations": annotations})


def mig_node(name: str) -> Event:
    """Return the arrival of a node with a card that is cut."""
    marks = {"register": MIG_CARD, "handshake": "Reported"}
    return node(name, **{f"volcano.sh/node-vgpu-{key}": mark for key, mark in marks.items()})


def job(name: str, annotations: dict[str, str] | None = None, **limits: str) -> list[Event]:
    """Return the arrival of a PodGroup and its only pod."""
    group = {"scheduling.k8s.io/group-name": name, **(annotations or {})}
    resources = {"requests": {"cpu": "1"}, "limits": limits}
    spec = {"schedulerName": "volcano", "containers": [{"name": "c", "resources": resources}]}
    return [
        added("PodGroup", name, VOLCANO, spec={"minMember": 1, "queue": "default"}),
        added("Pod", name, spec=spec, metadata={"annotations": group}, status={"phase": "Pending"}),
    ]


def mig_job(name: str) -> list[Event]:
    """Return the arrival of a job that insists on an instance of a card."""
    asked = {"volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-memory": "8000"}
    return job(name, {"volcano.sh/vgpu-mode": "mig"}, **asked)


def config_map(text: str = DEVICES, name: str = "volcano-vgpu-device-config") -> Event:
    """Return the arrival of a device configuration."""
    data = {"device-config.yaml": text}
    return added("ConfigMap", name, data=data, metadata={"namespace": "kube-system"})


def usage(name: str, cpu: float, **fields: Any) -> Event:
    """Return what was measured on a node."""
    return {"type": "usage.measured", "node": name, "cpu": {"10m": cpu}, **fields}


def answer(about: str, given: dict[str, Any] | None, **fields: Any) -> Event:
    """Return what an extender answered to the verb ``filter``."""
    told = {"type": "extender.answered", "verb": "filter", "about": about, "answer": given}
    return told | fields
