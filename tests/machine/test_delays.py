"""Orders with few delays: without a limit they come to the same ends as all orders."""

from __future__ import annotations

import pytest
from small_machines import ends_of, nothing, of_pods, small

from plinian.engine.machine.delays import DelayLimits, DelaySearch
from plinian.engine.machine.machine import Machine, State
from plinian.engine.machine.natural import StateViolation
from plinian.engine.machine.state_search import EachStep

NO_LIMIT = DelayLimits(delays=1000, waits=1000)


def ends_within(
    limits: DelayLimits, machine: Machine, start: State, prompt: tuple[str, ...] = ()
) -> tuple[set[State], DelaySearch, list[str]]:
    """Return all ends of the orders within limits, the search, and what it found."""
    ends: set[State] = set()

    def note(state: State) -> tuple[StateViolation, ...]:
        ends.add(state)
        return nothing(state)

    search = DelaySearch(machine, start, note, limits, prompt)
    found = list(search.run(lambda _: False))
    assert search.complete
    return ends, search, [one.violation.sentence for one in found]


@pytest.mark.parametrize("names", [("c",), ("c", "a"), ("b", "bad")])
def test_without_a_limit_all_orders_are_tried(names: tuple[str, ...]) -> None:
    machine = small(*names)
    each, _, panics = ends_of(EachStep(machine), machine.start)
    ends, _, same = ends_within(NO_LIMIT, machine, machine.start)
    assert ends == each
    assert sorted(same) == sorted(panics)


@pytest.mark.slow
def test_more_delays_come_to_more_ends_and_never_to_others() -> None:
    machine, start = of_pods("v1.8.2")
    each, plain, _ = ends_of(EachStep(machine), start)
    none, natural, _ = ends_within(DelayLimits(delays=0), machine, start)
    one, some, _ = ends_within(DelayLimits(delays=1), machine, start)
    assert none < one <= each
    assert len(natural.reached) < len(some.reached) < len(plain.reached)


def test_steps_of_prompt_components_are_not_held_up() -> None:
    machine, start = of_pods("v1.12.1")
    none, _, _ = ends_within(DelayLimits(delays=0), machine, start)
    prompt, _, _ = ends_within(DelayLimits(delays=2), machine, start, machine.layout.names)
    assert prompt == none


def test_a_search_that_is_stopped_is_not_complete_and_can_go_on() -> None:
    machine, start = of_pods("v1.12.1")
    whole = ends_within(DelayLimits(), machine, start)[1]
    search = DelaySearch(machine, start, nothing)
    assert list(search.run(lambda now: now.states > 100)) == []
    assert not search.complete
    assert list(search.run(lambda _: False)) == []
    assert search.complete
    assert len(search.reached) == len(whole.reached)
    assert search.steps_made == whole.steps_made
