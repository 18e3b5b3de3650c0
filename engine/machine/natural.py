"""The natural order: a cluster in which nothing is held up, and what it comes to if left alone.

Informers deliver before workers take items, a session runs when nothing else is left to do, then
processes list again what they have missed; a user writes when everything is at rest, and time
passes last. Faults do not come about by themselves. A report of a run says where it differs from
this order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .machine import Machine, State
from .machine_layout import FAULTS, MachineStep
from .scheduler import SESSION


class StateViolation(NamedTuple):
    """What is wrong with a state.

    :param invariant: its id, as in ``I-04``. :param message: what is wrong.
    :param kind: of the object of which that is said; empty if the message names it.
    :param name: of the same object.
    """

    invariant: str
    message: str
    kind: str = ""
    name: str = ""

    @property
    def sentence(self) -> str:
        """What is wrong, with the object."""
        about = f"{self.kind} {self.name}".rstrip()
        return f"{about}: {self.message}" if about else self.message


Check = Callable[[State], Sequence[StateViolation]]
"""Says what is wrong with a state; nothing if nothing is."""

NEVER_AT_REST = StateViolation("I-19", "the cluster does not come to rest")
USER = "user"
MOST_STEPS = 20_000
"""After so many steps a cluster is said not to come to rest."""

_DELIVERY, _WORK, _SESSION, _LISTING, _USER, _FAULT, _WAIT = range(7)


class MovedStep(NamedTuple):
    """A step that changed something, and what it led to."""

    step: int
    state: State
    panic: str


class NaturalEnd(NamedTuple):
    """What a cluster comes to.

    :param steps: that lead there. :param state: nothing changes it, or only time passes in it.
    :param panics: messages of processes that ended on the way.
    :param reached: it came to rest.
    """

    steps: tuple[int, ...]
    state: State
    panics: tuple[str, ...]
    reached: bool


class Natural:
    """Makes the steps of a machine in the natural order."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._ranks: dict[int, tuple[int, int]] = {}
        self._rests: dict[State, NaturalEnd] = {}

    def steps(self, state: State) -> list[int]:
        """Return all steps that can be made, the natural one first."""
        return sorted(self._machine.enabled(state), key=self._rank)

    def moves(self, state: State, *, user: bool = True, wait: bool = True) -> list[MovedStep]:
        """Return all steps that change something, the natural one first."""
        moves = []
        for step in self.steps(state):
            if self._allowed(step, user=user, wait=wait):
                after, panic = self._machine.after(state, step)
                if after != state or panic:
                    moves.append(MovedStep(step, after, panic))
        return moves

    def move(self, state: State, *, user: bool = True, wait: bool = True) -> MovedStep | None:
        """Make the natural step; None if there is nothing left to do."""
        for step in self.steps(state):
            if self._allowed(step, user=user, wait=wait):
                after, panic = self._machine.after(state, step)
                if after != state or panic:
                    return MovedStep(step, after, panic)
        return None

    def rest(self, state: State) -> NaturalEnd:
        """Return what the cluster comes to if the user does nothing more.

        Where only timers go on for ever, that is the first such state that comes again.
        """
        known = self._rests.get(state)
        if known is None:
            known = self._rests[state] = self._come_to_rest(state)
        return known

    def _come_to_rest(self, state: State) -> NaturalEnd:
        steps: list[int] = []
        panics: list[str] = []
        seen: set[State] = set()
        while len(steps) < MOST_STEPS:
            moved = self.move(state, user=False, wait=False)
            # Only time is left. If this state was met before, timers go round for ever.
            if moved is None:
                if state in seen:
                    return NaturalEnd(tuple(steps), state, tuple(panics), reached=True)
                seen.add(state)
                moved = self.move(state, user=False)
            if moved is None:
                return NaturalEnd(tuple(steps), state, tuple(panics), reached=True)
            steps.append(moved.step)
            state = moved.state
            if moved.panic:
                panics.append(moved.panic)
                # A process that panics again in the same way would do so for ever.
                if panics.count(moved.panic) > 1:
                    return NaturalEnd(tuple(steps), state, tuple(panics), reached=False)
        return NaturalEnd(tuple(steps), state, tuple(panics), reached=False)

    def _allowed(self, step: int, *, user: bool, wait: bool) -> bool:
        kind = self._rank(step)[0]
        return (user or kind not in {_USER, _FAULT}) and (wait or kind != _WAIT)

    def is_free(self, step: int) -> bool:
        """Say whether a step belongs to no moment: a user's write, a fault, the end of a fault."""
        return self._rank(step)[0] in {_LISTING, _USER, _FAULT}

    def _rank(self, step: int) -> tuple[int, int]:
        known = self._ranks.get(step)
        if known is None:
            known = self._ranks[step] = self._ranked(step, self._machine.step(step))
        return known

    def _ranked(self, number: int, step: MachineStep) -> tuple[int, int]:
        layout, faults = self._machine.layout, self._machine.faults
        if step.fault:
            return _FAULT, 0
        if step.kind:
            return _DELIVERY, layout.channels[step.part, step.kind]
        if not step.part:
            return _WAIT, 0
        if step.part == USER:
            return _USER, 0
        if step.part == FAULTS:
            ends = faults is not None and faults.ends(number)
            return (_LISTING if ends else _FAULT), 0
        return (_SESSION if step.name == SESSION else _WORK), layout.place[step.part]


class AtRest:
    """Says what is wrong with what a state comes to if it is left alone: that stays wrong."""

    def __init__(self, machine: Machine, check: Check) -> None:
        self._natural = Natural(machine)
        self._check = check

    def __call__(self, state: State) -> Sequence[StateViolation]:
        """Return panics on the way, or what is wrong in the end."""
        rest = self._natural.rest(state)
        if rest.panics:
            return tuple(map(of_panic, dict.fromkeys(rest.panics)))
        return self._check(rest.state) if rest.reached else (NEVER_AT_REST,)


def of_panic(message: str) -> StateViolation:
    """Return what is wrong if a process panics."""
    return StateViolation("I-05", f"a process panics: {message}")
