"""A violation counts when it has lasted for the settle window; versions never go back."""

from __future__ import annotations

from invariant_views import BY_ID

from plinian.engine.invariants.catalogue import INVARIANTS
from plinian.engine.invariants.ids import IDS
from plinian.engine.invariants.invariant import Violation
from plinian.engine.invariants.version_invariants import WatchedVersion, going_back
from plinian.engine.invariants.violation_timeline import (
    SECOND_US,
    SETTLE_US,
    HappeningPlace,
    ViolationTimeline,
    has_settled,
)
from plinian.replay.invariants.check_task import ALL

SETTLING, AT_ONCE = BY_ID["I-04"], BY_ID["I-03"]
UNIT = ("Pod", "ns/a")
FOUND = [Violation("Pod", "ns/a", "it names nothing")]


def place(second: int) -> HappeningPlace:
    return HappeningPlace(second, second, second * SECOND_US)


def test_a_violation_begins_where_it_was_first_seen() -> None:
    timeline = ViolationTimeline()
    for second in (1, 2, 4):
        timeline.compare(SETTLING, UNIT, FOUND, place(second))
    (held,) = timeline.holding(place(9))
    assert (held.since, held.lasted, held.until) == (place(1), 8 * SECOND_US, None)
    timeline.compare(SETTLING, UNIT, [], place(10))
    assert list(timeline.holding(place(10))) == []
    assert [(one.since.position, one.until) for one in timeline.ended] == [(1, place(10))]


def test_a_short_violation_counts_only_without_a_settle_window() -> None:
    timeline = ViolationTimeline()
    for one in (SETTLING, AT_ONCE):
        timeline.compare(one, UNIT, FOUND, place(1))
        timeline.compare(one, UNIT, [], place(4))
    settling, at_once = timeline.ended
    assert [has_settled(one, SETTLE_US) for one in (settling, at_once)] == [False, True]
    assert has_settled(settling, 0)
    assert has_settled(settling, 3 * SECOND_US)


def test_a_violation_of_unknown_age_does_not_count_as_settled() -> None:
    timeline = ViolationTimeline()
    timeline.compare(SETTLING, UNIT, FOUND, place(1), began=[None])
    (held,) = timeline.holding(place(60))
    assert (held.before, held.lasted) == (True, None)
    assert not has_settled(held, SETTLE_US)


def test_a_violation_that_the_log_begins_with_is_as_old_as_its_newest_object() -> None:
    timeline = ViolationTimeline()
    timeline.compare(SETTLING, UNIT, FOUND, place(100), began=[40 * SECOND_US])
    (held,) = timeline.holding(place(100))
    assert (held.before, held.lasted) == (True, 60 * SECOND_US)


def test_a_watch_reports_an_older_version() -> None:
    def report(position: int, revision: int, generation: int = 1, uid: str = "u") -> WatchedVersion:
        return WatchedVersion(position, "Pod", "ns/a", uid, revision, generation)

    assert list(going_back([report(1, 5), report(2, 5), report(3, 7), report(4, 1, uid="v")])) == []
    ((one, violation),) = going_back([report(1, 7), report(2, 5)])
    assert (one.position, violation.field) == (2, "resourceVersion")
    ((_, other),) = going_back([report(1, 7, 3), report(2, 8, 2)])
    assert other.field == "generation"


def test_ids_are_those_of_the_invariants_and_each_is_there_once() -> None:
    assert [one.id for one in ALL] == list(IDS)
    assert len({one.name for one in ALL}) == len(ALL) == len(INVARIANTS) + 2
