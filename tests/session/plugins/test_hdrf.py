"""Shares in the tree of queues."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.model.panic import Panic
from plinian.engine.session.plugins.drf.hdrf import ShareTree, dominant_shares

TOTAL = (10_000.0, 8_000.0, 0.0)


@dataclass
class Job:
    """A job with its queue's annotations."""

    hierarchy: str
    weights: str
    allocated: tuple[float, ...]
    request: tuple[float, ...]


def tree_of(jobs: list[Job], total: tuple[float, ...] = TOTAL) -> ShareTree:
    """Return the tree of these jobs; each has the queue of its hierarchy."""
    shape = (len(jobs), len(total))
    allocated = np.array([job.allocated for job in jobs]).reshape(shape)
    requests = np.array([job.request for job in jobs]).reshape(shape)
    tree = ShareTree(np.array(total), requests)
    for row, job in enumerate(jobs):
        tree.add(row, job.hierarchy, job.hierarchy, job.weights)
    tree.update(allocated, allocated.sum(axis=0))
    return tree


def test_the_share_is_that_of_the_resource_that_is_used_most() -> None:
    allocated = np.array([[1_000.0, 4_000.0, 5.0], [0.0, 0.0, 0.0]])
    assert dominant_shares(allocated, np.array(TOTAL)).tolist() == [0.5, 0.0]


def test_of_unequal_siblings_each_counts_as_the_one_that_has_least() -> None:
    tree = tree_of(
        [
            Job("root/a", "1/1", (4_000.0, 0.0, 0.0), (9_000.0, 0.0, 0.0)),
            Job("root/a", "1/1", (0.0, 800.0, 0.0), (0.0, 4_000.0, 0.0)),
        ]
    )
    a = tree.root.children["a"]
    assert a.allocated.tolist() == [1_000.0, 800.0, 0.0]
    assert a.share == 0.1
    assert not a.saturated


def test_a_job_that_has_all_it_asks_for_is_saturated_and_counts_in_full() -> None:
    tree = tree_of(
        [
            Job("root/a", "1/1", (4_000.0, 0.0, 0.0), (4_000.0, 0.0, 0.0)),
            Job("root/a", "1/1", (1_000.0, 0.0, 0.0), (4_000.0, 0.0, 0.0)),
            Job("root/b", "1/1", (500.0, 0.0, 0.0), (500.0, 0.0, 0.0)),
        ]
    )
    assert tree.root.children["a"].allocated.tolist() == [5_000.0, 0.0, 0.0]
    assert not tree.root.children["a"].saturated
    assert tree.root.children["b"].saturated
    assert tree.compare("root/a", "root/b") < 0


def test_a_resource_that_is_used_up_saturates_whoever_asks_for_it() -> None:
    tree = tree_of(
        [
            Job("root/a", "1/1", (9_000.0, 0.0, 0.0), (20_000.0, 0.0, 0.0)),
            Job("root/b", "1/1", (1_000.0, 0.0, 0.0), (20_000.0, 0.0, 0.0)),
            Job("root/c", "1/1", (0.0, 100.0, 0.0), (0.0, 4_000.0, 0.0)),
        ]
    )
    saturated = {name: node.saturated for name, node in tree.root.children.items()}
    assert saturated == {"a": True, "b": True, "c": False}


def test_less_share_for_the_weight_comes_first() -> None:
    tree = tree_of(
        [
            Job("root/a", "1/3", (3_000.0, 0.0, 0.0), (9_000.0, 0.0, 0.0)),
            Job("root/b", "1/1", (2_000.0, 0.0, 0.0), (9_000.0, 0.0, 0.0)),
        ]
    )
    assert tree.compare("root/a", "root/b") == pytest.approx(0.3 / 3 - 0.2)
    assert tree.compare("root/b", "root/a") > 0
    assert tree.compare("root/a", "root/a") == 0


