"""Scenarios of machines: what exists before, what users write, and what cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from machine_cases import NODE, one_pod, scaled, steps, workload

from plinian.engine.errors import InputError
from plinian.engine.machine.machine_faults import FaultLimits
from plinian.replay.explore.explored_scenario import lacking, parse_machine_case, parsed_faults
from plinian.replay.explore.scenario_world import world_of


def parsed(case: Any) -> Any:
    """Return a scenario that was read from its text."""
    return parse_machine_case(json.dumps(case).encode())


def test_the_cluster_exists_before_the_first_workload_is_written() -> None:
    case = parsed(scaled())
    assert [one["kind"] for one in case.existing] == ["Node"]
    assert [act.verb for act in case.writes] == ["ADDED", "MODIFIED", "MODIFIED"]


def test_a_node_that_comes_later_is_a_write_like_any_other() -> None:
    given = scaled()
    given["steps"].append(
        {"events": [{"type": "ADDED", "object": {**NODE, "metadata": {"name": "n2"}}}]}
    )
    assert parsed(given).writes[-1].document["metadata"]["name"] == "n2"


def test_an_object_without_a_namespace_is_in_the_default_one() -> None:
    assert parsed(one_pod()).writes[0].document["metadata"]["namespace"] == "default"


def test_the_configuration_of_the_first_step_is_that_of_the_scenario() -> None:
    given = one_pod()
    given.pop("conf", None)
    given["steps"][0]["conf"] = "actions: enqueue"
    assert parsed(given).conf == "actions: enqueue"


def test_a_scenario_that_was_read_can_be_written_and_read_again() -> None:
    for given in (scaled(), one_pod()):
        case = parsed(given)
        assert parsed(case.document()) == case


def test_a_scenario_says_what_may_fail() -> None:
    case = parsed({**scaled(), "faults": {"watch": 1, "request": 2}})
    assert case.faults == FaultLimits(watch=1, request=2)
    assert parsed(case.document()) == case
    assert world_of(case, "v1.15.1").machine.faults is not None
    assert "faults" not in parsed(scaled()).document()


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("watch", FaultLimits(watch=1)),
        ("watch=2, restart", FaultLimits(watch=2, restart=1)),
        ("request=0", FaultLimits()),
        ("none", FaultLimits()),
    ],
)
def test_faults_are_written_with_commas(text: str, limits: FaultLimits) -> None:
    assert parsed_faults(text) == limits


@pytest.mark.parametrize("text", ["disk", "watch=", "watch=two", "watch=10", "watch=-1", "=1"])
def test_what_cannot_fail_so_often_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="faults"):
        parsed_faults(text)


def test_a_scenario_without_nodes_places_nothing() -> None:
    case = parsed({**scaled(), "steps": scaled()["steps"][1:]})
    assert list(lacking(case)) == ["no nodes: sessions place no pods"]
    assert not list(lacking(parsed(scaled())))


def test_a_pod_that_a_controller_made_can_be_deleted_by_a_user() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-0"}}
    given = scaled()
    given["steps"] += steps(("DELETED", pod))
    assert parsed(given).writes[-1].verb == "DELETED"


ABSENT = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n9"}}
STRANGE = {"apiVersion": "acme.io/v1", "kind": "Rocket", "metadata": {"name": "r"}}
OTHER_JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": "simulate"}, "the scenario has the mode 'simulate', and only"),
        ({"mode": ""}, "the scenario has no mode"),
        ({"steps": []}, "the scenario has no writes of users"),
        ({"steps": steps(("ADDED", NODE))}, "the scenario only builds a cluster"),
        ({"steps": 7}, "not a scenario"),
        ({"steps": [{"events": [7]}]}, "not a scenario"),
        ({"steps": [{"events": [{"type": "RESTART"}]}]}, "unknown type 'RESTART'"),
        (
            {"steps": [{"events": [{"type": "ADDED"}]}]},
            "expected an object at $.steps[0].events[0]",
        ),
        ({"steps": steps(("ADDED", STRANGE))}, "unknown kind 'Rocket' of 'acme.io/v1'"),
        ({"steps": steps(("ADDED", OTHER_JOB))}, "unknown kind 'Job' of 'batch/v1'"),
        (
            {"steps": steps(("ADDED", workload(1)), ("DELETED", ABSENT))},
            "impossible user action: Node n9 is deleted at $.steps[1].events[0]",
        ),
        (
            {"steps": steps(("ADDED", workload(1, scheduler="default-scheduler")))},
            "no pod of the scenario has schedulerName: volcano",
        ),
        (
            {
                "steps": [*scaled()["steps"], {"conf": "actions: enqueue", "events": []}],
                "conf": "x",
            },
            "a new conf at $.steps[4].conf",
        ),
        ({"faults": {"disk": 1}}, "$.faults: no fault 'disk'"),
        ({"faults": {"watch": -1}}, "$.faults: watch cannot happen -1 times"),
        ({"faults": {"watch": 10**6}}, "$.faults: watch cannot happen 1000000 times"),
        ({"faults": ["watch"]}, "not a scenario"),
    ],
)
def test_what_is_no_scenario_of_a_machine_is_refused_with_its_place(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        parsed({**scaled(), **change})
    assert message in caught.value.what
    assert caught.value.now


def test_a_scenario_that_is_cut_short_is_no_json() -> None:
    with pytest.raises(InputError, match="not JSON"):
        parse_machine_case(json.dumps(scaled()).encode()[:100])


def test_flows_of_jobs_run_too() -> None:
    about = {"apiVersion": "flow.volcano.sh/v1alpha1", "metadata": {"name": "f"}}
    spec = {"jobRetainPolicy": "retain", "flows": [{"name": "a"}]}
    flow = {**about, "kind": "JobFlow", "spec": spec}
    events = [{"type": "ADDED", "object": flow}]
    case = parse_machine_case(
        json.dumps({"mode": "machine", "steps": [{"events": events}]}).encode()
    )
    assert "jobflows" in world_of(case, "v1.15.1").machine.layout.names
