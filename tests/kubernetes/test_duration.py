"""Durations as Go reads them."""

from __future__ import annotations

import pytest

from plinian.engine.kubernetes.duration import parse_go_duration

HOUR = 3_600_000_000_000


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("+0", 0),
        ("90s", 90_000_000_000),
        ("1h2m3s4ms5µs6ns", HOUR + 123_004_005_006),
        ("-1.5h", -HOUR * 3 // 2),
        (".5s", 500_000_000),
        ("1.s", 1_000_000_000),
        ("1m1ms", 60_001_000_000),
        ("0.3333333333333333333h", HOUR // 3),
        ("0.1" + "0" * 400 + "h", HOUR // 10),
        ("9223372036854775807ns", 2**63 - 1),
        ("-9223372036854775808ns", -(2**63)),
    ],
)
def test_what_go_reads(text: str, nanoseconds: int) -> None:
    assert parse_go_duration(text) == nanoseconds


@pytest.mark.parametrize(
    "text", ["", "1", "h", "1d", "1h 2m", "1.2.3s", "--1s", ".s", "٣s", "9223372036854775808ns"]
)
def test_what_go_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration that Go reads"):
        parse_go_duration(text)
