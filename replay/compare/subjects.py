"""One session that can be run as any release: at a point of a log, or in a scenario."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import msgspec

from ...engine.errors import UsageError
from ...engine.session.framework.trace import Trace
from ...engine.state.clock import Unsure
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ..belief.belief import Beliefs
from ..coverage.coverage import SCHEDULING, unknown_at
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from ..sessions.session_answer import SessionAnswer, conf_of, scene_at, session_in
from ..simulate.scenario_cases import Case
from ..simulate.simulation import Simulation


class RunnableSession(Protocol):
    """A session to run."""

    @property
    def unsure(self) -> Unsure | None:
        """Changes that may have happened before or after it."""

    @property
    def not_known(self) -> tuple[Unknown, ...]:
        """What it needs and the log does not know at its moment."""

    def session(self, behaviours: Behaviours) -> SessionAnswer:
        """Run the session, traced, as a release would."""


class LogSubject:
    """The session at a moment of a log.

    :param conf: None is the configuration in force at the moment.
    :param beliefs: where other sessions find their caches, too.
    """

    def __init__(
        self,
        log: Log,
        moment: Moment,
        conf: ConfText | None = None,
        *,
        beliefs: Beliefs | None = None,
    ) -> None:
        self._scene = scene_at(log, moment, conf)
        self._beliefs = beliefs or Beliefs(log.store, log.recent_beliefs)
        self.moment = moment
        self.unsure = moment.unsure
        self.not_known = tuple(unknown_at(log, moment, SCHEDULING))

    def conf_source(self, release: str) -> str:
        """Return the source of the configuration that a release has in force."""
        return conf_of(self._scene.confs, resolve(release)).source

    def session(self, behaviours: Behaviours) -> SessionAnswer:
        """Run the session, traced, as a release would."""
        return self.traced(behaviours, Trace(scores=False))

    def traced(self, behaviours: Behaviours, trace: Trace) -> SessionAnswer:
        """Run the session with a trace that may be on, off, or limited."""
        cache = self._beliefs.of(self.moment, behaviours)
        answer = session_in(self._scene, behaviours, cache, into=trace)
        return replace(answer, not_known=self.not_known)


class CaseSubject:
    """A session of a scenario, after all steps before it.

    :param step: the 1-based number of a step with a session.
    """

    def __init__(self, case: Case, step: int) -> None:
        self.case, self.step = case, step
        self.unsure: Unsure | None = None
        self.not_known: tuple[Unknown, ...] = ()

    def session(self, behaviours: Behaviours) -> SessionAnswer:
        """Run the session, traced, as a release would."""
        # Later steps cannot change what an earlier session decides.
        case = msgspec.structs.replace(self.case, steps=self.case.steps[: self.step])
        # Only the last answer is kept: each has a cache.
        return deque(answers_of(case, behaviours), maxlen=1)[0]


def case_subject(case: Case, step: int | None) -> CaseSubject:
    """Return a session of a scenario, by default the last.

    :raises UsageError: there is no such step, or it has no session.
    """
    steps = [
        number for number, case_step in enumerate(case.steps, start=1) if not case_step.no_session
    ]
    if not steps or step not in {None, *steps}:
        has = ", ".join(map(str, steps)) or "none"
        raise UsageError(
            "the scenario has no session" if step is None else f"step {step} has no session",
            now=f"steps with a session: {has}",
        )
    return CaseSubject(case, steps[-1] if step is None else step)


def answers_of(case: Case, behaviours: Behaviours) -> Iterator[SessionAnswer]:
    """Yield what each session of a scenario decided, traced.

    An answer's cache is valid until the next answer is taken. A session after its scheduler crashed
    is an answer with that crash.
    """
    for step, result, cache, _ in Simulation(case, behaviours, scores=True).sessions():
        yield SessionAnswer(f"step {step}", behaviours.release, "scenario", result, cache=cache)
