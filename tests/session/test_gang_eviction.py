"""gangpreempt and gangreclaim: bundles of victims, and gangs for which they go."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from plinian.engine.belief.resource import Resource
from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.actions.bundle import Bundle, apply_allowed, create_job_bundles
from plinian.engine.session.cluster_top import CLUSTER_TOP
from plinian.engine.session.listings import Listings
from plinian.engine.session.session import ProcessState, Session
from plinian.engine.session.tables import Status
from sessions import Document, document, group, job, names, node, opened, pod, queue, tasks

RELEASE = "v1.15.1"
MAY_GO = {"volcano.sh/preemptable": "true"}
CONF = """
actions: "{actions}"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
{second}  - name: capacity
  - name: predicates
  - name: network-topology-aware
configurations:
- name: gangpreempt
  arguments: {{{arguments}}}
"""
CLASSES = (
    document("PriorityClass", "low", value=10),
    document("PriorityClass", "high", value=100),
)
Parts = list[tuple[bool, list[str]]]


def session(*documents: Document, arguments: str = "", tiers: int = 1, **given: Any) -> Session:
    """Return a session of the release with these objects and two priority classes.

    :param tiers: with two, the plugins after conformance are asked in the second.
    """
    second = "- plugins:\n" if tiers > 1 else ""
    conf = CONF.format(actions="gangpreempt, gangreclaim", second=second, arguments=arguments)
    return opened(conf, *CLASSES, *documents, release=RELEASE, **given)[0]


def running(name: str, of: str, on: str = "n", **rest: Any) -> Document:
    """Return a pod that runs and may be evicted."""
    annotations = {**MAY_GO, **rest.pop("annotations", {})}
    return pod(name, of, on=on, annotations=annotations, **rest)


def evicted(ssn: Session) -> list[tuple[str, str]]:
    """Return who was evicted, and why."""
    return sorted(zip(names(ssn, [task for task, _ in ssn.evictions]), _reasons(ssn), strict=True))


def _reasons(ssn: Session) -> list[str]:
    return [reason for _, reason in ssn.evictions]


def pipelined(ssn: Session) -> dict[str, str]:
    """Return who waits for what others leave, and where."""
    rows = [row for each in range(len(ssn.jobs)) for row in ssn.jobs.tasks[each]]
    return {
        ssn.tasks.info[row].name: ssn.nodes.names[ssn.tasks.node.item(row)]
        for row in rows
        if ssn.tasks.status.item(row) == Status.PIPELINED
    }


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


# Bundles.


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


# gangpreempt.


def preempted(*documents: Document, **given: Any) -> Session:
    """Return a session in which gangpreempt has run for ``p``: two pods of a core, on one node."""
    ssn = session(
        node("n", cpu=2),
        queue("default"),
        queue("other"),
        group("p", min_member=2, priorityClassName="high"),
        *(pod(f"p-{n}", "p", priority=100) for n in range(2)),
        *documents,
        **given,
    )
    ACTIONS["gangpreempt"](ssn)
    return ssn


def victim(name: str = "v", **spec: Any) -> Document:
    """Return a less important PodGroup that needs two pods."""
    return group(name, **{"min_member": 2, "priorityClassName": "low", "phase": "Running", **spec})


def pair(of: str = "v", **rest: Any) -> list[Document]:
    """Return its two pods, of a core each."""
    return [running(f"{of}-{n}", of, **rest) for n in range(2)]


def test_a_gang_ends_a_less_important_one() -> None:
    ssn = preempted(victim(), *pair())
    assert evicted(ssn) == [("v-0", "gangpreempt"), ("v-1", "gangpreempt")]
    assert pipelined(ssn) == {"p-0": "n", "p-1": "n"}
    assert ssn.tasks.eviction_occurred == set(tasks(ssn, "p-0", "p-1"))


def test_it_does_not_if_it_is_told_to_spare_gangs() -> None:
    ssn = preempted(victim(), *pair(), arguments="allowWholeBundle: false")
    assert (evicted(ssn), pipelined(ssn)) == ([], {})


@pytest.mark.parametrize(
    ("given", "goes"),
    [
        ({}, True),
        ({"annotations": {"volcano.sh/preemptable": "false"}}, False),
        ({"labels": {"volcano.sh/preemptable": "false"}}, False),
        ({"annotations": {"volcano.sh/preemptable": "true"}}, True),
        ({"priorityClassName": "high"}, False),
        ({"queue": "other"}, False),
    ],
)
def test_whom_a_gang_preempts(given: dict[str, Any], *, goes: bool) -> None:
    assert bool(evicted(preempted(victim(**given), *pair()))) == goes


def test_pods_that_must_not_be_preempted_stay() -> None:
    one, two = pair()
    two["metadata"]["annotations"]["volcano.sh/preemptable"] = "false"
    assert evicted(preempted(victim(), one, two)) == []


def test_a_gang_that_still_does_not_fit_evicts_nobody() -> None:
    # There would be room for one pod only, beside one that the cluster itself needs.
    ssn = preempted(
        victim(min_member=1), running("v-0", "v"), running("s", "v", priorityClassName=CRITICAL)
    )
    assert (evicted(ssn), pipelined(ssn)) == ([], {})
    assert ssn.tasks.status[tasks(ssn, "v-0")[0]] == Status.RUNNING
    cpu = ssn.dims.index("cpu")
    assert ssn.nodes.releasing[0, cpu] == ssn.nodes.pipelined[0, cpu] == 0


CRITICAL = "system-node-critical"


def test_spared_pods_go_before_gangs_end() -> None:
    # The elastic job is the more important of the two, and yet it loses what it can spare.
    ssn = preempted(
        node("m", cpu=2),
        document("PriorityClass", "mid", value=50),
        victim("elastic", min_member=1, priorityClassName="mid"),
        *(running(f"elastic-{n}", "elastic", on="n") for n in range(2)),
        running("elastic-2", "elastic", on="m"),
        victim("firm", min_member=1),
        running("firm-0", "firm", on="m"),
    )
    assert evicted(ssn) == [("elastic-0", "gangpreempt"), ("elastic-1", "gangpreempt")]


def test_a_job_of_one_queue_is_served_after_the_other() -> None:
    ssn = preempted(
        victim(),
        *pair(),
        node("m", cpu=2),
        victim("w"),
        *pair("w", on="m"),
        group("q", min_member=2, priorityClassName="high"),
        *(pod(f"q-{n}", "q", priority=100) for n in range(2)),
    )
    assert len(evicted(ssn)) == 4
    assert len(pipelined(ssn)) == 4


def test_the_arguments_of_before_stay_where_a_configuration_leaves_them_out() -> None:
    process = ProcessState()
    preempted(victim(), *pair(), arguments="allowWholeBundle: false", process=process)
    assert evicted(preempted(victim(), *pair(), process=process)) == []
    assert evicted(
        preempted(victim(), *pair(), arguments="allowWholeBundle: true", process=process)
    )


def test_nobody_knows_of_the_hypernode_after_the_session() -> None:
    """The original notes it in the session's copy of the job only."""
    process = ProcessState()
    ssn = preempted(victim(), *pair(), process=process)
    assert evicted(ssn)
    assert not any(kept for name, kept in process.kept.items() if "hypernode" in name)


