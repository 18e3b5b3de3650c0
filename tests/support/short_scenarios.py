"""Scenarios written by hand in a few words: events of a step, and what a release makes of them."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate

VOLCANO = "scheduling.volcano.sh/v1beta1"
CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: nodeorder
"""
Event = dict[str, Any]
Step = dict[str, Any]


def run(release: str | Behaviours, *steps: list[Event], conf: str = CONF) -> list[Step]:
    """Return what a release does in each step."""
    document = {"conf": conf, "steps": [{"events": events} for events in steps]}
    behaviours = resolve(release) if isinstance(release, str) else release
    return simulate(parse_case(msgspec.json.encode(document)), behaviours)


def node(name: str, cpu: str = "4", **more: str) -> Event:
    """Return the arrival of a node; other resources by name; ``gpu`` is short."""
    amounts = {"cpu": cpu, "memory": "32Gi", "pods": "110", **_named(more)}
    return _added("v1", "Node", name, status={"allocatable": amounts, "capacity": amounts})


def group(name: str, members: int = 1, *, cpu: str = "", **spec: Any) -> Event:
    """Return the arrival of a PodGroup; with ``cpu`` it has minResources."""
    spec = {"minMember": members, "queue": "default", **spec}
    if cpu:
        spec["minResources"] = {"cpu": cpu}
    return _added(VOLCANO, "PodGroup", name, spec=spec, status={"phase": "Pending"})


def queue(name: str, *, parent: str = "", **spec: Any) -> Event:
    """Return the arrival of a queue; ``guarantee``, ``deserved`` and ``capability`` are cpus."""
    amounts = {part: {"cpu": spec.pop(part)} for part in ("deserved", "capability") if part in spec}
    if "guarantee" in spec:
        amounts["guarantee"] = {"resource": {"cpu": spec.pop("guarantee")}}
    if parent:
        spec["parent"] = parent
    spec = {"weight": 1, **amounts, **spec}
    return _added(VOLCANO, "Queue", name, spec=spec, status={"state": "Open"})


def pod(name: str, of: str = "", cpu: str = "1", on: str = "", **more: str) -> Event:
    """Return the arrival of a pod; one of no PodGroup is another scheduler's.

    One that is ``on`` a node runs there. Other resources as for :func:`node`.
    """
    requests = ({"cpu": cpu} if cpu else {}) | _named(more)
    spec: dict[str, Any] = {
        "schedulerName": "volcano" if of else "default-scheduler",
        "containers": [{"name": "c", "resources": {"requests": requests}}],
    }
    if on:
        spec["nodeName"] = on
    made = _added("v1", "Pod", name, spec=spec, status={"phase": "Running" if on else "Pending"})
    if of:
        made["object"]["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": of}
    return made


def gone(event: Event) -> Event:
    """Return that an object goes which came with an event."""
    return {"type": "DELETED", "object": copy.deepcopy(event["object"])}


def phases(step: Step) -> dict[str, str]:
    """Return the phases of PodGroups, by name."""
    return {key.partition("/")[2]: one["phase"] for key, one in step["podgroups"].items()}


def _added(api: str, kind: str, name: str, **parts: Any) -> Event:
    metadata = {"name": name}
    return {
        "type": "ADDED",
        "object": {"apiVersion": api, "kind": kind, "metadata": metadata, **parts},
    }


def _named(amounts: dict[str, str]) -> dict[str, str]:
    return {{"gpu": "nvidia.com/gpu"}.get(name, name): text for name, text in amounts.items()}
