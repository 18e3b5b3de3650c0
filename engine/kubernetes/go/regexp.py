"""Go's regular expressions, run by RE2, the engine that Go's were modelled on: no backtracking.

Users write patterns into objects, so no pattern may take exponential time. A pattern that RE2
accepts and Go refuses is refused here.

Source: Go regexp/syntax: https://pkg.go.dev/regexp/syntax.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from types import MappingProxyType

import re2

_MOST_MEMORY = 8 * 2**20
"""The memory for one pattern in bytes, and again as much during a search: RE2's default."""

_MOST_HEIGHT = 1000
"""The height of a parsed pattern (``maxHeight``): a group that captures or repeats is a level."""

_MOST_CLASSES = 4096
"""Unicode classes in a pattern. Each takes 32 KB while RE2 parses, which its limit of memory does
not count; Go refuses some 25,000 of them (``maxRunes``)."""

_REPEATS = ("*", "+", "?", "{")

_FAULTS = MappingProxyType(
    {
        "missing ]": "missing closing ]",
        "missing )": "missing closing )",
        "trailing \\": "trailing backslash at end of expression",
        "no argument for repetition operator": "missing argument to repetition operator",
        "invalid repetition size": "invalid repeat count",
        "bad repetition operator": "invalid nested repetition operator",
        "invalid perl operator": "invalid or unsupported Perl syntax",
        "invalid named capture group": "invalid named capture",
        "pattern too large - compile failed": "expression too large",
    }
)
"""What RE2 says is wrong to what Go says."""

_QUOTE, _UNQUOTE = "\\Q", "\\E"


class GoRegexp:
    """A compiled pattern."""

    def __init__(self, compiled: re2._Regexp[bytes]) -> None:
        self._compiled = compiled

    def found_in(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in a text (Go's ``MatchString``)."""
        return self._compiled.search(text.encode(errors="replace")) is not None


@lru_cache(maxsize=16)
def compile_go(pattern: str) -> GoRegexp:
    """Compile a pattern.

    :raises ValueError: Go would not compile it (look-around, back references …).
    """
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    _refuse_what_only_re2_takes(pattern)
    if pattern.count("\\p") + pattern.count("\\P") > _MOST_CLASSES:
        raise _fault("expression too large", "")
    try:
        return GoRegexp(re2.compile(pattern.encode(), options))
    except UnicodeEncodeError:
        raise _fault("invalid UTF-8", pattern) from None
    except re2.error as fault:
        said = fault.args[0] if fault.args else b""
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        what, colon, place = text.partition(": ")
        raise _fault(_FAULTS.get(what, what), place if colon else "") from None


def _fault(what: str, place: str) -> ValueError:
    return ValueError(f"error parsing regexp: {what}" + (f": `{place}`" if place else ""))


def _refuse_what_only_re2_takes(pattern: str) -> None:
    r"""Refuse ``\C`` (one byte), two groups of one name, and too many groups in one another."""
    names = list[str]()
    levels = _Levels(pattern)
    place, in_class = 0, False
    while place < len(pattern):
        two = pattern[place : place + 2]
        if two == _QUOTE:
            end = pattern.find(_UNQUOTE, place)
            place = len(pattern) if end < 0 else end + 2
            continue
        if two == "\\C":
            raise _fault("invalid escape sequence", two)
        if two[0] == "\\":
            place += 2
            continue
        if in_class:
            in_class = two[0] != "]"
        elif two[0] == "[":
            # A bracket in the first place is a member of the class.
            in_class = True
            place += 1 + pattern.startswith("^", place + 1)
            place += pattern.startswith("]", place)
            continue
        else:
            names += _name_at(pattern, place)
            levels.take(place)
        place += 1
    for name, count in Counter(names).items():
        if count > 1:
            raise _fault("duplicate capture group name", name)


class _Levels:
    """The height of a pattern's groups: each that captures or repeats is higher than its parts."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._heights = [1]  # Of the parts so far of each group that is open.
        self._captures: list[bool] = []

    def take(self, place: int) -> None:
        """Read a character outside classes and escapes.

        :raises ValueError: Go would say that the pattern nests too deeply.
        """
        character = self._pattern[place]
        if character == "(":
            captures = not self._pattern.startswith("(?", place) or bool(
                _name_at(self._pattern, place)
            )
            self._captures.append(captures)
            self._heights.append(1)
        elif character == ")" and self._captures:
            repeats = self._pattern.startswith(_REPEATS, place + 1)
            height = self._heights.pop() + self._captures.pop() + repeats
            self._heights[-1] = max(self._heights[-1], height)
            if height > _MOST_HEIGHT:
                raise _fault("expression nests too deeply", self._pattern)


def _name_at(pattern: str, place: int) -> list[str]:
    """Return the name of the group that begins at a place, if a named group does."""
    for begin in ("(?P<", "(?<"):
        first = place + len(begin)
        if pattern.startswith(begin, place) and pattern[first : first + 1] not in {"", "=", "!"}:
            return [pattern[first : pattern.find(">", place)]]
    return []
