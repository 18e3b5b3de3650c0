"""What queues may use and deserve when they know no parents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.model.panic import Panic
from plinian.engine.model.resource import Resource
from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework import immediate, voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.trace import PERMIT, REJECT
from plinian.engine.session.plugins.capacity import Capacity
from plinian.engine.session.plugins.capacity.attrs import QueueAttr, fits
from sessions import Document, group, job, names, node, opened, pod, queue, tasks

GIB = 1024.0**3
DEFAULT = queue("default")


def capacity(*documents: Document) -> tuple[Session, dict[str, QueueAttr]]:
    """Return a session with only this plugin, and the accounts that it opened."""
    ssn, plugins = opened("capacity", DEFAULT, *documents)
    plugin = plugins["capacity"]
    assert isinstance(plugin, Capacity)
    return ssn, plugin._attrs


def test_only_queues_with_jobs_have_accounts() -> None:
    _, attrs = capacity(node("n1"), queue("a"), queue("b"), group("j1", queue="a"))
    assert list(attrs) == ["a"]


def test_real_capability_is_what_others_are_not_guaranteed_up_to_the_capability() -> None:
    _, attrs = capacity(
        node("n1", cpu=10),
        queue("a", guarantee={"resource": {"cpu": "3"}}, capability={"cpu": "8"}),
        queue("b", guarantee={"resource": {"cpu": "4"}}),
        group("j1", queue="a"),
        group("j2", queue="b"),
    )
    assert attrs["a"].real_capability == Resource(6000, 16 * GIB, {"pods": 110.0})
    assert attrs["b"].real_capability.cpu == 7000


def test_a_capability_bounds_only_resources_that_the_cluster_has() -> None:
    _, attrs = capacity(
        node("n1"), queue("a", capability={"nvidia.com/gpu": "4"}), group("j1", queue="a")
    )
    assert "nvidia.com/gpu" not in attrs["a"].real_capability.scalars


def test_deserved_is_at_most_the_real_capability_and_at_least_the_guarantee() -> None:
    _, attrs = capacity(
        node("n1", cpu=10),
        queue("a", deserved={"cpu": "20", "memory": "1Gi"}),
        queue("b", deserved={"cpu": "1"}, guarantee={"resource": {"cpu": "2"}}),
        group("j1", queue="a"),
        group("j2", queue="b"),
    )
    assert attrs["a"].deserved == Resource(8000, GIB)
    assert attrs["b"].deserved == Resource(2000, 0)


def test_share_is_the_largest_part_of_what_is_deserved() -> None:
    ssn, attrs = capacity(
        node("n1"),
        queue("a", deserved={"cpu": "4", "memory": "8Gi", "pods": "10"}),
        group("j1", queue="a"),
        pod("p1", "j1", cpu=1, requests={"memory": "6Gi"}, on="n1"),
    )
    assert attrs["a"].share == 0.75
    assert ssn.process.gauges["a"]["share"] == 0.75


def test_the_queue_of_higher_priority_and_then_of_less_share_comes_first() -> None:
    ssn, _ = capacity(
        node("n1"),
        queue("a", deserved={"cpu": "4"}),
        queue("b", deserved={"cpu": "4"}),
        queue("c", deserved={"cpu": "4"}, priority=1),
        *(group(f"j-{name}", queue=name) for name in "abc"),
        pod("p1", "j-a", on="n1"),
        pod("p2", "j-c", cpu=4, on="n1"),
    )
    assert orders.queue_order(ssn, "b", "a")
    assert not orders.queue_order(ssn, "a", "b")
    assert orders.queue_order(ssn, "c", "b")


def test_a_task_fits_as_long_as_the_real_capability_is_not_exceeded() -> None:
    ssn, _ = capacity(
        node("n1"),
        queue("a", capability={"cpu": "3", "memory": "2Gi"}),
        group("j1", queue="a"),
        pod("p1", "j1", cpu=1, on="n1"),
        pod("p2", "j1", cpu=2),
        pod("p3", "j1", cpu="2001m"),
        pod("p4", "j1", cpu=1, requests={"memory": "3Gi"}),
        pod("p5", "j1", cpu=1, requests={"nvidia.com/gpu": "1"}),
    )
    allowed = [voting.allocatable(ssn, "a", task) for task in tasks(ssn, "p2", "p3", "p4", "p5")]
    assert allowed == [True, False, False, False]


def test_what_a_task_does_not_request_is_not_looked_at() -> None:
    ssn, _ = capacity(
        node("n1"),
        queue("a", capability={"cpu": "3", "memory": "1Gi"}),
        group("j1", queue="a"),
        pod("p1", "j1", cpu=1, requests={"memory": "2Gi"}, on="n1"),
        pod("p2", "j1", cpu=1),
    )
    assert voting.allocatable(ssn, "a", *tasks(ssn, "p2"))


@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown", ""])
def test_a_queue_that_is_not_open_takes_nothing(state: str) -> None:
    ssn, _ = capacity(
        node("n1"),
        queue("a", state=state, deserved={"cpu": "8"}),
        group("j1", queue="a", phase="Pending", minResources={"cpu": "1"}),
        pod("p1", "j1"),
    )
    (task,) = tasks(ssn, "p1")
    assert not voting.allocatable(ssn, "a", task)
    assert not voting.preemptive(ssn, "a", (task,))
    assert not voting.job_enqueueable(ssn, job(ssn, "j1"), "ns/j1")


def test_a_queue_reclaims_for_a_task_within_what_it_deserves() -> None:
    ssn, _ = capacity(
        node("n1"),
        queue("a", deserved={"cpu": "2"}),
        group("j1", queue="a"),
        pod("p1", "j1", cpu=1, on="n1"),
        pod("p2", "j1", cpu=1),
        pod("p3", "j1", cpu=1, requests={"memory": "1Gi"}),
    )
    two, three = tasks(ssn, "p2", "p3")
    assert voting.preemptive(ssn, "a", (two,))
    assert ssn.process.gauges["a"]["overused"] == 0
    assert not voting.preemptive(ssn, "a", (three,))
    assert ssn.process.gauges["a"]["overused"] == 1


def reclaimed(*documents: Document) -> list[str]:
    """Return which of the pods p1, p2 … of the queue ``a`` a pod of the queue ``b`` may reclaim."""
    ssn, _ = capacity(node("n1"), queue("b"), group("jb", queue="b"), pod("r", "jb"), *documents)
    (reclaimer,) = tasks(ssn, "r")
    candidates = [t for t, info in enumerate(ssn.tasks.info) if info.name.startswith("p")]
    return names(ssn, voting.reclaimable(ssn, reclaimer, candidates))


PODS = (
    group("ja", queue="a"),
    *(pod(f"p{number}", "ja", cpu=2, on="n1") for number in (1, 2, 3)),
)


def test_victims_are_taken_until_a_queue_has_no_more_than_it_deserves() -> None:
    assert reclaimed(queue("a", deserved={"cpu": "4", "memory": "1Gi"}), *PODS) == ["p1"]


def test_what_is_guaranteed_is_not_reclaimed() -> None:
    spared = queue("a", deserved={"cpu": "1"}, guarantee={"resource": {"cpu": "3"}})
    assert reclaimed(spared, *PODS) == ["p1"]


def test_a_scalar_that_is_deserved_and_not_held_makes_a_queue_exceed_what_it_deserves() -> None:
    deserved = {"cpu": "8", "memory": "1Gi", "example.com/foo": "1"}
    assert reclaimed(queue("a", deserved=deserved), *PODS) == ["p1", "p2", "p3"]


def enqueues(*documents: Document, phase: str = "Pending", **spec: object) -> bool:
    """Return whether a job of the queue ``a`` is enqueued."""
    asking = group("new", queue="a", phase=phase, **spec)
    ssn, _ = capacity(node("n1"), queue("a", capability={"cpu": "4"}), asking, *documents)
    return voting.job_enqueueable(ssn, job(ssn, "new"), "ns/new")


def test_a_job_is_enqueued_within_the_real_capability() -> None:
    assert enqueues(minResources={"cpu": "4"})
    assert not enqueues(minResources={"cpu": "4001m"})


def test_a_job_without_min_resources_is_always_enqueued() -> None:
    held = (group("j1", queue="a"), pod("p1", "j1", cpu=8, on="n1"))
    assert enqueues(*held)


def test_what_is_enqueued_already_counts_and_what_is_elastic_does_not() -> None:
    waiting = group("j1", queue="a", minResources={"cpu": "3"})
    assert enqueues(waiting, minResources={"cpu": "1"})
    assert not enqueues(waiting, minResources={"cpu": "2"})
    elastic = (group("j2", queue="a", minResources={"cpu": "1"}, phase="Running"),)
    elastic = (*elastic, pod("p1", "j2", cpu=1, on="n1"), pod("p2", "j2", cpu=2, on="n1"))
    assert enqueues(*elastic, minResources={"cpu": "3"})
    assert not enqueues(*elastic, minResources={"cpu": "3001m"})


def test_a_job_that_is_enqueued_counts_for_the_next_one() -> None:
    ssn, attrs = capacity(
        node("n1"),
        queue("a", capability={"cpu": "4"}),
        *(group(f"j{n}", queue="a", phase="Pending", minResources={"cpu": "3"}) for n in (1, 2)),
    )
    assert voting.job_enqueueable(ssn, job(ssn, "j1"), "ns/j1")
    assert attrs["a"].inqueue.cpu == 3000
    assert not voting.job_enqueueable(ssn, job(ssn, "j2"), "ns/j2")
    assert ssn.events == [(job(ssn, "j2"), "Unschedulable", "queue resource quota insufficient")]


def test_evictions_before_the_enqueueing_can_crash_it() -> None:
    """Elastic resources are those at the opening; what is allocated may be less by then."""
    ssn, _ = capacity(
        node("n1"),
        queue("a"),
        group("j1", queue="a", minResources={"cpu": "1"}, phase="Running"),
        pod("p1", "j1", cpu=2, on="n1"),
        group("j2", queue="a", phase="Pending", minResources={"cpu": "500m"}),
    )
    (task,) = tasks(ssn, "p1")
    immediate.evict(ssn, task, "reclaim")
    with pytest.raises(Panic, match="resource is not sufficient to do operation"):
        voting.job_enqueueable(ssn, job(ssn, "j2"), "ns/j2")


def test_placing_and_evicting_move_share_and_gauges() -> None:
    ssn, attrs = capacity(
        node("n1"),
        queue("a", deserved={"cpu": "4"}),
        group("j1", queue="a", min_member=2),
        pod("p1", "j1"),
    )
    (task,) = tasks(ssn, "p1")
    immediate.pipeline(ssn, task, 0)
    assert (attrs["a"].share, ssn.process.gauges["a"]["allocated_milli_cpu"]) == (0.25, 1000)
    ssn.registry.notify_deallocated(task, 0)
    assert (attrs["a"].share, ssn.process.gauges["a"]["allocated_milli_cpu"]) == (0, 0)


def test_a_queue_without_jobs_shows_what_it_would_have() -> None:
    ssn, _ = capacity(
        node("n1", cpu=8),
        queue("a", deserved={"cpu": "9"}, capability={"cpu": "3"}),
        queue("b", guarantee={"resource": {"cpu": "2"}}),
    )
    gauges = ssn.process.gauges["a"]
    assert gauges["deserved_milli_cpu"] == 9000
    assert gauges["capacity_milli_cpu"] == 3000
    assert gauges["capacity_memory_bytes"] == 0
    assert gauges["real_capacity_milli_cpu"] == 3000
    assert gauges["real_capacity_memory_bytes"] == 0
    assert gauges["allocated_milli_cpu"] == 0
    assert "share" not in gauges
    assert ssn.process.gauges["b"]["real_capacity_milli_cpu"] == 8000


amounts = st.sampled_from([0.0, 1.0, 500.0, 1000.0])
resources = st.builds(
    Resource,
    amounts,
    amounts,
    st.none() | st.dictionaries(st.sampled_from(["pods", "a/b", "c/d"]), amounts),
)


@given(resources, resources, st.none() | resources)
def test_the_short_cut_for_tasks_says_what_the_comparison_says(
    used: Resource, request: Resource, limit: Resource | None
) -> None:
    expected = used.clone().add(request).less_equal_with_dimension(limit, request)
    assert fits(used, request, limit) is expected


def test_verdicts_tell_what_was_compared() -> None:
    ssn, _ = capacity(
        node("n1"), queue("a", capability={"cpu": "1"}), group("j1", queue="a"), pod("p1", "j1", 2)
    )
    voting.allocatable(ssn, "a", *tasks(ssn, "p1"))
    step = next(step for step in ssn.trace.steps if step.what == "Allocatable")
    assert (step.by, step.outcome) == ("capacity", "reject")
    assert step.numbers["realCapability"] == {"cpu": 1000.0, "memory": 16 * GIB, "pods": 110.0}
    assert step.numbers["requested"] == {"cpu": 2000.0, "memory": 0.0, "pods": 1.0}
    assert {PERMIT, REJECT} == {1, -1}
