"""Jobs that hold what is lacking, as what would help: those whose end suffices come first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES
from helping import helped, texts_of

from plinian.replay.what_if.holders import MOST_GONE
from sessions import document, group, node, pod, queue

Document = dict[str, Any]
SMALL = tuple(
    one
    for number in range(60)
    for one in (
        group(f"s{number:02}", 1, "Running"),
        pod(f"s{number:02}-0", f"s{number:02}", 0.1, "n1"),
    )
)
BIG = (group("big", 1, "Running"), *(pod(f"big-{number}", "big", 1, "n1") for number in range(6)))


def test_of_many_jobs_on_a_full_node_the_one_that_makes_room_is_tried(tmp_path: Path) -> None:
    new = (group("new", 1), pod("new-0", "new", 4))
    found = helped(tmp_path, NODES, queue("default"), node("n1", 12), *SMALL, *BIG, *new)
    assert texts_of(found, "gone") == ["podgroup ns/big is gone"]
    assert len([text for text in found.in_vain if text.endswith("is gone")]) < MOST_GONE


@pytest.mark.parametrize("phase", ["Pending", "Inqueue"])
def test_of_many_holders_of_a_queue_the_smallest_that_suffices_comes_first(
    tmp_path: Path, phase: str
) -> None:
    root = (queue("root"), queue("default", parent="root", capability={"cpu": "24"}))
    half = (group("half", 1, "Running"), *(pod(f"half-{n}", "half", 3, "n1") for n in range(2)))
    more = (group("more", 1, "Running"), *(pod(f"more-{n}", "more", 4, "n1") for n in range(3)))
    least = {"minResources": {"cpu": "5"}} if phase == "Pending" else {}
    new = (group("new", 1, phase, **least), pod("new-0", "new", 5))
    found = helped(tmp_path, CAPACITY, *root, node("n1", 100), *SMALL, *half, *more, *new)
    assert texts_of(found, "gone")[:2] == ["podgroup ns/half is gone", "podgroup ns/more is gone"]


def test_a_gang_needs_a_job_less_that_makes_room_for_all_of_it(tmp_path: Path) -> None:
    one = (group("one", 1, "Running"), pod("one-0", "one", 4, "n1"))
    two = (group("two", 1, "Running"), *(pod(f"two-{n}", "two", 4, f"n{2 + n}") for n in range(2)))
    new = (group("new", 2), *(pod(f"new-{number}", "new", 4) for number in range(2)))
    nodes = [node(f"n{number}", 4) for number in (1, 2, 3)]
    found = helped(tmp_path, NODES, queue("default"), *nodes, *one, *two, *new)
    assert texts_of(found, "gone") == ["podgroup ns/two is gone"]


def test_a_resource_that_the_job_does_not_ask_for_is_made_room_for_as_well(tmp_path: Path) -> None:
    """v1.9 compares all resources: the queue is over its limit by what others have reserved."""
    gpu = "nvidia.com/gpu"
    world = (
        *(queue("a", capability={"cpu": "16", gpu: "8"}), node("n1", 32, more={gpu: "64"})),
        *(
            group(f"r{n}", 1, "Inqueue", queue="a", minResources={"cpu": "1", gpu: "4"})
            for n in (0, 1, 2)
        ),
        group("new", 1, "Pending", queue="a", minResources={"cpu": "1"}),
    )
    conf = CAPACITY.replace("    enableHierarchy: true\n", "")
    found = helped(tmp_path, conf, *world, release="v1.9.0")
    assert "capability of queue a: 12 nvidia.com/gpu" in texts_of(found, "limit")
    assert texts_of(found, "gone") == [f"podgroup ns/r{n} is gone" for n in (0, 1, 2)]


def test_only_as_much_of_a_guarantee_goes_as_is_lacking(tmp_path: Path) -> None:
    world = (
        *(queue("root"), queue("default", parent="root"), queue("a", parent="root")),
        queue("b", parent="root", guarantee={"resource": {"cpu": "4"}}),
        *(node("n1", 8), group("old", 1, "Running", queue="a")),
        *(pod(f"old-{number}", "old", 2, "n1") for number in range(2)),
        group("new", 1, "Pending", queue="a", minResources={"cpu": "2"}),
        pod("new-0", "new", 2),
    )
    found = helped(tmp_path, CAPACITY, *world)
    assert texts_of(found, "limit") == [
        "guarantee of queue b: 2 instead of 4 cpu",
        "no guarantee of queue b",
    ]


def test_a_quota_has_more_room_with_a_higher_limit_or_a_job_less(tmp_path: Path) -> None:
    amounts = {"hard": {"cpu": "5"}, "used": {"cpu": "4"}}
    quota = document("ResourceQuota", "rq", "ns", spec={"hard": {"cpu": "5"}}, status=amounts)
    world = (
        *(queue("root"), queue("default", parent="root"), node("n1", 8), quota),
        *(group("old", 1, "Running"), pod("old-0", "old", 3, "n1")),
        *(group("little", 1, "Running"), pod("little-0", "little", 0.5, "n1")),
        *(group("new", 1, "Pending", minResources={"cpu": "2"}), pod("new-0", "new", 2)),
    )
    found = helped(tmp_path, f"{CAPACITY}  - name: resourcequota\n", *world)
    assert texts_of(found, "limit") == ["hard of ResourceQuota rq: 6 instead of 5 cpu"]
    assert texts_of(found, "gone") == ["podgroup ns/old is gone"]


def test_a_job_that_the_session_places_first_is_tried_as_gone(tmp_path: Path) -> None:
    first = (group("first", 1), pod("first-0", "first", 4))
    later = (group("new", 1), pod("new-0", "new", 4))
    found = helped(tmp_path, NODES, queue("default"), node("n1", 4), *first, *later)
    assert texts_of(found, "gone") == ["podgroup ns/first is gone"]
    ((gone,),) = [[one for one in found.found if one.kind == "gone"]]
    assert gone.no_longer == ("ns/first-0",)


def test_where_a_guarantee_makes_the_scheduler_panic_it_is_taken_away(tmp_path: Path) -> None:
    world = (
        *(queue("a", guarantee={"resource": {"cpu": "200"}}), queue("b"), node("n1", 8)),
        *(group("new", 1, "Pending", queue="a", minResources={"cpu": "1"}), pod("new-0", "new")),
    )
    conf = CAPACITY.replace("    enableHierarchy: true\n", "")
    found = helped(tmp_path, conf, *world, release="v1.9.0")
    assert texts_of(found, "limit") == ["no guarantee of queue a"]
