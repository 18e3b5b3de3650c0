"""The session of a moment with something changed, and changes that make a job start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, PROPORTION, log_of, owned, watched_log

from plinian.engine.errors import ObjectNotFound, UsageError
from plinian.replay.answers.target import target_of
from plinian.replay.answers.why import why_at
from plinian.replay.logs.log import Log
from plinian.replay.logs.logged_confs import ConfText
from plinian.replay.render.would_help import help_lines
from plinian.replay.what_if.changed_sessions import Variant, WhatIf, what_if
from plinian.replay.what_if.cluster_changes import (
    AddNodes,
    Cordon,
    Delete,
    WhatIfChange,
    named_in,
    set_field,
)
from plinian.replay.what_if.help import WouldHelp, what_would_help
from plinian.replay.what_if.suggestion import LIMIT, MORE, RELEASE, single
from plinian.replay.what_if.suggestions import in_turns
from sessions import group, node, pod, queue

Document = dict[str, Any]
NOW = "v1.12.1"
ROOT = (queue("root"), queue("default", parent="root"))
FULL = (
    *ROOT,
    queue("top", parent="root", capability={"cpu": "2"}),
    queue("left", parent="top"),
    queue("right", parent="top"),
    node("n1", 8),
    group("first", 1, "Running", queue="left"),
    pod("first-0", "first", 2, "n1"),
    group("second", 1, "Inqueue", queue="right"),
    pod("second-0", "second", 2),
)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Log]:
    with log_of(tmp_path, CAPACITY, *FULL) as log:
        yield log


def tried(log: Log, *changes: WhatIfChange, **others: Any) -> WhatIf:
    return what_if(log, "end", [Variant("changed", changes, **others)], release=NOW)


def decided(found: WhatIf) -> dict[tuple[str, str], tuple[str | None, ...]]:
    return {(row.kind, row.about): row.values for row in found.decisions}


def helps(log: Log, named: str, release: str = NOW, **others: Any) -> WouldHelp:
    moment, name = log.moment(), log.object(named)
    why = why_at(log, name, moment, namespace="ns", release=release)
    return what_would_help(log, moment, target_of(log, name, "ns", moment), why, **others)


def test_what_starts_anyway_needs_no_change(tmp_path: Path) -> None:
    world = (*ROOT, node("n1", 8), group("g", 1, "Inqueue"), pod("g-0", "g", 2))
    new = group("new", 1, "Pending")
    with log_of(tmp_path, CAPACITY, *world, new) as log:
        for named, starts in (("podgroup/g", "now"), ("podgroup/new", "enqueued")):
            found = helps(log, named)
            assert (found.unchanged, found.found, found.tried) == (starts, (), 0)
            assert "".join(help_lines(found)).startswith("\nNo change is needed: this session ")


def test_more_room_in_the_queue_above_lets_a_pod_start(full: Log) -> None:
    found = tried(full, set_field("queue/top.spec.capability.cpu=4"))
    assert decided(found) == {
        ("bind", "ns/second-0"): (None, "n1"),
        ("phase", "ns/second"): ("Inqueue", "Running"),
    }
    assert found.document.sides[1].changes == ("queue/top.spec.capability.cpu=4",)


def test_a_value_that_is_the_same_changes_nothing(full: Log) -> None:
    assert not tried(full, set_field("queue/top.spec.capability.cpu=2")).decisions


def test_changes_are_made_one_after_the_other_and_the_log_stays_as_it_is(full: Log) -> None:
    before = full.digest()
    more, less = (set_field(f"queue/top.spec.capability.cpu={cpu}") for cpu in (4, 2))
    assert not tried(full, more, less).decisions
    assert tried(full, less, more).decisions
    assert full.digest() == before


def test_a_limit_that_is_taken_away_limits_nothing(full: Log) -> None:
    assert tried(full, set_field("queue/top.spec.capability=null")).decisions


def test_a_podgroup_that_is_gone_makes_room(full: Log) -> None:
    found = tried(full, Delete(named_in("podgroup/first", "ns")))
    assert decided(found)["bind", "ns/second-0"] == (None, "n1")
    assert decided(found)["phase", "ns/first"] == ("Running", None)


def test_a_job_that_is_gone_takes_its_podgroup_and_its_pods_along(tmp_path: Path) -> None:
    job = {
        "kind": "Job",
        "metadata": {"name": "work", "namespace": "ns", "uid": "uid-work"},
        "spec": {"minAvailable": 1},
        "status": {"state": {"phase": "Running"}},
    }
    objects = [owned(one, "work") if one["metadata"]["name"] == "first" else one for one in FULL]
    with log_of(tmp_path, CAPACITY, *objects, job) as log:
        found = tried(log, Delete(named_in("job/work", "ns")))
        assert decided(found)["bind", "ns/second-0"] == (None, "n1")


def test_nodes_come_and_are_cordoned(tmp_path: Path) -> None:
    busy = (
        node("n1", 2),
        group("a", 1, "Running"),
        pod("a-0", "a", 2, "n1"),
        group("b", 1, "Inqueue"),
        pod("b-0", "b", 2),
    )
    with log_of(tmp_path, NODES, queue("default"), *busy) as log:
        found = tried(log, AddNodes("n1"))
        assert decided(found)["bind", "ns/b-0"] == (None, "n1-new-1")
        assert not tried(log, AddNodes("n1"), Cordon("n1-new-1")).decisions
        undone = tried(log, AddNodes("n1"), Cordon("n1-new-1"), Cordon("n1-new-1", undo=True))
        assert undone.decisions == found.decisions


def test_another_configuration_or_release_is_a_change_too(full: Log) -> None:
    nothing = ConfText('actions: "enqueue"\ntiers:\n- plugins:\n  - name: gang\n', "other.conf")
    flat = ConfText(CAPACITY.replace("    enableHierarchy: true\n", ""), "flat.conf")
    assert not tried(full, conf=nothing).decisions
    assert decided(tried(full, conf=flat))["bind", "ns/second-0"] == (None, "n1")
    found = tried(full, release="v1.10.2")
    assert found.sides[1].answer.release == "v1.10.2"
    assert found.sides[1].texts == ("release v1.10.2",)


def test_what_does_not_exist_or_has_no_effect_is_refused(full: Log) -> None:
    for change in (
        set_field("queue/nothing.spec.weight=1"),
        Delete(named_in("pod/nothing", "ns")),
        Cordon("nothing"),
    ):
        with pytest.raises(ObjectNotFound, match=r"the log shows no \w+ (ns/)?nothing"):
            tried(full, change)
    with pytest.raises(UsageError, match="not a valid object"):
        tried(full, set_field("queue/top.spec.weight=heavy"))
    for text in ("queue/top=4", "queue/top.spec.weight", "queue/top.spec.=4", "top.spec.weight=4"):
        with pytest.raises(UsageError):
            set_field(text)


@pytest.mark.parametrize("name", ["nvidia.com/gpu", r"nvidia\.com/gpu"])
def test_dots_in_names_may_be_escaped(name: str) -> None:
    found = set_field(f"queue/a.b.spec.capability.{name}=8")
    assert (found.named.name, found.path) == ("a.b", ("spec", "capability", "nvidia.com/gpu"))
    assert found.text == r"queue/a.b.spec.capability.nvidia\.com/gpu=8"
    assert set_field("queue/a.status.state=Open").value == "Open"
    label = set_field("pod/a.metadata.labels.example.com/team=ml")
    assert label.path == ("metadata", "labels", "example.com/team")
    assert set_field("node/n.status.allocatable.cpu=2").path == ("status", "allocatable", "cpu")


def test_what_would_help_is_found_by_trying_and_the_cheapest_comes_first(full: Log) -> None:
    found = helps(full, "pod/second-0")
    assert [(one.kind, one.text, one.starts) for one in found.found if one.kind != "release"] == [
        ("limit", "capability of queue top: 4 cpu", "now"),
        ("move", "queue of the PodGroup: default instead of right", "now"),
        ("gone", "podgroup ns/first is gone", "now"),
    ]
    faults = {one.text: one.faults for one in found.by_fault}
    assert faults["release v1.10.2"][0].startswith("The parents of queues are ignored")
    assert "release v1.12.0" not in faults
    assert found.left == 0


def test_a_smaller_gang_and_an_uncordoned_node_help(tmp_path: Path) -> None:
    closed = node("n2", 2)
    closed["spec"] = {"unschedulable": True}
    short = (
        *(queue("default"), node("n1", 2), closed),
        group("g", 2, "Inqueue"),
        *(pod("g-0", "g", 2), pod("g-1", "g", 2)),
    )
    with log_of(tmp_path, NODES, *short) as log:
        found = helps(log, "podgroup/g")
        assert [(one.kind, one.text) for one in found.found] == [
            ("uncordon", "uncordon node n2"),
            ("gang", "minMember of the PodGroup: 1 instead of 2"),
            ("node", "one more node like n1"),
        ]


@pytest.mark.parametrize("least", [3, 5])
@pytest.mark.parametrize("phase", ["Inqueue", "Pending"])
def test_a_gang_of_the_pods_that_there_are_helps(tmp_path: Path, least: int, phase: str) -> None:
    short = (
        *(queue("default"), node("n1", 8), group("g", least, phase)),
        *(pod("g-0", "g", 2), pod("g-1", "g", 2)),
    )
    with log_of(tmp_path, NODES, *short) as log:
        for asked in ("podgroup/g", "pod/g-1"):
            assert [(one.text, one.starts) for one in helps(log, asked).found] == [
                (f"minMember of the PodGroup: 2 instead of {least}", "now"),
            ]


def test_pods_that_are_evicted_anyway_are_no_cost_of_a_change(tmp_path: Path) -> None:
    reclaims = CAPACITY.replace("allocate, backfill", "allocate, reclaim")
    world = (
        *ROOT,
        node("n1", 4),
        queue("rich", parent="root", reclaimable=True),
        queue("poor", parent="root", deserved={"cpu": "2"}),
        queue("third", parent="root", deserved={"cpu": "2"}),
        group("old", 1, "Running", queue="rich"),
        *(pod(f"old-{number}", "old", 2, "n1") for number in range(2)),
        group("a", 1, "Inqueue", queue="poor"),
        pod("a-0", "a", 2),
        group("b", 2, "Inqueue", queue="third"),
        *(pod(f"b-{number}", "b", 2) for number in range(2)),
    )
    with log_of(tmp_path, reclaims, *world) as log:
        (smaller,) = [one for one in helps(log, "podgroup/b").found if one.kind == "gang"]
        assert smaller.starts == "after evictions"
        assert smaller.evicts == (), "the session evicts both of old in any case"


def test_a_role_that_lacks_pods_is_tried_without_them(tmp_path: Path) -> None:
    master = [
        pod(f"m-{number}", "pg", 1, annotations={"volcano.sh/task-spec": "m"})
        for number in range(2)
    ]
    world = (*ROOT, node("n1", 8), group("pg", 2, minTaskMember={"m": 1, "w": 1}), *master)
    with log_of(tmp_path, NODES, *world) as log:
        found = helps(log, "podgroup/pg")
    text = "minTaskMember of the PodGroup: 0 instead of 1 w"
    assert (text, "now") in {(one.text, one.starts) for one in found.found}


@pytest.mark.parametrize("release", ["v1.12.1", "v1.15.1"])
def test_a_queue_may_use_a_node_group_and_a_node_joins_one(tmp_path: Path, release: str) -> None:
    named, mark = "volcano.sh/nodegroup-name", {"volcano.sh/queue-name": "q"}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": ["g"]}
    other = node("n1", 8)
    other["metadata"]["labels"] = {named: "other"}
    world = (
        other,
        queue("q", affinity={"nodeGroupAffinity": required}),
        group("pg", 1, queue="q"),
        pod("a", "pg", 1, annotations=mark),
    )
    with log_of(tmp_path, NODES + "  - name: nodegroup\n", *world) as log:
        found = helps(log, "podgroup/pg", release)
    assert {("queue q may use node group other", "now"), ("node n1 is in node group g", "now")} <= {
        (one.text, one.starts) for one in found.found
    }


def test_a_queue_without_weight_gets_one(tmp_path: Path) -> None:
    world = (
        node("n1", 8),
        queue("test", weight=0),
        group("one", 1, "Running", queue="test"),
        pod("one-0", "one", 2, "n1"),
        group("two", 1, "Inqueue", queue="test"),
        pod("two-0", "two", 2),
    )
    with log_of(tmp_path, PROPORTION, *world) as log:
        found = helps(log, "podgroup/two")
    assert ("weight of queue test: 1 instead of 0", "now") in {
        (one.text, one.starts) for one in found.found
    }


def test_a_podgroup_that_was_deleted_is_tried_again_as_it_was(tmp_path: Path) -> None:
    lost = group("g", 1, "Inqueue")
    made = [*ROOT, node("n1", 8), lost, pod("g-0", "g", 2)]
    with watched_log(tmp_path, NODES, *(("ADDED", one) for one in made), ("DELETED", lost)) as log:
        found = helps(log, "pod/g-0")
    (again,) = (one for one in found.found if one.kind == "restore")
    assert (again.text, again.starts) == ("podgroup ns/g is created again", "now")


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, "weight of queue a: 3 instead of 1"),
        ({"capability": {"cpu": "4"}}, "capability of queue a: 6 cpu"),
    ],
)
def test_a_share_by_weight_grows_with_the_weight_or_with_the_capability_that_bounds_it(
    tmp_path: Path, limits: Document, expected: str
) -> None:
    others = () if limits else (group("late", 1, "Inqueue", queue="b"), pod("late-0", "late", 8))
    shared = (
        *(queue("a", **limits), queue("b"), node("n1", 8)),
        *(group("first", 1, "Running", queue="a"), pod("first-0", "first", 4, "n1")),
        *(group("second", 1, "Inqueue", queue="a"), pod("second-0", "second", 2), *others),
    )
    with log_of(tmp_path, PROPORTION, *shared) as log:
        found = helps(log, "pod/second-0")
    assert expected in [one.text for one in found.found if one.kind == "limit"]


def test_nothing_is_named_that_does_not_help_and_the_rest_is_counted(tmp_path: Path) -> None:
    large = (
        *(queue("default"), node("n1", 2)),
        *(group("g", 1, "Inqueue"), pod("g-0", "g", 64)),
    )
    with log_of(tmp_path, NODES, *large) as log:
        found = helps(log, "pod/g-0")
        assert [one.text for one in found.found] == ["one more node like n1, but with 64 cpu"]
        assert "one more node like n1" in found.in_vain
        cut = helps(log, "pod/g-0", go_on=iter([True, False]).__next__)
        assert (cut.tried, cut.left) == (1, found.tried - found.pairs - 1)


def test_with_little_time_each_kind_has_its_turn() -> None:
    kinds = [LIMIT] * 4 + [MORE] * 5 + [RELEASE] * 2
    some = [single(kind, place, f"{kind} {place}") for place, kind in enumerate(kinds)]
    assert [one.kind for one in in_turns(some)] == [
        *[LIMIT] * 3 + [MORE] * 3 + [LIMIT] + [MORE] * 2,
        *[RELEASE] * 2,
    ]


def test_pods_that_would_no_longer_be_placed_are_named(tmp_path: Path) -> None:
    """With the first of two jobs in a queue gone, the second one starts instead of the third."""
    objects = (
        *ROOT,
        queue("top", parent="root", capability={"cpu": "2"}),
        node("n1", 8),
        group("a", 1, "Inqueue", queue="top"),
        pod("a-0", "a", 2),
        group("b", 1, "Inqueue", queue="top"),
        pod("b-0", "b", 2),
    )
    with log_of(tmp_path, CAPACITY, *objects) as log:
        first = dict(tried(log).sides[0].answer.result.binds)
        (starts,) = first
        waits = ({"ns/a-0", "ns/b-0"} - {starts}).pop()
        found = helps(log, f"pod/{waits.partition('/')[2]}")
        assert ("limit", ()) in [(one.kind, one.no_longer) for one in found.found]
