"""The searches behind comparisons, on answers made up for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.errors import UsageError
from plinian.engine.session.framework.trace import StepOutcome, Trace, TraceStep
from plinian.replay.compare.bisection import Probe, first_change, first_flip, releases_between
from plinian.replay.compare.bounded_traces import (
    ComparedTrace,
    EndingTrace,
    FirstSteps,
    TraceComplete,
)
from plinian.replay.compare.causes import causes, smallest, suspects
from plinian.replay.compare.decisions import (
    CONTEXT,
    Decision,
    DifferingDecision,
    differing,
    first_differences,
)
from plinian.replay.compare.session_claims import ClaimAnswer, SessionClaim, claim_of
from plinian.replay.moments.moment import Moment
from plinian.replay.sessions.session_moments import SessionMoment, evenly

NAMES = tuple("abcdefgh")


def probe(place: int, *, holds: bool) -> Probe:
    """Return an answer given at a place."""
    return Probe(str(place), ClaimAnswer(holds, ""))


@given(st.data())
def test_halving_finds_the_one_place_where_an_answer_changes(data: st.DataObject) -> None:
    first = data.draw(st.integers(0, 1000))
    last = data.draw(st.integers(first + 1, first + 5000))
    flip = data.draw(st.integers(first + 1, last))
    before = data.draw(st.booleans())
    asked: list[int] = []

    def ask(place: int) -> Probe:
        asked.append(place)
        return probe(place, holds=before if place < flip else not before)

    probes, pair = first_flip(ask, first, last)
    assert pair == (flip - 1, flip)
    assert [int(one.at) for one in probes] == sorted(asked)
    assert len(asked) <= (last - first).bit_length() + 2


def test_halving_where_both_ends_agree_finds_nothing() -> None:
    assert first_flip(lambda place: probe(place, holds=place == 5), 0, 9)[1] is None
    assert first_flip(lambda place: probe(place, holds=True), 4, 4)[1] is None


@given(st.lists(st.booleans(), min_size=1))
def test_a_scan_stops_at_the_first_other_answer(answers: list[bool]) -> None:
    taken, found = first_change(probe(i, holds=one) for i, one in enumerate(answers))
    told = [one.answer.holds for one in taken]
    assert told == answers[: len(told)]
    assert found == (len(set(answers)) > 1)
    assert (told.index(not told[0]) == len(told) - 1) if found else told == answers


@given(st.sets(st.sampled_from(NAMES), min_size=1))
def test_the_smallest_set_is_found_and_nothing_else(needed: set[str]) -> None:
    """The difference goes if all that is needed is set back, whatever else is."""
    (found,) = causes(NAMES, lambda names: needed <= set(names))
    assert set(found) == needed


@given(st.sets(st.sampled_from(NAMES), min_size=1))
def test_each_behaviour_that_is_enough_alone_is_named(enough: set[str]) -> None:
    found = causes(NAMES, lambda names: bool(enough & set(names)))
    assert found == [(name,) for name in NAMES if name in enough]


def test_without_a_cause_none_is_made_up() -> None:
    assert causes(NAMES, lambda _: False) == []
    assert causes((), lambda _: True) == []
    assert smallest(NAMES, lambda _: False) == ()


@given(st.sets(st.sampled_from(NAMES), min_size=2))
def test_what_lets_others_be_asked_for_is_found_among_all(needed: set[str]) -> None:
    asked = sorted(needed)[:1]
    (found,) = causes(asked, lambda names: needed <= set(names), asked, NAMES)
    assert set(found) == needed


@given(doing=st.sets(st.sampled_from(NAMES)), active=st.booleans())
def test_suspects_are_those_that_do_something(doing: set[str], *, active: bool) -> None:
    tried: list[tuple[str, ...]] = []

    def inert(names: tuple[str, ...]) -> bool:
        tried.append(names)
        return doing.isdisjoint(names)

    found = suspects(NAMES, inert, active=active and bool(doing))
    assert found == [name for name in NAMES if name in doing]
    assert len(tried) == len(set(tried))
    assert len(tried) <= 1 + 2 * len(doing) * 3


def traced(trace: Trace, steps: Sequence[TraceStep]) -> list[TraceStep]:
    """Add steps to a trace as a session does, and return what it kept."""
    for each in steps:
        if trace.on:
            trace.action = each.action
            trace.keep(each)
    return trace.steps


STEPS = st.lists(
    st.builds(
        lambda about, outcome, cpu: step(about, outcome, cpu=cpu),
        *(
            st.integers(0, 1),
            st.sampled_from([StepOutcome.PERMIT, StepOutcome.REJECT]),
            st.integers(0, 1),
        ),
    ),
    max_size=30,
)


@given(STEPS, STEPS, st.integers(0, 20), st.integers(1, 40))
def test_traces_that_end_soon_part_where_whole_ones_do(
    one: list[TraceStep], rest: list[TraceStep], common: int, count: int
) -> None:
    other = one[:common] + rest
    first = traced(FirstSteps(count), one)
    second = traced(ComparedTrace(first, count, CONTEXT), other)
    assert first == one[:count]
    assert second == other[: len(second)]
    assert first_differences([first, second]) == first_differences([one[:count], other[:count]])


def test_a_session_is_ended_when_its_step_is_there() -> None:
    trace = EndingTrace(3)
    with pytest.raises(TraceComplete):
        traced(trace, [step(number) for number in range(9)])
    assert trace.steps == [step(number) for number in range(3)]


def test_only_what_is_not_the_same_everywhere_differs() -> None:
    sides = (
        {Decision("phase", "d/g"): "Inqueue", Decision("bind", "d/p"): "n1"},
        {Decision("phase", "d/g"): "Pending", Decision("bind", "d/p"): "n1"},
        {Decision("crash", ""): "nil map", Decision("phase", "d/g"): "Pending"},
    )
    assert differing(sides[:2]) == [DifferingDecision("phase", "d/g", ("Inqueue", "Pending"))]
    assert [row.kind for row in differing(sides)] == ["crash", "bind", "phase"]
    assert differing(sides)[1].values == ("n1", "n1", None)
    assert differing([sides[0], sides[0]]) == []


def step(number: int, outcome: StepOutcome = StepOutcome.PERMIT, **numbers: object) -> TraceStep:
    """Return a step of a trace."""
    about = (f"d/p{number}",)
    return TraceStep("allocate", "Allocatable", about, "capacity", outcome, numbers=numbers)


def test_traces_part_first_in_numbers_and_then_in_a_step() -> None:
    common = [step(i) for i in range(6)]
    left = [*common, step(6, cpu=1), step(7), step(8), step(9, StepOutcome.REJECT, cpu=1)]
    right = [*common, step(6, cpu=2), step(7), step(8), step(9, cpu=1), step(10)]
    numbers, outcome = first_differences([left, right])
    assert (numbers.number, numbers.what) == (6, "numbers")
    assert (outcome.number, outcome.what) == (9, "outcome")
    assert numbers.before == tuple(common[6 - CONTEXT :])
    assert outcome.steps == ((left[9],), (right[9], right[10]))
    assert outcome.alike == (left[9], right[9])
    assert first_differences([left, left, left]) == []


def event(message: str) -> TraceStep:
    """Return the step of an Event."""
    numbers = {"message": message}
    return TraceStep("enqueue", "event", ("d/j",), "", StepOutcome.REASON, numbers=numbers)


def test_how_an_event_is_worded_is_no_difference_of_sessions() -> None:
    left = [event("overused"), step(0, cpu=1), step(1)]
    right = [event("overused: overused cpu"), step(0, cpu=2), step(1)]
    (numbers,) = first_differences([left, right])
    assert (numbers.number, numbers.what) == (1, "numbers")
    assert first_differences([left[:1], right[:1]]) == []


def test_a_trace_that_is_over_parts_from_one_that_goes_on() -> None:
    (found,) = first_differences([[step(0)], [step(0), step(1)]])
    assert (found.number, found.steps, found.alike) == (1, ((), (step(1),)), ())


@given(st.integers(1, 300), st.integers(1, 320))
def test_a_sample_is_even_and_has_both_ends(total: int, count: int) -> None:
    moment = Moment(branch="main", cluster="c", known=9, revision=1, time=None, label="rv:1")
    places = [SessionMoment(moment, number) for number in range(total)]
    chosen = [place.position for place in evenly(places, count)]
    assert len(chosen) == min(total, count)
    assert chosen[-1] == total - 1
    gaps = {right - left for left, right in pairwise(chosen)}
    assert not gaps or max(gaps) - min(gaps) <= 1
    assert count == 1 or chosen[0] == 0
    assert evenly(places, 0) == places


def asked(**given: str) -> SessionClaim:
    """Return the question that some options ask."""
    none = dict.fromkeys(("bound", "pending", "enqueued", "phase"))
    return claim_of(panic=False, **(none | given))


def test_one_question_is_asked_about_a_namespace_and_name() -> None:
    assert asked(phase="d/g=Running") == SessionClaim("phase", "d/g", "Running")
    assert str(asked(bound="d/p")) == "bound d/p"
    for wrong in (
        {},
        {"bound": "d/p", "pending": "d/p"},
        {"bound": "p"},
        {"bound": "/p"},
        {"bound": "d/p=Running"},
        {"phase": "d/g"},
        {"phase": "d/g="},
    ):
        with pytest.raises(UsageError) as caught:
            asked(**wrong)
        assert caught.value.now


@pytest.mark.parametrize("span", ["v1.12.1", "v1.12.1..v1.12.1", "v1.12.1..v1.11.0", "..", "a..b"])
def test_a_span_of_releases_has_an_older_and_a_newer_end(span: str) -> None:
    with pytest.raises(UsageError):
        releases_between(span)


def test_releases_between_two_are_all_of_them() -> None:
    names = [str(one) for one in releases_between("v1.11.0..v1.12.1")]
    assert names == ["v1.11.0", "v1.11.1", "v1.11.2", "v1.12.0", "v1.12.1"]
