"""What goes wrong in a scenario is told: crashes outside of sessions, refusals, endless amounts."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.session.plugins.capacity import Capacity
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate
from sessions import TRIED_OUT

VOLCANO = "scheduling.volcano.sh/v1beta1"
Event = dict[str, Any]


def run(
    *steps: list[Event] | dict[str, Any], conf: str = "", release: str = "v1.12.1"
) -> list[dict[str, Any]]:
    steps_told = [step if isinstance(step, dict) else {"events": step} for step in steps]
    document = {"conf": conf, "steps": steps_told}
    return simulate(parse_case(msgspec.json.encode(document)), resolve(release))


def added(kind: str, name: str, api: str = "v1", **parts: Any) -> Event:
    metadata = {"name": name, **parts.pop("metadata", {})}
    return {
        "type": "ADDED",
        "object": {"apiVersion": api, "kind": kind, "metadata": metadata, **parts},
    }


def node(**metadata: Any) -> Event:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return added("Node", "n", metadata=metadata, status={"allocatable": amounts})


def group() -> Event:
    return added("PodGroup", "g", VOLCANO, spec={"minMember": 1}, status={"phase": "Inqueue"})


def pod(name: str, *, cpu: str = "1", gpu: str = "1") -> Event:
    requests = {"cpu": cpu, "nvidia.com/gpu": gpu}
    return added(
        "Pod",
        name,
        metadata={"annotations": {"scheduling.k8s.io/group-name": "g"}},
        spec={"schedulerName": "volcano", "containers": [{"resources": {"requests": requests}}]},
        status={"phase": "Pending"},
    )


def deleted(event: Event) -> Event:
    return {"type": "DELETED", "object": copy.deepcopy(event["object"])}


def test_a_crash_on_an_event_takes_the_session_and_the_next_step_starts_anew() -> None:
    """A request below 0 makes the job's sum less than one of its parts."""
    asks, gives = pod("asks", gpu="2"), pod("gives", gpu="-1")
    _, crashed, after = run([node(), group(), asks, gives], [deleted(asks), deleted(gives)], [])
    assert crashed["panic"].startswith("resource is not sufficient to do operation")
    assert crashed["panic_at"].startswith("api.(*Resource).Sub < api.(*JobInfo).DeleteTaskInfo")
    assert crashed["session_jobs"] == []
    assert after["restarted"]
    assert after["panic"] is None
    assert after["session_jobs"] == ["default/g"]


def test_a_restart_revives_a_scheduler_that_crashed_in_the_same_step() -> None:
    asks, gives = pod("asks", gpu="2"), pod("gives", gpu="-1")
    _, second = run([node(), group(), asks, gives], [deleted(asks), {"type": "RESTART"}])
    assert second["panic"] is None
    assert second["session_jobs"] == ["default/g"]


WITHOUT_SHARES = "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n"
WITH_SHARES = f"{WITHOUT_SHARES}  - name: proportion\n"


def test_after_a_crash_nodes_are_those_of_the_process_started_anew() -> None:
    """A process that saw the node go has dropped it; one that starts meets only its pods."""
    lost = node()
    lost["object"]["metadata"]["name"] = "lost"
    stays, there = pod("stays"), pod("there")
    for each, where in ((stays, "lost"), (there, "n")):
        each["object"]["spec"]["nodeName"] = where
        each["object"]["status"]["phase"] = "Running"
    shrunk = node()
    shrunk["type"] = "MODIFIED"
    shrunk["object"]["status"] = {"allocatable": {"cpu": "500m", "memory": "8Gi", "pods": "10"}}
    _, gone, crashed, after = run(
        [node(), lost, group(), stays, there],
        [deleted(lost)],
        [shrunk, pod("waits", gpu="0")],
        [],
        conf=WITHOUT_SHARES,
        release="v1.8.2",
    )
    assert (gone["panic"], gone["out_of_sync_nodes_after"]) == (None, [])
    assert crashed["panic"]
    assert crashed["out_of_sync_nodes"] == []
    assert crashed["out_of_sync_nodes_after"] == ["lost"]
    assert after["restarted"]
    assert after["out_of_sync_nodes"] == ["lost"]


def test_gauges_are_the_last_that_any_process_told() -> None:
    anew: Event = {"type": "RESTART"}
    first, after, gone = run(
        [node(), group(), pod("p", gpu="0")],
        {"events": [anew], "conf": WITHOUT_SHARES},
        [anew, deleted(added("Queue", "default", VOLCANO))],
        conf=WITH_SHARES,
    )
    assert first["metrics"]["default"]["allocated_milli_cpu"] == 1000
    assert after["metrics"] == first["metrics"]
    assert "default" not in gone["metrics"]


def test_what_is_refused_is_not_stored() -> None:
    """Else the scheduler would meet it when it starts anew."""
    broken = pod("p", cpu="many")
    first, second = run([node(), group(), broken], [{"type": "RESTART"}, deleted(broken)])
    assert "a Pod that Go cannot decode" in first["errors"][0]
    assert second["errors"] == ["event 1: DELETED Pod p: does not exist"]
    assert second["session_jobs"] == ["default/g"]


