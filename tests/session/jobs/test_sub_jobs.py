"""Groups within a job: who is in which, what they need, and where they go."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.session.actions import allocate
from plinian.engine.session.actions.hypernode_gradients import organize
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.nodes.node_views import NodeViews
from sessions import Document, document, group, node, opened, pod, queue

RELEASE = "v1.15.1"
GANG = "gang priority predicates network-topology-aware binpack"
BOTH_RACKS = {"mode": "hard", "highestTierAllowed": 2}
ONE_RACK = {"mode": "hard", "highestTierAllowed": 1}


def rack(name: str, *members: str) -> Document:
    """Return a hypernode of nodes."""
    listed = [{"type": "Node", "selector": {"exactMatch": {"name": each}}} for each in members]
    return document("HyperNode", name, spec={"tier": 1, "tierName": "rack", "members": listed})


def row(name: str, *members: str) -> Document:
    """Return a hypernode of hypernodes."""
    listed = [{"type": "HyperNode", "selector": {"exactMatch": {"name": each}}} for each in members]
    return document("HyperNode", name, spec={"tier": 2, "tierName": "row", "members": listed})


RACKS = (
    *(node(f"a{number}", cpu=2) for number in range(2)),
    *(node(f"b{number}", cpu=2) for number in range(2)),
    rack("a", "a0", "a1"),
    rack("b", "b0", "b1"),
    row("all", "a", "b"),
)


def policy(name: str = "p", keys: tuple[str, ...] = ("part",), **rest: Any) -> Document:
    """Return a policy that makes a group of each combination of values."""
    return {"name": name, "matchLabelKeys": list(keys), **rest}


def on(*documents: Document, release: str = RELEASE, **rest: Any) -> Session:
    """Return a session in which gangs matter and the default queue is there."""
    return opened(GANG, queue("default"), *documents, release=release, **rest)[0]


def bound(ssn: Session) -> dict[str, str]:
    """Return where the session's binds go, by pod."""
    return {ssn.tasks.info[task].name: ssn.nodes.names[row] for task, row in ssn.binds}


def part(name: str, value: str, **rest: Any) -> Document:
    """Return a pod of the job ``g`` with a value of the key ``part``."""
    labels = {"part": value, **rest.pop("labels", {})}
    return pod(name, "g", labels=labels if value else {}, **rest)


def members(ssn: Session) -> dict[str, list[str]]:
    """Return the pods of each group of the job ``g``."""
    return {
        sub.uid: [ssn.tasks.info[task].name for task in sub.tasks]
        for sub in ssn.sub_jobs.of(ssn.jobs.row["ns/g"]).sub_jobs
    }


def test_pods_with_the_same_values_are_a_group() -> None:
    ssn = on(
        group("g", subGroupPolicy=[policy()]), part("p1", "x"), part("p2", "y"), part("p3", "x")
    )
    assert members(ssn) == {"ns/g/p-x": ["p1", "p3"], "ns/g/p-y": ["p2"]}


def test_pods_that_no_policy_takes_are_a_group_of_their_own() -> None:
    ssn = on(group("g", subGroupPolicy=[policy()]), part("p1", ""), part("p2", "y"))
    assert members(ssn) == {"ns/g": ["p1"], "ns/g/p-y": ["p2"]}


def test_the_first_policy_that_takes_a_pod_has_it() -> None:
    picky = policy("picky", labelSelector={"matchLabels": {"kind": "big"}})
    ssn = on(
        group("g", subGroupPolicy=[picky, policy("rest")]),
        part("p1", "x", labels={"kind": "big"}),
        part("p2", "x"),
    )
    assert members(ssn) == {"ns/g/picky-x": ["p1"], "ns/g/rest-x": ["p2"]}


def test_a_policy_without_keys_takes_nobody() -> None:
    ssn = on(group("g", subGroupPolicy=[policy(keys=())]), part("p1", "x"))
    assert members(ssn) == {"ns/g": ["p1"]}


