"""In which order a session goes through Go's maps."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from plinian.engine.session.framework.map_orders import (
    Ascending,
    MapOrders,
    MapWalk,
    RecordedOrders,
    SeededOrders,
)

NODES = MapWalk("preempt", "ns/p")
KEYS = ("a", "b", "c", "d", "e", "f", "g", "h")


def walked(orders: MapOrders, walk: MapWalk = NODES, keys: Sequence[str] = KEYS) -> list[str]:
    """Return the keys in the order of one walk."""
    return [keys[place] for place in orders.order(walk, len(keys), lambda: keys).tolist()]


def test_by_default_keys_come_in_ascending_order() -> None:
    assert walked(Ascending()) == list(KEYS)
    assert Ascending().ascending


def test_a_seed_gives_an_order_for_each_walk_that_is_the_same_again() -> None:
    one, other = SeededOrders(1), SeededOrders(1)
    first, second = walked(one), walked(one)
    assert [first, second] == [walked(other), walked(other)]
    assert first != second
    assert sorted(first) == sorted(second) == list(KEYS)
    assert walked(SeededOrders(2)) != first


def test_seeds_reach_every_order_of_three() -> None:
    found = {tuple(walked(SeededOrders(seed), keys=KEYS[:3])) for seed in range(60)}
    assert len(found) == 6


def test_recorded_keys_come_first_in_their_order() -> None:
    orders = RecordedOrders({NODES: ("f", "b", "gone", "f")}, Ascending())
    assert walked(orders) == ["f", "b", "a", "c", "d", "e", "g", "h"]
    assert not orders.ascending


def test_other_walks_and_keys_follow_the_rest() -> None:
    orders = RecordedOrders({NODES: ("b",)}, SeededOrders(1))
    assert walked(orders, MapWalk("reclaim", "ns/p")) == walked(SeededOrders(1))


@pytest.mark.parametrize("orders", [Ascending(), SeededOrders(3), RecordedOrders({}, Ascending())])
def test_an_empty_map_has_an_order(orders: MapOrders) -> None:
    assert walked(orders, keys=()) == []


def test_without_a_record_the_rest_decides_whether_all_is_ascending() -> None:
    assert RecordedOrders({}, Ascending()).ascending
    assert not RecordedOrders({}, SeededOrders(1)).ascending
