"""What schedulers logged, as evidence of when pods were bound and evicted."""

from __future__ import annotations

import numpy as np
import pytest

from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import DecisionLogged
from plinian.engine.state.bounds import EVER, Bounds
from plinian.engine.state.decision_evidence import LoggedDecision, decision_of, floors_of
from plinian.engine.state.marks import VersionMark

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
POD = Reference("", "Pod", "ml", "bert-0", "uid")


def at(seconds: float) -> int:
    return START + round(seconds * SECOND)


def bounds(*spans: tuple[float, float]) -> Bounds:
    low = np.array([at(first) for first, _ in spans], np.int64)
    high = np.array([at(last) for _, last in spans], np.int64)
    return Bounds(earliest=low, latest=high, likely=np.full(len(spans), EVER, np.int64))


def line(seconds: float, *, name: str = "bert-0", source: str = "scheduler.log") -> LoggedDecision:
    return LoggedDecision("ml", name, VersionMark.BOUND, at(seconds), source)


def floors(lines: list[LoggedDecision], spans: Bounds) -> list[tuple[int, float]]:
    found = floors_of(lines, {VersionMark.BOUND: [(POD, place) for place in range(1)]}, spans)
    return [
        (place, (time - START) / SECOND)
        for place, time in zip(found.places.tolist(), found.times.tolist(), strict=True)
    ]


def test_a_pod_is_bound_after_its_scheduler_logged_it() -> None:
    assert floors([line(10.25)], bounds((10, 11))) == [(0, 10.25)]


def test_the_first_line_within_the_bounds_counts_since_it_may_have_been_repeated() -> None:
    assert floors([line(10.75), line(10.25)], bounds((10, 11))) == [(0, 10.25)]


@pytest.mark.parametrize(
    "others", [[line(10.25, name="bert-1")], [line(9.5)], []], ids=["other", "before", "none"]
)
def test_other_lines_say_nothing(others: list[LoggedDecision]) -> None:
    assert floors(others, bounds((10, 11))) == []


def test_a_version_known_to_the_hour_may_be_of_a_later_pod_of_that_name() -> None:
    assert floors([line(10.25)], bounds((10, 3610))) == []


def test_a_log_whose_clock_is_ahead_is_reported_and_not_used() -> None:
    versions = {VersionMark.BOUND: [(POD, 0), (Reference("", "Pod", "ml", "bert-1", "other"), 1)]}
    lines = [line(13.5), line(20.5, name="bert-1")]
    found = floors_of(lines, versions, bounds((10, 11), (20, 21)))
    assert found.places.tolist() == []
    assert [remark.text({}) for remark in found.remarks] == [
        "scheduler.log: 1 time contradicts the other evidence, by up to 2s: not used"
    ]


def test_a_line_about_a_later_pod_of_the_name_contradicts_nothing() -> None:
    """The first pod was bound by a line that is lost, or marked by a controller without one."""
    later = Reference("", "Pod", "ml", "bert-0", "later")
    versions = {VersionMark.BOUND: [(POD, 0), (later, 1)]}
    found = floors_of([line(50.5)], versions, bounds((10, 11), (50, 51)))
    assert found.remarks == ()
    assert found.places.tolist() == [1]


def test_a_line_after_all_pods_of_the_name_contradicts() -> None:
    later = Reference("", "Pod", "ml", "bert-0", "later")
    versions = {VersionMark.BOUND: [(POD, 0), (later, 1)]}
    found = floors_of([line(52.5)], versions, bounds((10, 11), (50, 51)))
    assert [remark.count for remark in found.remarks] == [2]


@pytest.mark.parametrize(
    ("verb", "mark"),
    [
        ("allocate", VersionMark.BOUND),
        ("evict", VersionMark.ENDING),
        ("pipeline", None),
        ("bind-failed", None),
    ],
)
def test_only_bindings_and_evictions_have_a_version_to_be_about(
    verb: str, mark: VersionMark | None
) -> None:
    event = Event(
        kind="decision.logged",
        reference=Reference("", "Pod", "ml", "bert-0"),
        payload=canonical_json(DecisionLogged(component="scheduler", verb=verb, task="ml/bert-0")),
        earliest=at(1),
        latest=at(1),
        source="scheduler.log",
    )
    found = decision_of(event)
    assert (found and found.mark) == mark
    assert found is None or found.time == at(1)
