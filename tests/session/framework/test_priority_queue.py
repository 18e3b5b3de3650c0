"""The heap moves its elements as Go's container/heap does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.session.framework.priority_queue import KeyedQueue, PriorityQueue


def test_equal_elements_come_out_in_the_order_of_gos_swaps() -> None:
    """Five equals, pushed a to e: Go pops a, e, d, c, b (its swaps carried out by hand)."""
    queue: PriorityQueue[str] = PriorityQueue(lambda _left, _right: False)
    for item in "abcde":
        queue.push(item)
    assert [queue.pop() for _ in range(5)] == ["a", "e", "d", "c", "b"]


def test_a_rank_that_changes_inside_does_not_move_an_element() -> None:
    rank = {"a": 1, "b": 2, "c": 3}
    queue: PriorityQueue[str] = PriorityQueue(lambda left, right: rank[left] < rank[right])
    for item in "abc":
        queue.push(item)
    rank["c"] = 0
    assert queue.pop() == "a"
    assert queue.pop() == "c"


def test_a_copy_keeps_the_place_of_an_element_whose_rank_changed() -> None:
    """Since v1.14 a queue is copied as it is; until v1.13 its elements were pushed again."""
    rank = {"a": 1, "b": 2, "c": 3}
    queue: PriorityQueue[str] = PriorityQueue(lambda left, right: rank[left] < rank[right])
    for item in "abc":
        queue.push(item)
    rank["a"] = 4
    copied, again = queue.clone(), queue.pushed_again()
    assert [copied.pop() for _ in range(3)] == ["a", "b", "c"]
    assert [again.pop() for _ in range(3)] == ["b", "c", "a"]
    assert len(queue) == 3


@given(st.lists(st.integers()))
def test_distinct_ranks_come_out_sorted(items: list[int]) -> None:
    queue: PriorityQueue[int] = PriorityQueue(lambda left, right: left < right)
    for item in items:
        queue.push(item)
    clone = queue.clone()
    assert [queue.pop() for _ in items] == sorted(items)
    assert not queue
    assert [clone.pop() for _ in items] == sorted(items)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9))))
def test_under_different_keys_every_heap_gives_the_same_order(
    steps: list[tuple[bool, int]],
) -> None:
    """Items are pushed (with the rank given) and popped in turn; equal ranks go by number."""
    ranks: list[tuple[int, int]] = []
    keyed: KeyedQueue[int] = KeyedQueue(ranks.__getitem__)
    compared: PriorityQueue[int] = PriorityQueue(lambda one, other: ranks[one] < ranks[other])
    for number, (pops, rank) in enumerate(steps):
        ranks.append((rank, number))
        keyed.push(number)
        compared.push(number)
        if pops:
            assert keyed.pop() == compared.pop()
    clone, again = keyed.clone(), keyed.pushed_again()
    rest = [compared.pop() for _ in range(len(compared))]
    assert [keyed.pop() for _ in range(len(keyed))] == rest
    assert [clone.pop() for _ in range(len(clone))] == rest
    assert [again.pop() for _ in range(len(again))] == rest
