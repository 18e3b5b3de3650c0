"""Jobs with a hard network topology that no hypernode holds: what is said, and what would help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, Document, links, log_of
from helping import helped

from plinian.replay.answers.records import Hypernodes
from plinian.replay.answers.target import target_of
from plinian.replay.answers.why import why_at
from plinian.replay.render.why import why_lines
from plinian.replay.what_if.changed_sessions import ChangedSessions
from plinian.replay.what_if.help import what_would_help
from plinian.replay.what_if.suggestion import WaitingObject
from plinian.replay.what_if.suggestions import suggestions_for
from plinian.replay.what_if.trial import Remedy
from sessions import document, group, node, pod, queue

CONF = CAPACITY + "  - name: network-topology-aware\n"
NODES = tuple(node(f"n{number}", 4) for number in range(4))
ROOT = (queue("root"), queue("default", parent="root"))
TAINTED = {"taints": [{"key": "night", "effect": "NoSchedule"}]}


def hypernode(name: str, tier: int, *members: str) -> Document:
    """Return a HyperNode of nodes, or of hypernodes if it is of tier 2."""
    kind = "Node" if tier == 1 else "HyperNode"
    of = [{"type": kind, "selector": {"exactMatch": {"name": one}}} for one in members]
    found = document("HyperNode", name, spec={"tier": tier, "members": of})
    return {"apiVersion": "topology.volcano.sh/v1alpha1", **found}


TREE = (
    hypernode("s0", 1, "n0", "n1"),
    hypernode("s1", 1, "n2", "n3"),
    hypernode("top", 2, "s0", "s1"),
)


def gang(pods: int, tier: int = 1, **more: Any) -> tuple[Document, ...]:
    """Return a PodGroup whose pods, of 4 cpu each, must be within a hypernode of a tier."""
    topology = {"mode": "hard", "highestTierAllowed": tier}
    least = {"cpu": str(4 * pods)}
    made = group("pg", pods, networkTopology=topology, minResources=least, **more)
    return (made, *(pod(f"w-{number}", "pg", 4) for number in range(pods)))


def test_no_hypernode_of_the_tier_has_room_for_the_gang(ask: Any) -> None:
    for named in ("podgroup/pg", "pod/w-2"):
        found = ask(named, CONF, *NODES, *ROOT, *TREE, *gang(3))
        assert found.sentence.partition(" because ")[2] == (
            "its gang needs 3 pods at once within one hypernode of tier 1, and none of 2 takes "
            "them: s0 has a place for 2 and s1 has a place for 2; in s0, no node takes pod "
            "ns/w-2: 2 nodes lack cpu (the nearest, n0, lacks 4 cpu)"
        )
        assert found.cause == "no-hypernode 1"
        (link,) = links(found, Hypernodes)
        assert link.blocks
        assert [(one.name, one.tier, one.nodes, one.places) for one in link.tried] == [
            ("s0", 1, 2, 2),
            ("s1", 1, 2, 2),
        ]
        assert (link.highest, link.least, link.wanted["cpu"]) == (1, 3, "12")


@pytest.mark.parametrize("release", ["v1.14.0", "v1.15.1"])
def test_newer_releases_try_only_hypernodes_with_enough_free(ask: Any, release: str) -> None:
    found = ask("podgroup/pg", CONF, *NODES, *ROOT, *TREE, *gang(3), release=release)
    assert found.sentence.endswith(
        "none of 2 takes them: s0 has 8 cpu free of the 12 that the job needs and s1 has 8 cpu "
        "free of the 12 that the job needs"
    )
    (link,) = links(found, Hypernodes)
    assert [one.places for one in link.tried] == [None, None]


@pytest.mark.parametrize("release", ["v1.14.0", "v1.15.1"])
def test_what_others_get_in_the_same_session_is_free_when_it_is_compared(
    ask: Any, release: str
) -> None:
    other = (group("small", 1), pod("small-0", "small", 4))
    world = (*NODES, *ROOT, *TREE, *gang(3), *other)
    found = ask("podgroup/pg", CONF, *world, release=release)
    assert found.sentence.endswith(
        "s0 has 8 cpu free of the 12 that the job needs and s1 has 8 cpu free of the 12 that the "
        "job needs"
    )


def test_a_gang_that_a_higher_tier_holds_waits_for_nothing(ask: Any) -> None:
    found = ask("podgroup/pg", CONF, *NODES, *ROOT, *TREE, *gang(3, tier=2))
    assert found.cause == "next-session"
    assert not links(found, Hypernodes)


def test_no_hypernode_has_so_low_a_tier(ask: Any) -> None:
    found = ask("podgroup/pg", CONF, *NODES, *ROOT, *TREE, *gang(2, tier=0))
    assert found.sentence.endswith("of tier 0, and there is none: the lowest tier is 1")


def test_there_is_no_hypernode(ask: Any) -> None:
    found = ask("podgroup/pg", CONF, *NODES, *ROOT, *gang(2))
    assert found.sentence.endswith("and the scheduler knows no hypernode")


def test_a_full_queue_comes_before_the_topology(ask: Any) -> None:
    small = (queue("root"), queue("default", parent="root", capability={"cpu": "2"}))
    found = ask("podgroup/pg", CONF, *NODES, *small, *TREE, *gang(3))
    assert found.cause == "queue-full default"


@pytest.mark.parametrize("release", ["v1.12.1", "v1.15.1"])
class TestWhatWouldHelp:
    def test_a_wider_topology(self, tmp_path: Path, release: str) -> None:
        found = helps(tmp_path, release, *NODES, *ROOT, *TREE, *gang(3))
        assert [one.text for one in found if one.kind == "topology"] == [
            "highestTierAllowed of the PodGroup: 2 instead of 1",
            "mode of the PodGroup's network topology: soft instead of hard",
        ]

    def test_a_node_without_its_taint(self, tmp_path: Path, release: str) -> None:
        nodes = (*NODES[:3], node("n3", 4, spec=TAINTED))
        old = (group("old", 1, "Running"), pod("o", "old", 2, "n0"))
        found = helps(tmp_path, release, *nodes, *ROOT, *TREE, *old, *gang(2))
        first = found[0]
        assert (first.kind, first.text) == ("untaint", "no taint night:NoSchedule on node n3")

    def test_a_node_that_is_cordoned_and_tainted(self, tmp_path: Path, release: str) -> None:
        cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        spec = {"unschedulable": True, "taints": [*TAINTED["taints"], cordon]}
        found = helps(tmp_path, release, node("n1", spec=spec), *ROOT, group("pg"), pod("a", "pg"))
        assert [(one.kind, one.text) for one in found if one.kind != "release"] == [
            ("untaint", "uncordon node n1, and no taint night:NoSchedule on node n1")
        ]


NAMED = (("s0", 1, "rack"), ("s1", 1, "rack"), ("top", 2, "row"))


@pytest.mark.parametrize("names", ["rack row", "rack"])
@pytest.mark.parametrize("release", ["v1.14.0", "v1.15.1"])
def test_a_tier_is_named_as_the_job_names_it(tmp_path: Path, release: str, names: str) -> None:
    tree = []
    for made, (_, _, name) in zip(TREE, NAMED, strict=True):
        tier = {"tierName": name} if name in names.split() else {}
        tree.append({**made, "spec": {**made["spec"], **tier}})
    group, *pods = gang(3)
    topology = {"mode": "hard", "highestTierName": "rack"}
    named = {**group, "spec": {**group["spec"], "networkTopology": topology}}
    found = helps(tmp_path, release, *NODES, *ROOT, *tree, named, *pods)
    assert [one.text for one in found if one.kind == "topology"] == [
        "highestTierName of the PodGroup: row instead of rack"
        if "row" in names
        else "highestTierAllowed 2 of the PodGroup instead of highestTierName rack",
        "mode of the PodGroup's network topology: soft instead of hard",
    ]
    assert not [one for one in found if one.kind == "release"]


def test_a_release_that_ignores_a_field_of_the_job_helps_only_by_that(tmp_path: Path) -> None:
    """Before v1.14 nothing reads highestTierName, nor subGroupPolicy."""
    tree = [
        {**one, "spec": {**one["spec"], "tierName": name}}
        for one, (_, _, name) in zip(TREE, NAMED, strict=True)
    ]
    group, *pods = gang(3)
    topology = {"mode": "hard", "highestTierName": "rack"}
    named = {**group, "spec": {**group["spec"], "networkTopology": topology}}
    faults = faults_in(tmp_path, "v1.14.0", *NODES, *ROOT, *tree, named, *pods)
    for release in ("v1.8.0", "v1.12.1", "v1.13.3"):
        assert faults[f"release {release}"] == (
            "highestTierName of a PodGroup's networkTopology is ignored.",
        )
    near = {"mode": "hard", "highestTierAllowed": 1}
    keys = {"matchLabelKeys": ["part"], "subGroupSize": 3, "networkTopology": near}
    plain = {**group["spec"], "networkTopology": None, "subGroupPolicy": [{"name": "p", **keys}]}
    parts = [{**one, "metadata": {**one["metadata"], "labels": {"part": "a"}}} for one in pods]
    world = (*NODES, *ROOT, *TREE, {**group, "spec": plain}, *parts)
    faults = faults_in(tmp_path, "v1.14.1", *world)
    assert faults["release v1.13.3"] == ("subGroupPolicy of a PodGroup is ignored.",)


@pytest.mark.parametrize("field", ["highestTierAllowed", "highestTierName"])
def test_the_topology_of_a_group_in_the_job_is_tried_wider(tmp_path: Path, field: str) -> None:
    tree = [
        {**one, "spec": {**one["spec"], "tierName": name}}
        for one, (_, _, name) in zip(TREE, NAMED, strict=True)
    ]
    whole, *pods = gang(3)
    by_name = field == "highestTierName"
    near = {"mode": "hard", field: "rack" if by_name else 1}
    keys = {"matchLabelKeys": ["part"], "subGroupSize": 3, "networkTopology": near}
    spec = {**whole["spec"], "networkTopology": None, "subGroupPolicy": [{"name": "p", **keys}]}
    parts = [{**one, "metadata": {**one["metadata"], "labels": {"part": "a"}}} for one in pods]
    world = (*NODES, *ROOT, *tree, {**whole, "spec": spec}, *parts)
    found = helped(tmp_path, CONF, *world, named="podgroup/pg", release="v1.15.1")
    wider = "row instead of rack" if by_name else "2 instead of 1"
    assert [one.text for one in found.found] == [
        f"{field} of subGroupPolicy p: {wider}",
        "mode of subGroupPolicy p's network topology: soft instead of hard",
    ]
    faults = {one.text: one.faults for one in found.by_fault}
    assert faults["release v1.13.3"] == ("subGroupPolicy of a PodGroup is ignored.",)
    if by_name:
        said = ("highestTierName in a subGroupPolicy is ignored.",)
        assert faults["release v1.14.1"] == said


def faults_in(folder: Path, release: str, *documents: Document) -> dict[str, tuple[str, ...]]:
    """Return by release the faults by which alone it helps."""
    found = helped(folder, CONF, *documents, named="podgroup/pg", release=release)
    return {one.text: one.faults for one in found.by_fault}


def helps(folder: Path, release: str, *documents: Document) -> tuple[Remedy, ...]:
    """Return what would help the PodGroup of the namespace ``ns``."""
    with log_of(folder, CONF, *documents) as log:
        moment, name = log.moment(), log.object("podgroup/pg")
        why = why_at(log, name, moment, namespace="ns", release=release)
        return what_would_help(log, moment, target_of(log, name, "ns", moment), why).found


def test_the_text_has_a_table_of_the_hypernodes(ask: Any) -> None:
    found = ask("podgroup/pg", CONF, *NODES, *ROOT, *TREE, *gang(3))
    rows = [line.split() for line in "".join(why_lines(found)).splitlines()]
    assert ["HYPERNODE", "TIER", "NODES", "PODS", "WITH", "A", "PLACE", "FREE"] in rows
    assert ["s0", "1", "2", "2", "cpu=8"] in rows


def test_of_many_cordoned_nodes_those_with_the_most_free_are_tried(tmp_path: Path) -> None:
    nodes = [node(f"n{number}", 8, spec={"unschedulable": True}) for number in range(9)]
    old = [pod(f"o{number}", "old", 7, f"n{number}") for number in range(8)]
    world = (*nodes, *ROOT, group("old", 1, "Running"), *old, group("pg"), pod("a", "pg", 4))
    with log_of(tmp_path, CONF, *world) as log:
        moment, name = log.moment(), log.object("podgroup/pg")
        why = why_at(log, name, moment, namespace="ns", release="v1.12.1")
        found = what_would_help(log, moment, target_of(log, name, "ns", moment), why)
        cache = ChangedSessions(log, moment, "v1.12.1", None).cache
        every = suggestions_for(WaitingObject(why, "ns/pg", cache))
        tried = [one.text for one in every if one.kind == "uncordon"]
    assert [one.text for one in found.found if one.kind == "uncordon"] == ["uncordon node n8"]
    assert tried == [f"uncordon node n{number}" for number in (0, 1, 2, 8)]
