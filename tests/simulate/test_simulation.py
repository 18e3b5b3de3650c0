"""A simulation lets the cluster answer what a session wrote, and its scheduler restart."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from plinian.engine.errors import InputError
from plinian.engine.volcano.session.history import behaviours, resolve
from plinian.replay.simulate.scenario_cases import Case, parse_case, time_of
from plinian.replay.simulate.simulation import simulate

NOW = resolve("v1.12.1")
Event = dict[str, Any]
PG_API = "scheduling.volcano.sh/v1beta1"


def node(name: str = "a", cpu: str = "4") -> Event:
    """Return the arrival of a node."""
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "10"}
    status = {"allocatable": amounts, "capacity": amounts}
    return _added("v1", "Node", name, status=status)


def group(name: str, *, members: int = 1, **spec: Any) -> Event:
    """Return the arrival of a PodGroup."""
    spec = {"minMember": members, "queue": "default", **spec}
    return _added(PG_API, "PodGroup", name, spec=spec, status={"phase": "Pending"})


def pod(name: str, of: str, cpu: str = "1", **spec: Any) -> Event:
    """Return the arrival of a pod of a PodGroup."""
    containers = [{"resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]
    made = _added("v1", "Pod", name, spec={"schedulerName": "volcano", "containers": containers})
    made["object"]["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": of}
    made["object"]["spec"] |= spec
    made["object"]["status"] = {"phase": "Running" if "nodeName" in spec else "Pending"}
    return made


def _added(api: str, kind: str, name: str, **parts: Any) -> Event:
    metadata = {"name": name, "creationTimestamp": "2025-01-01T00:00:00Z"}
    return {
        "type": "ADDED",
        "object": {"apiVersion": api, "kind": kind, "metadata": metadata, **parts},
    }


def deleted(event: Event) -> Event:
    """Return the end of what arrived with an event."""
    return {"type": "DELETED", "object": copy.deepcopy(event["object"])}


def control(name: str) -> Event:
    """Return a control."""
    return {"type": name}


def case(*steps: list[Event] | dict[str, Any], **parts: Any) -> Case:
    """Return a scenario; a step is a list of events, or all of it."""
    made = [step if isinstance(step, dict) else {"events": step} for step in steps]
    return parse_case(msgspec.json.encode({"steps": made, **parts}))


def run(*steps: list[Event] | dict[str, Any], **parts: Any) -> list[dict[str, Any]]:
    """Run a scenario as v1.12.1."""
    return simulate(case(*steps, **parts), NOW)


def test_what_is_bound_runs_in_the_next_step() -> None:
    first, second = run([node(), group("g"), pod("p", "g")], [])
    assert first["binds"] == [["default/p", "a"]]
    assert first["podgroups"]["default/g"]["phase"] == "Running"
    assert first["podgroups"]["default/g"]["running"] == 0
    assert first["queues"]["default"]["allocated"]["cpu"] == "1"
    assert second["binds"] == []
    assert second["podgroups"]["default/g"]["running"] == 1


def test_without_feedback_only_the_cache_remembers() -> None:
    first, second = run([node(), group("g"), pod("p", "g")], [], options={"noFeedback": True})
    assert first["binds"] == [["default/p", "a"]]
    assert second["binds"] == []
    assert second["podgroups"]["default/g"]["running"] == 0


def test_a_restarted_scheduler_knows_what_the_api_server_knows() -> None:
    events = [node(), group("g"), pod("p", "g")]
    _, kept = run(events, [control("RESTART")])
    assert kept["podgroups"]["default/g"]["running"] == 1
    assert kept["binds"] == []
    _, lost = run(events, [control("RESTART")], options={"noFeedback": True})
    assert lost["binds"] == [["default/p", "a"]]


def test_a_step_without_session_has_no_result_and_writes_nothing() -> None:
    (only,) = run({"events": [node(), group("g")], "noSession": True}, {"events": [pod("p", "g")]})
    assert only["binds"] == [["default/p", "a"]]


def test_the_default_queues_depend_on_the_release_and_may_be_left_out() -> None:
    (with_root,) = run([node()])
    assert list(with_root["queues"]) == ["default", "root"]
    (older,) = simulate(case([node()]), behaviours("v1.12.1", root_queue=False))
    assert list(older["queues"]) == ["default"]
    (none,) = run([node()], options={"noDefaultQueues": True})
    assert none["queues"] == {}


def test_a_held_worker_keeps_what_is_left_of_a_job() -> None:
    """The PodGroup comes again before the worker looks: it finds another one, and leaves it."""
    gone, again = group("g"), group("g")
    first = [node(), group("g"), pod("p", "g")]
    _, held = run(first, [control("CLEANUP_HOLD"), deleted(gone), deleted(pod("p", "g")), again])
    assert held["session_jobs"] == ["default/g"]
    _, cleaned = run(first, [deleted(gone), deleted(pod("p", "g"))])
    assert cleaned["session_jobs"] == []


def test_a_worker_that_paused_sees_what_happened_meanwhile() -> None:
    first = [node(), group("g"), pod("p", "g")]
    race = [
        *(control("CLEANUP_HOLD"), deleted(group("g")), deleted(pod("p", "g"))),
        *(control("CLEANUP_BEGIN"), group("g"), control("CLEANUP_END"), control("CLEANUP_RUN")),
    ]
    _, second = run(first, race)
    assert second["session_jobs"] == ["default/g"]


def test_the_absent_cannot_be_deleted_and_the_step_says_so() -> None:
    (step,) = run([node(), deleted(pod("p", "g")), deleted(node("b"))])
    assert step["errors"] == [
        "event 1: DELETED Pod p: does not exist",
        "event 2: DELETED Node b: does not exist",
    ]


def test_what_go_cannot_decode_is_passed_over_and_told() -> None:
    broken = pod("p", "g")
    broken["object"]["spec"]["priority"] = "high"
    (step,) = run([node(), group("g"), broken])
    assert step["binds"] == []
    assert step["errors"][0].startswith("event 2: ADDED p: a Pod that Go cannot decode")


def test_a_refused_configuration_leaves_the_default_and_an_error() -> None:
    (step,) = run([node(), group("g"), pod("p", "g")], conf="tiers: none")
    assert step["binds"] == [["default/p", "a"]]
    assert "cannot unmarshal !!str `none` into []conf.Tier" in step["errors"][0]


def test_a_configuration_holds_from_its_step_on() -> None:
    idle = "actions: enqueue"
    events = [node(), group("g"), pod("p", "g")]
    first, second, third = run(
        {"events": events, "conf": idle}, [], {"conf": 'actions: "enqueue, allocate"'}
    )
    assert first["binds"] == second["binds"] == []
    assert third["binds"] == [["default/p", "a"]]


def test_modified_keeps_the_status_that_it_does_not_mention() -> None:
    running = pod("p", "g", nodeName="a")
    changed = copy.deepcopy(running)
    del changed["object"]["status"]
    del changed["object"]["spec"]["nodeName"]
    (step,) = run([node(), group("g"), running, {**changed, "type": "MODIFIED"}])
    assert step["podgroups"]["default/g"]["running"] == 1


def test_pods_of_other_schedulers_count_on_their_nodes_only() -> None:
    other = {"schedulerName": "default-scheduler"}
    waiting = pod("p", "g", **other)
    (step,) = run([node(), group("g"), waiting])
    assert step["binds"] == []
    (unfiltered,) = run([node(), group("g"), waiting], options={"noPodFilter": True})
    assert unfiltered["binds"] == [["default/p", "a"]]
    taken = pod("q", "", "4", nodeName="a", **other)
    (full,) = run([node(), taken, group("g"), pod("p", "g")])
    assert full["binds"] == []


def test_sessions_are_a_year_after_the_newest_time() -> None:
    made = case([node(), group("g")])
    assert time_of(made) == 1735689600_000_000 + 365 * 86400_000_000
    assert simulate(made, NOW) == simulate(made, NOW, now=time_of(made))


def test_a_scenario_can_be_run_again() -> None:
    made = case([node(), group("g"), pod("p", "g")], [deleted(pod("p", "g"))])
    assert simulate(made, NOW) == simulate(made, NOW)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"steps": 1}', "$.steps"),
        ('{"steps": [{"events": [{"type": "PATCHED"}]}]}', "$.steps[0].events[0].type"),
        ('{"steps": [{"events": [{"type": "ADDED"}]}]}', "$.steps[0].events[0].object"),
        (
            '{"steps": [{}, {"events": [{"type": "ADDED", "object": {"kind": "Pod"}}]}]}',
            "expected a string in apiVersion at $.steps[1].events[0].object",
        ),
        ("{", "not JSON"),
        ('{"name": "x"}', "steps"),
    ],
)
def test_what_is_no_scenario_is_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_case(text.encode())
    assert place in str(caught.value)


def test_null_is_nothing() -> None:
    made = parse_case(b'{"name": null, "conf": null, "steps": [{"events": null, "conf": null}]}')
    assert made.steps[0].events == ()


@pytest.mark.parametrize(("release", "exact"), [("v1.15.0", False), ("v1.15.1", True)])
def test_since_v1_15_1_nodeorder_adds_up_all_of_its_scores_before_others(
    release: str,
    *,
    exact: bool,
) -> None:
    names = ("gang", "predicates", "nodeorder", "binpack")
    conf = 'actions: "allocate"\ntiers:\n- plugins:\n' + "".join(f"  - name: {n}\n" for n in names)
    arrivals = [node("a", cpu="5"), node("b", cpu="5"), group("g"), pod("p", "g")]
    for arrival in arrivals[:2]:
        arrival["object"]["status"]["allocatable"]["memory"] = "3Gi"
    arrivals[2]["object"]["status"]["phase"] = "Inqueue"
    made = parse_case(msgspec.json.encode({"conf": conf, "steps": [{"events": arrivals}]}))
    [step] = simulate(made, resolve(release), scores=True)
    packed = (1000 / 5000 + 1 / 3) / 2 * 100
    score = step["node_scores"]["default/p"]["a"]
    assert score == pytest.approx(packed + 466)
    assert (score == packed + 466) is exact


@pytest.mark.parametrize(("release", "after"), [("v1.9.1", {}), ("v1.10.0", {"default/p": "a"})])
def test_whether_a_pod_that_fits_nowhere_keeps_its_nomination(
    release: str, after: dict[str, str]
) -> None:
    waits = pod("p", "g", cpu="9")
    waits["object"]["status"]["nominatedNodeName"] = "a"
    first, _ = simulate(case([node(), group("g"), waits], []), resolve(release))
    assert list(first["pod_conditions"]) == ["default/p"]
    assert first["nominated"] == after
