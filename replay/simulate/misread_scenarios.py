"""Scenarios in which a session or a worker reads the list of ignored devices while it is empty."""

from __future__ import annotations

from ...engine.cache.misread_ignored_devices import Misreading, list_empty, read_minima, read_pods
from ...engine.volcano.session.behaviours import Behaviours
from .results import StepResult
from .scenario_cases import Case
from .simulation import SimulatedSession, Simulation


class MisreadSimulation(Simulation):
    """A simulation in which the list of ignored devices is empty when something is read.

    :param what: what is read then. :param step: the 1-based step whose session is the first that
        sees it.
    """

    def __init__(self, case: Case, behaviours: Behaviours, what: Misreading, step: int) -> None:
        super().__init__(case, behaviours)
        self._what = what
        self._at = step

    def _run_session(self, step: int, *, restarted: bool) -> SimulatedSession:
        if step != self._at:
            return super()._run_session(step, restarted=restarted)
        cache = self._scheduler.cache
        with list_empty(cache):
            if self._what is Misreading.MINIMUM:
                read_minima(cache)
            else:
                read_pods(cache)
        session = super()._run_session(step, restarted=restarted)
        if self._what is Misreading.MINIMUM:
            read_minima(cache)
        return session


def simulate_misread(
    case: Case, behaviours: Behaviours, what: Misreading, *, step: int = 1
) -> list[StepResult]:
    """Run a scenario as a release would; parameters as those of :class:`MisreadSimulation`."""
    return MisreadSimulation(case, behaviours, what, step).run()
