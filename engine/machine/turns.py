"""Turns: what one component does alone, and then one step that others can notice.

Most steps of a component touch nothing but what the component itself holds: an informer delivers, a
worker takes an item. Such a step can be put off until just before the component next sends a
request: no other component sees a difference. So a search need not try it at every other moment. A
turn is such steps, in any order and number, and one step at the end that sends a request, panics,
or changes when something is due. Only states between turns are stored.

Source: R. Lipton, Reduction: a method of proving properties of parallel programs, CACM 1975: what
is put off here are right movers. Tests compare the ends with those of a search through all steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product
from typing import NamedTuple

from .machine import Machine, State
from .machine_layout import API
from .natural import USER, Natural
from .transitions import Done

Channels = tuple[int, ...]


class Turn(NamedTuple):
    """A turn: its steps, the state that it leads to, and the message if a process panicked."""

    steps: tuple[int, ...]
    state: State
    panic: str = ""


class _Alone(NamedTuple):
    """What a component can bring about alone.

    :param path: steps so far. :param channels: what its channels hold then.
    :param acts: steps by which it stops being alone. :param last: it can do nothing more alone.
    """

    path: tuple[int, ...]
    held: int
    channels: Channels
    acts: tuple[int, ...]
    last: bool


class _Made(NamedTuple):
    """A step of a component: what it held, what waited, and what the step did."""

    held: int
    channels: Channels
    step: int
    done: Done


class Turns:
    """The turns of a machine.

    :param prompt: components that act at once whenever they can, before all others.
    """

    def __init__(self, machine: Machine, prompt: Collection[str] = ()) -> None:
        layout = machine.layout
        self._machine = machine
        self._natural = Natural(machine)
        self._places = layout.channels_of
        self._prompt = tuple(at for at, name in enumerate(layout.names) if name in prompt)
        self._free = tuple(at for at, name in enumerate(layout.names) if name not in prompt)
        self._user = layout.names.index(USER) if USER in layout.names else -1
        self._alone: dict[tuple[int, int, Channels], tuple[_Alone, ...]] = {}
        self._ends: dict[tuple[int, int, Channels, int], tuple[_Alone, ...]] = {}

    def start(self, state: State) -> State:
        """Return a state after all that prompt components do at once."""
        return self._settled(state).state

    def after(self, state: State) -> Iterator[Turn]:
        """Yield all turns that change something."""
        for part in self._free:
            places = self._places[part]
            channels = tuple([state[place] for place in places])
            for alone in self._closure(part, state[part + 1], channels, state[API]):
                if alone.acts:
                    yield from self._acts(state, part, alone)
        yield from self._faults(state)
        wait = self._machine.later(state)
        if wait is not None:
            yield self._finish((self._machine.wait,), wait, "")

    def ends(self, state: State) -> Iterator[Turn]:
        """Yield what a state comes to if each component does all that it can do alone.

        Nothing, if any of them can then do something that others notice. The user's next write does
        not count.
        """
        ends_of_parts = []
        # A broken watch lists again by itself, so this is not the end yet.
        if self._machine.faults is not None and self._machine.faults.lasts(state[-1]):
            return
        for part in self._free:
            if part == self._user:
                continue
            channels = tuple([state[place] for place in self._places[part]])
            ends = self._ends_of(part, state[part + 1], channels, state[API])
            if not ends:
                return
            ends_of_parts.append([(part, end) for end in ends])
        for ways in product(*ends_of_parts):
            numbers = [*state]
            steps: list[int] = []
            for part, end in ways:
                self._put(numbers, part, end)
                steps += end.path
            yield Turn(tuple(steps), tuple(numbers))

    def _acts(self, state: State, part: int, alone: _Alone) -> Iterator[Turn]:
        numbers = [*state]
        self._put(numbers, part, alone)
        base = tuple(numbers)
        failing = [failed for step in alone.acts for failed in self._machine.failing(base, step)]
        for step in (*alone.acts, *failing):
            after, panic = self._machine.after(base, step)
            if after != base or panic:
                yield self._finish((*alone.path, step), after, panic)

    def _faults(self, state: State) -> Iterator[Turn]:
        """Yield what can fail beside requests, and what can be right again."""
        faults = self._machine.faults
        if faults is not None:
            for step in faults.steps(state[-1]):
                yield self._finish((step,), self._machine.after(state, step)[0], "")

    def _finish(self, steps: tuple[int, ...], state: State, panic: str) -> Turn:
        if not self._prompt:
            return Turn(steps, state, panic)
        settled = self._settled(state)
        return Turn((*steps, *settled.steps), settled.state, panic or settled.panic)

    def _settled(self, state: State) -> Turn:
        """Let prompt components do all that they can do."""
        steps: list[int] = []
        panic = ""
        moved = True
        while moved:
            moved = False
            for part in self._prompt:
                step = self._step_of(part, state)
                if step is not None:
                    state, fault = self._machine.after(state, step)
                    panic = panic or fault
                    steps.append(step)
                    moved = True
                    break
        return Turn(tuple(steps), state, panic)

    def _step_of(self, part: int, state: State) -> int | None:
        """Return a component's natural step that changes something, if there is one."""
        machine = self._machine
        for step in machine.enabled_of(part, state):
            after, panic = machine.after(state, step)
            if after != state or panic:
                return step
        return None

    def _put(self, numbers: list[int], part: int, alone: _Alone) -> None:
        numbers[part + 1] = alone.held
        for place, channel in zip(self._places[part], alone.channels, strict=True):
            numbers[place] = channel

    def _closure(self, part: int, held: int, channels: Channels, api: int) -> tuple[_Alone, ...]:
        # Without the API server: a component asks it in the same step whatever it holds, and all
        # before that step is done alone.
        known = self._alone.get((part, held, channels))
        if known is None:
            known = tuple(self._alone_from(part, held, channels, api))
            self._alone[part, held, channels] = known
        return known

    def _alone_from(self, part: int, held: int, channels: Channels, api: int) -> Iterator[_Alone]:
        """Yield all that a component can bring about alone, what needs fewest steps first."""
        seen = {(held, channels)}
        waiting: list[tuple[tuple[int, ...], int, Channels]] = [((), held, channels)]
        # The list grows while it is walked, so states are reached by their shortest paths.
        for path, now, queues in waiting:
            acts, last = [], not any(self._machine.is_filled(queue) for queue in queues)
            for step, done, rest in self._machine.steps_alone(part, now, queues, api):
                if self._is_alone(part, _Made(now, queues, step, done), api):
                    then = (done.part, rest)
                    last = last and then == (now, queues)
                    if then not in seen:
                        seen.add(then)
                        waiting.append(((*path, step), *then))
                else:
                    acts.append(step)
            yield _Alone(path, now, queues, tuple(acts), last)

    def _is_alone(self, part: int, step_made: _Made, api: int) -> bool:
        """Say whether no other component sees when a step is made, and time does not change it."""
        if step_made.done.api >= 0:
            return False
        transitions = self._machine.transitions
        due = transitions.ability(part, step_made.held).due
        if due != transitions.ability(part, step_made.done.part).due:
            return False
        if due is None:
            return True
        # Time may pass before the step is made: it must come to the same after that.
        later = transitions.wait(part, step_made.held, due)
        for step, done, _ in self._machine.steps_alone(part, later, step_made.channels, api):
            if step == step_made.step:
                return done.api < 0 and done.part == transitions.wait(
                    part, step_made.done.part, due
                )
        return False

    def _ends_of(self, part: int, held: int, channels: Channels, api: int) -> tuple[_Alone, ...]:
        key = (part, held, channels, api)
        known = self._ends.get(key)
        if known is None:
            known = self._ends[key] = tuple(
                alone
                for alone in self._closure(part, held, channels, api)
                if alone.last and not self._acts_matter(part, alone, api)
            )
        return known

    def _acts_matter(self, part: int, alone: _Alone, api: int) -> bool:
        transitions = self._machine.transitions
        for step in alone.acts:
            done = transitions.do(part, alone.held, step, api)
            if done.panic or done.part != alone.held or done.api not in {-1, api}:
                return True
        return False
