"""When a zone of revocable nodes is open."""

from __future__ import annotations

import pytest

from plinian.engine.session.plugins.tdm.revocable_zone import why_closed

MIDNIGHT = 1_763_683_200_000_000
"""2025-11-21T00:00:00Z in microseconds."""


def at(hour: int, minute: int = 0, second: int = 0) -> int:
    return MIDNIGHT + ((hour * 60 + minute) * 60 + second) * 1_000_000


@pytest.mark.parametrize("now", [at(10), at(15, 30), at(21)])
def test_open_from_the_first_second_to_the_last(now: int) -> None:
    assert why_closed("rz1", "10:00-21:00", now) is None


@pytest.mark.parametrize("now", [at(0), at(9, 59, 59), at(21, 0, 1), at(23, 59)])
def test_closed_outside_the_window(now: int) -> None:
    beyond = "current time beyond revocable zone rz1:10:00-21:00"
    closed = why_closed("rz1", "10:00-21:00", now)
    assert closed is not None
    assert closed.text == beyond


def test_a_window_over_midnight_is_looked_at_from_this_day() -> None:
    assert why_closed("rz1", "22:00-06:00", at(23)) is None
    assert why_closed("rz1", "22:00-06:00", at(3)) is not None


def test_a_window_that_ends_where_it_begins_lasts_a_day() -> None:
    assert why_closed("rz1", "8:00-8:00", at(23)) is None
    assert why_closed("rz1", "8:00-8:00", at(7)) is not None


@pytest.mark.parametrize(
    ("window", "why"),
    [
        (None, "revocable zone rz1 not support"),
        ("10:00", "revocable zone 10:00 format error"),
        ("10:00-11:00-12:00", "revocable zone 10:00-11:00-12:00 format error"),
        ("ten-11:00", 'parsing time "ten" as "15:04": cannot parse "ten" as "15"'),
        ("10-11:00", 'parsing time "10" as "15:04": cannot parse "" as ":"'),
        ("10:5-11:00", 'parsing time "10:5" as "15:04": cannot parse "5" as "04"'),
        ("24:00-11:00", 'parsing time "24:00": hour out of range'),
        ("10:60-11:00", 'parsing time "10:60": minute out of range'),
        ("10:00 - 11:00", 'parsing time "10:00 ": extra text: " "'),
    ],
)
def test_a_window_that_cannot_be_read_is_closed(window: str | None, why: str) -> None:
    closed = why_closed("rz1", window, at(10, 30))
    assert (closed and closed.text) == why


def test_space_around_the_whole_is_nothing() -> None:
    assert why_closed("rz1", " 10:00-11:00\n", at(10, 30)) is None
