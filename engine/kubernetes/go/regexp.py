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
    r"""Refuse ``\C`` (one byte), and two groups of one name."""
    names = list[str]()
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
        place += 1
    for name, count in Counter(names).items():
        if count > 1:
            raise _fault("duplicate capture group name", name)


def _name_at(pattern: str, place: int) -> list[str]:
    """Return the name of the group that begins at a place, if a named group does."""
    for begin in ("(?P<", "(?<"):
        first = place + len(begin)
        if pattern.startswith(begin, place) and pattern[first : first + 1] not in {"", "=", "!"}:
            return [pattern[first : pattern.find(">", place)]]
    return []
