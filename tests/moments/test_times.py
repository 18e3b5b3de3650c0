"""How times are printed that are known exactly, within bounds, or not at all."""

from __future__ import annotations

import pytest

from plinian.engine.kubernetes.units import parse_time
from plinian.engine.state.clock import TimeSpan
from plinian.replay.moments.times import is_uncertain, span_of_day, span_text, span_words

LATE = "2026-03-04T17:40:00Z"


def span(first: str, last: str) -> TimeSpan:
    """Return bounds with the middle as the estimate."""
    low = parse_time(first) if first else None
    high = parse_time(last) if last else None
    ends = [end for end in (low, high) if end is not None]
    return TimeSpan(low, high, sum(ends) // len(ends) if ends else None)


BOUNDS = span("2026-03-04T17:30:00Z", LATE)
OVER_MIDNIGHT = span("2026-03-04T23:59:00Z", "2026-03-05T00:10:00Z")
NEAR = span("2026-03-04T17:39:59.9Z", "2026-03-04T17:40:00.25Z")


@pytest.mark.parametrize(
    ("known", "cell", "words", "of_day"),
    [
        (
            BOUNDS,
            "2026-03-04T17:30:00Z..17:40:00Z",
            "a time between 2026-03-04T17:30:00Z and 17:40:00Z",
            "17:30:00..17:40:00",
        ),
        (
            OVER_MIDNIGHT,
            "2026-03-04T23:59:00Z..2026-03-05T00:10:00Z",
            "a time between 2026-03-04T23:59:00Z and 2026-03-05T00:10:00Z",
            "2026-03-04T23:59:00Z..2026-03-05T00:10:00Z",
        ),
        (
            NEAR,
            "2026-03-04T17:39:59.900Z..17:40:00.250Z",
            "a time between 2026-03-04T17:39:59.900Z and 17:40:00.250Z",
            "17:39:59.900..17:40:00.250",
        ),
        (span(LATE, ""), f"after {LATE}", f"a time after {LATE}", "after 17:40:00"),
        (span("", LATE), f"before {LATE}", f"a time before {LATE}", "before 17:40:00"),
    ],
    ids=["same day", "two days", "under a second", "no upper bound", "no lower bound"],
)
def test_bounds_are_printed_and_not_their_middle(
    known: TimeSpan, cell: str, words: str, of_day: str
) -> None:
    assert (span_text(known), span_words(known), span_of_day(known)) == (cell, words, of_day)
    assert is_uncertain(known)


@pytest.mark.parametrize(
    ("last", "text"),
    [
        ("2026-03-04T17:40:00.02Z", "2026-03-04T17:40:00.010Z"),
        ("2026-03-04T17:40:00.999999Z", LATE),
    ],
    ids=["to a tenth of a second", "to the second"],
)
def test_bounds_closer_than_what_is_printed_are_one_time(last: str, text: str) -> None:
    known = span(LATE, last)
    assert span_text(known) == span_words(known) == text
    assert span_of_day(known) == text[11:-1]
    assert not is_uncertain(known)


def test_a_time_of_which_nothing_is_known_is_said_to_be_unknown() -> None:
    known = TimeSpan(None, None, None)
    assert (span_text(known), span_words(known)) == ("<none>", "an unknown time")
    assert not is_uncertain(known)
