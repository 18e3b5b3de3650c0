"""What keeps others from being evicted, and what a job's own fields forbid, as what would help."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from answer_worlds import CAPACITY, NODES, PROPORTION, log_of
from helping import helped, texts_of

from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.replay.what_if.changed_sessions import ChangedSessions
from plinian.replay.what_if.trial import loses_more
from sessions import document, group, node, pod, queue

RECLAIM = CAPACITY.replace("allocate, backfill", "allocate, preempt, reclaim")
ONE_TIER = RECLAIM.replace("- plugins:\n  - name: predicates", "  - name: predicates")
ROOT = (queue("root"), queue("default", parent="root"))


def rich_and_poor(
    rich: dict[str, Any], poor: dict[str, Any], phase: str = "Inqueue", least: int = 1
) -> list[dict[str, Any]]:
    """Return a node of 8 cpu: 6 held by queue rich, 2 by poor, of which a pod of 2 waits."""
    return [
        *(*ROOT, queue("rich", parent="root", **rich), queue("poor", parent="root", **poor)),
        *(node("n1", 8), group("old", least, "Running", queue="rich")),
        *(pod(f"old-{number}", "old", 2, "n1") for number in range(3)),
        *(group("mine", 1, "Running", queue="poor"), pod("mine-0", "mine", 2, "n1")),
        group("new", 1, phase, queue="poor", minResources={"cpu": "2"}),
        pod("new-0", "new", 2),
    ]


def test_a_queue_that_deserves_more_reclaims(tmp_path: Path) -> None:
    for phase in ("Inqueue", "Pending"):
        world = rich_and_poor({"deserved": {"cpu": "4"}}, {"deserved": {"cpu": "2"}}, phase)
        found = helped(tmp_path, RECLAIM, *world)
        (more,) = [one for one in found.found if one.kind == "limit"]
        assert (more.text, more.starts) == ("deserved of queue poor: 4 cpu", "after evictions")
        assert len(more.evicts) == 1


def test_deserved_is_not_offered_where_no_victim_may_go(tmp_path: Path) -> None:
    rich = {"deserved": {"cpu": "4"}, "reclaimable": False}
    found = helped(tmp_path, RECLAIM, *rich_and_poor(rich, {"deserved": {"cpu": "2"}}))
    assert not texts_of(found, "limit")
    assert "deserved of queue poor: 4 cpu" in found.in_vain
    assert "reclaimable: true of queue rich" in found.in_vain


def test_deserved_is_not_tried_where_nothing_reads_it(tmp_path: Path) -> None:
    found = helped(tmp_path, PROPORTION, *rich_and_poor({}, {}))
    assert not [one for one in (*found.in_vain, *texts_of(found, "limit")) if "deserved" in one]


def test_a_queue_that_is_not_reclaimable_is_tried_as_reclaimable(tmp_path: Path) -> None:
    rich = {"deserved": {"cpu": "4"}, "reclaimable": False}
    found = helped(tmp_path, RECLAIM, *rich_and_poor(rich, {"deserved": {"cpu": "4"}}))
    assert texts_of(found, "limit") == ["reclaimable: true of queue rich"]


def test_another_queue_is_tried_with_less_that_it_deserves(tmp_path: Path) -> None:
    world = rich_and_poor({"deserved": {"cpu": "6"}}, {"deserved": {"cpu": "4"}})
    plain = ONE_TIER.replace("    enableHierarchy: true\n", "")
    found = helped(tmp_path, plain, *world)
    assert "deserved of queue rich: 4 instead of 6 cpu" in texts_of(found, "limit")


def test_a_smaller_gang_of_others_lets_their_pods_go(tmp_path: Path) -> None:
    world = rich_and_poor({"deserved": {"cpu": "4"}}, {"deserved": {"cpu": "4"}}, least=3)
    found = helped(tmp_path, ONE_TIER, *world)
    assert texts_of(found, "victims") == ["minMember of podgroup ns/old: 1 instead of 3"]


def test_a_higher_priority_class_evicts_others(tmp_path: Path) -> None:
    conf = NODES.replace("allocate, backfill", "allocate, preempt")
    conf = conf.replace("  - name: gang\n", "  - name: priority\n  - name: conformance\n")
    high = {"apiVersion": "scheduling.k8s.io/v1", **document("PriorityClass", "high", value=100)}
    world = (
        *(queue("default"), high, node("n1", 4), group("old", 1, "Running")),
        *(pod(f"old-{number}", "old", 2, "n1") for number in range(2)),
        *(group("new", 1), pod("new-0", "new", 2)),
    )
    found = helped(tmp_path, conf, *world)
    assert texts_of(found, "pods") == ["PriorityClass high for the PodGroup and its pods"]


def test_a_pod_without_its_gate_and_without_its_selector(tmp_path: Path) -> None:
    gated = pod("new-0", "new", 2, schedulingGates=[{"name": "wait"}])
    world = (queue("default"), node("n1", 8), group("new", 1))
    assert texts_of(helped(tmp_path, NODES, *world, gated), "pods") == [
        "no scheduling gate wait on its pods"
    ]
    choosy = pod("new-0", "new", 2)
    choosy["spec"]["nodeSelector"] = {"disk": "ssd"}
    assert texts_of(helped(tmp_path, NODES, *world, choosy), "pods") == [
        "no node selector disk=ssd on its pods"
    ]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    affine = pod("new-0", "new", 2)
    affine["spec"]["affinity"] = {"nodeAffinity": {required: {"nodeSelectorTerms": [term]}}}
    assert texts_of(helped(tmp_path, NODES, *world, affine), "pods") == [
        "no required node affinity of its pods"
    ]


def test_a_change_with_which_a_job_loses_more_pods_than_it_gets_is_no_help(tmp_path: Path) -> None:
    own = [pod(f"new-{number}", "new", 1, "n1") for number in range(2)]
    world = (queue("default"), node("n1", 2), group("new", 1, "Running"), *own)
    with log_of(tmp_path, NODES, *world, pod("late", "new", 1)) as log:
        original = ChangedSessions(log, log.moment(), "v1.12.1", None).original()
    assert not loses_more(original, original, "ns/new")
    for evicted, worse in ((("ns/new-0",), False), (("ns/new-0", "ns/new-1"), True)):
        result = SessionResult(
            evictions=[(key, "preempt") for key in evicted], pipelined=[("ns/late", "n1")]
        )
        changed = replace(original, result=result)
        assert loses_more(changed, original, "ns/new") is worse
        assert not loses_more(changed, changed, "ns/new"), "it loses them in any case"
