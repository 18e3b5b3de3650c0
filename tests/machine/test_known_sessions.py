"""Sessions are decided once for what they see, and a search is as if each had been run."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import suppress
from itertools import count

import pytest
from small_machines import of_pods
from walked_machines import CORPUS

from plinian.engine.machine import scheduler
from plinian.engine.machine.checks import violations_in
from plinian.engine.machine.cluster_machine import Cluster
from plinian.engine.machine.machine import Machine
from plinian.engine.machine.scheduler import SCHEDULER
from plinian.engine.machine.state_search import FaultyState
from plinian.engine.machine.walks import WalkPlan, Walks, WalkStrategy
from plinian.engine.session.session_run import SessionInput, run_session
from plinian.replay.explore.explored_scenario import read_machine_case
from plinian.replay.explore.scenario_world import world_of


class Walked:
    """What walks through a cluster came to, and how many sessions were run for that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, release: str) -> None:
        self._run = 0

        def counted(given: SessionInput) -> object:
            self._run += 1
            return run_session(given)

        monkeypatch.setattr(scheduler, "run_session", counted)
        machine, start = cluster_of(name, release)
        search = Walks(machine, start, violations_in(machine), WalkPlan(WalkStrategy.DELAY, seed=1))
        self.found: list[FaultyState] = list(search.run(lambda now: now.waiting >= 12))
        self.steps = search.made, search.seen, search.steps_made
        self.held = [*_held(machine)]
        self.sessions = self._run


def _held(machine: Machine) -> Iterator[Hashable]:
    """Yield all that the scheduler held anywhere, in the order in which the search met it."""
    part = machine.layout.names.index(SCHEDULER)
    with suppress(IndexError):
        for number in count():
            yield machine.transitions.kept(part, number)


def cluster_of(name: str, release: str) -> Cluster:
    """Return a scenario of the corpus as a machine, or one of two pods."""
    if not name:
        return of_pods(release)
    world = world_of(read_machine_case(CORPUS / f"{name}.case.json"), release)
    return Cluster(world.machine, world.start)


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("", "v1.12.1"),
        ("b01-job-deleted-and-created-again", "hardened"),
        ("b04-node-flaps", "v1.15.1"),
        ("l1-refused-binding", "v1.12.1"),
        ("l1-refused-eviction", "v1.15.1"),
        ("n07-restart-pod-panics", "v1.12.4"),
    ],
)
def test_a_search_is_the_same_as_with_each_session_run(
    name: str, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Walked(monkeypatch, name, release)
    numbers = count()
    monkeypatch.setattr(scheduler, "seen_by_sessions", lambda _: b"%d" % next(numbers))
    each = Walked(monkeypatch, name, release)
    assert known.found == each.found
    assert known.steps == each.steps
    assert known.held == each.held
    assert known.sessions < each.sessions
