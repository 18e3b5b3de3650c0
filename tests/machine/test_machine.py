"""The machine: its steps are those of its components, and searches see every state."""

from __future__ import annotations

import random

import pytest
from plain_machine import PlainMachine
from small_machines import nothing, settings, small

from plinian.engine.machine.cluster_machine import cluster, parts_of
from plinian.engine.machine.machine import Machine, State
from plinian.engine.machine.machine_layout import API
from plinian.engine.machine.natural import Natural, StateViolation, of_panic
from plinian.engine.machine.state_search import EachStep, EveryState, Exhaustive
from plinian.engine.machine.user import UserAct


def brute(machine: Machine, state: State, seen: set[State]) -> None:
    """Collect all states by trying each step in each of them."""
    if state in seen:
        return
    seen.add(state)
    for step in machine.enabled(state):
        brute(machine, machine.after(state, step)[0], seen)


@pytest.mark.parametrize("names", [("c",), ("c", "a"), ("b", "bad")])
def test_an_exhaustive_search_sees_every_state(names: tuple[str, ...]) -> None:
    machine = small(*names)
    seen: set[State] = set()
    brute(machine, machine.start, seen)
    search = Exhaustive(EachStep(machine), machine.start, nothing)
    found = list(search.run(lambda _: False))
    assert search.complete
    assert len(search.reached) == len(seen) > 20
    assert {one.violation.invariant for one in found} == ({"I-05"} if "bad" in names else set())


def test_a_search_that_is_stopped_is_not_complete() -> None:
    machine = small("c")
    search = Exhaustive(EachStep(machine), machine.start, nothing)
    assert not list(search.run(lambda progress: progress.states > 0))
    assert not search.complete


def test_what_is_found_is_reached_by_its_steps() -> None:
    machine = small("bad")
    first = next(Exhaustive(EachStep(machine), machine.start, nothing).run(lambda _: False))
    state, panic = machine.start, ""
    for step in first.steps:
        assert not panic
        state, panic = machine.after(state, step)
    assert panic == "a bad pod"
    assert first.violation == of_panic(panic)
    assert [str(machine.step(step)) for step in first.steps] == [
        "other writes",
        "reader sees Pod",
    ]


def test_a_state_that_is_wrong_is_found_with_the_fewest_steps() -> None:
    machine = small("c")
    queue = machine.layout.channels["reader", "Pod"]

    three = StateViolation("I-00", "three wait")

    def three_wait(state: State) -> tuple[StateViolation, ...]:
        return (three,) if len(machine.queue(state[queue])) == 3 else ()

    search = Exhaustive(EveryState(machine), machine.start, three_wait)
    found = next(search.run(lambda _: False))
    assert (found.violation, len(found.steps)) == (three, 3)


def test_a_process_that_panics_sees_everything_again() -> None:
    machine = small("bad")
    state = machine.start
    for name in ("one writes", "other writes", "reader sees Pod", "reader sees Pod"):
        (step,) = (one for one in machine.enabled(state) if str(machine.step(one)) == name)
        state, panic = machine.after(state, step)
    assert panic == "a bad pod"
    waiting = machine.waiting(state, "reader", "Pod")
    keys = [machine.transitions.notices[notice][2] for notice in waiting]
    assert keys == ["ml/a", "ml/bad", ""]


@pytest.mark.parametrize("release", ["v1.8.2", "v1.12.1", "v1.15.1"])
@pytest.mark.parametrize("seed", [1, 2])
def test_steps_that_are_looked_up_are_those_of_components_that_live_on(
    release: str, seed: int
) -> None:
    whole = settings(release)
    before = [UserAct("ADDED", one) for one in whole.existing]
    given = whole._replace(script=[*before, *whole.script], existing=())
    (machine, state), chooser = cluster(given), random.Random(seed)
    plain = PlainMachine(parts_of(given, machine.objects))
    for _ in range(120):
        step = chooser.choice(machine.enabled(state))
        state, _ = machine.after(state, step)
        plain.step(machine.step(step))
        for name, kept in plain.kept().items():
            held = state[machine.layout.place[name]]
            assert machine.transitions.kept(machine.layout.names.index(name), held) == kept, (
                machine.step(step),
                name,
            )
        assert machine.transitions.server(state[API]).kept() == plain.server.kept()


def test_a_cluster_left_to_itself_runs_what_the_user_wants() -> None:
    machine, state = cluster(settings("v1.12.1"))
    natural = Natural(machine)
    while (moved := natural.move(state, wait=False)) is not None:
        state = moved.state
    state = natural.rest(state).state
    server = machine.transitions.server(state[API])
    (pod,) = server.list("Pod")
    assert (pod["status"]["phase"], pod["spec"]["nodeName"]) == ("Running", "n1")
    (group,) = server.list("PodGroup")
    assert group["status"]["phase"] == "Running"
