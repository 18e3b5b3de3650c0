"""Shrinking: the fewest steps after which a cluster that is left alone comes to the same fault.

Steps are left out as long as the fault stays. What cannot be done any more is skipped, and what is
missing at the end is done in the natural order. So what is left is where the order matters.

Source: A. Zeller and R. Hildebrandt, Simplifying and isolating failure-inducing input, TSE 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .machine import Machine, State
from .natural import Check, StateViolation, of_panic
from .state_search import FaultyState


class Played(NamedTuple):
    """A run of some steps.

    :param steps: those that could be made and changed something. :param state: what they lead to.
    :param panics: messages of processes that ended.
    """

    steps: tuple[int, ...]
    state: State
    panics: tuple[str, ...]


def play(machine: Machine, start: State, steps: Sequence[int]) -> Played:
    """Make steps one after the other; skip what cannot be done, or changes nothing."""
    played: list[int] = []
    panics: list[str] = []
    state = start
    for step in steps:
        if step in machine.enabled(state):
            after, panic = machine.after(state, step)
            if after != state or panic:
                played.append(step)
                state = after
                if panic:
                    panics.append(panic)
    return Played(tuple(played), state, tuple(panics))


class Shrinker:
    """Shrinks what a search found in a machine."""

    def __init__(self, machine: Machine, start: State, check: Check) -> None:
        self._machine, self._start, self._check = machine, start, check

    def shrink(self, faulty_state: FaultyState) -> FaultyState:
        """Return the same violation with steps of which none can be left out."""
        steps = faulty_state.steps
        while True:
            shorter = self._cut(steps, faulty_state.violation)
            if len(shorter) >= len(steps):
                return FaultyState(shorter, faulty_state.violation)
            steps = shorter

    def _cut(self, steps: tuple[int, ...], violation: StateViolation) -> tuple[int, ...]:
        """Leave out pieces, large ones first."""
        size = len(steps)
        while size:
            at = 0
            while at < len(steps):
                fewer = (*steps[:at], *steps[at + size :])
                played = self._played(fewer, violation)
                if played is None:
                    at += size
                else:
                    # The run itself skips steps that can no longer be made, so more may go than the
                    # piece. The next piece begins at the same place.
                    steps = played
            size = min(size // 2, len(steps)) if size > 1 else 0
        return steps

    def _played(self, steps: tuple[int, ...], violation: StateViolation) -> tuple[int, ...] | None:
        """Return the steps that were made if they lead to the violation, else None."""
        played = play(self._machine, self._start, steps)
        panics = map(of_panic, played.panics)
        if violation in panics or violation in self._check(played.state):
            return played.steps
        return None
