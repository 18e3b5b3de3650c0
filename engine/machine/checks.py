"""Invariants of clusters, checked on a machine's state at rest.

At rest the scheduler's informers have delivered everything, so its listers hold what the API server
holds, and the invariants of :mod:`plinian.engine.invariants` can be asked as they are. Left out are
those that compare moments or sessions, and those about conditions and sums in statuses, which a
machine does not write.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ..invariants.catalogue import INVARIANTS
from ..invariants.invariant import Invariant, Needs
from ..invariants.view import ClusterView
from .job_checks import JOB_IDS, JOBS, JobsAtRest
from .machine_layout import API
from .natural import AtRest, Check, StateViolation
from .scheduler import SCHEDULER, SchedulerComponent

if TYPE_CHECKING:
    from .machine import Machine, State

PANIC, NO_REST = "I-05", "I-19"
"""Invariants that a machine checks by itself: no process panics, and a cluster comes to rest."""

_NOT_WRITTEN = frozenset({"I-15", "I-12", "I-12b", "I-12d", "I-10"})
"""About statuses that a machine does not write, and about what the user wrote."""

_NOT_SEEN = frozenset({"I-02d"})
"""About objects that no scheduler watches: :mod:`.job_checks` checks them."""

_UNITS = frozenset({"Node", "Pod", "PodGroup", "Queue"})


def checked_invariants() -> tuple[Invariant, ...]:
    """Return the invariants that can be checked on a state of a machine."""
    return tuple(invariant for invariant in INVARIANTS if _applies(invariant))


def checked_ids() -> tuple[str, ...]:
    """Return the ids of all invariants that a machine checks, in order."""
    return tuple(
        sorted({PANIC, NO_REST, *JOB_IDS, *(invariant.id for invariant in checked_invariants())})
    )


def violations_in(machine: Machine, ids: Collection[str] = ()) -> Check:
    """Return a check of what a state comes to, if it is left alone.

    :param ids: the only invariants to check; by default all.
    """
    invariants = [invariant for invariant in checked_invariants() if not ids or invariant.id in ids]
    checks: list[Check] = [_View(machine, invariants)]
    if JOBS in machine.layout.names and not (ids and {*ids}.isdisjoint(JOB_IDS)):
        checks.append(JobsAtRest(machine))
    at_rest = AtRest(
        machine, lambda state: [violation for check in checks for violation in check(state)]
    )
    if not ids:
        return at_rest
    # AtRest also reports panics and clusters that never rest, whatever the checks are.
    return lambda state: [violation for violation in at_rest(state) if violation.invariant in ids]


class _View:
    """Checks invariants once for each pair of an API server and a scheduler."""

    def __init__(self, machine: Machine, invariants: Sequence[Invariant]) -> None:
        self._machine = machine
        self._part = machine.layout.names.index(SCHEDULER)
        self._invariants = invariants
        self._known: dict[tuple[int, int], tuple[StateViolation, ...]] = {}

    def __call__(self, state: State) -> Sequence[StateViolation]:
        """Return what is wrong with a state at rest."""
        scheduler = state[self._part + 1]
        key = (state[API], scheduler)
        known = self._known.get(key)
        if known is None:
            component = self._machine.transitions.component(self._part, scheduler)
            assert isinstance(component, SchedulerComponent)
            view = ClusterView(component.projector)
            known = self._known[key] = violations_of(view, self._invariants)
        return known


def violations_of(view: ClusterView, invariants: Sequence[Invariant]) -> tuple[StateViolation, ...]:
    """Return what is wrong with a cluster as it is."""
    units = list(view.units())
    violations = [
        StateViolation(invariant.id, violation.message, violation.kind, violation.name)
        for invariant in invariants
        for kind, name in units
        if kind == invariant.unit
        for violation in invariant.check(view, name)
    ]
    return tuple(dict.fromkeys(violations))


def _applies(invariant: Invariant) -> bool:
    read = invariant.needs in {Needs.TRUTH, Needs.CACHE} and invariant.unit in _UNITS
    present = not (invariant.ranged or invariant.remembers or invariant.named or invariant.unseen)
    return read and present and invariant.id not in _NOT_WRITTEN | _NOT_SEEN
