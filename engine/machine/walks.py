"""Walks: runs of a machine in orders that are picked, where there are too many to try all.

Each walk begins with the user's first write. When it has made so many steps, the cluster is left
alone, and what it comes to is checked.

- ``random`` picks each step at random.
- ``pct`` gives each kind of step (a channel that delivers, an action of a component) a random
  priority, makes the possible one with the highest, and lowers that of the next one at ``d - 1``
  random places. Of a fault that depends on the order of ``d`` steps, one walk finds it with a
  probability of at least 1 in ``n k^(d-1)``, for ``n`` kinds of steps and ``k`` steps in a walk.
- ``delay`` follows the natural order, but for a few places at which it leaves out the natural step.

Picks come from a seed, and are the same on every machine.

Source: S. Burckhardt and others, A randomized scheduler with probabilistic guarantees of finding
bugs, ASPLOS 2010; M. Emmi and others, Delay-bounded scheduling, POPL 2011.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from .machine import Machine, State
from .natural import Check, MovedStep, Natural, StateViolation, of_panic
from .state_search import FaultyState, Progress


class WalkStrategy(StrEnum):
    """How a walk picks its steps."""

    RANDOM = "random"
    PCT = "pct"
    DELAY = "delay"


class WalkPlan(NamedTuple):
    """How walks are made, and how much they may differ from the natural order.

    :param seed: of all that is picked. :param steps: at most, until a cluster is left alone.
    :param changes: of priorities in a walk (``pct``), or steps that are left out (``delay``).
    :param prompt: with ``delay``, components whose steps are never left out.
    """

    strategy: WalkStrategy
    seed: int
    steps: int = 120
    changes: int = 3
    prompt: frozenset[str] = frozenset()


class WalkBound(NamedTuple):
    """What walks by priorities promise.

    :param depth: of a fault: on the order of so many steps it depends. :param kinds: of steps.
    :param steps: in a walk. :param walks: how many were made.
    """

    depth: int
    kinds: int
    steps: int
    walks: int

    @property
    def of_one(self) -> float:
        """The least probability with which one walk finds such a fault."""
        return 1 / (self.kinds * self.steps ** (self.depth - 1)) if self.kinds else 0.0

    @property
    def of_all(self) -> float:
        """The least probability with which any of the walks finds it."""
        return -math.expm1(self.walks * math.log1p(-self.of_one)) if self.of_one < 1 else 1.0


class Walks:
    """Makes walk after walk.

    :ivar made: how many steps were made. :ivar walked: how many walks.
    :ivar steps_made: the numbers of the distinct ones.
    """

    def __init__(self, machine: Machine, start: State, check: Check, plan: WalkPlan) -> None:
        self._machine, self._start, self._check = machine, start, check
        self._natural = Natural(machine)
        self._plan = plan
        self._random = random.Random(plan.seed)  # noqa: S311 -- picks orders, keeps no secrets
        self._known: set[StateViolation] = set()
        self._moves: dict[State, list[MovedStep]] = {}
        self.made = 0
        self.walked = 0
        self.steps_made: set[int] = set()

    @property
    def bound(self) -> WalkBound | None:
        """What the walks promise so far; None if they are not made by priorities."""
        if self._plan.strategy != WalkStrategy.PCT:
            return None
        kinds = {moved.step for moves in self._moves.values() for moved in moves}
        return WalkBound(self._plan.changes + 1, len(kinds), self._plan.steps, self.walked)

    @property
    def seen(self) -> int:
        """How many distinct states were seen."""
        return len(self._moves)

    def run(self, until: Callable[[Progress], bool]) -> Iterator[FaultyState]:
        """Yield what is found, each violation once; never ends by itself.

        :param until: says after each walk whether to stop.
        """
        while not until(Progress(self.seen, self.made, self.walked)):
            yield from self._walk()

    def _walk(self) -> Iterator[FaultyState]:
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
        self.steps_made.update(steps)
        self.walked += 1
        for violation in self._check(state):
            yield from self._note(steps, violation)

    def _note(self, steps: list[int], violation: StateViolation) -> Iterator[FaultyState]:
        if violation not in self._known:
            self._known.add(violation)
            yield FaultyState(tuple(steps), violation)

    def _moves_from(self, state: State) -> list[MovedStep]:
        known = self._moves.get(state)
        if known is None:
            known = self._moves[state] = self._natural.moves(state)
        return known

    def _picker(self) -> Callable[[list[MovedStep]], MovedStep]:
        if self._plan.strategy == WalkStrategy.RANDOM:
            return self._random.choice
        if self._plan.strategy == WalkStrategy.PCT:
            return _Priorities(self._random, self._plan).pick
        return _Delays(self._random, self._plan, self._is_prompt).pick

    def _is_prompt(self, moved: MovedStep) -> bool:
        return self._machine.step(moved.step).part in self._plan.prompt


class _Priorities:
    """Picks the step that has the highest priority.

    The lower priorities are given to places, not in the order of the walk: which of two steps that
    are held up goes first must be random, too.
    """

    def __init__(self, chooser: random.Random, plan: WalkPlan) -> None:
        self._random = chooser
        self._priority: dict[int, float] = {}
        # Random priorities are at least 0, so a lowered one is below them all.
        self._lowered = {chooser.randrange(plan.steps): -at for at in range(1, plan.changes + 1)}
        self._made = 0

    def pick(self, moves: list[MovedStep]) -> MovedStep:
        """Return the step to make."""
        best = max(moves, key=self._of)
        lower = self._lowered.pop(self._made, None)
        if lower is not None:
            self._priority[best.step] = lower
            best = max(moves, key=self._of)
        self._made += 1
        return best

    def _of(self, moved: MovedStep) -> float:
        known = self._priority.get(moved.step)
        if known is None:
            known = self._priority[moved.step] = self._random.random()
        return known


class _Delays:
    """Picks the natural step, but for a few places."""

    def __init__(
        self, chooser: random.Random, plan: WalkPlan, is_prompt: Callable[[MovedStep], bool]
    ) -> None:
        self._random = chooser
        self._is_prompt = is_prompt
        self._places = {chooser.randrange(plan.steps) for _ in range(plan.changes)}
        self._made = 0

    def pick(self, moves: list[MovedStep]) -> MovedStep:
        """Return the step to make."""
        delayed = self._made in self._places
        self._made += 1
        if not delayed:
            return moves[0]
        # A prompt step is never left out, so nothing behind it may be picked.
        last = next((at for at, move in enumerate(moves) if self._is_prompt(move)), len(moves) - 1)
        return moves[self._random.randrange(last + 1)]