# Hypernodes.


def hypernode(name: str, tier: int, *members: str, kind: str = "Node") -> Document:
    """Return a hypernode of nodes, or of hypernodes."""
    of = [{"type": kind, "selector": {"exactMatch": {"name": member}}} for member in members]
    return document("HyperNode", name, spec={"tier": tier, "members": of})


TREE = (
    *(node(f"{rack}{n}", cpu=1) for rack in "ab" for n in range(2)),
    hypernode("rack-a", 1, "a0", "a1"),
    hypernode("rack-b", 1, "b0", "b1"),
    hypernode("hall", 2, "rack-a", "rack-b", kind="HyperNode"),
)


def in_racks(*documents: Document, tier: int, **given: Any) -> Session:
    """Return a session in which a gang of two wants to be near itself."""
    topology = {"mode": "hard", "highestTierAllowed": tier}
    ssn = session(
        *TREE,
        queue("default"),
        group("p", min_member=2, priorityClassName="high", networkTopology=topology),
        *(pod(f"p-{n}", "p", priority=100) for n in range(2)),
        *documents,
        **given,
    )
    ACTIONS["gangpreempt"](ssn)
    return ssn


def test_a_gang_makes_room_within_one_rack() -> None:
    ssn = in_racks(
        victim("low", min_member=1),
        *(running(f"low-{node}", "low", on=node) for node in ("a0", "b0", "b1")),
        victim("firm", priorityClassName="high", min_member=1),
        running("firm-0", "firm", on="a1"),
        tier=1,
    )
    assert evicted(ssn) == [("low-b0", "gangpreempt"), ("low-b1", "gangpreempt")]
    assert pipelined(ssn) == {"p-0": "b0", "p-1": "b1"}


