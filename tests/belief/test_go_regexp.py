"""Patterns mean what Go takes them for, or are refused as Go refuses them."""

from __future__ import annotations

import pytest

from plinian.engine.belief.go_regexp import compile_go


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("node-[0-9]+", "a-node-12-b", True),
        ("^node-[[:digit:]]$", "node-1", True),
        ("^node-[[:digit:]]$", "node-a", False),
        (r"\Qa.b\E+", "a.bb", True),
        (r"\Qa.b\E+", "axb", False),
        (r"^[*+]$", "+", True),
        (r"^[]a]$", "]", True),
        (r"^[[a]$", "[", True),
        (r"a\z", "a", True),
        (r"^\d$", "٣", False),
        ("(?i)NODE", "node", True),
        ("a*?b", "aab", True),
    ],
)
def test_a_pattern_finds_what_go_finds(pattern: str, text: str, *, found: bool) -> None:
    assert (compile_go(pattern).search(text) is not None) is found


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(?!a)", "(?<!a)b", r"(a)\1", "a++", "a{2}+", "(", "[z-a]", "[[:nothing:]]", "(?>a)"],
)
def test_a_pattern_that_go_does_not_compile_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"invalid|error parsing"):
        compile_go(pattern)
