"""The search for nodes that ends when enough are found."""

from __future__ import annotations

import numpy as np
import pytest

from plinian.engine.session.nodes.sampling import Sampling, SamplingMemory, nodes_to_find


@pytest.mark.parametrize(
    ("nodes", "enough"),
    [(1, 1), (100, 100), (101, 100), (200, 100), (1000, 420), (5000, 500), (6000, 300)],
)
def test_how_many_are_enough(nodes: int, enough: int) -> None:
    assert nodes_to_find(nodes) == enough


def test_a_search_begins_where_the_last_one_ended() -> None:
    memory = SamplingMemory()
    passing = np.ones(250, dtype=np.bool_)
    first = Sampling(memory).visit(passing)
    assert first.tolist() == list(range(nodes_to_find(250)))
    second = Sampling(memory).visit(passing)
    assert second[0] == first[-1] + 2  # one more was found, and dropped
    assert len(second) == nodes_to_find(250)


def test_nodes_that_fail_do_not_count_and_are_among_those_looked_at() -> None:
    passing = np.zeros(250, dtype=np.bool_)
    passing[::2] = True
    visited = Sampling(SamplingMemory()).visit(passing)
    assert passing[visited].sum() == nodes_to_find(250)
    assert (~passing[visited]).sum() > 0


def test_all_are_looked_at_where_not_enough_are_found() -> None:
    passing = np.zeros(250, dtype=np.bool_)
    passing[7] = True
    assert Sampling(SamplingMemory()).visit(passing).tolist() == list(range(250))
    assert Sampling(SamplingMemory()).visit(passing[:0]).tolist() == []