def test_all_keys_must_be_there() -> None:
    ssn = on(
        group("g", subGroupPolicy=[policy(keys=("part", "zone"))]),
        part("p1", "x", labels={"zone": "z"}),
        part("p2", "x"),
    )
    assert members(ssn) == {"ns/g": ["p2"], "ns/g/p-x-z": ["p1"]}


def test_long_values_are_hashed() -> None:
    keys = ("part", "zone", "slice")
    long = "v" * 63
    ssn = on(
        group("g", subGroupPolicy=[policy(keys=keys)]),
        part("p1", long, labels={"zone": long, "slice": long}),
    )
    (uid,) = members(ssn)
    assert uid.startswith("ns/g/p-")
    assert len(uid) < 20


def test_older_releases_know_no_groups() -> None:
    ssn = on(group("g", subGroupPolicy=[policy()]), part("p1", "x"), release="v1.13.3")
    assert ssn.jobs.grouped == frozenset()


def test_groups_that_the_job_needs_come_first_then_by_number() -> None:
    few = policy(subGroupSize=1, minSubGroups=1)
    many = policy("q", ("slice",), subGroupSize=1)
    ssn = on(
        group("g", subGroupPolicy=[few, many]),
        part("p1", "10"),
        part("p2", "9"),
        pod("p3", "g", labels={"slice": "1"}),
    )
    job = ssn.jobs.row["ns/g"]
    sheet = organize(ssn, job, ssn.jobs.pending_tasks(job))
    found = [sheet.sub_jobs.pop().uid for _ in range(3)]
    assert found == ["ns/g/p-9", "ns/g/q-1", "ns/g/p-10"]


def test_a_job_with_too_few_groups_is_not_valid() -> None:
    groups = [policy(minSubGroups=2)]
    one = on(group("g", subGroupPolicy=groups), part("p1", "x"))
    assert voting.job_valid(one, 0) is not None
    both = on(group("g", subGroupPolicy=groups), part("p1", "x"), part("p2", "y"))
    assert voting.job_valid(both, 0) is None


def test_a_group_is_bound_as_a_whole_or_not_at_all() -> None:
    job = group("g", subGroupPolicy=[policy(subGroupSize=2)])
    ssn = on(*RACKS[:1], job, part("p1", "x", cpu=2), part("p2", "x", cpu=2), part("p3", "y"))
    allocate.execute(ssn, NodeViews(ssn))
    assert bound(ssn) == {}
    more = on(*RACKS[:1], job, part("p1", "x", cpu=1), part("p2", "x", cpu=1), part("p3", "y"))
    allocate.execute(more, NodeViews(more))
    assert set(bound(more)) == {"p1", "p2"}


def test_a_job_waits_until_enough_groups_are_ready() -> None:
    def placed(least: int) -> set[str]:
        job = group("g", subGroupPolicy=[policy(subGroupSize=1, minSubGroups=least)])
        ssn = on(*RACKS[:1], job, part("p1", "1", cpu=2), part("p2", "2", cpu=2))
        allocate.execute(ssn, NodeViews(ssn))
        return set(bound(ssn))

    assert placed(1) == {"p1"}
    assert placed(2) == set()


def test_each_group_stays_in_one_rack() -> None:
    job = group(
        "g", 4, networkTopology=BOTH_RACKS, subGroupPolicy=[policy(networkTopology=ONE_RACK)]
    )
    pods = [part(f"p{number}", "xy"[number % 2], cpu=2) for number in range(4)]
    ssn = on(*RACKS, job, *pods)
    allocate.execute(ssn, NodeViews(ssn))
    racks = {name: where[0] for name, where in bound(ssn).items()}
    assert len(racks) == 4
    assert racks["p0"] == racks["p2"] != racks["p1"] == racks["p3"]


def test_why_a_pod_fits_nowhere_is_told_of_its_group() -> None:
    """Another group's pods of the same role are looked at all the same."""
    job = group("g", 1, subGroupPolicy=[policy(subGroupSize=1)])
    role = {"annotations": {"volcano.sh/task-spec": "r"}}
    ssn = on(*RACKS[:1], job, part("p1", "1", cpu=9, **role), part("p2", "2", cpu=1, **role))
    allocate.execute(ssn, NodeViews(ssn))
    assert set(bound(ssn)) == {"p2"}
    failed = {ssn.tasks.info[task].name for task in ssn.jobs.fit_errors}
    assert failed == {"p1"}


