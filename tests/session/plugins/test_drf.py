"""The drf plugin: dominant shares of jobs, and of queues in a tree."""

from __future__ import annotations

import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework import immediate, voting
from sessions import Document, group, job, names, node, opened, pod, queue, tasks

HDRF = """
actions: "allocate"
tiers:
- plugins:
  - name: drf
    enableHierarchy: true
"""


def leaf(name: str, path: str, weights: str) -> Document:
    """Return a queue with its place in the tree."""
    marks = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
    return queue(name, annotations=marks)


def test_less_share_first_and_every_placement_moves_it() -> None:
    ssn, _ = opened(
        "drf",
        node("n1"),
        queue("default"),
        group("a"),
        pod("a-0", "a", 1, on="n1"),
        pod("a-1", "a", 1),
        group("b"),
        pod("b-0", "b", 0, on="n1", requests={"memory": "4Gi"}),
    )
    a, b = job(ssn, "a"), job(ssn, "b")
    assert orders.job_order(ssn, a, b), "1 of 8 cores is less than 4 of 16 GiB"
    (task,) = tasks(ssn, "a-1")
    immediate.allocate(ssn, task, 0)
    assert orders.job_order(ssn, a, b), (
        "of equal shares the older job is first, then the lesser name"
    )
    assert not orders.job_order(ssn, b, a)
    immediate.evict(ssn, tasks(ssn, "b-0")[0], "test")
    assert orders.job_order(ssn, b, a)


def test_jobs_may_preempt_those_that_keep_as_much() -> None:
    ssn, _ = opened(
        "drf",
        node("n1"),
        queue("default"),
        group("poor"),
        pod("poor-0", "poor", 1),
        group("rich"),
        *(pod(f"rich-{n}", "rich", 1, on="n1") for n in range(3)),
    )
    (preemptor,) = tasks(ssn, "poor-0")
    candidates = tasks(ssn, "rich-0", "rich-1", "rich-2")
    assert names(ssn, voting.preemptable(ssn, preemptor, candidates)) == ["rich-0", "rich-1"]


def test_a_candidate_beyond_what_its_job_holds_is_a_crash() -> None:
    ssn, _ = opened(
        "drf", node("n1"), queue("default"), group("a"), pod("a-0", "a", on="n1"), pod("a-1", "a")
    )
    running, pending = tasks(ssn, "a-0", "a-1")
    with pytest.raises(Panic, match=r"resource is not sufficient to do operation: <cpu 0\.00"):
        voting.preemptable(ssn, pending, [running, running])


def test_queues_in_a_tree() -> None:
    ssn, _ = opened(
        HDRF,
        node("n1", 12),
        leaf("sci", "root/sci", "100/50"),
        leaf("dev", "root/eng/dev", "100/50/50"),
        leaf("prod", "root/eng/prod", "100/50/50"),
        *(group(name, queue=name) for name in ("sci", "dev", "prod")),
        pod("sci-0", "sci", 4, on="n1"),
        pod("sci-1", "sci", 4),
        pod("dev-0", "dev", 3, on="n1"),
        pod("dev-1", "dev", 3),
        pod("prod-0", "prod", 1),
    )
    assert orders.queue_order(ssn, "dev", "sci")
    assert orders.queue_order(ssn, "prod", "dev")
    (task,) = tasks(ssn, "dev-1")
    immediate.allocate(ssn, task, 0)
    assert orders.queue_order(ssn, "sci", "dev"), "eng has 6 of 12 cores now"


def test_reclaim_takes_from_queues_that_still_come_later() -> None:
    ssn, _ = opened(
        HDRF,
        node("n1", 10),
        leaf("a", "root/a", "1/1"),
        leaf("b", "root/b", "1/1"),
        group("a", queue="a"),
        group("b", queue="b"),
        *(pod(f"a-{n}", "a", 1, on="n1") for n in range(2)),
        *(pod(f"b-{n}", "b", 2, on="n1") for n in range(4)),
        pod("a-new", "a", 2),
        pod("b-new", "b", 1),
    )
    (reclaimer,) = tasks(ssn, "a-new")
    victims = voting.reclaimable(ssn, reclaimer, tasks(ssn, "b-0", "b-1", "b-2"))
    assert names(ssn, victims) == ["b-0", "b-1", "b-2"], "each is looked at by itself"
    (other,) = tasks(ssn, "b-new")
    assert voting.reclaimable(ssn, other, tasks(ssn, "a-0")) == []
    assert orders.queue_order(ssn, "a", "b"), "asking changes nothing"


def test_a_path_without_weights_crashes_the_session() -> None:
    with pytest.raises(Panic, match=r"index out of range \[2\] with length 2") as caught:
        opened(HDRF, node("n1"), leaf("a", "root/x/a", "1/2"), group("a", queue="a"))
    assert caught.value.place[-1] == "framework.OpenSession"
