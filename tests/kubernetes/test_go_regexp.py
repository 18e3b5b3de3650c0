"""Patterns mean what Go takes them for, or are refused as Go refuses them."""

from __future__ import annotations

import pytest

from plinian.engine.kubernetes.go.regexp import compile_go


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
        (r"^\pN$", "٣", True),
        (r"^\p{Greek}+$", "αβγ", True),
        (r"^\P{Lu}$", "a", True),
        ("(?P<rack>r[0-9])-(?<node>n)", "r1-n", True),
        ("(?U)^a+$", "aaa", True),
        ("(?s)^a.b$", "a\nb", True),
        ("^a.b$", "a\nb", False),
        (r"^\x{41}$", "A", True),
        ("^é$", "é", True),
        ("a{,2}", "a{,2}", True),
        ("[[:^digit:]]", "5", False),
        (r"\Q\C\E", "\\C", True),
        (r"^[]\]]$", "]", True),
        ("(a|aa)*b$", "a" * 100_000, False),
        ("(x+x+)+y", "x" * 100_000, False),
    ],
)
def test_a_pattern_finds_what_go_finds(pattern: str, text: str, *, found: bool) -> None:
    assert (compile_go(pattern).found_in(text)) is found


@pytest.mark.parametrize(
    "pattern",
    [
        *("(?=a)", "(?!a)", "(?<!a)b", r"(a)\1", "a++", "a{2}+", "(", "[z-a]", "[[:nothing:]]"),
        *("(?>a)", r"\C", r"\Z", "a**", "*a", "a{1001}", "(?:a{500}){500}", r"\pX", ")", "[a"),
        *("(?P<>a)", "(?z)a", "(?P<n>a)(?P<n>b)", "\ud800", "a\\", r"\x{110000}"),
    ],
)
def test_a_pattern_that_go_does_not_compile_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"^error parsing regexp: "):
        compile_go(pattern)


@pytest.mark.parametrize(
    ("begin", "end", "most"),
    [("(", ")", 999), ("(?:", ")*", 999), ("(", ")+", 499), ("(?:", ")", 2000)],
)
def test_groups_nest_as_deeply_as_in_go(begin: str, end: str, most: int) -> None:
    """The numbers are those of Go 1.26; groups that do not capture have no limit."""
    assert compile_go(begin * most + end * most).found_in("a")
    if most < 1000:
        with pytest.raises(ValueError, match="nests too deeply"):
            compile_go(begin * (most + 1) + end * (most + 1))


@pytest.mark.parametrize("escape", [r"\pL", r"\PN"])
def test_classes_that_would_take_all_memory_are_refused(escape: str) -> None:
    with pytest.raises(ValueError, match="too large"):
        compile_go(escape * 100_000)
