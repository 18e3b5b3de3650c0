"""How the cluster is divided between queues by weight."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.kubernetes.objects import Queue, decode
from plinian.engine.model.panic import Panic
from plinian.engine.model.queue import QueueInfo
from plinian.engine.model.resource import Resource
from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework import immediate, voting
from plinian.engine.session.plugins.proportion import ProportionAttr, divide, real_capability
from plinian.engine.session.plugins.shared.gauge_amounts import unguaranteed
from plinian.engine.session.plugins.shared.queue_demand import QueueDemand
from sessions import group, job, names, node, opened, pod, queue, tasks

GIGA = 1_000_000_000.0


@dataclass
class Asking:
    """A queue and what its jobs ask for, in cores, GB and GPUs; what is absent is not bounded."""

    weight: int
    request: tuple[float, float, float]
    allocated: tuple[float, float, float] = (0.0, 0.0, 0.0)
    capability: tuple[int, int] | None = None
    guarantee: tuple[int, int] | None = None


def resource(cores: float, gigabytes: float, gpus: float = 0.0) -> Resource:
    """Return an amount; no GPU is an absent one."""
    scalars = {"nvidia.com/gpu": gpus * 1000} if gpus else None
    return Resource(cores * 1000, gigabytes * GIGA, scalars)


def resource_list(amount: tuple[int, int] | None) -> dict[str, str]:
    """Return cores and GB as an API object has them."""
    return {} if amount is None else {"cpu": str(amount[0]), "memory": f"{amount[1]}G"}


def divided(total: Resource, *asking: Asking) -> list[ProportionAttr]:
    """Return the queues' accounts after the division."""
    attrs = accounts(total, *asking)
    divide(attrs, total)
    return attrs


def accounts(total: Resource, *asking: Asking) -> list[ProportionAttr]:
    """Return the queues' accounts before the division."""
    queues = [
        QueueInfo(
            decode(
                Queue,
                {
                    "metadata": {"name": f"q{number}"},
                    "spec": {
                        "weight": each.weight,
                        "capability": resource_list(each.capability),
                        "guarantee": {"resource": resource_list(each.guarantee)},
                    },
                },
            )
        )
        for number, each in enumerate(asking)
    ]
    guaranteed = Resource()
    for info in queues:
        guaranteed.add(info.guarantee)
    attrs = []
    for info, each in zip(queues, asking, strict=True):
        held, asked = resource(*each.allocated), resource(*each.request)
        demand = QueueDemand(held, asked, Resource(), Resource())
        attrs.append(
            ProportionAttr(
                info,
                demand,
                real_capability(info, unguaranteed(total, guaranteed, crashes=False)),
                {},
            )
        )
    return attrs


def deserved(attrs: list[ProportionAttr]) -> list[tuple[float, float, float]]:
    """Return what each deserves in cores, GB and GPUs, but for the dust that is left to divide."""
    return [
        (
            round(attr.deserved.cpu / 1000, 3),
            round(attr.deserved.memory / GIGA, 3),
            round(attr.deserved.get("nvidia.com/gpu") / 1000, 3),
        )
        for attr in attrs
    ]


def test_by_weight_if_all_ask_for_more() -> None:
    attrs = divided(resource(8, 16), Asking(1, (10, 20, 0)), Asking(3, (10, 20, 0)))
    assert deserved(attrs) == [(2, 4, 0), (6, 12, 0)]


def test_what_one_does_not_ask_for_goes_to_the_others() -> None:
    attrs = divided(resource(8, 16), Asking(1, (1, 20, 0)), Asking(1, (10, 2, 0)))
    assert deserved(attrs) == [(1, 14, 0), (7, 2, 0)]


def test_nobody_deserves_more_than_its_capability() -> None:
    capped = Asking(1, (10, 20, 0), capability=(3, 16))
    assert deserved(divided(resource(8, 16), capped, Asking(1, (10, 20, 0)))) == [
        (3, 8, 0),
        (5, 8, 0),
    ]


def test_a_guarantee_is_deserved_without_asking() -> None:
    attrs = divided(resource(8, 16), Asking(1, (0, 0, 0), guarantee=(2, 4)))
    assert deserved(attrs) == [(2, 4, 0)]


