"""A work queue is data: what is queued, what waits, what a worker has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.kubernetes.work_queue import LONGEST_DELAY_US, TokenRate, WorkQueue


def test_an_item_is_queued_once_and_first_in_is_first_out() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for item in ("a", "b", "a"):
        queue.add(item)
    assert (queue.ready(), len(queue)) == (["a", "b"], 2)
    assert (queue.take(), queue.take()) == ("a", "b")
    with pytest.raises(IndexError, match="nothing is queued"):
        queue.take()


def test_what_is_added_while_a_worker_has_it_is_queued_when_that_is_done() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    item = queue.take()
    queue.add("a")
    assert (queue.ready(), queue.taken()) == ([], ["a"])
    queue.done(item)
    assert (queue.ready(), queue.taken()) == (["a"], [])


def test_a_failed_item_waits_twice_as_long_each_time() -> None:
    queue: WorkQueue[str] = WorkQueue()
    delays = []
    for _ in range(4):
        delays.append(queue.delay("a"))
        queue.add_rate_limited("a")
        queue.fire("a")
    assert delays == [5_000, 10_000, 20_000, 40_000]
    assert queue.ready() == ["a"]
    queue.forget("a")
    assert queue.delay("a") == 5_000
    for _ in range(100):
        queue.add_rate_limited("a")
    assert queue.delay("a") == LONGEST_DELAY_US


@given(st.lists(st.sampled_from(("add", "fail", "take", "done", "fire")), max_size=40))
def test_no_item_is_lost(steps: list[str]) -> None:
    queue: WorkQueue[int] = WorkQueue()
    added = 0
    finished: set[int] = set()
    for step in steps:
        if step == "add":
            queue.add(added)
            added += 1
        elif step == "take" and len(queue):
            queue.take()
        elif step == "done" and queue.taken():
            finished.add(queue.taken()[0])
            queue.done(queue.taken()[0])
        elif step == "fail" and queue.taken():
            queue.add_rate_limited(queue.taken()[0])
            queue.done(queue.taken()[0])
        elif step == "fire":
            queue.fire_all()
    held = [*queue.ready(), *queue.delayed(), *queue.taken()]
    assert sorted({*held, *finished}) == list(range(added))
    assert len(held) == len(set(held))


def test_what_is_due_is_queued_as_time_moves_on_the_earliest_first() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_rate_limited("a")
    queue.fire("a")
    queue.take()
    queue.done("a")
    queue.add_rate_limited("a")
    queue.add_rate_limited("b")
    assert dict(queue.due()) == {"a": 10_000, "b": 5_000}
    queue.advance(4_999)
    assert queue.ready() == []
    queue.advance(10_000)
    assert (queue.ready(), dict(queue.due())) == (["b", "a"], {})


def test_an_item_that_waits_already_keeps_the_earlier_time() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_rate_limited("a")
    queue.add_rate_limited("a")
    assert (dict(queue.due()), dict(queue.failures())) == ({"a": 5_000}, {"a": 2})


def test_beyond_what_the_bucket_holds_items_wait_for_permits() -> None:
    queue: WorkQueue[int] = WorkQueue(TokenRate(per_second=10, at_once=3))
    for item in range(5):
        queue.add_rate_limited(item)
    assert [*queue.due().values()] == [5_000, 5_000, 5_000, 100_000, 200_000]
    queue.advance(500_000)
    for item in range(5, 9):
        queue.add_rate_limited(item)
    assert [due - queue.now for due in queue.due().values()] == [5_000, 5_000, 5_000, 100_000]


def test_controllers_let_a_hundred_items_fail_at_once_and_then_ten_in_a_second() -> None:
    queue: WorkQueue[int] = WorkQueue()
    for item in range(102):
        queue.add_rate_limited(item)
    due = [*queue.due().values()]
    assert due[:100] == [5_000] * 100
    assert due[100:] == [100_000, 200_000]


def test_another_queue_goes_on_from_what_one_held() -> None:
    one: WorkQueue[str] = WorkQueue(TokenRate(per_second=10, at_once=1))
    one.add("a")
    one.add_rate_limited(one.take())
    one.add("b")
    other: WorkQueue[str] = WorkQueue(TokenRate(per_second=10, at_once=1))
    other.hold(one.waiting())
    assert other.waiting() == one.waiting()
    for queue in (one, other):
        queue.add_rate_limited("c")
    assert dict(other.due()) == dict(one.due()) == {"a": 5_000, "c": 100_000}


def test_what_fails_for_ever_is_kept_as_the_same_in_the_end() -> None:
    queue, seen = WorkQueue[str](longest=1_000_000), []
    for _ in range(40):
        queue.add_rate_limited("x")
        queue.advance(queue.due()["x"])
        seen.append(queue.kept())
        queue.done(queue.take())
    assert len({*seen}) < 20
    assert seen[-1] == seen[-2]
    assert queue.failures() == {"x": 40}
    assert queue.delay("x") == 1_000_000


@pytest.mark.parametrize("failures", range(0, 30, 7))
def test_to_fail_all_is_to_fire_take_and_add_each_again(failures: int) -> None:
    queues = [WorkQueue[str]() for _ in range(2)]
    for queue in queues:
        for name in "bca":
            for _ in range(failures + ord(name) % 3):
                queue.add_rate_limited(name)
            queue.add_rate_limited(name)
        queue.advance(1)
        assert queue.all_delayed
    one, other = queues
    one.fail_all()
    other.fire_all()
    assert not other.all_delayed
    for _ in range(3):
        item = other.take()
        other.add_rate_limited(item)
        other.done(item)
    assert one.waiting() == other.waiting()
    assert one.delayed() == other.delayed() == ["b", "c", "a"]
