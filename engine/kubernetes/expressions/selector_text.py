"""Parses label selectors as kubectl takes them: ``app=web,tier in (a, b),!canary``.

What comes out is a :class:`Selector`, the same as from the fields of objects.
"""

from __future__ import annotations

import re

from ...errors import UsageError
from .selectors import (
    DOES_NOT_EXIST,
    EXISTS,
    GREATER,
    IN,
    LESS,
    NOT_IN,
    LabelRequirement,
    Selector,
)

_KEY = r"[A-Za-z0-9](?:[\w./-]*[A-Za-z0-9])?"
_PRESENCE = re.compile(rf"(!?)\s*({_KEY})")
_EQUALITY = re.compile(rf"({_KEY})\s*(==|=|!=)\s*([\w.-]*)")
_ORDER = re.compile(rf"({_KEY})\s*(<|>)\s*(-?\d+)")
_SET = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_CONDITION = re.compile(r"((?:[^,()]|\([^()]*\))*)(?:,|$)")


def parse_selector(text: str) -> Selector:
    """Parse a selector such as ``app=web,tier in (a, b),!canary``; an empty text matches all.

    Values are not checked: a value that no label can have matches nothing.

    :raises UsageError: a condition has none of the forms.
    """
    conditions: list[str] = []
    place = 0
    while place < len(text):
        match = _CONDITION.match(text, place)
        # An empty match would get no further.
        if match is None or match.end() == place:
            raise _invalid(text, text[place:])
        conditions.append(match[1].strip())
        place = match.end()
    return Selector(tuple(_requirement(condition, text) for condition in conditions))


def _requirement(condition: str, text: str) -> LabelRequirement:
    match = _PRESENCE.fullmatch(condition)
    if match is not None:
        return LabelRequirement(match[2], DOES_NOT_EXIST if match[1] else EXISTS)
    match = _EQUALITY.fullmatch(condition)
    if match is not None:
        return LabelRequirement(match[1], NOT_IN if match[2] == "!=" else IN, (match[3],))
    match = _SET.fullmatch(condition)
    if match is not None:
        values = tuple(value.strip() for value in match[3].split(","))
        return LabelRequirement(match[1], IN if match[2] == "in" else NOT_IN, values)
    match = _ORDER.fullmatch(condition)
    if match is not None:
        return LabelRequirement(match[1], GREATER if match[2] == ">" else LESS, (match[3],))
    raise _invalid(text, condition)


def _invalid(text: str, condition: str) -> UsageError:
    return UsageError(
        f"invalid selector {text!r}: {condition!r} is not a condition on a label",
        now="write key=value, key!=value, key in (a,b), key notin (a,b), key or !key, with commas",
    )
