"""Label selectors mean what they mean to kubectl."""

from __future__ import annotations

import pytest

from plinian.engine.errors import UsageError
from plinian.engine.kubernetes.expressions.selector_text import parse_selector

LABELS = {"app": "web", "tier": "a", "acme.io/size": "7", "empty": "", "acme.io/sum": "1_000"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app = web", True),
        ("app=db", False),
        ("app!=db", True),
        ("nothing!=db", True),
        ("empty=", True),
        ("app", True),
        ("!app", False),
        ("!nothing", True),
        ("tier in (a, b)", True),
        ("tier in (b)", False),
        ("tier notin (b,c)", True),
        ("nothing in (a)", False),
        ("nothing notin (a)", True),
        ("acme.io/size>6", True),
        ("acme.io/size<6", False),
        ("app>6", False),
        ("acme.io/sum>6", False),  # No number to Go, though one to Python.
        ("app=web,tier in (a,b),!canary", True),
        ("app=web,tier=b", False),
    ],
)
def test_a_selector_matches_labels(text: str, *, matches: bool) -> None:
    assert parse_selector(text).matches(LABELS) is matches


@pytest.mark.parametrize("text", ["=web", "a in b", "a in (b", "a ~ b", "a=b c", "a)", ",,"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_selector(text)
