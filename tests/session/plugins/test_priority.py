"""The priority plugin: who comes first, and who gives way."""

from __future__ import annotations

from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework import voting
from sessions import document, group, job, names, node, opened, pod, queue, tasks

CLUSTER = (
    node("n1"),
    queue("default"),
    document("PriorityClass", "high", value=100),
    group("low"),
    pod("low-0", "low", on="n1", priority=5),
    pod("low-1", "low", on="n1", priority=50),
    group("high", priorityClassName="high"),
    pod("high-0", "high", priority=10),
    pod("high-1", "high", on="n1", priority=9),
    pod("high-2", "high", on="n1", priority=10),
)


def test_higher_priority_first() -> None:
    ssn, _ = opened("priority", *CLUSTER)
    assert orders.job_order(ssn, job(ssn, "high"), job(ssn, "low"))
    assert not orders.job_order(ssn, job(ssn, "low"), job(ssn, "high"))
    five, fifty = tasks(ssn, "low-0", "low-1")
    assert orders.task_order(ssn, fifty, five)


def test_jobs_of_lower_priority_give_way_and_within_a_job_tasks() -> None:
    ssn, _ = opened("priority", *CLUSTER)
    (preemptor,) = tasks(ssn, "high-0")
    candidates = tasks(ssn, "low-0", "low-1", "high-1", "high-2")
    assert names(ssn, voting.preemptable(ssn, preemptor, candidates)) == [
        "low-0",
        "low-1",
        "high-1",
    ]


def test_equal_priority_does_not_give_way() -> None:
    ssn, _ = opened("priority", *CLUSTER, group("other"), pod("other-0", "other", priority=99))
    (preemptor,) = tasks(ssn, "other-0")
    assert voting.preemptable(ssn, preemptor, tasks(ssn, "low-0")) == []


def test_a_job_starves_while_it_has_tasks_without_node() -> None:
    ssn, _ = opened("priority", *CLUSTER)
    assert voting.job_starving(ssn, job(ssn, "high"))
    assert not voting.job_starving(ssn, job(ssn, "low"))