@pytest.mark.parametrize(("most", "found"), [("1", False), ("2", True), ("0", True)])
def test_only_so_many_domains_are_tried(most: str, *, found: bool) -> None:
    ssn = in_racks(
        victim("firm", priorityClassName="high", min_member=2),
        *(running(f"firm-{node}", "firm", on=node) for node in ("a0", "a1")),
        victim("low"),
        *(running(f"low-{node}", "low", on=node) for node in ("b0", "b1")),
        tier=1,
        arguments=f"maxDomains: {most}",
    )
    assert bool(evicted(ssn)) == found


def test_the_widest_hypernode_is_tried_first() -> None:
    # In rack a one pod would have to go, beside a free node; of the whole hall, another one goes.
    ssn = in_racks(
        *(victim(f"low-{node}", min_member=1) for node in ("a0", "b0", "b1")),
        *(running(f"of-{node}", f"low-{node}", on=node) for node in ("a0", "b0", "b1")),
        tier=2,
    )
    assert evicted(ssn) == [("of-b1", "gangpreempt")]
    assert set(pipelined(ssn).values()) == {"a1", "b1"}


def test_of_a_bundle_all_go_though_one_would_do() -> None:
    ssn = in_racks(
        victim("low", min_member=1),
        *(running(f"low-{node}", "low", on=node) for node in ("a0", "b0", "b1")),
        tier=2,
    )
    assert evicted(ssn) == [("low-a0", "gangpreempt"), ("low-b0", "gangpreempt")]


# gangreclaim.


def reclaimed(*documents: Document, tiers: int = 1, **spec: Any) -> Session:
    """Return a session in which a gang of two cores reclaims, in a queue that deserves two."""
    ssn = session(
        node("n", cpu=4),
        queue("poor", deserved={"cpu": "2"}),
        queue("rich", **{"deserved": {"cpu": "2"}, **spec}),
        group("p", min_member=2, queue="poor"),
        *(pod(f"p-{n}", "p") for n in range(2)),
        *documents,
        tiers=tiers,
    )
    ACTIONS["gangreclaim"](ssn)
    return ssn


def four(min_member: int = 1, **given: Any) -> list[Document]:
    """Return a job of the other queue that has all four cores."""
    spec = {"queue": "rich", "phase": "Running", **given}
    return [
        group("v", min_member=min_member, **spec),
        *(running(f"v-{n}", "v") for n in range(4)),
    ]


def test_a_gang_reclaims_what_its_queue_deserves() -> None:
    # That the victims are the more important does not matter.
    ssn = reclaimed(*four(priorityClassName="high"))
    assert evicted(ssn) == [("v-0", "gangreclaim"), ("v-1", "gangreclaim")]
    assert pipelined(ssn) == {"p-0": "n", "p-1": "n"}


@pytest.mark.parametrize(
    "spec",
    [
        {"reclaimable": False},
        {"deserved": {"cpu": "4"}},
        {"guarantee": {"resource": {"cpu": "3"}}},
    ],
)
def test_queues_that_keep_what_they_have(spec: dict[str, Any]) -> None:
    assert evicted(reclaimed(*four(), **spec)) == []


def test_a_queue_that_does_not_deserve_all_of_it_reclaims_nothing() -> None:
    ssn = reclaimed(*four(), group("q", queue="poor", phase="Running"), pod("q", "q", on="n"))
    assert evicted(ssn) == []


def test_the_first_tier_that_names_somebody_decides_alone() -> None:
    """As gang and priority name all, capacity behind them is not asked what its queues deserve."""
    keeps = {"cpu": "4"}
    assert evicted(reclaimed(*four(), deserved=keeps)) == []
    assert len(evicted(reclaimed(*four(), deserved=keeps, tiers=2))) == 3


def test_of_one_queue_what_is_worth_most_goes_first() -> None:
    """Both jobs would lose their gang, and the one that gives two cores has less to lose."""
    larger = [
        group("a", min_member=4, queue="rich", phase="Running"),
        *(running(f"a-{n}", "a", on=on) for n, on in enumerate(("n", "n", "m", "m"))),
    ]
    smaller = [
        group("b", min_member=2, queue="rich", phase="Running"),
        *(running(f"b-{n}", "b") for n in range(2)),
    ]
    ssn = reclaimed(node("m", cpu=2), *larger, *smaller, deserved={"cpu": "1"})
    assert [name for name, _ in evicted(ssn)] == ["b-0", "b-1"]


