"""Which behaviours make two releases decide differently: one alone, or as few as it takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...engine.volcano.behaviours import Behaviours
from ...engine.volcano.history import behaviours

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


def causes(names: Sequence[str], goes: Callable[[Cause], bool]) -> list[Cause]:
    """Return each behaviour that alone makes a difference go; if there is none, a smallest set.

    :param names: all that may matter; set all together, the difference goes.
    :param goes: says whether the difference goes if these behaviours are the other release's.
    """
    alone: list[Cause] = [(name,) for name in names if goes((name,))]
    return alone or smallest(names, goes)


def smallest(names: Sequence[str], goes: Callable[[Cause], bool]) -> list[Cause]:
    """Return a set of which nothing can be left out; none if not even all make it go."""
    kept = tuple(names)
    if not kept or not goes(kept):
        return []
    for name in names:
        rest = tuple(other for other in kept if other != name)
        if rest and goes(rest):
            kept = rest
    return [kept]
