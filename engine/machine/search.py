"""Searches over the orders of a machine's steps, for states in which an invariant does not hold."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .machine import Machine, State

Check = Callable[[State], str]
"""Says in a sentence what is wrong with a state; empty if nothing is."""

FIRST = -1


class Found(NamedTuple):
    """A state in which an invariant does not hold.

    :param steps: numbers of the steps that lead there. :param sentence: what is wrong.
    """

    steps: tuple[int, ...]
    sentence: str


class Progress(NamedTuple):
    """How far a search is: distinct states, steps made, and states that still wait."""

    states: int
    steps: int
    waiting: int


class Reached:
    """The states that a search has reached, and how: some 200 bytes each."""

    def __init__(self, start: State) -> None:
        self._number: dict[bytes, int] = {}
        self._before = array("q")
        self._step = array("i")
        self.add(start, FIRST, FIRST)

    def __len__(self) -> int:
        return len(self._before)

    def add(self, state: State, before: int, step: int) -> int:
        """Note a state; return its number, or -1 if it was there."""
        code = array("I", state).tobytes()
        number = len(self._before)
        if self._number.setdefault(code, number) != number:
            return -1
        self._before.append(before)
        self._step.append(step)
        return number

    def steps_to(self, number: int) -> tuple[int, ...]:
        """Return the steps that first led to a state."""
        found = []
        while self._before[number] != FIRST:
            found.append(self._step[number])
            number = self._before[number]
        return tuple(reversed(found))


class Exhaustive:
    """Goes through all states, those that need fewest steps first.

    :ivar made: how many steps were made. :ivar complete: every reachable state was seen.
    """

    def __init__(self, machine: Machine, start: State, checks: Sequence[Check]) -> None:
        self._machine = machine
        self._checks = checks
        self._start = start
        self.reached = Reached(start)
        self.made = 0
        self.complete = False
        self._sentences: set[str] = set()

    def run(self, until: Callable[[Progress], bool]) -> Iterator[Found]:
        """Yield what is found: of each sentence, the way to it that has the fewest steps.

        :param until: says now and then whether to stop.
        """
        level = [(self._start, 0)]
        while level:
            following: list[tuple[State, int]] = []
            for place, (state, number) in enumerate(level):
                left = len(level) - place + len(following)
                if not place % 1024 and until(Progress(len(self.reached), self.made, left)):
                    return
                yield from self._expand(state, number, following)
            level = following
        self.complete = True

    def _expand(
        self, state: State, number: int, following: list[tuple[State, int]]
    ) -> Iterator[Found]:
        """Make every step from a state, and note the states that are new."""
        reached, after = self.reached, self._machine.after
        for step in self._machine.enabled(state):
            self.made += 1
            then, panic = after(state, step)
            new = FIRST if then == state else reached.add(then, number, step)
            if new >= 0:
                following.append((then, new))
            elif not panic:
                continue
            sentence = panic or next(filter(None, (check(then) for check in self._checks)), "")
            if sentence and sentence not in self._sentences:
                self._sentences.add(sentence)
                yield Found((*reached.steps_to(number), step), sentence)
