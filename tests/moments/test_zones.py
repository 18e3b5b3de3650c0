"""Times of a zone: what is written in UTC is shown in it, and what has no zone is read in it."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.errors import UsageError
from plinian.engine.kubernetes.units import format_time, parse_time
from plinian.replay.moments.zones import UTC_ZONE, time_of, time_of_day, times_in, zone_of

BERLIN = zone_of("Europe/Berlin")
KOLKATA = zone_of("Asia/Kolkata")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at 2026-11-21T01:53:36Z.", "at 2026-11-21T02:53:36+01:00."),
        ("(2026-07-21T01:53:36.784434Z)", "(2026-07-21T03:53:36.784434+02:00)"),
        ("2026-11-21T01:53:36Z..01:53:40.5Z", "2026-11-21T02:53:36+01:00..02:53:40.5+01:00"),
        (
            "between 2026-11-21T22:59:59Z and 23:00:01Z",
            "between 2026-11-21T23:59:59+01:00 and 2026-11-22T00:00:01+01:00",
        ),
        ('{"t":"2026-11-21T01:53:36Z"}', '{"t":"2026-11-21T02:53:36+01:00"}'),
        ("2026-13-41T00:00:00Z", "2026-13-41T00:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
        ("x2026-11-21T01:53:36Z", "x2026-11-21T01:53:36Z"),
        ("2026-11-21T01:53:36+05:30", "2026-11-21T01:53:36+05:30"),
        ("Z", "Z"),
    ],
)
def test_times_in_a_text_are_shown_in_a_zone(text: str, shown: str) -> None:
    assert times_in(text, BERLIN) == shown
    assert times_in(text, None) == text
    assert times_in(shown, BERLIN) == shown


@given(st.integers(parse_time("1950-01-01T00:00:00Z"), parse_time("2100-01-01T00:00:00Z")))
def test_a_time_that_is_shown_in_a_zone_is_the_same_time(micros: int) -> None:
    for zone in (BERLIN, KOLKATA, zone_of("local"), zone_of("-03:30")):
        assert parse_time(times_in(format_time(micros), zone)) == micros


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("2026-11-21T02:53:36", "2026-11-21T01:53:36Z"),
        ("2026-07-21t03:53:36.5", "2026-07-21T01:53:36.5Z"),
        ("2026-11-21 00:30:00", "2026-11-20T23:30:00Z"),
        ("2026-11-21T02:53:36Z", "2026-11-21T02:53:36Z"),
        ("2026-11-21T02:53:36-05:00", "2026-11-21T07:53:36Z"),
    ],
)
def test_a_time_without_a_zone_is_of_the_zone(text: str, micros: str) -> None:
    assert time_of(text, BERLIN) == parse_time(micros)
    assert time_of("2026-11-21T02:53:36", UTC_ZONE) == parse_time("2026-11-21T02:53:36Z")


def test_the_local_zone_is_that_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        zone = zone_of("local")
        assert times_in("2026-11-21T01:53:36Z", zone) == "2026-11-21T07:23:36+05:30"
        assert time_of("2026-11-21T07:23:36", zone) == parse_time("2026-11-21T01:53:36Z")
        assert zone.label(0) == "UTC+05:30"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_time_of_day_has_neither_date_nor_zone() -> None:
    assert time_of_day("2026-11-21T02:53:36.5+01:00") == "02:53:36.5"
    assert time_of_day("2026-11-21T01:53:36Z..01:53:40Z") == "01:53:36..01:53:40"
    assert time_of_day("after 2026-11-21T01:53:36Z") == "after 01:53:36"
    two = "2026-11-21T23:59:59Z..2026-11-22T00:00:01Z"
    assert time_of_day(two) == two


def test_a_zone_that_does_not_exist_is_refused_with_what_may_be_meant() -> None:
    with pytest.raises(UsageError, match="no time zone 'Berlin'") as refused:
        zone_of("Berlin")
    assert refused.value.now == "did you mean Europe/Berlin?"
    for name in ("Mars/Olympus", "", "../etc/passwd", "+99:00", "a\0b"):
        with pytest.raises(UsageError, match="no time zone"):
            zone_of(name)


def test_utc_is_utc_by_all_its_names() -> None:
    assert zone_of("utc") == zone_of("Z") == UTC_ZONE
    assert UTC_ZONE.moment(0) == datetime(1970, 1, 1, tzinfo=UTC)
