"""Changes of the configuration, of other queues and of the queue, as what would help."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import log_of

from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.target import target_of
from plinian.replay.answers.why import why_at
from plinian.replay.logs.log import Log
from plinian.replay.logs.logged_confs import ConfText
from plinian.replay.render.would_help import help_lines
from plinian.replay.what_if.help import WouldHelp, what_would_help
from plinian.replay.what_if.switches import Switches
from sessions import group, node, pod, queue

CONF = """
actions: "enqueue, allocate, preempt, reclaim"
tiers:
- plugins:
  - name: priority
- plugins:
  - name: gang
  - name: overcommit
  - name: predicates
  - name: proportion
"""


def helps(log: Log, named: str, release: str = "v1.12.1") -> WouldHelp:
    """Return what would help an object of the namespace ``ns``."""
    moment, name = log.moment(), log.object(named)
    why = why_at(log, name, moment, namespace="ns", release=release)
    return what_would_help(log, moment, target_of(log, name, "ns", moment), why)


def switches_of(found: WouldHelp) -> list[str]:
    return [one.text for one in found.found if one.kind == "switch"]


def gang_of_two(phase: str = "Inqueue") -> list[dict[str, Any]]:
    """Return a cluster that a gang of queue rich fills, and a pod of queue poor that waits."""
    return [
        node("n1", 4),
        queue("default"),
        queue("rich", 1),
        queue("poor", 1),
        group("old", 2, "Running", queue="rich"),
        *(pod(f"old-{number}", "old", 2, on="n1") for number in range(2)),
        group("new", 1, phase, queue="poor", minResources={"cpu": "2"}),
        pod("new-0", "new", 2),
    ]


def test_a_gang_that_protects_its_pods_is_switched_off(tmp_path: Path) -> None:
    with log_of(tmp_path, CONF, *gang_of_two()) as log:
        found = helps(log, "podgroup/new")
    assert switches_of(found) == [
        "enableReclaimable: false on plugin gang",
        # Choosing no victims alone, gang decides nothing.
        "plugin gang in tier 1 instead of 2 (queues can then lose pods below what they deserve)",
        "plugin proportion in tier 1 instead of 2",
    ]
    assert {one.starts for one in found.found if one.kind == "switch"} == {"after evictions"}


def test_where_no_single_change_of_the_configuration_helps_the_smallest_set_does(
    tmp_path: Path,
) -> None:
    with log_of(tmp_path, CONF, *gang_of_two("Pending")) as log:
        found = helps(log, "podgroup/new")
    gang = "enableReclaimable: false on plugin gang"
    assert switches_of(found) == [
        f"{gang} and enableJobEnqueued: false on plugin overcommit",
        f"{gang} and overcommit-factor: 1.5 on plugin overcommit",
    ]
    assert "enableReclaimable: false on plugin gang" in found.in_vain


def test_what_does_not_help_is_listed_on_demand(tmp_path: Path) -> None:
    with log_of(tmp_path, CONF, *gang_of_two()) as log:
        found = helps(log, "podgroup/new")
    few, all_of_them = "".join(help_lines(found)), "".join(help_lines(found, depth=1))
    assert "DOES NOT HELP" not in few
    assert "enablePreemptable: false on plugin gang" in all_of_them
    assert len(found.in_vain) + len(found.found) == found.tried


def test_the_guarantee_of_another_queue_is_tried(tmp_path: Path) -> None:
    conf = CONF.replace("  - name: overcommit\n", "")
    world = (
        node("n1", 4),
        queue("default"),
        queue("kept", guarantee={"resource": {"cpu": "4"}}),
        group("g", 1, "Pending", minResources={"cpu": "2"}),
        pod("g-0", "g", 2),
    )
    with log_of(tmp_path, conf, *world) as log:
        found = helps(log, "podgroup/g")
    texts = [one.text for one in found.found]
    assert "no guarantee of queue kept" in texts
    assert "queue of the PodGroup: kept instead of default" in texts


def test_the_least_factor_of_overcommit_is_computed(tmp_path: Path) -> None:
    world = [one for one in gang_of_two("Pending") if one["metadata"]["name"] != "old-1"]
    with log_of(
        tmp_path, CONF, *world, group("also", 1, "Inqueue", minResources={"cpu": "2"})
    ) as log:
        found = helps(log, "podgroup/new")
    assert [text for text in switches_of(found) if "factor" in text] == [
        "overcommit-factor: 1.5 on plugin overcommit"
    ]
    assert not [text for text in found.in_vain if "overcommit-factor" in text]


def test_of_an_enqueued_job_no_switch_of_enqueueing_is_tried(tmp_path: Path) -> None:
    with log_of(tmp_path, CONF, *gang_of_two()) as log:
        found = helps(log, "podgroup/new")
    assert not [text for text in found.in_vain if "enableJobEnqueued" in text or "factor" in text]


@pytest.mark.parametrize("text", ["", "actions: allocate\ntiers: [", 'actions: "allocate"'])
def test_a_configuration_that_cannot_be_changed_has_no_switches(text: str) -> None:
    found = Switches([ConfText(text, "x")], resolve("v1.12.1")).singles
    assert all("action" in one.text for one in found)


@pytest.mark.parametrize("plugin", ["proportion", "capacity"])
def test_a_podgroup_that_has_only_reserved_the_limit_of_a_queue_is_tried_as_gone(
    tmp_path: Path, plugin: str
) -> None:
    needs = {"cpu": "2"}
    world = (
        *(node("n1", 8), queue("root"), queue("default", parent="root", capability=needs)),
        group("first", 1, "Inqueue", minResources=needs),
        group("second", 1, "Pending", minResources=needs),
    )
    conf = CONF.replace("proportion", plugin).replace("  - name: overcommit\n", "")
    with log_of(tmp_path, conf, *world) as log:
        found = helps(log, "podgroup/second")
    gone = [(one.text, one.starts) for one in found.found if one.kind == "gone"]
    assert gone == [("podgroup ns/first is gone", "enqueued")]


def test_a_pod_without_a_job_that_fills_a_node_is_tried_as_gone(tmp_path: Path) -> None:
    other = pod("other", "", 2, "n1")
    daemon = pod("daemon", "", 2, "n1")
    for one in (other, daemon):
        del one["metadata"]["annotations"]
        one["spec"]["schedulerName"] = "default-scheduler"
    daemon["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": True}
    ]
    world = (node("n1", 4), queue("default"), other, daemon, group("g"), pod("g-0", "g", 2))
    with log_of(tmp_path, CONF, *world) as log:
        found = helps(log, "pod/g-0")
    assert [one.text for one in found.found if one.kind == "gone"] == ["pod ns/other is gone"]


def test_a_move_with_which_queues_are_reclaimed_below_what_they_deserve_says_so() -> None:
    above = CONF.replace("  - name: overcommit", "- plugins:\n  - name: overcommit")
    together = CONF.replace("  - name: priority\n- plugins:\n", "")
    switches = Switches([ConfText(together, "x.conf")], resolve("v1.12.1"))
    assert not switches.moves
    two = together.replace("  - name: predicates", "- plugins:\n  - name: predicates")
    two = two.replace("  - name: proportion\n", "").replace(
        "gang\n", "gang\n  - name: proportion\n"
    )
    switches = Switches([ConfText(two, "x.conf")], resolve("v1.12.1"))
    said = {}
    for move in switches.moves:
        changed = switches.changed((move,))
        assert changed is not None
        said[move.text] = switches.blind(changed)
    worse = " (queues can then lose pods below what they deserve)"
    assert said == {
        "plugin gang in tier 2 instead of 1": "",
        "plugin proportion in tier 2 instead of 1": worse,
    }
    already = Switches([ConfText(above, "x.conf")], resolve("v1.12.1"))
    confs = [already.changed((move,)) for move in already.moves]
    assert {already.blind(conf) for conf in confs if conf is not None} == {""}


def test_plugins_that_choose_victims_are_moved_to_other_tiers() -> None:
    switches = Switches([ConfText(CONF, "volcano-scheduler.conf")], resolve("v1.12.1"))
    assert [one.text for one in switches.moves] == [
        "plugin priority in tier 2 instead of 1",
        "plugin gang in tier 1 instead of 2",
        "plugin proportion in tier 1 instead of 2",
    ]
    changed = switches.changed(switches.moves[1:2])
    assert changed is not None
    tiers = [[one["name"] for one in tier["plugins"]] for tier in json.loads(changed.text)["tiers"]]
    assert tiers == [["priority", "gang"], ["overcommit", "predicates", "proportion"]]
    assert not Switches([ConfText("actions: []", "x.conf")], resolve("v1.12.1")).moves
