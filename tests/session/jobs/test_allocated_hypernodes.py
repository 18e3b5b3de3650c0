"""Where the running pods of a job are, as a process that was just started finds out."""

from __future__ import annotations

import pytest

from sessions import Document, document, group, node, opened, pod, queue


def hyper_node(name: str, tier: int, kind: str, *members: str) -> Document:
    """Return a hypernode whose members are named exactly."""
    listed = [{"type": kind, "selector": {"exactMatch": {"name": each}}} for each in members]
    return document("HyperNode", name, spec={"tier": tier, "members": listed})


@pytest.mark.parametrize(
    ("release", "on", "found"),
    [
        ("v1.14.0", ("n1",), "row"),
        ("v1.14.1", ("n1",), "switch"),
        ("v1.15.1", ("n1",), "switch"),
        ("v1.14.0", ("n1", "n2"), "hall"),
        ("v1.14.1", ("n1", "n2"), "hall"),
    ],
)
def test_a_hypernode_with_the_nodes_of_one_below_it_may_be_taken_for_it(
    release: str, on: tuple[str, ...], found: str
) -> None:
    """``row`` has no more nodes than ``switch``; ``hall`` has both, and n3 is in none."""
    topology = {"mode": "hard", "highestTierAllowed": 3}
    ssn, _ = opened(
        "network-topology-aware",
        queue("default"),
        *(node(name) for name in ("n1", "n2", "n3")),
        hyper_node("switch", 1, "Node", "n1"),
        hyper_node("row", 2, "HyperNode", "switch"),
        hyper_node("other", 1, "Node", "n2"),
        hyper_node("hall", 3, "HyperNode", "row", "other"),
        group("g", networkTopology=topology),
        *(pod(f"p{index}", "g", on=each) for index, each in enumerate(on)),
        pod("more", "g"),
        release=release,
    )
    assert ssn.sub_jobs.of(ssn.jobs.row["ns/g"]).hypernode == found


@pytest.mark.parametrize("release", ["v1.14.0", "v1.14.2", "v1.15.1"])
def test_a_task_on_a_node_that_is_lost_hides_where_its_job_is(release: str) -> None:
    """No hypernode has its node, and so none has all of the job's."""
    topology = {"mode": "hard", "highestTierAllowed": 1}
    ssn, _ = opened(
        "network-topology-aware",
        queue("default"),
        node("n1"),
        hyper_node("switch", 1, "Node", "n1", "lost"),
        group("g", networkTopology=topology),
        pod("p0", "g", on="n1"),
        pod("p1", "g", on="lost"),
        pod("more", "g"),
        release=release,
    )
    assert ssn.sub_jobs.of(ssn.jobs.row["ns/g"]).hypernode == ""
