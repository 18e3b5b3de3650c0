"""One session that can be run as any release: at a point of a log, or in a scenario."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import msgspec

from ...engine.errors import UsageError
from ...engine.volcano.behaviours import Behaviours
from ..log import Log
from ..points import Moment
from ..session import ConfText, SessionAnswer, session_at
from ..simulation.cases import Case
from ..simulation.simulation import Simulation


class Subject(Protocol):
    """A session that is waiting to be run."""

    def session(self, behaviours: Behaviours) -> SessionAnswer:
        """Run it, traced, as a release would."""


class LogSubject(NamedTuple):
    """The session at a moment of a log.

    :param conf: None is the configuration in force there.
    """

    log: Log
    moment: Moment
    conf: ConfText | None = None

    def session(self, behaviours: Behaviours) -> SessionAnswer:
        """Run it, traced, as a release would."""
        return session_at(self.log, self.moment, release=behaviours, conf=self.conf, trace=True)


class CaseSubject(NamedTuple):
    """A session of a scenario, after all that comes before it.

    :param step: 1-based number of a step that has a session.
    """

    case: Case
    step: int

    def session(self, behaviours: Behaviours) -> SessionAnswer:
        """Run it, traced, as a release would."""
        case = msgspec.structs.replace(self.case, steps=self.case.steps[: self.step])
        return deque(answers_of(case, behaviours), maxlen=1)[0]


def case_subject(case: Case, step: int | None) -> CaseSubject:
    """Return a session of a scenario, by default the last.

    :raises UsageError: there is no such step, or it has no session.
    """
    steps = [number for number, one in enumerate(case.steps, start=1) if not one.no_session]
    if not steps or step not in {None, *steps}:
        has = ", ".join(map(str, steps)) or "none"
        raise UsageError(
            "the scenario has no session" if step is None else f"step {step} has no session",
            now=f"steps with a session: {has}",
        )
    return CaseSubject(case, steps[-1] if step is None else step)


def answers_of(case: Case, behaviours: Behaviours) -> Iterator[SessionAnswer]:
    """Yield what each session of a scenario decided, traced.

    An answer's cache is that of the answer until the next is asked for. A session whose scheduler
    had died before it is an answer with that crash.
    """
    for step, result, cache, _ in Simulation(case, behaviours, scores=True).sessions():
        yield SessionAnswer(f"step {step}", behaviours.release, "scenario", result, cache)
