"""A run as a story: what each step did, and where its order parts from the natural one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...engine.kubernetes.api_server import WatchEvent
from ...engine.machine.machine import State
from ...engine.machine.machine_layout import API, FAULTS, MachineStep
from ...engine.machine.natural import USER
from ...engine.machine.scheduler import BINDS, SESSION, SchedulerState
from .scenario_world import ScenarioWorld, number_of, server_in
from .step_writes import StoryWrite, sentence_of, short_key, writes_between

SERVER = "API server"
TIME = "time"
IDLE = "session: nothing to do"
SECOND_US = 1_000_000


class StoryStep(NamedTuple):
    """A step of a run.

    :param number: from 1. :param actor: the component; :data:`TIME` if time passes.
    :param sentence: what happened. :param writes: what it changed in the API server.
    :param instead_of: the step that the natural order would make here; None if it is this one.
    :param alone: the step is one of those that are left when nothing is held up any more.
    :param seconds: how much time passes.
    """

    number: int
    step: MachineStep
    actor: str
    sentence: str
    writes: tuple[StoryWrite, ...]
    instead_of: MachineStep | None
    alone: bool
    panic: str
    state: State
    seconds: float = 0

    @property
    def matters(self) -> bool:
        """Whether others can notice the step, or it decides something."""
        decided = self.step.name == SESSION and self.sentence != IDLE
        return bool(self.writes or self.panic) or decided or self.step.part == FAULTS


class Delay(NamedTuple):
    """A step that was due, and was held up.

    :param what: the step in words. :param due: the number of the first step that was made instead.
    :param made: its number in the run; 0 if it is never made.
    """

    held: MachineStep
    what: str
    due: int
    made: int


class Story(NamedTuple):
    """A run from its begin to its end.

    :param lanes: all components. :param delays: where the order parts from the natural one.
    """

    lanes: tuple[str, ...]
    moments: tuple[StoryStep, ...]
    delays: tuple[Delay, ...]
    end: State


def story_of(world: ScenarioWorld, steps: Sequence[MachineStep]) -> Story:
    """Run steps, leave the cluster alone then, and return what happened."""
    state, moments = world.start, list[StoryStep]()
    for step in _and_rest(world, steps):
        number = number_of(world, step.step)
        if number not in world.machine.enabled(state):
            continue
        moment = moment_of(world, state, number, len(moments) + 1)
        moments.append(moment._replace(alone=step.alone))
        state = moment.state
    names = world.machine.layout.names
    lanes = (*names[:1], SERVER, *names[1:], *((FAULTS,) if world.machine.faults else ()))
    return Story(lanes, tuple(moments), tuple(_delays(world, moments)), state)


class _Planned(NamedTuple):
    step: MachineStep
    alone: bool


def _and_rest(world: ScenarioWorld, steps: Sequence[MachineStep]) -> Iterator[_Planned]:
    """Yield steps that can be made, and those by which the cluster comes to rest after them."""
    state = world.start
    for step in steps:
        number = number_of(world, step)
        if number in world.machine.enabled(state):
            state, _ = world.machine.after(state, number)
            yield _Planned(step, alone=False)
    for number in world.natural.rest(state).steps:
        yield _Planned(world.machine.step(number), alone=True)


def moment_of(world: ScenarioWorld, state: State, number: int, place: int) -> StoryStep:
    """Return what a step does in a state."""
    machine, step = world.machine, world.machine.step(number)
    natural = world.natural.move(state)
    after, panic = machine.after(state, number)
    writes: tuple[StoryWrite, ...] = ()
    if after[API] != state[API]:
        writes = writes_between(server_in(world, state), server_in(world, after))
    sentence = f"panics: {panic}" if panic else _sentence(world, (state, after), step, writes)
    return StoryStep(
        number=place,
        step=step,
        actor=step.part or TIME,
        sentence=f"{sentence}; {step.fault}" if step.fault else sentence,
        writes=writes,
        instead_of=None
        if natural is None or natural.step == number
        else machine.step(natural.step),
        alone=False,
        panic=panic,
        state=after,
        seconds=0 if step.part else (machine.due(state) or 0) / SECOND_US,
    )


def _sentence(
    world: ScenarioWorld,
    states: tuple[State, State],
    step: MachineStep,
    writes: Sequence[StoryWrite],
) -> str:
    """Return what a step did, from one state to the other."""
    state, after = states
    wrote = ", ".join(write.sentence for write in writes)
    if step.kind:
        seen = what_waits(world, state, step)
        return f"{seen}, {wrote}" if wrote else seen
    if not step.part:
        return f"{(world.machine.due(state) or 0) / SECOND_US:g} s pass"
    if step.part == FAULTS:
        return step.name
    if step.part == USER:
        return wrote or "writes, and nothing changes"
    if step.name == SESSION:
        decided = ", ".join(_decisions(world, after))
        return ", ".join(filter(None, (decided, wrote))) or IDLE
    if step.name == BINDS:
        return wrote or "binds: refused"
    return wrote or f"{step.name}: nothing to write"


def what_waits(world: ScenarioWorld, state: State, step: MachineStep) -> str:
    """Return what an informer would deliver next in a state."""
    waiting = world.machine.waiting(state, step.part, step.kind)
    verb, kind, key, _ = world.machine.transitions.notices[waiting[0]]
    return sentence_of(WatchEvent(verb, kind, key, world.machine.transitions.document(waiting[0])))


def _decisions(world: ScenarioWorld, state: State) -> Iterator[str]:
    """Yield the pods that a session gave nodes, which are still to be bound."""
    part = world.machine.layout.names.index("scheduler")
    scheduler_state = world.machine.transitions.kept(part, state[part + 1])
    assert isinstance(scheduler_state, SchedulerState)
    for job, node, _ in scheduler_state.binding:
        yield f"session: a pod of {short_key(job)} → {node}"


def _delays(world: ScenarioWorld, moments: Sequence[StoryStep]) -> Iterator[Delay]:
    """Yield each step that was held up, once, in the order in which they were due."""
    state, seen = world.start, dict[tuple[MachineStep, str], int]()
    for at, moment in enumerate(moments):
        machine_step = moment.instead_of
        if machine_step is not None:
            what = _what(world, state, machine_step)
            made = _made(moments, at, machine_step)
            # A step that stays held up is due at each moment: it is one delay until it is made.
            if seen.get((machine_step, what)) != made:
                seen[machine_step, what] = made
                yield Delay(machine_step, what, moment.number, made)
        state = moment.state


def _made(moments: Sequence[StoryStep], begin: int, step: MachineStep) -> int:
    """Return the number of the moment that makes a step; 0 if there is none."""
    return next((moment.number for moment in moments[begin:] if moment.step == step), 0)


def _what(world: ScenarioWorld, state: State, step: MachineStep) -> str:
    return f"{step.part} {what_waits(world, state, step)}" if step.kind else str(step)
