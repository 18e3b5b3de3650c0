"""A search through all orders of a machine's steps in which few of them are held up.

The natural order holds nothing up. A delay is one departure from it: a step that could be made next
(a delivery, what a worker does, a session) is held up, while everything else goes on, and is made
at any later moment. The user writes at any moment, which is no delay; faults come and end so, too.
Most races need one delay, and all orders with one can be tried where all orders cannot.

Time passes when nothing is left to do but what is held up. How often it may pass while a step is
held up is limited too: a step that is held up for ever longer meets ever more timers.

Source: M. Emmi and others, Delay-bounded scheduling, POPL 2011. There, a delay moves a task behind
all others; here, the search tries each later moment.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from .machine import Machine, State
from .natural import Check, Natural, StateViolation, of_panic
from .state_search import FIRST, LOOK_AFTER, FaultyState, Progress, Reached
from .value_numbers import ValueTable

_Held = tuple[int, ...]


class DelayLimits(NamedTuple):
    """Which orders are tried.

    :param delays: so many steps are held up in an order, at most.
    :param waits: so often time passes, at most, from one moment without a delay to the next.
    """

    delays: int = 1
    waits: int = 1


ONE_DELAY = DelayLimits()


class _At(NamedTuple):
    """Where a search is.

    :param plain: the machine's state. :param held: the steps that are held up.
    :param waits: how often time passed since. :param number: of the state among those reached.
    """

    plain: State
    held: _Held
    waits: int
    number: int


class DelaySearch:
    """Tries all orders within limits, those with the fewest delays first.

    A state here is that of the machine, and after it the number of the set of steps that are held
    up, and how often time passed since they are.

    :param prompt: components whose steps are never held up.
    :ivar made: how many steps were made. :ivar steps_made: the numbers of the distinct ones.
    :ivar ended: how many states at rest were checked.
    :ivar complete: every order within the limits was tried.
    """

    def __init__(
        self,
        machine: Machine,
        start: State,
        check: Check,
        limits: DelayLimits = ONE_DELAY,
        prompt: Collection[str] = (),
    ) -> None:
        self._machine = machine
        self._check = check
        self._limits = limits
        # The step in which time passes belongs to no component: its part is the empty name.
        self._prompt = frozenset((*prompt, ""))
        self._natural = Natural(machine)
        self._sets: ValueTable[_Held] = ValueTable()
        first = (*start, self._sets.number(()), 0)
        self.reached = Reached(first)
        self._queue = deque([(first, 0)])
        self._later: list[tuple[State, int]] = []
        self._delays = 0
        self.made = 0
        self.ended = 0
        self.complete = False
        self.steps_made: set[int] = set()
        self._known: set[StateViolation] = set()

    def run(self, until: Callable[[Progress], bool]) -> Iterator[FaultyState]:
        """Yield what is found: of each violation, a way to it that has the fewest delays.

        :param until: says now and then whether to stop.
        """
        looked = 0
        while self._queue or self._next_delay():
            left = len(self._queue) + len(self._later)
            if not looked % LOOK_AFTER and until(Progress(len(self.reached), self.made, left)):
                return
            looked += 1
            yield from self._expand(*self._queue.popleft())
        self.complete = True

    def _next_delay(self) -> bool:
        """Go on with the orders that have one more delay; say whether there are any."""
        assert not self._queue, "orders with fewer delays are tried first"
        later, self._later = self._later, []
        self._delays += 1
        for state, before in later:
            self._add(state, before, ())
        return bool(self._queue)

    def _expand(self, state: State, number: int) -> Iterator[FaultyState]:
        """Make every step that the limits allow from a state."""
        at = _At(state[:-2], self._sets[state[-2]], state[-1], number)
        natural: int | None = None
        for step in self._natural.steps(at.plain):
            late = step in at.held
            free = late or self._natural.is_free(step)
            # Of the steps that are not free only the natural one is made: the first that changes
            # something. To make another one instead is to hold this one up.
            if free or natural is None:
                after, panic = self._machine.after(at.plain, step)
                if after != at.plain or panic:
                    if not free:
                        natural = step
                        self._hold_up(at, step)
                    yield from self._go(at, step, after, panic)
                    # A step is one of many that look alike, such as the deliveries of a channel.
                    # Above, those that follow it are held up too; here, they are not.
                    if late:
                        lifted = tuple(late_step for late_step in at.held if late_step != step)
                        yield from self._go(at._replace(held=lifted), step, after, panic)
        # At rest: nothing is held up, and at most time is left to pass.
        if not at.held and natural in {None, self._machine.wait}:
            yield from self._look(at)

    def _hold_up(self, at: _At, step: int) -> None:
        """Hold a step up that could be made now, if one more delay is allowed."""
        assert step not in at.held, "a step is held up once"
        allowed = self._delays < self._limits.delays and step != self._machine.wait
        if allowed and self._machine.step(step).part not in self._prompt:
            late = self._sets.number(tuple(sorted((*at.held, step))))
            self._later.append(((*at.plain, late, at.waits), at.number))

    def _go(self, at: _At, step: int, after: State, panic: str) -> Iterator[FaultyState]:
        """Make a step. What cannot be made any more after it is not held up."""
        held, waits = at.held, at.waits
        if held and step == self._machine.wait:
            waits += 1
            if waits > self._limits.waits:
                return
        self.made += 1
        self.steps_made.add(step)
        if held:
            enabled = self._machine.enabled(after)
            held = tuple(late_step for late_step in held if late_step in enabled)
        self._add((*after, self._sets.number(held), waits if held else 0), at.number, (step,))
        if panic:
            yield from self._note(at.number, (step,), of_panic(panic))

    def _add(self, state: State, before: int, steps: tuple[int, ...]) -> None:
        new = self.reached.add(state, before, steps)
        if new != FIRST:
            self._queue.append((state, new))

    def _look(self, at: _At) -> Iterator[FaultyState]:
        """Check a state at rest."""
        self.ended += 1
        for violation in self._check(at.plain):
            yield from self._note(at.number, (), violation)

    def _note(
        self, number: int, steps: tuple[int, ...], violation: StateViolation
    ) -> Iterator[FaultyState]:
        if violation not in self._known:
            self._known.add(violation)
            yield FaultyState((*self.reached.steps_to(number), *steps), violation)
