"""The sessions of a scenario as they were when they were over, for tests of what holds then."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.session import session_run as run
from plinian.engine.session.framework.session import Session
from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.replay.simulate.scenario_cases import Case
from plinian.replay.simulate.simulation import simulate


class EndedSession(Session):
    """A session that is over, and the accounts with which it began."""

    made: list[EndedSession]

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.before = self.nodes.copy()
        self.statuses = self.tasks.status.copy()
        self.made.append(self)


def ended_sessions(case: Case, behaviours: Behaviours) -> list[EndedSession]:
    """Return the sessions of a scenario; some may have crashed."""
    made: list[EndedSession] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "Session", type("EndedSession", (EndedSession,), {"made": made}))
        simulate(case, behaviours)
    return made