# What follows in the same session.


def test_allocate_takes_up_again_what_a_gang_was_promised() -> None:
    """Its pods are still listed as waiting: placed once more on the same node, they lose it."""
    ssn = session(
        node("n", cpu=3),
        queue("default"),
        group("p", min_member=2, priorityClassName="high"),
        *(pod(f"p-{n}", "p", priority=100) for n in range(2)),
        victim(),
        *pair(),
    )
    ACTIONS["gangpreempt"](ssn)
    assert pipelined(ssn) == {"p-0": "n", "p-1": "n"}
    assert ssn.sub_jobs.of(job(ssn, "p")).sub_jobs[0].nominated == CLUSTER_TOP
    ACTIONS["allocate"](ssn)
    assert pipelined(ssn) == {}
    assert ssn.sub_jobs.of(job(ssn, "p")).sub_jobs[0].nominated == ""


def test_a_gang_goes_where_its_pods_were_nominated_before() -> None:
    """It was told of another node by an earlier session: that has room, and is within the domain."""
    ssn = session(
        node("a", cpu=2),
        node("b", cpu=2),
        queue("default"),
        group("p", min_member=2, priorityClassName="high"),
        *(pod(f"p-{n}", "p", priority=100, status={"nominatedNodeName": "b"}) for n in range(2)),
        victim(min_member=1),
        running("v-0", "v", on="a"),
    )
    ACTIONS["gangpreempt"](ssn)
    assert set(pipelined(ssn).values()) == {"a"}
    ACTIONS["allocate"](ssn)
    assert [ssn.nodes.names[on] for _, on in ssn.binds] == ["b", "b"]


def test_a_nomination_that_cannot_be_met_is_dropped() -> None:
    ssn = session(
        node("n", cpu=2),
        queue("default"),
        group("p", min_member=2, priorityClassName="high"),
        pod("p-0", "p", priority=100, status={"nominatedNodeName": "gone"}),
        pod("p-1", "p", priority=100, status={"nominatedNodeName": "n"}),
        victim(),
        *pair(),
    )
    ACTIONS["gangpreempt"](ssn)
    told = tasks(ssn, "p-0", "p-1")
    assert [ssn.sub_jobs.nominated_node(task) for task in told] == ["gone", "n"]
    ACTIONS["allocate"](ssn)
    assert [ssn.sub_jobs.nominated_node(task) for task in told] == ["", ""]


@pytest.mark.parametrize(("release", "rack"), [("v1.14.4", "a"), ("v1.15.1", "b")])
def test_a_nominated_node_leads_nobody_out_of_the_rack(release: str, rack: str) -> None:
    """Only rack b has room for both; a pod that was nominated a node in rack a follows or not."""
    topology = {"mode": "hard", "highestTierAllowed": 1}
    ssn, _ = opened(
        CONF.format(actions="allocate", second="", arguments=""),
        *CLASSES,
        *TREE,
        queue("default"),
        group("low", phase="Running"),
        running("low-0", "low", on="a1"),
        group("p", min_member=2, networkTopology=topology),
        pod("p-0", "p", status={"nominatedNodeName": "a0"}),
        pod("p-1", "p"),
        release=release,
    )
    ACTIONS["allocate"](ssn)
    placed = {ssn.tasks.info[task].name: ssn.nodes.names[on] for task, on in ssn.binds}
    assert placed["p-0"].startswith(rack)
    assert placed["p-1"].startswith("b")


def test_where_tasks_are_listed_besides() -> None:
    listings = Listings()
    listings.move(7, Status.PENDING, Status.PENDING, Status.ALLOCATED)
    assert not listings
    # By a handle that says it is allocated: it stays on the list of those that wait.
    listings.move(7, Status.PENDING, Status.ALLOCATED, Status.ALLOCATED)
    assert listings.under(Status.PENDING) == [7]
    # By the old handle, which says that it waits: that list is right again, another is not.
    listings.move(7, Status.BINDING, Status.PENDING, Status.ALLOCATED)
    assert (listings.under(Status.PENDING), listings.under(Status.BINDING)) == ([], [7])
    listings.move(7, Status.ALLOCATED, Status.ALLOCATED, Status.BINDING)
    assert not listings
