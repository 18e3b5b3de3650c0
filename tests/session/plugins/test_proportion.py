"""How the cluster is divided between queues by weight."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.belief.objects import Queue, decode
from plinian.engine.belief.queue import QueueInfo
from plinian.engine.belief.resource import Resource
from plinian.engine.session.plugins.proportion import QueueAttr, divide, real_capability
from plinian.engine.session.plugins.queue_demand import QueueDemand

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


def divided(total: Resource, *asking: Asking) -> list[QueueAttr]:
    """Return the queues' accounts after the division."""
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
    for queue in queues:
        guaranteed.add(queue.guarantee)
    attrs = []
    for queue, each in zip(queues, asking, strict=True):
        held, asked = resource(*each.allocated), resource(*each.request)
        demand = QueueDemand(held, asked, Resource(), Resource())
        attrs.append(QueueAttr(queue, demand, real_capability(queue, total, guaranteed), {}))
    divide(attrs, total)
    return attrs


def deserved(attrs: list[QueueAttr]) -> list[tuple[float, float, float]]:
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
