"""Clusters whose objects make a scheduler panic outside of the body of a session."""

from __future__ import annotations

from typing import Any

from sessions import group, pod

Document = dict[str, Any]

API = {
    **dict.fromkeys(("Node", "Pod"), "v1"),
    **dict.fromkeys(("PodGroup", "Queue"), "scheduling.volcano.sh/v1beta1"),
    "HyperNode": "topology.volcano.sh/v1alpha1",
}
CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: proportion
"""
SHARING = f"{CONF}  - name: deviceshare\n    arguments:\n      deviceshare.GPUSharingEnable: true\n"
REGISTERS = {
    "volcano.sh/node-vgpu-register": "u1,10,100,100,NVIDIA,0,true:",
    "volcano.sh/node-vgpu-handshake": "Reported 2026.11.28 10:00:00",
}
MALFORMED = {"volcano.sh/vgpu-ids-new": "u1,NVIDIA:"}
CARD = {"volcano.sh/gpu-index": "0"}
NO_CARDS = "it counts the devices of Pod ns/holder-0 on node n1"


def added(document: Document, change: str = "ADDED") -> Document:
    """Return an event of a scenario."""
    return {"type": change, "object": {"apiVersion": API[document["kind"]], **document}}


def node(**annotations: str) -> Document:
    """Return node n1, which has no card that pods share."""
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    return {
        "kind": "Node",
        "metadata": {"name": "n1", "annotations": annotations},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def holder(annotations: dict[str, str]) -> Document:
    """Return a running pod of node n1 with a part of a card."""
    made = pod("holder-0", "holder", on="n1", annotations=annotations)
    limits = {"volcano.sh/gpu-memory": "100"}
    made["spec"]["containers"][0]["resources"]["limits"] = limits
    return made


def waiting(name: str = "wanted") -> list[Document]:
    """Return a PodGroup and its pod, which fits on node n1."""
    return [group(name, 1), pod(f"{name}-0", name)]


def with_card(annotations: dict[str, str], *, registers: bool = False) -> list[Document]:
    """Return a node, a pod with a part of a card that runs on it, and another that waits."""
    there = node(**(REGISTERS if registers else {}))
    held = [group("holder", 1, phase="Running"), holder(annotations)]
    return [there, *held, *waiting()]


def devices(annotations: dict[str, str], *, conf: str = CONF, registers: bool = False) -> Document:
    """Return a scenario in which a pod with a part of a card runs, and another waits."""
    there = with_card(annotations, registers=registers)
    return _case(conf, [[added(each) for each in there]])


def listed(objects: list[Document]) -> list[Document]:
    """Return lists of nodes, queues, PodGroups and pods, each of which may be empty."""
    default = {"kind": "Queue", "metadata": {"name": "default"}, "spec": {"weight": 1}}
    every = [{**default, "status": {"state": "Open"}}, *objects]
    for number, each in enumerate(every, start=100):
        own = {"creationTimestamp": "2026-11-28T10:00:00Z", **each["metadata"]}
        each["metadata"] = {**own, "uid": f"u{number}", "resourceVersion": str(number)}
    return [
        {
            "apiVersion": API[kind],
            "kind": f"{kind}List",
            "metadata": {"resourceVersion": "1000"},
            "items": [each for each in every if each["kind"] == kind],
        }
        for kind in ("Node", "Queue", "PodGroup", "Pod")
    ]


def hypernode(name: str, *members: Document, tier: int = 2) -> Document:
    """Return a HyperNode."""
    return {
        "kind": "HyperNode",
        "metadata": {"name": name},
        "spec": {"tier": tier, "members": list(members)},
    }


def topology() -> Document:
    """Return a scenario with three sessions: a HyperNode that is mended before the second crashes.

    Two of them have the same child, so the tree cannot be built until one lets go of it; what is
    left of that one are HyperNodes by a pattern.
    """
    child = {"type": "HyperNode", "selector": {"exactMatch": {"name": "leaf"}}}
    pattern = {"type": "HyperNode", "selector": {"regexMatch": {"pattern": "x.*"}}}
    leaf = {"type": "Node", "selector": {"exactMatch": {"name": "n1"}}}
    first = [
        *(node(), hypernode("leaf", leaf, tier=1), hypernode("one", child)),
        *(hypernode("two", child, pattern), *waiting()),
    ]
    mended = added(hypernode("two", pattern), "MODIFIED")
    later = pod("wanted-1", "wanted")
    return _case(CONF, [[added(each) for each in first], [mended], [added(later)]])


def _case(conf: str, steps: list[list[Document]]) -> Document:
    return {"name": "crash", "conf": conf, "steps": [{"events": events} for events in steps]}
