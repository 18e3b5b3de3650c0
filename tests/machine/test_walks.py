"""Walks find races that depend on a few steps, and shrinking leaves only these steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from small_machines import settings

from plinian.engine.machine.checks import violations_in
from plinian.engine.machine.cluster_machine import cluster
from plinian.engine.machine.shrink import Shrinker, play
from plinian.engine.machine.state_search import FaultyState, Progress
from plinian.engine.machine.walks import WalkBound, WalkPlan, Walks, WalkStrategy

STALE_DELETION = "I-01"
"""The scheduler's cache has lost a PodGroup that exists."""


def until_walks(most: int) -> Callable[[Progress], bool]:
    """Return what stops a search after so many walks, which count as waiting."""
    return lambda progress: progress.waiting >= most


def found_in(release: str, strategy: WalkStrategy, walks: int, seed: int = 1) -> list[FaultyState]:
    """Return what walks find wrong about the scheduler's cache of a release."""
    machine, start = cluster(settings(release))
    check = violations_in(machine, [STALE_DELETION])
    search = Walks(machine, start, check, WalkPlan(strategy, seed))
    return list(search.run(until_walks(walks)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "walks"), [(WalkStrategy.DELAY, 1500), (WalkStrategy.RANDOM, 300)]
)
def test_walks_find_the_stale_deletion(strategy: WalkStrategy, walks: int) -> None:
    (found,) = found_in("v1.8.2", strategy, walks)
    assert found.violation.invariant == STALE_DELETION
    assert "the scheduler's cache lacks the PodGroup" in found.violation.sentence


@pytest.mark.slow
@pytest.mark.parametrize("release", ["v1.9.0", "v1.15.1"])
def test_walks_find_no_stale_deletion_where_uids_are_compared(release: str) -> None:
    assert not found_in(release, WalkStrategy.DELAY, 700)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_walks() -> None:
    first = found_in("v1.8.2", WalkStrategy.DELAY, 300)
    assert first
    assert first == found_in("v1.8.2", WalkStrategy.DELAY, 300)


@pytest.mark.slow
def test_of_a_shrunk_run_no_step_can_be_left_out() -> None:
    machine, start = cluster(settings("v1.8.2"))
    check = violations_in(machine, [STALE_DELETION])
    search = Walks(machine, start, check, WalkPlan(WalkStrategy.DELAY, 1))
    found = next(search.run(until_walks(1500)))
    shrunk = Shrinker(machine, start, check).shrink(found)
    assert shrunk.violation == found.violation
    assert len(shrunk.steps) < len(found.steps)
    played = play(machine, start, shrunk.steps)
    assert played.steps == shrunk.steps
    assert found.violation in check(played.state)
    for at in range(len(shrunk.steps)):
        fewer = play(machine, start, (*shrunk.steps[:at], *shrunk.steps[at + 1 :]))
        assert found.violation not in check(fewer.state)


def test_what_walks_by_priorities_promise_is_the_bound_of_the_paper() -> None:
    bound = WalkBound(depth=3, kinds=5, steps=100, walks=2)
    assert bound.of_one == pytest.approx(1 / (5 * 100**2))
    assert bound.of_all == pytest.approx(1 - (1 - bound.of_one) ** 2)
    assert WalkBound(depth=1, kinds=1, steps=9, walks=1).of_all == 1.0
    assert WalkBound(depth=3, kinds=5, steps=100, walks=0).of_all == 0.0
    assert WalkBound(depth=3, kinds=0, steps=100, walks=0).of_all == 0.0


def test_walks_by_priorities_count_the_kinds_of_steps_that_they_chose_from() -> None:
    machine, start = cluster(settings("v1.8.2"))
    search = Walks(machine, start, lambda _: (), WalkPlan(WalkStrategy.PCT, 1, steps=30, changes=2))
    list(search.run(until_walks(5)))
    bound = search.bound
    assert bound is not None
    assert (bound.depth, bound.steps, bound.walks) == (3, 30, 5)
    assert bound.kinds >= len(search.steps_made) > 3
    assert Walks(machine, start, lambda _: (), WalkPlan(WalkStrategy.DELAY, 1)).bound is None
