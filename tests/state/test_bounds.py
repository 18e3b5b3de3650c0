"""Between which times revisions happened: bounds pass on, and wrong clocks are found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.events import NO_TIME
from plinian.engine.state.bounds import EVER, Bounds, TimeEvidence, bounds_of, estimates_of

SECOND = 1_000_000
START = 1_700_000_000 * SECOND


class Told(NamedTuple):
    """A piece of evidence; times in seconds after the start, fractions allowed."""

    place: int
    earliest: float | None = None
    latest: float | None = None
    audited: bool = False
    created: bool = False
    source: int = 1


def at(seconds: float | None, *, end: bool = False) -> int:
    if seconds is None:
        return NO_TIME
    return START + round(seconds * SECOND) + (SECOND - 1 if end else 0)


def stamped(place: int, second: int, source: int = 1) -> Told:
    """Tell of a version whose own write set a stamp."""
    return Told(place, second, second + (SECOND - 1) / SECOND, source=source)


def audited(place: int, asked: float, answered: float, *, created: bool = True) -> Told:
    return Told(place, asked, answered, audited=True, created=created, source=9)


def weigh(count: int, *told: Told) -> Bounds:
    rows = sorted(told, key=lambda one: one.place)
    return bounds_of(
        count,
        TimeEvidence(
            places=np.array([one.place for one in rows], np.int64),
            earliest=np.array([at(one.earliest) for one in rows], np.int64),
            latest=np.array([at(one.latest) for one in rows], np.int64),
            audited=np.array([one.audited for one in rows], np.bool_),
            created=np.array([one.created for one in rows], np.bool_),
            floors=np.zeros(len(rows), np.bool_),
            seen=np.zeros(len(rows), np.bool_),
            sources=np.array([one.source for one in rows], np.int64),
        ),
    )


def seconds(bounds: Bounds, place: int) -> tuple[float | None, float | None]:
    low, high = int(bounds.earliest[place]), int(bounds.latest[place])
    return (
        None if low == NO_TIME else (low - START) / SECOND,
        None if high == EVER else (high - START) / SECOND,
    )


def test_bounds_pass_on_in_the_order_of_revisions() -> None:
    bounds = weigh(3, audited(0, 10.0, 10.2), audited(2, 20.0, 20.2))
    assert seconds(bounds, 0) == (10.0, 10.2)
    assert seconds(bounds, 1) == (10.0, 20.2)
    assert seconds(bounds, 2) == (20.0, 20.2)


def test_nothing_bounds_what_has_no_evidence_on_one_side() -> None:
    bounds = weigh(3, Told(1, 5.0))
    assert [seconds(bounds, place) for place in range(3)] == [(None, None), (5, None), (5, None)]
    assert estimates_of(bounds).tolist() == [NO_TIME, at(5.5), at(5.5)]


def test_a_write_that_changed_nothing_is_no_evidence_of_when_its_version_was_made() -> None:
    """It is answered with the version that was there, long after that was made."""
    bounds = weigh(
        3,
        audited(0, 1.0, 1.1, created=False),
        audited(0, 60.0, 60.1, created=False),
        audited(1, 2.0, 2.1),
        audited(2, 3.0, 3.1),
    )
    assert seconds(bounds, 0) == (1.0, 1.1)
    assert bounds.remarks == ()


def test_clocks_of_two_api_servers_are_bridged_and_told() -> None:
    behind = Told(1, 5.0, 5.1, audited=True, created=True, source=8)
    bounds = weigh(2, audited(0, 10.0, 10.1), behind)
    (remark,) = bounds.remarks
    assert (remark.what, remark.source, remark.other) == ("widened", 9, 8)
    assert remark.amount == at(10.0) - at(5.1)
    for place in range(2):
        low, high = seconds(bounds, place)
        assert low is not None
        assert high is not None
        assert low <= 5.1
        assert high >= 10.0
    assert "clocks differ by up to 4s" in remark.text({8: "b.log", 9: "a.log"})


def test_a_stamp_in_the_far_future_is_not_used() -> None:
    later = [stamped(place, 10 + place) for place in range(1, 9)]
    bounds = weigh(9, Told(0, 10**8), *later)
    assert seconds(bounds, 5) == (15, 15.999999)
    (remark,) = bounds.remarks
    assert (remark.what, remark.count) == ("ignored", 1)


def test_a_stamp_that_audited_times_contradict_is_not_used() -> None:
    bounds = weigh(2, Told(0, 100.0), audited(1, 10.0, 10.1))
    assert seconds(bounds, 0) == (None, 10.1)


def test_slow_writes_give_stamps_near_them_more_than_their_second() -> None:
    """What is stamped 10 took effect after something stamped 13."""
    bounds = weigh(4, stamped(0, 10), stamped(1, 13), stamped(2, 10), stamped(3, 500))
    assert seconds(bounds, 2)[1] == 10.999999 + 2.000001 + 1
    assert seconds(bounds, 3) == (500, 500.999999), "not those of another minute"
    assert bounds.remarks == ()


def test_a_receiver_whose_clock_is_behind_is_shifted_and_told() -> None:
    received = [Told(place, 100.0 + place, 40.25 + place, source=3) for place in range(5)]
    bounds = weigh(5, *received)
    (remark,) = bounds.remarks
    assert (remark.what, remark.source, remark.count) == ("shifted", 3, 5)
    low, high = seconds(bounds, 2)
    assert low is not None
    assert high is not None
    assert low <= 102.0 <= high
    assert "behind the API server by up to" in remark.text({3: "pods.jsonl"})


def test_the_estimate_is_when_a_watch_had_it_else_the_middle() -> None:
    bounds = weigh(3, Told(0, 10.0, 10.9), stamped(1, 20), audited(2, 30.0, 30.2))
    assert [(one - START) / SECOND for one in estimates_of(bounds).tolist()] == [
        10.9,
        20.499999,
        30.1,
    ]


TIMES = st.none() | st.integers(0, 40)
PIECES = st.lists(
    st.builds(
        Told,
        place=st.integers(0, 9),
        earliest=TIMES,
        latest=TIMES,
        audited=st.booleans(),
        created=st.booleans(),
        source=st.integers(0, 2),
    ),
    max_size=25,
)


@settings(max_examples=500)
@given(PIECES)
def test_bounds_never_fall_and_hold_their_estimate_whatever_clocks_say(told: list[Told]) -> None:
    kept = [
        one._replace(latest=one.earliest)
        if one.latest is not None and one.earliest is not None and one.latest < one.earliest
        else one
        for one in told
    ]
    bounds = weigh(10, *kept)
    estimates = estimates_of(bounds)
    assert (bounds.earliest <= bounds.latest).all()
    for column in (bounds.earliest, bounds.latest, estimates):
        assert (column[:-1] <= column[1:]).all()
    known = estimates != NO_TIME
    assert (estimates <= bounds.latest)[known].all()
    assert (estimates >= bounds.earliest)[known].all()


@settings(max_examples=300)
@given(
    st.lists(st.floats(0.01, 30), min_size=1, max_size=12),
    st.lists(st.tuples(st.floats(0, 0.4), st.floats(0, 0.4)), min_size=12, max_size=12),
    st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_the_true_time_lies_within_the_bounds(
    gaps: list[float], requests: list[tuple[float, float]], heard: list[bool]
) -> None:
    """Where all clocks are right; some writes are audited, the others stamped."""
    true = [sum(gaps[: place + 1]) for place in range(len(gaps))]
    told = [
        audited(place, time - requests[place][0], time + requests[place][1])
        if heard[place]
        else Told(place, float(int(time)))
        for place, time in enumerate(true)
    ]
    bounds = weigh(len(true), *told)
    for place, time in enumerate(true):
        low, high = seconds(bounds, place)
        assert low is None or low <= time + 1e-5
        assert high is None or high >= time - 1e-5
