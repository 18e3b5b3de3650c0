"""Expressions that choose devices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.kubernetes.expressions.cel import CelError, CelUnknown, Semver, compile_cel
from plinian.engine.kubernetes.quantity import parse

GPU = {"model": "a100", "cards": 3, "fast": True, "version": Semver.parse("1.2.3-rc.1")}
DEVICE = {
    "device": {
        "driver": "gpu.example.com",
        "attributes": {"gpu.example.com": GPU},
        "capacity": {"gpu.example.com": {"memory": parse("40Gi")}},
    }
}
OF = 'device.attributes["gpu.example.com"]'
MEMORY = 'device.capacity["gpu.example.com"].memory'


def value(expression: str) -> object:
    """Return what an expression is worth for the device."""
    return compile_cel(expression)(DEVICE)


@pytest.mark.parametrize(
    "expression",
    [
        'device.driver == "gpu.example.com"',
        f'{OF}.model == "a100" && {OF}.cards > 2',
        f'{OF}["model"] != r"t\\4" || false',
        f"!({OF}.cards <= 2) && {OF}.fast",
        f'{OF}.model in ["t4", "a100"]',
        f'"model" in {OF}',
        f'{MEMORY}.compareTo(quantity("40Gi")) == 0',
        f'{MEMORY} == quantity("40960Mi") && {MEMORY}.isLessThan(quantity("41Gi"))',
        f'{OF}.version.isLessThan(semver("1.2.3")) && {OF}.version.isGreaterThan(semver("1.2.2"))',
        f'cel.bind(gpu, {OF}, gpu.fast && gpu.model.startsWith("a1"))',
        f"has({OF}.model) && !has({OF}.colour)",
        f"{OF}.cards == 3 ? true : {OF}.colour",
        f"{OF}.colour || true",
        f"!({OF}.colour && false)",
        'size("abc") + 2 * 3 - 7 % 4 == 6 && -7 / 2 == -3',
        f'{OF}.model.matches("^a[0-9]+$") && {OF}.model.endsWith("00")',
        '"a" + \'b\' == "ab" && [1] + [2] == [1, 2] && [5, 6][1] == 6',
        '1.5 < 2.0 && "a" < "b" && 0x10 == 16 && 3 != true',
    ],
)
def test_what_holds(expression: str) -> None:
    assert value(expression) is True


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        (f"{OF}.colour == 1", "no such key: colour"),
        (f"{OF}.colour && true", "no such key: colour"),
        (f"{OF}.cards && true", "no such overload"),
        (f'{OF}.cards < "4"', "no such overload"),
        ("1 / 0 == 1", "division by zero"),
        ("[1][1] == 1", "index out of bounds: 1"),
        ('quantity("x") == quantity("1")', "x"),
        ('semver("1.2") == semver("1.2.0")', "no semantic version"),
        ('"a".matches("(")', "regexp"),
        ("9" * 50, "invalid number"),
        ("other.x == 1", "undeclared reference"),
        (f"has({OF}.model.o)", "no such overload"),
        (f"has({OF}.cards.o)", "no such overload"),
        (f"{OF}[[1]] == 1", "no such key"),
    ],
)
def test_what_has_no_value(expression: str, fault: str) -> None:
    with pytest.raises(CelError, match=fault):
        value(expression)


@pytest.mark.parametrize("expression", ["1 +", "(1", "1 2", "", "has(1)", "[1,"])
def test_what_is_no_expression(expression: str) -> None:
    with pytest.raises(CelError):
        compile_cel(expression)


@pytest.mark.parametrize(
    "expression", ["[1].exists(x, x == 1)", "timestamp(1)", "cel.map(1)", '"a".foo()', "1 ~ 2"]
)
def test_what_is_not_known_here_is_refused(expression: str) -> None:
    with pytest.raises((CelUnknown, CelError)):
        compile_cel(expression)


@given(st.lists(st.integers(min_value=0, max_value=99), min_size=2, max_size=6))
def test_sums_and_comparisons_are_those_of_numbers(numbers: list[int]) -> None:
    text = " + ".join(map(str, numbers))
    assert value(f"{text} == {sum(numbers)} && {text} >= {max(numbers)}") is True


def is_expression(text: str) -> bool:
    """Say whether a text compiles."""
    try:
        compile_cel(text)
    except (CelError, CelUnknown):
        return False
    return True


@given(st.text(max_size=30))
def test_any_text_is_an_expression_or_refused_and_spaces_around_it_change_nothing(
    text: str,
) -> None:
    assert is_expression(text) == is_expression(f" {text}\n")


def test_expressions_within_each_other_end_somewhere() -> None:
    with pytest.raises(CelError, match="recursion"):
        compile_cel("(" * 500 + "1" + ")" * 500)
    assert value("!" * 500 + "true") is True


def _doubled(times: int, value: str) -> str:
    """Return an expression that doubles a value so many times."""
    inner = f"v{times}"
    for n in range(times, 0, -1):
        inner = f"cel.bind(v{n}, v{n - 1} + v{n - 1}, {inner})"
    return f"cel.bind(v0, {value}, {inner})"


@pytest.mark.parametrize(
    ("value", "said"),
    [('"ten bytes."', "cost limit"), ("[1, 2]", "cost limit"), ("1" + "0" * 12, "overflow")],
)
def test_what_an_expression_makes_is_bounded(value: str, said: str) -> None:
    with pytest.raises(CelError, match=said):
        compile_cel(_doubled(25, value))({})
    assert compile_cel(f"size({_doubled(2, '[1, 2]')})")({}) == 8


def test_lists_that_hold_each_other_many_times_are_refused() -> None:
    inner = "v8 == v8"
    for n in range(8, 0, -1):
        inner = f"cel.bind(v{n}, [v{n - 1}, v{n - 1}], {inner})"
    with pytest.raises(CelUnknown):
        compile_cel(f"cel.bind(v0, 1, {inner})")({})
