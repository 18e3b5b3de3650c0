"""An exhaustive search: every state that any order of a machine's steps leads to."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple, Protocol

from .machine import Machine, State
from .natural import Check, Natural, StateViolation, of_panic
from .turns import Turn
from .value_numbers import ValueTable

FIRST = -1
LOOK_AFTER = 256
"""After so many states a search asks whether to stop."""


class FaultyState(NamedTuple):
    """A state in which something is wrong.

    :param steps: numbers of the steps that lead there. :param violation: what is wrong.
    """

    steps: tuple[int, ...]
    violation: StateViolation


class Progress(NamedTuple):
    """How far a search is: distinct states, steps made, and states that still wait."""

    states: int
    steps: int
    waiting: int


class Space(Protocol):
    """The states that a search goes through, and how it gets from one to the next."""

    def start(self, state: State) -> State:
        """Return the state to begin with."""

    def after(self, state: State) -> Iterable[Turn]:
        """Yield all that can happen next."""

    def ends(self, state: State) -> Iterable[Turn]:
        """Yield what a state comes to if nothing more can happen in it but with time."""


class EachStep:
    """All steps of a machine, each by itself: what a search without reduction goes through."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._natural = Natural(machine)

    def start(self, state: State) -> State:
        """Return the state to begin with."""
        return state

    def after(self, state: State) -> Iterator[Turn]:
        """Yield all steps that change something."""
        for moved in self._natural.moves(state):
            yield Turn((moved.step,), moved.state, moved.panic)

    def ends(self, state: State) -> Iterator[Turn]:
        """Yield the state itself if only time and the user change it."""
        if self._natural.move(state, user=False, wait=False) is None:
            yield Turn((), state)


class EveryState(EachStep):
    """The same, but every state is checked: for machines that time puts nothing right in."""

    def ends(self, state: State) -> Iterator[Turn]:
        """Yield the state itself."""
        yield Turn((), state)


class Reached:
    """The states that a search has reached, and how: some 130 bytes each.

    A state is kept as a fingerprint of 128 bits. That two states of a search have the same one is
    less likely than a fault of the machine's memory.

    Source: U. Stern and D. Dill, Improved probabilistic verification by hash compaction, 1995.
    """

    def __init__(self, start: State) -> None:
        self._seen: set[bytes] = set()
        self._before = array("i")
        self._how = array("i")
        self._ways: ValueTable[tuple[int, ...]] = ValueTable()
        self.add(start, FIRST, ())

    def __len__(self) -> int:
        return len(self._before)

    def add(self, state: State, before: int, steps: tuple[int, ...]) -> int:
        """Note a state; return its number, or -1 if it was there."""
        number = len(self._before)
        assert before < number, "a state is reached from one that was reached before it"
        self._seen.add(blake2b(array("I", state), digest_size=16).digest())
        # The set did not grow, so the state was reached before.
        if len(self._seen) == number:
            return FIRST
        self._before.append(before)
        self._how.append(self._ways.number(steps))
        return number

    def steps_to(self, number: int) -> tuple[int, ...]:
        """Return the steps that first led to a state."""
        turns: list[tuple[int, ...]] = []
        while self._before[number] != FIRST:
            turns.append(self._ways[self._how[number]])
            number = self._before[number]
        return tuple(step for steps in reversed(turns) for step in steps)


class Exhaustive:
    """Goes through all states of a space, those that need fewest turns first.

    Only ends are checked, see :meth:`Space.ends`: what is wrong before may still be put right.

    :ivar made: how many turns were made. :ivar ended: how many ends were checked.
    :ivar complete: every reachable state was seen.
    """

    def __init__(self, space: Space, start: State, check: Check) -> None:
        self._space = space
        self._check = check
        self._start = space.start(start)
        self.reached = Reached(self._start)
        self.made = 0
        self.complete = False
        self._ways: set[tuple[int, ...]] = set()
        self._known: set[StateViolation] = set()
        self._checked: dict[State, tuple[StateViolation, ...]] = {}

    @property
    def ended(self) -> int:
        """How many ends were checked."""
        return len(self._checked)

    @property
    def steps_made(self) -> set[int]:
        """The numbers of the distinct steps in all turns."""
        return {step for way in self._ways for step in way}

    def run(self, until: Callable[[Progress], bool]) -> Iterator[FaultyState]:
        """Yield what is found: of each violation, a way to it that has the fewest turns.

        :param until: says now and then whether to stop.
        """
        level = [(self._start, 0)]
        while level:
            following: list[tuple[State, int]] = []
            for place, (state, number) in enumerate(level):
                left = len(level) - place + len(following)
                if not place % LOOK_AFTER and until(Progress(len(self.reached), self.made, left)):
                    return
                yield from self._look(state, number)
                yield from self._expand(state, number, following)
            level = following
        self.complete = True

    def _look(self, state: State, number: int) -> Iterator[FaultyState]:
        """Check what a state comes to, if nothing more happens."""
        for end in self._space.ends(state):
            violations = self._checked.get(end.state)
            if violations is None:
                violations = self._checked[end.state] = tuple(self._check(end.state))
            for violation in violations:
                yield from self._note((*self.reached.steps_to(number), *end.steps), violation)

    def _expand(
        self, state: State, number: int, following: list[tuple[State, int]]
    ) -> Iterator[FaultyState]:
        """Make every turn from a state, and note the states that are new."""
        reached = self.reached
        for turn in self._space.after(state):
            self.made += 1
            self._ways.add(turn.steps)
            new = reached.add(turn.state, number, turn.steps)
            if new != FIRST:
                following.append((turn.state, new))
            if turn.panic:
                yield from self._note(
                    (*reached.steps_to(number), *turn.steps), of_panic(turn.panic)
                )

    def _note(self, steps: tuple[int, ...], violation: StateViolation) -> Iterator[FaultyState]:
        if violation not in self._known:
            self._known.add(violation)
            yield FaultyState(steps, violation)
