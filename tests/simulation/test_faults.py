"""What goes wrong in a scenario is told: crashes outside of sessions, refusals, endless amounts."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec

from plinian.engine.volcano.history import resolve
from plinian.replay.simulation.cases import parse_case
from plinian.replay.simulation.simulation import simulate

VOLCANO = "scheduling.volcano.sh/v1beta1"
Event = dict[str, Any]


def run(*steps: list[Event], conf: str = "") -> list[dict[str, Any]]:
    document = {"conf": conf, "steps": [{"events": events} for events in steps]}
    return simulate(parse_case(msgspec.json.encode(document)), resolve("v1.12.1"))


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
