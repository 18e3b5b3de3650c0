"""What queues' jobs hold, ask for, could give back, and have reserved."""

from __future__ import annotations

from plinian.engine.model.resource import Resource
from plinian.engine.session.framework.session import Session
from plinian.engine.session.plugins.shared.inqueue import inqueue_resource
from plinian.engine.session.plugins.shared.queue_demand import QueueDemand, queue_demands
from sessions import Document, group, job, node, opened, pod, queue

GPU = "nvidia.com/gpu"


def session(*documents: Document) -> Session:
    return opened("gang", node("n1", more={GPU: "8"}), queue("a"), queue("b"), *documents)[0]


def demand(*documents: Document) -> QueueDemand:
    return queue_demands(session(*documents))["a"]


def test_only_queues_with_jobs_in_order_of_name() -> None:
    ssn = session(group("x", queue="b"), group("y", queue="a"))
    assert list(queue_demands(ssn)) == ["a", "b"]


def test_what_is_held_and_what_is_asked_for() -> None:
    found = demand(
        group("x", queue="a"),
        pod("x-0", "x", 1, on="n1", requests={GPU: "1"}),
        pod("x-1", "x", 2),
        pod("x-2", "x", 4, on="n1", status={"phase": "Succeeded"}),
        group("y", queue="b"),
        pod("y-0", "y", 8, on="n1"),
    )
    assert found.allocated == Resource(1000.0, 0.0, {GPU: 1000.0, "pods": 1.0})
    assert found.request == Resource(3000.0, 0.0, {GPU: 1000.0, "pods": 2.0})


def test_a_scalar_of_which_nothing_is_requested_is_present() -> None:
    found = demand(group("x", queue="a"), pod("x-0", "x", 1, on="n1", requests={GPU: "0"}))
    assert found.allocated.scalars == {GPU: 0.0, "pods": 1.0}
    assert found.request.scalars == {GPU: 0.0, "pods": 1.0}


def test_what_could_be_given_back_job_by_job() -> None:
    found = demand(
        group("x", queue="a", minResources={"cpu": "1"}),
        *(pod(f"x-{n}", "x", 1, on="n1") for n in range(3)),
        group("y", queue="a", minResources={"cpu": "9"}),
        pod("y-0", "y", 1, on="n1"),
    )
    assert found.elastic == Resource(2000.0, 0.0, {"pods": 4.0})


def test_what_is_kept() -> None:
    found = demand(
        group("x", queue="a", minResources={"cpu": "3"}),
        group("y", 1, "Running", queue="a", minResources={"cpu": "5"}),
        pod("y-0", "y", 1, on="n1"),
        group("z", 2, "Running", queue="a", minResources={"cpu": "50"}),
        pod("z-0", "z", 1, on="n1"),
        group("w", phase="Pending", queue="a", minResources={"cpu": "500"}),
    )
    assert found.inqueue == Resource(7000.0)


def test_jobs_before_a_row_only() -> None:
    ssn = session(
        group("x", queue="a", minResources={"cpu": "3"}),
        pod("x-0", "x", 1, on="n1"),
        group("y", queue="a", minResources={"cpu": "3"}),
        pod("y-0", "y", 1, on="n1"),
    )
    found = queue_demands(ssn, until=job(ssn, "y"))["a"]
    assert (found.allocated.cpu, found.inqueue.cpu) == (1000.0, 3000.0)


def test_scalars_are_wanted_in_units_and_held_in_milli() -> None:
    held = Resource(500.0, 100.0, {GPU: 2000.0})
    wanted = {
        "cpu": "2",
        "memory": "1k",
        GPU: "4",
        "hugepages-2Mi": "1Gi",
        "pods": "9",
        "storage": "1",
    }
    assert inqueue_resource(wanted, held) == Resource(1500.0, 900.0, {"hugepages-2Mi": 2.0**30})
    assert inqueue_resource({GPU: "4000"}, held) == Resource(scalars={GPU: 2000.0})
    assert inqueue_resource({GPU: "4", "cpu": "100m"}, held) == Resource(scalars={})
