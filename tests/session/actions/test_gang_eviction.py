"""gangpreempt and gangreclaim: for whom who goes."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.model.session_tables import TaskStatus
from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.jobs.allocated_hypernodes import HypernodeMemory
from plinian.engine.session.jobs.stale_status_index import StaleStatusIndex
from plinian.engine.session.nodes.node_views import NodeViews
from plinian.engine.session.topology.top_hypernode import CLUSTER_TOP
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
        if ssn.tasks.status.item(row) == TaskStatus.PIPELINED
    }


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
    ACTIONS["gangpreempt"](ssn, NodeViews(ssn))
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
    assert ssn.tasks.status[tasks(ssn, "v-0")[0]] == TaskStatus.RUNNING
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
    assert not process.memory.of(HypernodeMemory).by_job


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
    ACTIONS["gangpreempt"](ssn, NodeViews(ssn))
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
    ACTIONS["gangreclaim"](ssn, NodeViews(ssn))
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
    ACTIONS["gangpreempt"](ssn, NodeViews(ssn))
    assert pipelined(ssn) == {"p-0": "n", "p-1": "n"}
    assert ssn.sub_jobs.of(job(ssn, "p")).sub_jobs[0].nominated == CLUSTER_TOP
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    assert pipelined(ssn) == {}
    assert ssn.sub_jobs.of(job(ssn, "p")).sub_jobs[0].nominated == ""


def test_a_gang_goes_where_its_pods_were_nominated_before() -> None:
    """An earlier session told it of another node: that has room, and is within the domain."""
    ssn = session(
        node("a", cpu=2),
        node("b", cpu=2),
        queue("default"),
        group("p", min_member=2, priorityClassName="high"),
        *(pod(f"p-{n}", "p", priority=100, status={"nominatedNodeName": "b"}) for n in range(2)),
        victim(min_member=1),
        running("v-0", "v", on="a"),
    )
    ACTIONS["gangpreempt"](ssn, NodeViews(ssn))
    assert set(pipelined(ssn).values()) == {"a"}
    ACTIONS["allocate"](ssn, NodeViews(ssn))
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
    ACTIONS["gangpreempt"](ssn, NodeViews(ssn))
    told = tasks(ssn, "p-0", "p-1")
    assert [ssn.sub_jobs.nominated_node(task) for task in told] == ["gone", "n"]
    ACTIONS["allocate"](ssn, NodeViews(ssn))
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
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    placed = {ssn.tasks.info[task].name: ssn.nodes.names[on] for task, on in ssn.binds}
    assert placed["p-0"].startswith(rack)
    assert placed["p-1"].startswith("b")


def test_where_tasks_are_listed_besides() -> None:
    listings = StaleStatusIndex()
    listings.move(7, TaskStatus.PENDING, TaskStatus.PENDING, TaskStatus.ALLOCATED)
    assert not listings
    # By a handle that says it is allocated: it stays on the list of those that wait.
    listings.move(7, TaskStatus.PENDING, TaskStatus.ALLOCATED, TaskStatus.ALLOCATED)
    assert listings.under(TaskStatus.PENDING) == [7]
    # By the old handle, which says that it waits: that list is right again, another is not.
    listings.move(7, TaskStatus.BINDING, TaskStatus.PENDING, TaskStatus.ALLOCATED)
    assert (listings.under(TaskStatus.PENDING), listings.under(TaskStatus.BINDING)) == ([], [7])
    listings.move(7, TaskStatus.ALLOCATED, TaskStatus.ALLOCATED, TaskStatus.BINDING)
    assert not listings
