"""Which behaviours make two releases decide differently: single ones, or a smallest set."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import HISTORY, behaviours

Cause = tuple[str, ...]
"""Behaviours that together cause a difference: all of them are needed."""


def changed(one: Behaviours, other: Behaviours) -> Mapping[str, Any]:
    """Return the behaviours in which two releases differ, with the first one's values."""
    names = (field.name for field in dataclasses.fields(Behaviours) if field.name != "release")
    return {
        name: getattr(one, name) for name in names if getattr(one, name) != getattr(other, name)
    }


def partly(other: Behaviours, values: Mapping[str, Any], names: Sequence[str]) -> Behaviours:
    """Return a release's behaviours with some of them set to given values."""
    return behaviours(other.release, **{name: values[name] for name in names})


def causes(
    names: Sequence[str], goes: Callable[[Cause], bool], *several: Sequence[str]
) -> list[Cause]:
    """Return each behaviour that alone removes a difference; if there is none, a smallest set.

    :param names: candidates that may do it alone.
    :param goes: returns whether the difference disappears with the other release's values of these.
    :param several: groups of candidates that may do it together; the first that does counts.
    """
    # Alone first: a single cause says more than a set, and is found with the fewest sessions.
    alone: list[Cause] = [(name,) for name in names if goes((name,))]
    if alone:
        return alone
    sets = (smallest(group, goes) for group in several or (names,))
    return next(([smallest_set] for smallest_set in sets if smallest_set), [])


def most_specific_first(found: Sequence[Cause], breadth: Callable[[Cause], int]) -> list[Cause]:
    """Return causes, those first that change the fewest decisions; of equal ones, switches first.

    A behaviour with many values stands for more than one effect: what it says may be about another.

    :param breadth: returns how many decisions a cause changes.
    """
    return sorted(found, key=lambda cause: (breadth(cause), max(map(_values, cause))))


@cache
def _values(behaviour: str) -> int:
    """Return how many values a behaviour has had."""
    return len({str(row.value) for row in HISTORY if row.behaviour == behaviour})


def smallest(names: Sequence[str], goes: Callable[[Cause], bool]) -> Cause:
    """Return a set of which none can be left out; empty if not even all remove the difference."""
    needed = tuple(names)
    if not needed or not goes(needed):
        return ()
    # Ever smaller pieces are left out, as in delta debugging.
    size = len(needed) // 2
    while size:
        start = 0
        while start < len(needed):
            rest = needed[:start] + needed[start + size :]
            if rest and goes(rest):
                needed = rest
            else:
                start += size
        size //= 2
    return needed


def suspects(
    names: Sequence[str], inert: Callable[[Cause], bool], *, active: bool = False
) -> list[str]:
    """Return the behaviours that may cause a difference alone, in their order.

    They are halved: if some together change nothing, each of them is assumed to change nothing.

    :param inert: returns whether the other release's values of these change nothing.
    :param active: it is already known that these are not inert.
    """
    if not names or not (active or not inert(tuple(names))):
        return []
    if len(names) == 1:
        return list(names)
    half = len(names) // 2
    left = suspects(names[:half], inert)
    # If the left half changes nothing, the right one must: it need not be run again.
    return left + suspects(names[half:], inert, active=not left)
