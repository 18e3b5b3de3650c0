"""Turns: a search by turns comes to the same ends as one through each single step."""

from __future__ import annotations

import pytest
from small_machines import ends_of, of_pods, small

from plinian.engine.machine.state_search import EachStep
from plinian.engine.machine.turns import Turns


@pytest.mark.parametrize("names", [("c",), ("c", "a"), ("b", "bad")])
def test_a_search_by_turns_comes_to_the_same_ends(names: tuple[str, ...]) -> None:
    machine = small(*names)
    each, plain, panics = ends_of(EachStep(machine), machine.start)
    turned, reduced, same = ends_of(Turns(machine), machine.start)
    assert turned == each
    assert sorted(same) == sorted(panics)
    assert len(reduced.reached) < len(plain.reached)


@pytest.mark.slow
def test_a_cluster_by_turns_comes_to_the_same_ends() -> None:
    machine, start = of_pods("v1.12.1")
    each, plain, _ = ends_of(EachStep(machine), start)
    turned, reduced, _ = ends_of(Turns(machine), start)
    assert turned == each
    assert 5 * len(reduced.reached) < len(plain.reached)
