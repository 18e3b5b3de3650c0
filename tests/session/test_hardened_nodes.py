"""Our own release on nodes that have less than is used on them, and on sums that are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ended_sessions import EndedSession, ended_sessions
from hypothesis import given, settings
from hypothesis import strategies as st
from scenarios import scenario
from short_scenarios import Step, gone, group, node, phases, pod, run

from plinian.engine.model.session_tables import TaskStatus
from plinian.engine.volcano.session.history import behaviours, resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate
from tree import ROOT

ARTICLES = sorted((ROOT / "docs" / "articles").glob("000-*.case.json"))
HARDENED = resolve("hardened")
SEEDS = st.integers(0, 2**32)
OUT_OF_SYNC = "0/1 nodes are unavailable: 1 node(s) were out of sync."


@pytest.mark.slow
@settings(max_examples=80, derandomize=True)
@given(SEEDS)
def test_nothing_falls_below_nothing_and_no_subtraction_kills(seed: int) -> None:
    for ssn in ended_sessions(scenario(seed), HARDENED):
        assert (ssn.snapshot.nodes.idle >= 0).all()
        assert (ssn.nodes.idle >= 0).all()
        assert _came_to_overfull(ssn) == []
    for step in simulate(scenario(seed), HARDENED):
        assert not (step["panic"] or "").startswith("resource is not sufficient")


@settings(max_examples=40, derandomize=True)
@given(SEEDS)
def test_sound_clusters_never_kill_it(seed: int) -> None:
    for step in simulate(scenario(seed, sound=True), HARDENED):
        assert not (step["panic"] or "").startswith(("resource", "runtime error: index"))


def _came_to_overfull(ssn: EndedSession) -> list[str]:
    """Return the pods that came in a session to nodes that had less than was used on them."""
    new = (TaskStatus.ALLOCATED, TaskStatus.BINDING, TaskStatus.PIPELINED)
    return [
        ssn.task_name(task)
        for row in np.flatnonzero(ssn.before.overfull()).tolist()
        for task, status in ssn.nodes.tasks(row).values()
        if status in new and ssn.statuses[task] == TaskStatus.PENDING
    ]


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.name.partition(".")[0])
def test_the_scenarios_of_the_reports_pass_the_node_over(path: Path) -> None:
    case = parse_case(path.read_bytes())
    for number, step in enumerate(simulate(case, HARDENED), start=1):
        assert step["panic"] is None
        for name in step["out_of_sync_nodes"]:
            assert name not in [on for _, on in step["binds"]], (number, name)


def shrunk(*pods: object, to: str = "1") -> list[Step]:
    """Return the steps of a node that shrinks under a pod, and of what arrives then."""
    held = pod("held", "g", "3", on="n1")
    return run(
        "hardened",
        [node("n1"), group("g"), held],
        [node("n1", to), *pods],
        [],
        [gone(held)],
        [],
    )


def test_a_node_that_shrank_is_marked_and_returns_when_it_is_whole_again() -> None:
    sound, marked, still, freed, after = shrunk(group("h"), pod("late", "h"))
    assert sound["out_of_sync_nodes"] == []
    for step in (marked, still):
        assert step["out_of_sync_nodes"] == ["n1"]
        assert step["binds"] == []
        assert step["fit_errors"] == {"default/late": OUT_OF_SYNC}
    assert (freed["out_of_sync_nodes"], freed["binds"]) == ([], [["default/late", "n1"]])
    assert after["out_of_sync_nodes"] == []


def test_it_returns_too_when_it_grows_again() -> None:
    held = [node("n1"), group("g"), pod("held", "g", "3", on="n1")]
    late = [node("n1", "1"), group("h"), pod("late", "h")]
    _, marked, grown = run("hardened", held, late, [node("n1", "8")])
    assert (marked["binds"], grown["binds"]) == ([], [["default/late", "n1"]])


def test_what_it_has_enough_of_does_not_help() -> None:
    """GPUs vanish; a pod that asks for cpu only would fit."""
    before = [node("n1", gpu="2"), group("g"), pod("held", "g", "1", on="n1", gpu="2")]
    after = [node("n1"), group("h"), pod("late", "h")]
    assert run("v1.15.1", before, after)[1]["binds"] == [["default/late", "n1"]]
    lost = run("hardened", before, after)[1]
    assert (lost["binds"], lost["out_of_sync_nodes"]) == ([], ["n1"])
    assert lost["fit_errors"] == {"default/late": OUT_OF_SYNC}


def test_pods_that_ask_for_nothing_do_not_come_either() -> None:
    before = [node("n1"), group("g"), pod("held", "g", "3", on="n1")]
    after = [node("n1", "1"), group("h"), pod("late", "h", "")]
    tried = run("v1.15.1", before, after)[1]
    assert "Failed to bind Task default/late" in tried["errors"][-1]
    assert tried["pod_conditions"]["default/late"].startswith("Schedulable: ")
    spared = run("hardened", before, after)[1]
    assert (spared["binds"], spared["errors"]) == ([], [])
    assert spared["pod_conditions"] == {"default/late": f"Unschedulable: {OUT_OF_SYNC}"}


def test_the_nodes_beside_it_go_on() -> None:
    before = [node("n1"), node("n2"), group("g"), pod("held", "g", "3", on="n1")]
    step = run("hardened", before, [node("n1", "1"), group("h"), pod("late", "h")])[1]
    assert step["binds"] == [["default/late", "n2"]]
    assert phases(step)["g"] == "Running"


def test_nobody_is_evicted_for_a_place_on_it() -> None:
    conf = """\
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: predicates
"""
    held = pod("held", "g", "3", on="n1")
    late = pod("late", "h")
    late["object"]["spec"]["priority"] = 100
    high = group("h", priorityClassName="high")
    classes = {
        "type": "ADDED",
        "object": {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 100,
        },
    }
    steps = [classes, node("n1"), group("g"), held], [node("n1", "1"), high, late]
    assert run("v1.15.1", *steps, conf=conf)[1]["evictions"] == ["default/held"]
    assert run("hardened", *steps, conf=conf)[1]["evictions"] == []


def test_a_placement_without_room_is_refused_and_taken_back() -> None:
    """Without filters, backfill goes beyond the number of pods that a node takes."""
    conf = 'actions: "enqueue, backfill"\ntiers:\n- plugins:\n  - name: priority\n'
    pods = [each for n in range(3) for each in (group(f"g{n}"), pod(f"p{n}", f"g{n}", ""))]
    arrivals = [node("n1", pods="2"), *pods]
    told = {}
    for release in ("v1.15.1", "hardened"):
        step = run(release, arrivals, conf=conf)[0]
        assert len(step["binds"]) == 2
        told[release] = step["pod_conditions"]["default/p2"].partition(":")[0]
    assert told == {"v1.15.1": "Schedulable", "hardened": "Unschedulable"}


def test_each_remedy_can_be_asked_for_alone() -> None:
    before = [node("n1"), group("g"), pod("held", "g", "3", on="n1")]
    after = [node("n1", "1"), group("h"), pod("late", "h", "")]
    alone = behaviours("v1.15.1", overfull_nodes_skipped=True)
    assert run(alone, before, after)[1]["binds"] == []
    without = behaviours("hardened", overfull_nodes_skipped=False)
    assert run(without, before, after)[1]["out_of_sync_nodes"] == []