def test_what_others_are_guaranteed_bounds_the_rest() -> None:
    attrs = divided(
        resource(8, 16), Asking(1, (10, 20, 0)), Asking(1, (1, 1, 0), guarantee=(6, 12))
    )
    assert deserved(attrs) == [(2, 4, 0), (6, 12, 0)]


def test_guarantees_beyond_the_cluster_leave_nothing_and_do_not_crash() -> None:
    attrs = divided(
        resource(8, 16), Asking(1, (10, 20, 0)), Asking(1, (9, 20, 0), guarantee=(12, 20))
    )
    assert deserved(attrs) == [(0, 0, 0), (12, 20, 0)]


def test_a_scalar_that_is_not_requested_is_not_deserved() -> None:
    attrs = divided(resource(8, 16, 4), Asking(1, (10, 20, 0)), Asking(1, (10, 20, 9)))
    assert deserved(attrs) == [(4, 8, 0), (4, 8, 4)]


def test_without_weights_nothing_is_divided() -> None:
    attrs = divided(resource(8, 16), Asking(0, (10, 20, 0)))
    assert deserved(attrs) == [(0, 0, 0)]
    assert attrs[0].gauges == {}


def test_the_share_is_the_largest_part_used_of_what_is_deserved() -> None:
    (attr,) = divided(resource(8, 16), Asking(1, (8, 16, 0), allocated=(2, 8, 0)))
    assert attr.share == 0.5
    assert attr.gauges == {
        "deserved_milli_cpu": 8000.0,
        "deserved_memory_bytes": 16 * GIGA,
        "share": 0.5,
    }


AMOUNT = st.integers(0, 20).map(float)
QUEUES = st.lists(
    st.builds(
        Asking,
        weight=st.integers(1, 5),
        request=st.tuples(AMOUNT, AMOUNT, AMOUNT),
        capability=st.none() | st.tuples(st.integers(1, 20), st.integers(1, 20)),
    ),
    min_size=1,
    max_size=5,
)


@given(QUEUES)
def test_without_guarantees_nothing_is_deserved_twice_or_unasked(asking: list[Asking]) -> None:
    total = (16.0, 32.0, 8.0)
    shares = deserved(divided(resource(*total), *asking))
    for dim, whole in enumerate(total):
        assert sum(share[dim] for share in shares) <= whole + 0.003
    for share, each in zip(shares, asking, strict=True):
        assert all(got <= asked + 0.001 for got, asked in zip(share, each.request, strict=True))
        if each.capability is not None:
            assert share[0] <= each.capability[0] + 0.001
            assert share[1] <= each.capability[1] + 0.001


@given(QUEUES, st.randoms(use_true_random=False))
def test_the_order_of_queues_does_not_matter(asking: list[Asking], shuffler: object) -> None:
    order = list(range(len(asking)))
    shuffler.shuffle(order)  # type: ignore[attr-defined]
    total = resource(16, 32, 8)
    plain = deserved(divided(total, *asking))
    other = deserved(divided(total, *(asking[index] for index in order)))
    for place, index in enumerate(order):
        assert other[place] == pytest.approx(plain[index], abs=0.002)


CLUSTER = (
    node("n1", 10),
    queue("a"),
    queue("b", weight=3),
    queue("idle"),
    group("a", queue="a"),
    *(pod(f"a-{n}", "a", 2, on="n1") for n in range(4)),
    pod("a-new", "a", 1),
    group("b", queue="b"),
    pod("b-0", "b", 1, on="n1"),
    pod("b-new", "b", 8),
)


def test_less_share_first_and_priority_before_it() -> None:
    ssn, _ = opened("proportion", *CLUSTER)
    assert orders.queue_order(ssn, "b", "a")
    important = queue("a", priority=5)
    ssn, _ = opened("proportion", *(important if each == queue("a") else each for each in CLUSTER))
    assert orders.queue_order(ssn, "a", "b")


def test_a_queue_with_more_than_it_deserves_is_overused_and_takes_nothing() -> None:
    ssn, _ = opened("proportion", *CLUSTER)
    (a_new, b_new) = tasks(ssn, "a-new", "b-new")
    assert not voting.allocatable(ssn, "a", a_new), "a deserves 2.5 of 10 cores and has 8"
    assert not voting.allocatable(ssn, "b", b_new), "b deserves 7.5, and 1 + 8 is more"
    assert not voting.preemptive(ssn, "b", (b_new,))
    assert not voting.overused(ssn, "b")
    assert ssn.process.gauges["b"]["overused"] == 0.0


