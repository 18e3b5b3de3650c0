"""How near hypernodes and nodes are to where a job's tasks run."""

from __future__ import annotations

import numpy as np
import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.model.resource import Resource
from plinian.engine.model.session_tables import NO_NODE
from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.nodes.node_views import NodeViews
from sessions import Document, document, group, node, opened, pod, queue, tasks

ALLOCATED = "volcano.sh/job-allocated-hypernode"


def hyper_node(name: str, tier: int, kind: str, *members: str) -> Document:
    """Return a hypernode whose members are named exactly."""
    listed = [{"type": kind, "selector": {"exactMatch": {"name": each}}} for each in members]
    return document("HyperNode", name, spec={"tier": tier, "members": listed})


TREE = (
    *(node(f"n{number}") for number in range(5)),
    hyper_node("s0", 1, "Node", "n0", "n1"),
    hyper_node("s1", 1, "Node", "n2"),
    hyper_node("s2", 1, "Node", "n3"),
    hyper_node("t0", 2, "HyperNode", "s0", "s1"),
    hyper_node("t1", 2, "HyperNode", "s2"),
    hyper_node("top", 3, "HyperNode", "t0", "t1"),
)


def opened_on(*documents: Document, weight: int = 1) -> Session:
    """Return a session on the tree; n4 is in none of its hypernodes."""
    conf = f"""
actions: allocate
tiers:
- plugins:
  - name: network-topology-aware
    arguments:
      weight: {weight}
"""
    return opened(conf, queue("default"), *TREE, *documents)[0]


def job_with(mode: str, hypernode: str = "", **rest: object) -> Document:
    """Return a PodGroup with a network topology, perhaps placed already."""
    marks = {"annotations": {ALLOCATED: hypernode}} if hypernode else {}
    return group("g", 2, networkTopology={"mode": mode, **rest}, **marks)


def hyper_node_scores(ssn: Session, *names: str) -> dict[str, float]:
    """Return the scores of hypernodes for the job."""
    rows = np.arange(0)
    job = ssn.jobs.row["ns/g"]
    return voting.hyper_node_order(ssn, job, ssn.jobs.tasks[job], dict.fromkeys(names, rows))


def test_a_job_that_was_not_placed_prefers_no_hypernode() -> None:
    ssn = opened_on(job_with("hard", highestTierAllowed=2), pod("p", "g"))
    assert hyper_node_scores(ssn, "s0", "s1") == {}


@pytest.mark.parametrize("weight", [1, 10])
def test_the_lower_the_common_ancestor_the_higher_the_score(weight: int) -> None:
    ssn = opened_on(job_with("hard", "s0", highestTierAllowed=3), pod("p", "g"), weight=weight)
    scores = hyper_node_scores(ssn, "s0", "s1", "s2")
    assert scores == {"s0": 100 * weight, "s1": 50 * weight, "s2": 0}


def test_of_equally_near_ones_those_with_more_of_the_jobs_tasks_score_higher() -> None:
    ssn = opened_on(
        job_with("hard", "t0", highestTierAllowed=3),
        pod("p1", "g", on="n0"),
        pod("p2", "g", on="n1"),
        pod("p3", "g", on="n2"),
        pod("p4", "g"),
    )
    assert hyper_node_scores(ssn, "s0", "s1", "s2") == {"s0": 50 + 50, "s1": 50 + 25, "s2": 0}


def node_scores(ssn: Session, hypernode: str) -> list[float] | None:
    """Return the scores of the nodes for the pod p of a job that is in a hypernode by now."""
    (task,) = tasks(ssn, "p")
    if hypernode:
        ssn.tasks.job_hypernode[task] = hypernode
    ((_, batch),) = ssn.registry.flat("BatchNodeOrder")
    scores = batch.function(task, np.arange(5))
    return None if scores is None else scores.tolist()


def test_nodes_score_by_the_hypernode_of_the_lowest_tier_that_they_are_in() -> None:
    ssn = opened_on(job_with("soft"), pod("p", "g"), pod("q", "g", on="n0"))
    # n0 and n1 are the nearest, and one of the two tasks runs there.
    assert node_scores(ssn, "s0") == [150, 150, 50, 0, 0]


def test_the_only_best_node_gets_nothing_for_the_tasks_there() -> None:
    ssn = opened_on(job_with("soft"), pod("p", "g"), pod("q", "g", on="n2"))
    assert node_scores(ssn, "s1") == [50, 50, 100, 0, 0]


def test_a_job_that_insists_or_was_not_placed_has_no_scores_of_nodes() -> None:
    assert node_scores(opened_on(job_with("soft"), pod("p", "g")), "") is None
    ssn = opened_on(job_with("hard", highestTierAllowed=1), pod("p", "g"))
    assert node_scores(ssn, "s0") is None


def test_hard_without_a_tier_is_as_good_as_nothing_said() -> None:
    ssn = opened_on(job_with("hard"), pod("p", "g"))
    assert node_scores(ssn, "s0") == [100, 100, 50, 0, 0]


