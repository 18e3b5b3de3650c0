"""Label selectors as kubectl takes them: equality, sets, existence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...errors import UsageError

_KEY = r"[A-Za-z0-9](?:[\w./-]*[A-Za-z0-9])?"
_EXISTS = re.compile(rf"(!?)\s*({_KEY})")
_EQUALS = re.compile(rf"({_KEY})\s*(==|=|!=)\s*([\w.-]*)")
_ORDER = re.compile(rf"({_KEY})\s*(<|>)\s*(-?\d+)")
_SET = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_PART = re.compile(r"((?:[^,()]|\([^()]*\))*)(?:,|$)")


class Requirement(NamedTuple):
    """One condition on one label.

    :param operator: ``in``, ``notin``, ``exists``, ``absent``, ``>`` or ``<``.
    """

    key: str
    operator: str
    values: frozenset[str]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels fulfil the condition; a missing label is in no set."""
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
            case "exists":
                return value is not None
            case "absent":
                return value is None
            case _:
                return self._compares(value)

    def _compares(self, value: str | None) -> bool:
        try:
            number, bound = int(value or ""), int(min(self.values))
        except ValueError:
            return False
        return number > bound if self.operator == ">" else number < bound


class Selector(NamedTuple):
    """A conjunction of conditions; without any, it selects everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels fulfil every condition."""
        return all(requirement.matches(labels) for requirement in self.requirements)


EVERYTHING = Selector()


def parse_selector(text: str) -> Selector:
    """Read a selector such as ``app=web,tier in (a, b),!canary``.

    :raises UsageError: a part is malformed.
    """
    parts: list[str] = []
    place = 0
    while place < len(text):
        match = _PART.match(text, place)
        if match is None or match.end() == place:
            raise _no_selector(text, text[place:])
        parts.append(match[1].strip())
        place = match.end()
    return Selector(tuple(_requirement(part, text) for part in parts))


def _requirement(part: str, text: str) -> Requirement:
    match = _EXISTS.fullmatch(part)
    if match is not None:
        return Requirement(match[2], "absent" if match[1] else "exists", frozenset())
    match = _EQUALS.fullmatch(part)
    if match is not None:
        operator = "notin" if match[2] == "!=" else "in"
        return Requirement(match[1], operator, frozenset({match[3]}))
    match = _SET.fullmatch(part)
    if match is not None:
        values = frozenset(value.strip() for value in match[3].split(","))
        return Requirement(match[1], match[2], values)
    match = _ORDER.fullmatch(part)
    if match is not None:
        return Requirement(match[1], match[2], frozenset({match[3]}))
    raise _no_selector(text, part)


def _no_selector(text: str, part: str) -> UsageError:
    return UsageError(
        f"{part!r} in the selector {text!r} is no condition on a label",
        now="write key=value, key!=value, key in (a,b), key notin (a,b), key or !key, with commas",
    )
