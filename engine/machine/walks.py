"""Walks: runs of a machine in orders that are picked, where there are too many to try all.

Each walk begins with the user's first write. When it has made so many steps, the cluster is left
alone, and what it comes to is checked.

- ``random`` picks each step at random.
- ``pct`` gives each channel and each component a random priority, lets the one with the highest go
  on, and lowers that of the running one at a few random steps. Of a fault that depends on the order
  of ``d`` steps, one walk finds it with a probability of at least 1 in ``n k^(d-1)``, for ``n``
  channels and components and ``k`` steps.
- ``delay`` follows the natural order, but for a few places at which it leaves out the natural step.

Picks come from a seed, and are the same on every machine.

Source: S. Burckhardt and others, A randomized scheduler with probabilistic guarantees of finding
bugs, ASPLOS 2010; M. Emmi and others, Delay-bounded scheduling, POPL 2011.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from .layout import Step
from .machine import Machine, State
from .natural import Check, Moved, Natural, Violation, of_panic
from .search import Found, Progress


class Strategy(StrEnum):
    """How a walk picks its steps."""

    RANDOM = "random"
    PCT = "pct"
    DELAY = "delay"


class Plan(NamedTuple):
    """How walks are made, and how much they may differ from the natural order.

    :param seed: of all that is picked. :param steps: at most, until a cluster is left alone.
    :param changes: of priorities in a walk (``pct``), or steps that are left out (``delay``).
    """

    strategy: Strategy
    seed: int
    steps: int = 120
    changes: int = 3


class Walks:
    """Makes walk after walk.

    :ivar made: how many steps were made. :ivar walked: how many walks.
    :ivar seen: distinct states. :ivar kinds: how often each kind of step was made.
    """

    def __init__(self, machine: Machine, start: State, check: Check, plan: Plan) -> None:
        self._machine, self._start, self._check = machine, start, check
        self._natural = Natural(machine)
        self._plan = plan
        self._random = random.Random(plan.seed)  # noqa: S311 -- picks orders, keeps no secrets
        self._known: set[Violation] = set()
        self._moves: dict[State, list[Moved]] = {}
        self.made = 0
        self.walked = 0

    @property
    def seen(self) -> int:
        """How many distinct states were seen."""
        return len(self._moves)

    def run(self, until: Callable[[Progress], bool]) -> Iterator[Found]:
        """Yield what is found, each violation once; never ends by itself.

        :param until: says after each walk whether to stop.
        """
        while not until(Progress(self.seen, self.made, self.walked)):
            yield from self._walk()

    def _walk(self) -> Iterator[Found]:
        pick = self._picker()
        state, steps = self._start, list[int]()
        for _ in range(self._plan.steps):
            moves = self._moves_from(state)
            if not moves:
                break
            moved = pick(moves)
            steps.append(moved.step)
            state = moved.state
            if moved.panic:
                yield from self._note(steps, of_panic(moved.panic))
        self.made += len(steps)
        self.walked += 1
        for violation in self._check(state):
            yield from self._note(steps, violation)

    def _note(self, steps: list[int], violation: Violation) -> Iterator[Found]:
        if violation not in self._known:
            self._known.add(violation)
            yield Found(tuple(steps), violation)

    def _moves_from(self, state: State) -> list[Moved]:
        known = self._moves.get(state)
        if known is None:
            known = self._moves[state] = self._natural.moves(state)
        return known

    def _picker(self) -> Callable[[list[Moved]], Moved]:
        if self._plan.strategy == Strategy.RANDOM:
            return self._random.choice
        if self._plan.strategy == Strategy.PCT:
            return _Priorities(self._machine, self._random, self._plan).pick
        return _Delays(self._random, self._plan).pick


class _Priorities:
    """Picks the step of the channel or component that has the highest priority."""

    def __init__(self, machine: Machine, chooser: random.Random, plan: Plan) -> None:
        self._machine, self._random = machine, chooser
        self._priority: dict[tuple[str, str], float] = {}
        self._changes = sorted(chooser.randrange(plan.steps) for _ in range(plan.changes))
        self._made = 0
        self._lowest = 0

    def pick(self, moves: list[Moved]) -> Moved:
        """Return the step to make."""
        best = max(moves, key=self._of)
        if self._changes and self._made >= self._changes[0]:
            del self._changes[0]
            self._lowest -= 1
            self._priority[_lane(self._machine.step(best.step))] = self._lowest
            best = max(moves, key=self._of)
        self._made += 1
        return best

    def _of(self, moved: Moved) -> float:
        lane = _lane(self._machine.step(moved.step))
        known = self._priority.get(lane)
        if known is None:
            known = self._priority[lane] = self._random.random()
        return known


class _Delays:
    """Picks the natural step, but for a few places."""

    def __init__(self, chooser: random.Random, plan: Plan) -> None:
        self._random = chooser
        self._places = {chooser.randrange(plan.steps) for _ in range(plan.changes)}
        self._made = 0

    def pick(self, moves: list[Moved]) -> Moved:
        """Return the step to make."""
        delayed = self._made in self._places
        self._made += 1
        return moves[self._random.randrange(len(moves))] if delayed else moves[0]


def _lane(step: Step) -> tuple[str, str]:
    """Return what a step belongs to: a channel, a component, or time."""
    return step.part, step.kind
