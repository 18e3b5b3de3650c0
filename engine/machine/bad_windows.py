"""Windows of time in which a write of a user ends badly, in a cluster in which nothing is late.

Everything happens in the natural order, and a write comes when some time has passed. While nothing
is due, nothing changes, so one moment stands for all those until something is due. Only what the
write itself sets off can make a difference between them. So the first and the last microsecond are
both tried; if they end differently, the moment between is searched where the end changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from .machine import Machine, State
from .machine_layout import MachineStep
from .natural import USER, Check, Natural, StateViolation
from .user import ACTS

MOST_MOMENTS = 1000
"""So often something may be due before a window is said to have no end."""


class Due(NamedTuple):
    """What happens when something is due; also the time until the next is due.

    :param at: microseconds after the write before. :param lasts: None if nothing new comes.
    :param before: the state before. :param state: at rest, when all has happened.
    :param steps: what was done, by number. :param way: all steps from the start to the state.
    """

    at: int
    lasts: int | None
    before: State
    state: State
    steps: tuple[int, ...]
    way: tuple[int, ...]


class BadWindow(NamedTuple):
    """A stretch of time in which the write ends badly.

    :param begin: microseconds after the write before. :param end: None if it has no end.
    :param opens, closes: what happens at the begin and at the end; None if nothing does.
    :param way: steps from the start to the write, which comes at the begin; empty if nothing is due
        then, and no step leads to that moment.
    """

    begin: int
    end: int | None
    opens: Due | None
    closes: Due | None
    violations: tuple[StateViolation, ...]
    way: tuple[int, ...]


class WriteWindows(NamedTuple):
    """A write of a user, and when it ends badly.

    :param number: of the write, from 1. :param before: the state in which it comes at once.
    :param after: the state that the write itself leads to.
    """

    number: int
    before: State
    after: State
    windows: tuple[BadWindow, ...]


class _Piece(NamedTuple):
    begin: int
    end: int | None
    due: Due
    violations: tuple[StateViolation, ...]


class Windows:
    """Tries when to make each write of a user.

    Those before it come as soon as all is at rest, and those after it do not come.
    """

    def __init__(self, machine: Machine, start: State, check: Check) -> None:
        self._machine, self._check = machine, check
        self._start = start
        self._natural = Natural(machine)
        self._writes = machine.transitions.steps.number(MachineStep(USER, "", ACTS))

    def of_all_writes(self) -> Iterator[WriteWindows]:
        """Yield the windows of each write after the first."""
        state, number, way = self._start, 1, tuple[int, ...]()
        while self._writes in self._machine.enabled(state):
            after, _ = self._machine.after(state, self._writes)
            # Times are counted from the write before, and the first write has none.
            if number > 1:
                yield WriteWindows(number, state, after, tuple(self._windows(state, way)))
            state, steps = self._settled(after)
            number, way = number + 1, (*way, self._writes, *steps)

    def _windows(self, state: State, way: tuple[int, ...]) -> Iterator[BadWindow]:
        """Yield when the next write ends badly, if its cluster is in a state at rest."""
        pieces = [piece for due in self._dues(state, way) for piece in self._pieces(due)]
        for violations, group in groupby(pieces, key=lambda piece: piece.violations):
            first, *others = group
            last = others[-1] if others else first
            if violations:
                opens = first.due if first.begin == first.due.at else None
                closes = next((piece.due for piece in pieces if piece.due.at == last.end), None)
                steps = () if opens is None else (*opens.way, self._writes)
                yield BadWindow(first.begin, last.end, opens, closes, violations, steps)

    def _dues(self, state: State, way: tuple[int, ...]) -> Iterator[Due]:
        """Yield what happens one after the other, until nothing is due or all comes again."""
        at, before, steps = 0, state, tuple[int, ...]()
        seen: set[State] = set()
        while len(seen) < MOST_MOMENTS:
            lasts = None if state in seen else self._machine.due(state)
            yield Due(at, lasts, before, state, steps, way)
            seen.add(state)
            if lasts is None:
                return
            at, before = at + lasts, state
            state, steps = self._settled(self._machine.passed(state, lasts))
            way = (*way, self._machine.wait, *steps)

    def _pieces(self, due: Due) -> Iterator[_Piece]:
        """Yield how the write ends, from the moment on until the next thing is due."""
        begin, violations = 0, self._ends(due, 0)
        if due.lasts is None:
            yield _Piece(due.at, None, due, violations)
            return
        while (change := self._change(due, begin, violations)) is not None:
            yield _Piece(due.at + begin, due.at + change, due, violations)
            begin, violations = change, self._ends(due, change)
        yield _Piece(due.at + begin, due.at + due.lasts, due, violations)

    def _change(self, due: Due, begin: int, violations: tuple[StateViolation, ...]) -> int | None:
        """Return a moment from which on the write ends differently than at ``begin``."""
        assert due.lasts is not None
        low, high = begin, due.lasts - 1
        # Only the first change from here on is searched: the caller goes on from it.
        if high <= low or self._ends(due, high) == violations:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if self._ends(due, middle) == violations:
                low = middle
            else:
                high = middle
        return high

    def _ends(self, due: Due, later: int) -> tuple[StateViolation, ...]:
        """Return what is wrong in the end if the write comes so many microseconds later."""
        state = self._machine.passed(due.state, later) if later else due.state
        state, _ = self._machine.after(state, self._writes)
        return tuple(dict.fromkeys(self._check(state)))

    def _settled(self, state: State) -> tuple[State, tuple[int, ...]]:
        """Return the state at rest that follows while no time passes, and the steps to it."""
        steps = []
        while (moved := self._natural.move(state, user=False, wait=False)) is not None:
            steps.append(moved.step)
            state = moved.state
        return state, tuple(steps)