@pytest.mark.parametrize(("release", "placed"), [("v1.14.0", set()), ("v1.14.1", {"p1"})])
def test_the_first_release_with_groups_needs_a_topology(release: str, placed: set[str]) -> None:
    job = group("g", 1, subGroupPolicy=[policy(subGroupSize=1)])
    ssn = on(*RACKS, job, part("p1", "x"), release=release)
    allocate.execute(ssn, NodeViews(ssn))
    assert set(bound(ssn)) == placed


def test_the_first_release_with_groups_places_the_others_without_one() -> None:
    job = group("g", 1, subGroupPolicy=[policy(subGroupSize=1)])
    ssn = on(*RACKS, job, part("p1", "x"), part("p2", ""), release="v1.14.0")
    allocate.execute(ssn, NodeViews(ssn))
    assert set(bound(ssn)) == {"p2"}


@pytest.mark.parametrize(("release", "tier"), [("v1.14.1", None), ("v1.14.2", 1)])
def test_tiers_of_groups_may_be_named(release: str, tier: int | None) -> None:
    named = {"mode": "hard", "highestTierName": "rack"}
    ssn = on(
        *RACKS,
        group("g", subGroupPolicy=[policy(networkTopology=named)]),
        part("p1", "x"),
        release=release,
    )
    (sub,) = ssn.sub_jobs.of(0).sub_jobs
    assert (sub.tier, sub.topology) == (tier, True)


def test_a_named_tier_is_enough_of_a_topology_to_place_groups() -> None:
    named = {"mode": "hard", "highestTierName": "rack"}
    job = group("g", 1, subGroupPolicy=[policy(subGroupSize=1, networkTopology=named)])
    ssn = on(*RACKS, job, part("p1", "x"), release="v1.14.0")
    allocate.execute(ssn, NodeViews(ssn))
    assert set(bound(ssn)) == {"p1"}


@pytest.mark.parametrize(("release", "tier"), [("v1.14.2", None), ("v1.14.3", 3)])
def test_soft_topologies_are_tried_as_hard_ones(release: str, tier: int | None) -> None:
    job = group("g", networkTopology={"mode": "soft"})
    assert on(*RACKS, job, pod("p1", "g"), release=release).sub_jobs.of(0).tier == tier


def test_a_soft_group_keeps_to_the_tier_of_its_job() -> None:
    job = group(
        "g", networkTopology=ONE_RACK, subGroupPolicy=[policy(networkTopology={"mode": "soft"})]
    )
    (sub,) = on(*RACKS, job, part("p1", "x")).sub_jobs.of(0).sub_jobs
    assert sub.tier == 1


def test_where_a_group_runs_is_found_by_its_nodes() -> None:
    job = group("g", subGroupPolicy=[policy(networkTopology=BOTH_RACKS)])
    division = on(
        *RACKS, job, part("p1", "x", on="a0"), part("p2", "y", on="b0"), part("p3", "y", on="a1")
    ).sub_jobs.of(0)
    assert [sub.hypernode for sub in division.sub_jobs] == ["a", "all"]
    assert division.hypernode == "all"


def test_what_a_group_was_given_is_remembered_as_long_as_it_holds_something() -> None:
    process = ProcessState()
    job = group("g", subGroupPolicy=[policy()])
    first = on(*RACKS, job, part("p1", "x"), process=process)
    first.sub_jobs.note_placed(0, "a", {"ns/g/p-x": "a"})
    then = on(*RACKS, job, part("p1", "x", on="a0"), process=process)
    assert [sub.hypernode for sub in then.sub_jobs.of(0).sub_jobs] == ["a"]
    on(*RACKS, job, part("p1", "x"), process=process).sub_jobs.recover_all()
    again = on(*RACKS, job, part("p1", "x", on="a0"), process=process)
    assert [sub.hypernode for sub in again.sub_jobs.of(0).sub_jobs] == [""]