def test_reclaim_takes_down_to_what_a_queue_deserves() -> None:
    ssn, _ = opened("proportion", *CLUSTER)
    (reclaimer,) = tasks(ssn, "b-new")
    candidates = tasks(ssn, "a-0", "a-1", "a-2", "a-3", "b-0")
    assert names(ssn, voting.reclaimable(ssn, reclaimer, candidates)) == ["a-0", "a-1", "a-2"]


def test_placing_and_evicting_move_share_and_gauges() -> None:
    ssn, _ = opened("proportion", *CLUSTER)
    before = dict(ssn.process.gauges["b"])
    (task,) = tasks(ssn, "b-new")
    immediate.allocate(ssn, task, 0)
    assert ssn.process.gauges["b"]["allocated_milli_cpu"] == 9000.0
    assert ssn.process.gauges["b"]["share"] > before["share"]
    immediate.evict(ssn, task, "test")
    assert ssn.process.gauges["b"] == before


def test_a_queue_without_jobs_has_two_gauges_only() -> None:
    ssn, _ = opened("proportion", *CLUSTER)
    assert ssn.process.gauges["idle"] == dict.fromkeys(
        (
            "allocated_milli_cpu",
            "allocated_memory_bytes",
            "request_milli_cpu",
            "request_memory_bytes",
        ),
        0.0,
    )


def test_jobs_are_enqueued_up_to_the_real_capability() -> None:
    ssn, _ = opened(
        "proportion",
        node("n1", 10),
        queue("default", capability={"cpu": "6"}),
        group("running", phase="Running", minResources={"cpu": "1"}),
        *(pod(f"running-{n}", "running", 1, on="n1") for n in range(3)),
        *(group(name, phase="Pending", minResources={"cpu": "3"}) for name in "ab"),
    )
    assert voting.job_enqueueable(ssn, job(ssn, "a"), "a"), (
        "3 + 3 allocated - 2 that could be given back"
    )
    assert not voting.job_enqueueable(ssn, job(ssn, "b"), "b")
    assert ssn.events[-1][2] == "queue resource quota insufficient"


def test_a_queue_that_is_not_open_takes_nothing() -> None:
    ssn, _ = opened(
        "proportion",
        node("n1", 10),
        queue("default", state="Closing"),
        group("a", phase="Pending"),
        pod("a-0", "a"),
    )
    assert not voting.job_enqueueable(ssn, job(ssn, "a"), "a")
    assert not voting.allocatable(ssn, "default", tasks(ssn, "a-0")[0])


def test_what_queues_deserve_is_told_before_the_division_crashes() -> None:
    """Each gets its part of the round: with the guarantee, they are more than there is."""
    attrs = accounts(
        resource(10, 10),
        Asking(1, (10.0, 10.0, 0.0), (2.0, 2.0, 0.0), guarantee=(8, 8)),
        Asking(1, (10.0, 10.0, 0.0), (1.0, 1.0, 0.0)),
        Asking(1, (10.0, 10.0, 0.0)),
    )
    with pytest.raises(Panic, match="not sufficient"):
        divide(attrs, resource(10, 10), crashes=True)
    assert [attr.gauges["deserved_milli_cpu"] for attr in attrs] == [8000.0, 2000.0, 2000.0]
    assert [attr.gauges["share"] for attr in attrs] == [0.25, 0.5, 0.0]


@pytest.mark.parametrize(("release", "may"), [("v1.10.2", True), ("v1.11.0", False)])
def test_whether_a_queue_at_its_deserved_may_reclaim_is_answered_since_v1_11(
    release: str, *, may: bool
) -> None:
    """Before, ``reclaim`` asks whether the queue may allocate; a switch can turn that off."""
    ssn, _ = opened(
        "proportion",
        node("n1", cpu=4),
        queue("default"),
        group("g"),
        pod("runs", "g", cpu=2, on="n1"),
        pod("waits", "g", cpu=9),
        release=release,
    )
    assert voting.preemptive(ssn, "default", tasks(ssn, "waits")) is may
