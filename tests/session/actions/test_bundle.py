"""Bundles of victims: whom a job can spare, and what the others are worth."""

from __future__ import annotations

from math import inf
from typing import Any

from plinian.engine.model.resource import Resource
from plinian.engine.session.actions.bundle import Bundle, apply_allowed, create_job_bundles
from plinian.engine.session.framework.session import Session
from sessions import Document, group, job, names, node, opened, pod, queue, tasks

MAY_GO = {"volcano.sh/preemptable": "true"}
Parts = list[tuple[bool, list[str]]]


def session(*documents: Document) -> Session:
    """Return a session of a release that evicts in bundles."""
    return opened("priority gang", *documents, release="v1.15.1")[0]


def running(name: str, of: str, **rest: Any) -> Document:
    """Return a pod that runs and may be evicted."""
    annotations = {**MAY_GO, **rest.pop("annotations", {})}
    return pod(name, of, on="n", annotations=annotations, **rest)


def parts(*documents: Document, among: tuple[str, ...]) -> Parts:
    """Return how some pods of the job ``v`` are parted: (whether its gang ends, the pods)."""
    ssn = session(node("n", cpu=50), queue("default"), *documents)
    bundles = create_job_bundles(ssn, job(ssn, "v"), tasks(ssn, *among))
    return [(bundle.whole, names(ssn, list(bundle.tasks))) for bundle in bundles]


def role(name: str) -> Document:
    """Return the annotation of a pod's role."""
    return {"volcano.sh/task-spec": name}


def groups_of(least: int, size: int, name: str = "g") -> Document:
    """Return a policy that divides a job by the label of its name."""
    return {"name": name, "subGroupSize": size, "minSubGroups": least, "matchLabelKeys": [name]}


def test_a_job_spares_its_least_important_pods_down_to_its_minimum() -> None:
    pods = [running(f"v-{n}", "v", priority=n, annotations=role("worker")) for n in range(5)]
    given = group("v", min_member=3, minTaskMember={"worker": 3})
    assert parts(given, *pods, among=("v-4", "v-3", "v-2", "v-1", "v-0")) == [
        (False, ["v-0", "v-1"]),
        (True, ["v-2", "v-3", "v-4"]),
    ]


def test_pods_of_equal_importance_go_by_uid() -> None:
    pods = [running(name, "v") for name in ("b", "c", "a")]
    assert parts(group("v", min_member=2), *pods, among=("c", "b", "a")) == [
        (False, ["a"]),
        (True, ["b", "c"]),
    ]


def test_a_role_at_its_minimum_spares_nobody() -> None:
    pods = [running(f"m-{n}", "v", annotations=role("master")) for n in range(1)]
    pods += [running(f"w-{n}", "v", annotations=role("worker")) for n in range(3)]
    given = group("v", min_member=2, minTaskMember={"master": 1, "worker": 1})
    assert parts(given, *pods, among=("m-0", "w-0", "w-1", "w-2")) == [
        (False, ["w-0", "w-1"]),
        (True, ["m-0", "w-2"]),
    ]


def test_roles_do_not_count_if_the_job_may_run_with_less_than_their_minima() -> None:
    pods = [running(f"w-{n}", "v", annotations=role("worker")) for n in range(3)]
    given = group("v", min_member=1, minTaskMember={"worker": 3})
    assert parts(given, *pods, among=("w-0", "w-1", "w-2")) == [
        (False, ["w-0", "w-1"]),
        (True, ["w-2"]),
    ]


def test_a_job_that_is_not_ready_has_nothing_to_lose() -> None:
    pods = [running(f"v-{n}", "v", labels={"g": "1"}) for n in range(2)]
    given = group("v", min_member=10, subGroupPolicy=[groups_of(2, 3)])
    assert parts(given, *pods, among=("v-0", "v-1")) == [(False, ["v-0", "v-1"])]


def test_of_three_groups_two_must_stay() -> None:
    pods = [
        running(f"v-{g}-{n}", "v", priority=10 * g + n, labels={"g": str(g)})
        for g in range(3)
        for n in range(2)
    ]
    given = group("v", min_member=4, subGroupPolicy=[groups_of(2, 2)])
    assert parts(given, *pods, among=("v-0-0", "v-1-0", "v-2-0")) == [
        (False, ["v-0-0"]),
        (True, ["v-1-0", "v-2-0"]),
    ]
    # Its group is broken then, and the job does not need the rest of it either.
    assert parts(given, *pods, among=("v-0-0", "v-0-1", "v-1-0")) == [
        (False, ["v-0-0", "v-0-1"]),
        (True, ["v-1-0"]),
    ]


def test_a_group_that_is_broken_already_loses_more() -> None:
    pods = [running("v-0-0", "v", priority=1, labels={"g": "0"})]
    pods += [
        running(f"v-{g}-{n}", "v", priority=10 * g + n, labels={"g": str(g)})
        for g in (1, 2)
        for n in range(2)
    ]
    given = group("v", min_member=3, subGroupPolicy=[groups_of(2, 2)])
    assert parts(given, *pods, among=("v-0-0", "v-1-0", "v-2-0")) == [
        (False, ["v-0-0"]),
        (True, ["v-1-0", "v-2-0"]),
    ]


def test_roles_and_groups_both_count() -> None:
    masters = [
        running(f"m-{n}", "v", priority=10 * n, labels={"m": str(n)}, annotations=role("master"))
        for n in range(2)
    ]
    workers = [
        running(name, "v", priority=rank, labels={"w": name[2]}, annotations=role("worker"))
        for rank, name in enumerate(("w-0a", "w-1a", "w-1b", "w-2a", "w-2b"), start=1)
    ]
    policies = [groups_of(1, 1, "m"), groups_of(2, 2, "w")]
    given = group("v", min_member=5, minTaskMember={"worker": 5}, subGroupPolicy=policies)
    assert parts(given, *masters, *workers, among=("m-0", "w-0a")) == [
        (False, ["m-0"]),
        (True, ["w-0a"]),
    ]


def test_a_bundle_that_ends_a_gang_goes_as_a_whole() -> None:
    ssn = session(
        node("n"), queue("default"), group("v"), *(running(f"v-{n}", "v") for n in range(4))
    )
    one, two, three, four = tasks(ssn, "v-0", "v-1", "v-2", "v-3")
    sums = ssn.jobs.sum_requests
    safe = Bundle(False, 0, [one, two], sums([one, two]), Resource())
    whole = Bundle(True, 0, [three, four], sums([three, four]), sums([one, two, three, four]))
    (left,) = apply_allowed(ssn, [safe, whole], {one, three})
    assert (left.whole, left.tasks, left.freed.cpu) == (False, [one], 1000.0)
    assert apply_allowed(ssn, [safe, whole], {three, four}) == [whole]


def test_what_a_bundle_is_worth() -> None:
    need = Resource(cpu=1000.0)
    cheap = Bundle(True, 0, [], Resource(cpu=1000.0), Resource(cpu=2000.0))
    dear = Bundle(True, 0, [], Resource(cpu=5000.0), Resource(cpu=4000.0))
    free = Bundle(False, 0, [], Resource(cpu=100.0), Resource())
    assert (cheap.worth(need), dear.worth(need), free.worth(need)) == (0.5, 0.25, inf)
