"""Which pods have shared cards: of those that are there before, are deleted, or may be evicted."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from plinian.engine.kubernetes.objects import Node, decode
from plinian.engine.model.device_log import DeviceLog
from plinian.engine.session.framework.process_parts import ProcessParts
from plinian.engine.session.plugins.deviceshare.accounts import CardAccount
from plinian.engine.session.plugins.deviceshare.gpu_share import SharedGpus
from plinian.engine.session.plugins.deviceshare.memory_sharing import DeviceMemory
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate
from sessions import Document, group, node, pod, queue

MEMORY, NUMBER = "volcano.sh/gpu-memory", "volcano.sh/gpu-number"
CONF = """
actions: "allocate, preempt"
configurations:
- name: preempt
  arguments:
    enableTopologyAwarePreemption: true
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: deviceshare
    arguments:
      deviceshare.GPUSharingEnable: true
"""
VOLCANO = {"apiVersion": "scheduling.volcano.sh/v1beta1"}
API = {kind: {"apiVersion": "v1"} for kind in ("Node", "Pod")}
API |= dict.fromkeys(("Queue", "PodGroup"), VOLCANO)
API["PriorityClass"] = {"apiVersion": "scheduling.k8s.io/v1"}
CARDS = {NUMBER: "2", MEMORY: "20"}
HIGH = {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 100}
UPDATED = {"labels": {"seen": "again"}}


def host(**rest: Any) -> Document:
    """Return a node with two cards of 10 each, and 16 cpu."""
    made = node("n1", 16, more=CARDS, **rest)
    made["status"]["capacity"] = made["status"]["allocatable"]
    return made


def on_card(name: str, amount: int, card: int, cpu: int = 1, **rest: Any) -> list[Document]:
    """Return a PodGroup with a pod that has part of a card, and one more, so that either may go."""
    holder = wanting(name, amount, f"of-{name}", cpu, on="n1", priority=1, **rest)
    holder["metadata"]["annotations"]["volcano.sh/gpu-index"] = str(card)
    other = pod(f"{name}-other", f"of-{name}", "100m", on="n1", priority=1)
    return [group(f"of-{name}", phase="Running"), holder, other]


def wanting(name: str, amount: int, of: str = "w", cpu: int = 1, **rest: Any) -> Document:
    """Return a pod that asks for part of a card."""
    made = pod(name, of, cpu, requests={MEMORY: str(amount)}, **rest)
    resources = made["spec"]["containers"][0]["resources"]
    resources["limits"] = resources["requests"]
    return made


def outcome(release: str, *steps: list[tuple[str, Document]]) -> list[dict[str, Any]]:
    """Return what each step of a scenario decides."""
    events = [
        {"events": [{"type": verb, "object": {**API[one["kind"]], **one}} for verb, one in step]}
        for step in steps
    ]
    case = parse_case(json.dumps({"name": "cards", "conf": CONF, "steps": events}).encode())
    return json.loads(json.dumps(simulate(case, resolve(release))))


def added(*documents: Document) -> list[tuple[str, Document]]:
    """Return events that add objects."""
    return [("ADDED", one) for one in documents]


HALVES = [*on_card("v0", 6, 0), *on_card("v1", 6, 1)]
JOB = [group("w", priorityClassName="high"), wanting("w0", 8, priority=100)]
"""It wants more of one card than a half leaves, and no more than both leave together."""


@pytest.mark.parametrize(
    ("updated", "binds"),
    [
        ([], [["ns/w0", "n1"]]),
        ([host(**UPDATED)], []),
        ([{**HALVES[1], "metadata": {**HALVES[1]["metadata"], **UPDATED}}], [["ns/w0", "n1"]]),
        (
            [
                {**HALVES[place], "metadata": {**HALVES[place]["metadata"], **UPDATED}}
                for place in (1, 4)
            ],
            [],
        ),
    ],
    ids=["nothing", "the node", "one pod", "both pods"],
)
def test_what_pods_had_before_the_first_session_counts_from_their_update_on(
    updated: list[Document], binds: list[list[str]]
) -> None:
    """As v1.13.0 did when it was run on such scenarios; see also what proves the row."""
    first = added(queue("default"), HIGH, host(), *HALVES)
    then = [("MODIFIED", one) for one in updated] + added(*JOB)
    steps = outcome("v1.13.0", first, then)
    assert steps[1]["binds"] == binds


def test_a_copy_of_the_memory_has_the_same_objects() -> None:
    parts = ProcessParts()
    memory = parts.of(DeviceMemory)
    log = DeviceLog()
    memory.accounts["n1"] = CardAccount(log, shared=SharedGpus.of(decode(Node, host())))
    memory.annotations["u"] = {"a": "b"}
    copied = deepcopy(parts).of(DeviceMemory)
    assert copied.accounts["n1"].log is log
    assert copied.accounts["n1"].shared is not memory.accounts["n1"].shared
    copied.annotations["u"]["a"] = "c"
    assert memory.annotations["u"] == {"a": "b"}


@pytest.mark.parametrize(
    ("release", "pipelined", "told"),
    [
        ("v1.14.4", [], {"ns/w0": "0/1 nodes are unavailable: 1 {}."}),
        ("v1.15.1", [["ns/w0", "n1"]], {}),
    ],
)
def test_what_a_deleted_pod_has_is_free_at_once_since_v1_15(
    release: str, pipelined: list[list[str]], told: dict[str, str]
) -> None:
    going = on_card("v1", 10, 1)
    going[1]["metadata"]["deletionTimestamp"] = "2025-01-01T00:01:00Z"
    first = added(queue("default"), HIGH, host())
    there = [("MODIFIED", host(**UPDATED)), *added(*on_card("v0", 10, 0), *going)]
    job = [group("w", priorityClassName="high"), wanting("w0", 10, priority=100)]
    step = outcome(release, first, there + added(*job))[1]
    assert step["pipelined"] == pipelined
    why = "GpuShare no enough gpu memory on node n1"
    assert step["fit_errors"] == {name: text.format(why) for name, text in told.items()}


@pytest.mark.parametrize(
    ("release", "evicted"),
    [("v1.14.4", {"ns/v2"}), ("v1.15.1", {"ns/v1", "ns/v2"})],
)
def test_simulated_victims_free_their_cards_since_v1_15(release: str, evicted: set[str]) -> None:
    """One victim is enough for cpu; two leave a card of which enough is free."""
    first = added(queue("default"), HIGH, host())
    cards = [*on_card("v0", 5, 0, 5), *on_card("v1", 3, 1, 5), *on_card("v2", 3, 1, 5)]
    then = [("MODIFIED", host(**UPDATED)), *added(*cards)]
    job = [group("w", priorityClassName="high"), wanting("w0", 8, cpu=2, priority=100)]
    step = outcome(release, first, then + added(*job))[1]
    assert set(step["evictions"]) == evicted
    assert step["pipelined"] == [["ns/w0", "n1"]]