def test_with_one_tier_only_the_hypernode_itself_scores() -> None:
    ssn, _ = opened(
        "network-topology-aware",
        queue("default"),
        *TREE[:7],
        job_with("soft"),
        pod("p", "g"),
    )
    assert node_scores(ssn, "s0") == [100, 100, 0, 0, 0]


def test_only_a_job_that_would_like_to_be_near_makes_scores_differ() -> None:
    def uniform(*documents: Document) -> float | None:
        ssn = opened_on(*documents)
        ((_, batch),) = ssn.registry.flat("BatchNodeOrder")
        value: float | None = batch.uniform(0)
        return value

    assert uniform(job_with("soft"), pod("p", "g")) is None
    assert uniform(job_with("hard", highestTierAllowed=1), pod("p", "g")) == 0
    assert uniform(group("g"), pod("p", "g")) == 0


@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_a_pod_that_fitted_nowhere_is_not_drawn_to_where_others_of_its_job_were_tried(
    release: str,
) -> None:
    """``first`` lies in s0 on trial, where ``large`` then fits nowhere; both are taken back."""
    ssn, _ = opened(
        "priority gang predicates network-topology-aware",
        queue("default"),
        *TREE,
        group("g", 2, networkTopology={"mode": "hard", "highestTierAllowed": 1}),
        pod("first", "g", priority=2),
        pod("large", "g", cpu=9, priority=1),
        release=release,
    )
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    (large,) = tasks(ssn, "large")
    assert ssn.tasks.node[large] == NO_NODE
    ((_, batch),) = (
        entry
        for entry in ssn.registry.flat("BatchNodeOrder")
        if entry[0] == "network-topology-aware"
    )
    scores = batch.function(large, np.arange(5))
    assert scores is None or not scores.any()


def test_hypernodes_are_tried_parent_by_parent() -> None:
    """``s1`` is of the second hall, so it is tried last; v1.14 remembers what was tried last."""
    ssn, _ = opened(
        "gang predicates network-topology-aware",
        queue("default"),
        *(node(f"n{number}") for number in range(3)),
        *(hyper_node(f"s{number}", 1, "Node", f"n{number}") for number in range(3)),
        hyper_node("t0", 2, "HyperNode", "s0", "s2"),
        hyper_node("t1", 2, "HyperNode", "s1"),
        hyper_node("top", 3, "HyperNode", "t0", "t1"),
        group("g", 2, networkTopology={"mode": "hard", "highestTierAllowed": 1}),
        pod("first", "g"),
        pod("large", "g", cpu=9),
        release="v1.14.2",
    )
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    (first,) = tasks(ssn, "first")
    _, row, _ = ssn.tasks.last_transaction[first]
    assert ssn.nodes.names[row] == "n1"


@pytest.mark.parametrize("release", ["v1.14.2", "v1.15.1"])
def test_a_hypernode_without_nodes_is_not_tried(release: str) -> None:
    """Nothing is idle there: neither where no node has the name, nor where there is no member."""
    ssn, _ = opened(
        "network-topology-aware",
        *(node(f"n{number}") for number in range(2)),
        hyper_node("s0", 1, "Node", "n0"),
        hyper_node("s1", 1, "Node", "n1"),
        hyper_node("s2", 1, "Node", "gone"),
        hyper_node("s3", 1, "Node"),
        hyper_node("top", 2, "HyperNode", "s0", "s1", "s2", "s3"),
        release=release,
    )
    least = Resource(1000.0)
    found = voting.hyper_node_gradient(ssn, "top", 1, "", least, purpose="allocate")
    assert found == [["s0", "s1"]]


@pytest.mark.parametrize("release", ["v1.14.2", "v1.15.1"])
def test_each_hypernode_is_tried_in_the_order_in_which_tasks_were_queued(release: str) -> None:
    """The first task is placed in s0, put back, and placed in s1: its bucket counts it twice.

    Pushed into a queue again, it would come after the other, whose bucket is now the larger one.
    """
    shuns = {"volcano.sh/task-topology-anti-affinity": "ps"}
    role = {"volcano.sh/task-spec": "ps"}
    ssn, _ = opened(
        "gang predicates task-topology network-topology-aware",
        queue("default"),
        *(node(f"n{number}", cpu=cpu) for number, cpu in enumerate((3, 1, 3, 1))),
        hyper_node("s0", 1, "Node", "n0", "n1"),
        hyper_node("s1", 1, "Node", "n2", "n3"),
        hyper_node("top", 2, "HyperNode", "s0", "s1"),
        group(
            "g",
            2,
            annotations=shuns,
            networkTopology={"mode": "hard", "highestTierAllowed": 1},
        ),
        *(pod(f"p{number}", "g", cpu=2, annotations=role) for number in range(2)),
        release=release,
    )
    with pytest.raises(Panic, match="not sufficient"):
        ACTIONS["allocate"](ssn, NodeViews(ssn))
