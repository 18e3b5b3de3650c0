"""No pattern of our own can be made to backtrack, and the proof of it can fail."""

from __future__ import annotations

import re

import pytest
from patterns import CanBacktrack, check, faults, own_patterns

from tree import ROOT, SHIPPED

BAD = [
    (r"(a*)*b", False),
    (r"(a+)+b", False),
    (r"(a|ab|b)*c", False),
    (r"a*a*b", False),
    (r"\d+\.?\d*$", False),
    (r"0*(\d*)(?:\.(\d*))?x", False),
    (r"(?:\s*(?:#[^\n]*)?\n)*x", False),
    (r"(.*)(.*)x", False),
    (r"\s*x", True),
    (r"[a-z]+@", True),
    (r"(x)\1", False),
    (r"(?=a*b)a", False),
    (r"\d{1,5000}\d{1,5000}x", False),
    (r"(?i)a*A*b", False),
    (r'"a"(?s:.*?)"b".*"c".*d', False),
]
GOOD = [
    (r"a*b", False),
    (r"\s*x", False),
    (r"(?:a|b)*c", False),
    (r"(?m)^[ -]*kind:", True),
    (r"(?m)^[ -]*kind[ ]*:", True),
    (r"\d{4}-\d\d-\d\d(?:\.\d{1,9})?", False),
    (r'"(?:[^"\\]|\\.)*"', False),
    (r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", False),
    (r"\s*+\s*x", False),
    (r"\Aa*b", True),
    (r"x(?!ab)y*", False),
]


@pytest.mark.parametrize(("pattern", "searched"), BAD)
def test_a_pattern_that_backtracks_is_found(pattern: str, *, searched: bool) -> None:
    with pytest.raises(CanBacktrack):
        check(re.compile(pattern), searched=searched)


@pytest.mark.parametrize(("pattern", "searched"), GOOD)
def test_a_pattern_that_does_not_backtrack_is_let_be(pattern: str, *, searched: bool) -> None:
    check(re.compile(pattern), searched=searched)


def test_no_pattern_of_our_own_can_backtrack() -> None:
    found = []
    for name, pattern, searched in own_patterns():
        try:
            check(pattern, searched=searched)
        except CanBacktrack as fault:
            found.append(f"{name}: {fault}: {pattern.pattern!r}")
    assert not found, "\n".join(found)


def test_all_patterns_of_our_own_are_held_to_that() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{fault}"
        for folder in SHIPPED
        for path in sorted((ROOT / folder).rglob("*.py"))
        for fault in faults(path.read_text("utf-8"))
    ]
    assert not found, "\n".join(found)
    assert len(own_patterns()) > 50


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import re\nfound = re.search('a', 'b')\n", "2: compile it"),
        ("import re\ndef f(text):\n    return re.compile(text)\n", "3: compile it"),
        ("def f(pattern, text):\n    return pattern.search(text)\n", "2: search with"),
    ],
)
def test_a_pattern_that_would_not_be_seen_is_a_fault(source: str, fault: str) -> None:
    assert [one.startswith(fault) for one in faults(source)] == [True]