def test_equal_steps_are_passed_and_a_path_within_another_is_its_equal() -> None:
    jobs = [
        Job("root/x/a", "1/2/1", (2_000.0, 0.0, 0.0), (9_000.0, 0.0, 0.0)),
        Job("root/x/b", "1/2/1", (1_000.0, 0.0, 0.0), (9_000.0, 0.0, 0.0)),
        Job("root/x", "1/2", (500.0, 0.0, 0.0), (9_000.0, 0.0, 0.0)),
    ]
    tree = tree_of(jobs)
    assert tree.compare("root/x/b", "root/x/a") < 0
    assert tree.compare("root/x", "root/x/a") == 0


@pytest.mark.parametrize("text", ["0.5", "-2", "x", "", "1_0", " 3", "inf"])
def test_a_weight_below_one_or_unreadable_is_one(text: str) -> None:
    tree = tree_of([Job("root/a", f"1/{text}", (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))])
    assert tree.root.children["a"].weight == 1.0


def test_a_step_without_weight_is_a_crash_unless_the_step_exists() -> None:
    request = (1.0, 0.0, 0.0)
    with pytest.raises(Panic, match=r"index out of range \[2\] with length 2"):
        tree_of([Job("root/a/b", "1/2", request, request)])
    tree_of([Job("root/a/b", "1/2/3", request, request), Job("root/a/b", "1", request, request)])


def test_a_queue_without_hierarchy_is_the_root() -> None:
    tree = tree_of([Job("", "", (1_000.0, 0.0, 0.0), (2_000.0, 0.0, 0.0))])
    assert tree.root.share == 0.1
    assert not tree.root.children


class Plain:
    """The tree as its definition reads, one number at a time."""

    def __init__(self, jobs: list[Job], total: tuple[float, ...]) -> None:
        self.total = total
        used = [math.fsum(column) for column in zip(*(job.allocated for job in jobs), strict=True)]
        self.demanding = [u < t for u, t in zip(used, total, strict=True)]
        self.jobs = jobs

    def share(self, amounts: list[float]) -> float:
        return max(a / t if t >= 0.1 else 0.0 for a, t in zip(amounts, self.total, strict=True))

    def leaf(self, job: Job) -> tuple[list[float], float, bool]:
        full = False
        for a, r, more in zip(job.allocated, job.request, self.demanding, strict=True):
            if a >= 0.1 and r:
                full = full or a >= r or not more
        return list(job.allocated), self.share(list(job.allocated)), full

    def node(self, path: list[str]) -> tuple[list[float], float, bool]:
        depth = len(path)
        here = [job for job in self.jobs if job.hierarchy.split("/") == path]
        below = sorted(
            {
                job.hierarchy.split("/")[depth]
                for job in self.jobs
                if job.hierarchy.split("/")[:depth] == path and job not in here
            }
        )
        children = [self.leaf(job) for job in here] + [self.node([*path, b]) for b in below]
        least = min([1.0, *(share for _, share, full in children if share and not full)])
        amounts = [0.0] * len(self.total)
        for held, share, full in children:
            if share:
                factor = 1.0 if full else least / share
                amounts = [a + h * factor for a, h in zip(amounts, held, strict=True)]
        return amounts, self.share(amounts), all(full for _, _, full in children)


AMOUNT = st.integers(min_value=0, max_value=12).map(lambda number: number * 250.0)
PATHS = ("root", "root/a", "root/a/x", "root/a/y", "root/b", "root/b/x/z")


@given(
    st.lists(
        st.builds(
            Job,
            hierarchy=st.sampled_from(PATHS),
            weights=st.just("1/2/3/4"),
            allocated=st.tuples(AMOUNT, AMOUNT, AMOUNT),
            request=st.tuples(AMOUNT, AMOUNT, AMOUNT),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_shares_are_those_of_the_definition(jobs: list[Job]) -> None:
    total = (10_000.0, 8_000.0, 4_000.0)
    tree, plain = tree_of(jobs, total), Plain(jobs, total)
    for path in sorted({job.hierarchy for job in jobs}):
        node = tree.root
        for step in path.split("/")[1:]:
            node = node.children[step]
        amounts, share, full = plain.node(path.split("/"))
        assert node.allocated.tolist() == pytest.approx(amounts)
        assert node.share == pytest.approx(share)
        assert node.saturated == full
