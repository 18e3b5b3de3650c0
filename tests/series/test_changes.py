"""Changes of objects over time: they lead to the state at every moment."""

from __future__ import annotations

import pytest
from happenings import Happening, events_of, happenings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plinian
from plinian import Log
from plinian.engine.events import Reference
from plinian.engine.state.facts import Fact
from plinian.replay.moments.moment import Moment
from plinian.replay.series.changes_in_order import KINDS_FOLLOWED, changes


def lead_to(log: Log, moment: Moment) -> dict[Reference, Fact]:
    """Return what exists after the changes up to a moment, each of which must follow the others."""
    held: dict[Reference, Fact] = {}
    for change in changes(log, moment):
        assert held.pop(change.reference, None) == change.before
        if change.now is not None:
            held[change.reference] = change.now
    return held


def state(log: Log, moment: Moment) -> dict[Reference, Fact]:
    """Return what exists at a moment."""
    truth = log.truth(moment)
    return {one.reference: one.fact for pair in KINDS_FOLLOWED for one in truth.of(*pair)}


def test_changes_lead_to_the_state_at_any_moment(recording: Log) -> None:
    clock = recording.clock()
    first, last = clock.begins(), clock.last()
    assert first is not None
    assert last is not None
    revisions = [clock.revision_at(first + (last - first) * part // 6) for part in range(1, 7)]
    for revision in revisions:
        moment = recording.moment(f"rv:{revision}")
        held = lead_to(recording, moment)
        assert held == state(recording, moment)
        assert len(held) > 5


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(history=happenings, at=st.lists(st.integers(1, 50), min_size=1, max_size=3))
def test_changes_of_a_drawn_history_lead_to_its_state(
    tmp_path_factory: pytest.TempPathFactory, history: list[Happening], at: list[int]
) -> None:
    # No API server binds a pod twice, nor does a binding have a revision.
    history = [one for one in history if one[0] != "bound"]
    place = tmp_path_factory.mktemp("log") / "log.db"
    with plinian.open(place, create=True) as made:
        made.store.append(events_of(history))
        for moment in (made.moment(), *(made.moment(f"rv:{revision}") for revision in at)):
            assert lead_to(made, moment) == state(made, moment)


def test_changes_come_in_the_order_of_their_times(recording: Log) -> None:
    times = [change.time for change in changes(recording, recording.moment())]
    assert times == sorted(times)
