"""Which behaviours make two releases decide differently: one alone, or as few as it takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import behaviours

Cause = tuple[str, ...]
"""Behaviours that together make a difference: without any one of them, it is not as it was."""


def changed(one: Behaviours, other: Behaviours) -> Mapping[str, Any]:
    """Return the behaviours in which two releases differ, with the values that the first has."""
    names = (field.name for field in dataclasses.fields(Behaviours) if field.name != "release")
    return {
        name: getattr(one, name) for name in names if getattr(one, name) != getattr(other, name)
    }


def partly(other: Behaviours, values: Mapping[str, Any], names: Sequence[str]) -> Behaviours:
    """Return how a release behaves with some behaviours set to given values."""
    return behaviours(other.release, **{name: values[name] for name in names})


def causes(
    names: Sequence[str], goes: Callable[[Cause], bool], *several: Sequence[str]
) -> list[Cause]:
    """Return each behaviour that alone makes a difference go; if there is none, a smallest set.

    :param names: those that may do it alone.
    :param goes: says whether the difference goes if these behaviours are the other release's.
    :param several: those that may do it together; the first of these that has a set counts.
    """
    alone: list[Cause] = [(name,) for name in names if goes((name,))]
    if alone:
        return alone
    sets = (smallest(some, goes) for some in several or (names,))
    return next(([found] for found in sets if found), [])


def smallest(names: Sequence[str], goes: Callable[[Cause], bool]) -> Cause:
    """Return a set of which nothing can be left out; empty if not even all make it go."""
    kept = tuple(names)
    if not kept or not goes(kept):
        return ()
    size = len(kept) // 2
    while size:
        start = 0
        while start < len(kept):
            rest = kept[:start] + kept[start + size :]
            if rest and goes(rest):
                kept = rest
            else:
                start += size
        size //= 2
    return kept


def suspects(
    names: Sequence[str], inert: Callable[[Cause], bool], *, active: bool = False
) -> list[str]:
    """Return the behaviours that may make a difference alone, in their order.

    They are halved: of those that together change nothing, none is taken to do so alone.

    :param inert: says whether all is as it was if these behaviours are the other release's.
    :param active: that these are not inert is known already.
    """
    if not names or not (active or not inert(tuple(names))):
        return []
    if len(names) == 1:
        return list(names)
    half = len(names) // 2
    left = suspects(names[:half], inert)
    return left + suspects(names[half:], inert, active=not left)