def test_endless_amounts_are_written_as_prometheus_writes_them() -> None:
    """An annotation of a node may name any number, and infinity is one."""
    endless = node(annotations={"volcano.sh/oversubscription-cpu": "inf"})
    (step,) = run([endless, group()], conf='actions: ""\ntiers: [{plugins: [{name: capacity}]}]')
    assert step["metrics"]["default"]["real_capacity_milli_cpu"] == "+Inf"
    json.dumps(step, allow_nan=False)


TOPOLOGY = """actions: "allocate"
tiers:
- plugins:
  - name: gang
  - name: network-topology-aware
"""


def hypernode(name: str, tier: int, kind: str, *members: str) -> Event:
    listed = [{"type": kind, "selector": {"exactMatch": {"name": each}}} for each in members]
    spec = {"tier": tier, "members": listed}
    return added("HyperNode", name, "topology.volcano.sh/v1alpha1", spec=spec)


@pytest.mark.parametrize(
    ("release", "crashes"),
    [("v1.12.1", False), ("v1.13.0", False), ("v1.14.0", True), ("v1.15.1", True)],
)
def test_a_hypernode_that_goes_before_its_parent_crashes_the_search(
    release: str,
    crashes: bool,  # noqa: FBT001 - what is expected
) -> None:
    """The parent lists it until it is built anew, as it is when the child comes again."""
    leaf, switch = hypernode("leaf", 1, "Node", "n"), hypernode("switch", 2, "HyperNode", "leaf")
    hard = {"mode": "hard", "highestTierAllowed": 2}
    wants = added(
        "PodGroup",
        "g",
        VOLCANO,
        spec={"minMember": 1, "networkTopology": hard},
        status={"phase": "Inqueue"},
    )
    steps = run(
        [node(), leaf, switch, deleted(leaf), wants, pod("p", gpu="0")],
        [leaf],
        conf=TOPOLOGY,
        release=release,
    )
    assert [step["panic"] is not None for step in steps] == [crashes, False]


TREE = """actions: "preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: predicates
  - name: capacity
    enableHierarchy: true
"""


@pytest.mark.parametrize(
    ("release", "crashes"),
    [
        ("v1.12.1", False),
        ("v1.13.0", True),
        ("v1.13.1", False),
        ("v1.13.3", False),
        ("v1.14.0", False),
    ],
)
def test_preempting_in_a_tree_that_was_given_up_crashes(
    release: str,
    crashes: bool,  # noqa: FBT001 - what is expected
) -> None:
    """The queue below may use more than its parent: neither has limits, and both are copied.

    From v1.13.1 on limits begin empty, and there is nothing to crash of.
    """
    parent = {"parent": "root", "capability": {"cpu": "1"}}
    child = {"parent": "up", "capability": {"cpu": "2"}}
    queues = [
        added("Queue", name, VOLCANO, spec={"weight": 1, **spec}, status={"state": "Open"})
        for name, spec in (("up", parent), ("down", child))
    ]
    wants = added(
        "PodGroup",
        "g",
        VOLCANO,
        spec={"minMember": 1, "queue": "down"},
        status={"phase": "Inqueue"},
    )
    (step,) = run([node(), *queues, wants, pod("p", gpu="0")], conf=TREE, release=release)
    assert (step["panic"] is not None) == crashes


WITH_QUEUES = TRIED_OUT.replace('"preempt"', '"enqueue, preempt"') + "  - name: capacity\n"


@pytest.mark.parametrize("tried", ["true", "false"])
def test_a_crash_while_victims_are_tried_out_leaves_nothing_written(
    monkeypatch: pytest.MonkeyPatch, tried: str
) -> None:
    """That happens in a worker, and ends the process; after others the session is closed."""

    def crash(*_: object) -> None:
        raise Panic("resource is not sufficient")

    monkeypatch.setattr(Capacity, "_task_deallocated", crash)
    lies, comes, wants = pod("lies", cpu="3", gpu="0"), pod("comes", cpu="3", gpu="0"), group()
    lies["object"]["spec"].update(nodeName="n", priority=1)
    lies["object"]["status"] = {"phase": "Running"}
    comes["object"]["spec"]["priority"] = 10
    comes["object"]["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "new"
    wants["object"]["metadata"]["name"] = "new"
    wants["object"]["spec"]["priorityClassName"] = "high"
    wants["object"]["status"]["phase"] = "Pending"
    high = added("PriorityClass", "high", "scheduling.k8s.io/v1", value=10)
    (step,) = run(
        [node(), high, group(), lies, wants, comes],
        conf=WITH_QUEUES.replace("true", tried),
        release="v1.14.2",
    )
    assert step["panic"] == "resource is not sufficient"
    assert step["podgroups"]["default/new"]["phase"] == (
        "Pending" if tried == "true" else "Inqueue"
    )
