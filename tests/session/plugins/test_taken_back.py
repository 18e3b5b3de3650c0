"""What filters and scores see of pods whose eviction was only tried, or taken back."""

from __future__ import annotations

import pytest

from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.kube.node_map import node_map
from sessions import group, node, opened, pod, queue, tasks

CONF = """
actions: "allocate, preempt"
tiers:
- plugins:
  - name: predicates
    enablePreemptable: {switch}
    enabledAllocatable: {switch}
"""


def session(release: str, *, switch: bool = True) -> Session:
    """Return a session with a pod that runs on a node."""
    conf = CONF.format(switch=str(switch).lower())
    documents = (queue("default"), node("n1"), group("g"), pod("a", "g", cpu=2, on="n1"))
    return opened(conf, *documents, release=release)[0]


def seen(ssn: Session) -> float:
    """Return how much cpu filters and scores take to be used on the node."""
    return float(node_map(ssn).accounts[0, 0])


@pytest.mark.parametrize(("release", "left"), [("v1.14.4", 2000), ("v1.15.0", 0), ("v1.15.1", 0)])
def test_a_pod_whose_eviction_is_taken_back_may_be_missed(release: str, left: float) -> None:
    ssn = session(release)
    before = seen(ssn)
    statement = Statement(ssn)
    assert statement.evict(tasks(ssn, "a")[0], "preempt") is None
    statement.discard()
    assert (before, seen(ssn)) == (2000, left)
    assert ssn.nodes.used[0, 0] == before


def test_a_pod_that_the_filters_were_prepared_for_is_not_missed() -> None:
    ssn = session("v1.15.1")
    (task,) = tasks(ssn, "a")
    assert voting.pre_predicate(ssn, task) is None
    statement = Statement(ssn)
    statement.evict(task, "preempt")
    statement.discard()
    assert seen(ssn) == 2000


@pytest.mark.parametrize("switch", [True, False])
def test_victims_that_are_tried_out_count_for_affinity_by_switch(*, switch: bool) -> None:
    assert session("v1.15.1", switch=switch).affinity_counts_victims == switch
