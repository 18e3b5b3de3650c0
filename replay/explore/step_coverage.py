"""Which kinds of steps a search made, and which it never made."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...engine.machine.machine_layout import WAIT, MachineStep
from ...engine.machine.walks import WalkBound
from .scenario_world import ScenarioWorld


class StepCoverage(msgspec.Struct, frozen=True):
    """The kinds of steps of a machine, in words, sorted.

    :param made: those that the search made. :param never: those that were never made: the scenario
        does not lead there, or the search did not get that far.
    """

    made: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


def coverage_of(world: ScenarioWorld, steps: Iterable[int]) -> StepCoverage:
    """Return what is covered by steps, given by their numbers."""
    machine = world.machine
    channels = {str(MachineStep(name, kind)) for name, kind in machine.layout.channels}
    known = machine.transitions.steps
    possible = {_kind_of(known[number]) for number in range(len(known))} - {str(WAIT)}
    made = {_kind_of(machine.step(number)) for number in steps}
    return StepCoverage(tuple(sorted(made)), tuple(sorted((channels | possible) - made)))


def _kind_of(step: MachineStep) -> str:
    """Return a step in words, without the names of objects."""
    return " ".join(word for word in str(step).split() if "/" not in word)


def together(coverages: Iterable[StepCoverage]) -> StepCoverage:
    """Return what several searches covered."""
    made, never = set[str](), set[str]()
    for coverage in coverages:
        made.update(coverage.made)
        never.update(coverage.never)
    return StepCoverage(tuple(sorted(made)), tuple(sorted(never - made)))


def bound_together(found: Iterable[WalkBound | None]) -> WalkBound | None:
    """Return what the walks of several searches promise; None if they promise nothing."""
    bounds = [bound for bound in found if bound is not None]
    if not bounds:
        return None
    kinds = max(bound.kinds for bound in bounds)
    return bounds[0]._replace(kinds=kinds, walks=sum(bound.walks for bound in bounds))
