"""How amounts are subtracted: with an assertion that there is enough, or down to 0."""

from __future__ import annotations

from collections.abc import Callable

from .resource import ZERO, Resource

Subtract = Callable[[Resource, Resource], Resource]
"""Subtracts the second amount from the first and returns the first."""


def subtraction(*, checked: bool) -> Subtract:
    """Return how to subtract: :func:`take` if checked, else with a crash if there is too little."""
    return take if checked else Resource.sub


def take(amount: Resource, other: Resource) -> Resource:
    """Subtract ``other``, but not below 0, and without a crash.

    Resources with enough are subtracted as usual.
    """
    if other.less_equal(amount, ZERO):
        return amount.sub_unchecked(other)
    amount.cpu = max(amount.cpu - other.cpu, 0.0)
    amount.memory = max(amount.memory - other.memory, 0.0)
    theirs = other.scalars or {}
    for name, had in (amount.scalars or {}).items():
        amount.set_scalar(name, max(had - theirs.get(name, 0.0), 0.0))
    return amount


def rest(amount: Resource, other: Resource) -> Resource:
    """Return one amount minus another: only resources of the first, and nothing below 0.

    ``amount`` does not change.
    """
    theirs = other.scalars or {}
    scalars = amount.scalars
    return Resource(
        max(amount.cpu - other.cpu, 0.0),
        max(amount.memory - other.memory, 0.0),
        None
        if scalars is None
        else {name: max(had - theirs.get(name, 0.0), 0.0) for name, had in scalars.items()},
        amount.max_task_num,
    )
