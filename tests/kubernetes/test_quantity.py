"""Quantities are read, rounded, overflown and printed as Go's ``resource.Quantity`` does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.kubernetes.quantity import format_binary, format_decimal, parse

INT64 = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("text", "milli", "value"),
    [
        ("0", 0, 0),
        ("00", 0, 0),
        ("1", 1000, 1),
        (2, 2000, 2),
        (0.5, 500, 1),
        ("+1.5", 1500, 2),
        ("500m", 500, 1),
        ("1n", 1, 1),
        ("0.1n", 1, 1),
        ("1.0001", 1001, 2),
        ("100u", 1, 1),
        (".5", 500, 1),
        ("1.", 1000, 1),
        ("-500m", -500, -1),
        ("-1n", -1, -1),
        ("1k", 10**6, 1000),
        ("1e3", 10**6, 1000),
        ("1E3", 10**6, 1000),
        ("1E-3", 1, 1),
        ("1Ki", 1024000, 1024),
        ("1.5Gi", 3 * 2**29 * 1000, 3 * 2**29),
        ("0.5Ki", 512000, 512),
        ("  7 ", 7000, 7),
        ("64Ti", 64 * 2**40 * 1000, 64 * 2**40),
    ],
)
def test_a_quantity_rounds_away_from_zero(text: str | float, milli: int, value: int) -> None:
    assert (parse(text).milli_value(), parse(text).value()) == (milli, value)


@pytest.mark.parametrize(
    ("text", "milli", "value"),
    [
        ("8Ei", -1000, 2**63 - 1),  # capped, then thousandths wrap around
        ("16Ei", -1000, 2**63 - 1),
        ("9223372036854775807", -1000, 2**63 - 1),
        ("9223372036854775808", 0, -(2**63)),  # decimal ones are not capped
        ("1E", 0, 10**18),  # 21 powers of ten are multiplied by one at a time
        ("10E", 0, 0),
        ("9007199254740993k", 9007199254740993 * 10**6 - 2**64 * 488, 9007199254740993000),
    ],
)
def test_a_quantity_overflows_as_an_int64_does(text: str, milli: int, value: int) -> None:
    assert (parse(text).milli_value(), parse(text).value()) == (milli, value)


def test_a_large_negative_quantity_is_rounded_towards_zero_plus_one() -> None:
    assert parse("-1500.5").value() == -1501
    assert parse("-1500.50000000000000000001").value() == -1499


@pytest.mark.parametrize("text", ["1e10001", "-1E-10001", "1e999999999", f"1e{10**30}"])
def test_a_number_that_nobody_gets_done_with_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match="no API server gets done"):
        parse(text)
    assert parse("1e10000").value() == 0


@pytest.mark.parametrize(
    "text", ["", " ", "one", "1e", "1ee3", "1Kib", "0x10", "1 Gi", "Gi1", "1i"]
)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        parse(text)


@given(INT64)
def test_an_integer_is_its_own_value(number: int) -> None:
    assert parse(str(number)).value() == number


@given(st.integers(0, 10**15 - 1))
def test_canonical_texts_read_back(number: int) -> None:
    assert parse(format_decimal(number)).value() == number
    assert parse(format_decimal(number, -3)).milli_value() == number
    assert parse(format_binary(number)).value() == number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (format_decimal(18750, -3), "18750m"),
        (format_decimal(24000, -3), "24"),
        (format_decimal(2000), "2k"),
        (format_decimal(-1000, -3), "-1"),
        (format_decimal(0, -3), "0"),
        (format_binary(33536 * 2**20), "33536Mi"),
        (format_binary(48 * 2**30), "48Gi"),
        (format_binary(1000), "1k"),
        (format_binary(1025), "1025"),
        (format_binary(-2048), "-2Ki"),
    ],
)
def test_a_canonical_text_has_the_largest_suffix(text: str, expected: str) -> None:
    assert text == expected
