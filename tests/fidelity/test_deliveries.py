"""What informers may have delivered, and the caches that it makes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import plinian
from plinian.engine.volcano.session.history import resolve
from plinian.replay.fidelity import rerun
from plinian.replay.fidelity.attempts import Attempt
from plinian.replay.fidelity.deliveries import Deliveries, DeliveryCut
from plinian.replay.fidelity.nearest_run import NearestRun, SearchLimits, SessionSearch
from plinian.replay.fidelity.one_run import OneRun
from plinian.replay.logs.log import Log


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give the log of the demonstration."""
    with plinian.demo(tmp_path_factory.mktemp("deliveries") / "demo.db") as log:
        yield log


def decided(attempt: Attempt | None) -> tuple[object, ...]:
    """Return what a run decided and wrote."""
    assert attempt is not None
    result = attempt.result
    return result.binds, result.evictions, result.pod_groups, result.fit_errors


class _Comparing(SessionSearch):
    """Runs the session on each place twice: as it was delivered, and delivered again from before.

    :ivar places: how many were compared.
    """

    places = 0

    def __init__(
        self, deliveries: Deliveries, place: int, run: OneRun, limits: SearchLimits
    ) -> None:
        super().__init__(deliveries, place, run, limits)
        self._given = (deliveries, run)

    def nearest(self) -> NearestRun:
        """Compare, then search as always."""
        deliveries, run = self._given
        for place in deliveries.places()[::7]:
            for kind in deliveries.kinds():
                ((cut, again),) = deliveries.along(DeliveryCut(place), kind, [place])
                assert cut.place(kind) == place
                assert decided(run(again)) == decided(run(deliveries.seen(place)))
                type(self).places += 1
        return super().nearest()


@pytest.mark.slow
def test_what_is_delivered_again_makes_the_same_cache(
    demo: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rerun, "SessionSearch", _Comparing)
    rerun.rerun_sessions(demo.store, demo.moment("session:30"), resolve("v1.12.1"))
    assert _Comparing.places > 20


def test_changes_without_a_meaning_for_sessions_are_no_places(
    demo: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Deliveries] = []
    added = Deliveries.add
    monkeypatch.setattr(
        Deliveries, "add", lambda self, *given: (found.append(self), added(self, *given))
    )
    rerun.rerun_sessions(demo.store, demo.moment("session:30"), resolve("v1.12.1"))
    arrivals = [one for each in {id(one): one for one in found}.values() for one in each.arrivals]
    silent = [one for one in arrivals if not one.tells]
    assert {one.kind for one in silent} >= {"Pod"}
    assert len(silent) < len(arrivals)


def test_a_cut_moves_one_kind_and_leaves_the_others() -> None:
    cut = DeliveryCut(5).moved("Pod", 3).moved("Node", 7).moved("Pod", 2)
    assert [cut.place(kind) for kind in ("Pod", "Node", "Queue")] == [2, 7, 5]
    assert cut == DeliveryCut(5, (("Node", 7), ("Pod", 2)))
