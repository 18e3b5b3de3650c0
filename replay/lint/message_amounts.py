"""Amounts in Kubernetes notation, for messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...engine.kubernetes.quantity import parse
from ...engine.kubernetes.units import format_amount
from ...engine.model.resource import Resource

_SHOWN = 5


def amount(name: str, value: float) -> str:
    """Return one amount: ``cpu 1500m``, ``memory 4Gi``."""
    return f"{name} {format_amount(name, value)}"


def amounts(names: Iterable[str], values: Resource) -> str:
    """Return amounts of some resources, separated by commas."""
    return ", ".join(amount(name, values.get(name)) for name in names)


def few(names: Sequence[str]) -> str:
    """Return the first of some names, separated by commas."""
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


def names_of(values: Resource) -> list[str]:
    """Return the named resources: cpu and memory unless zero, and every scalar."""
    names = [name for name in ("cpu", "memory") if values.get(name)]
    return [*names, *sorted(values.scalars or ())]


def lacking(own: Resource, theirs: Resource) -> list[str]:
    """Return the resources of which ``own`` has less, or scalars that it does not name."""
    names = [name for name in ("cpu", "memory") if own.get(name) < theirs.get(name)]
    mine = own.scalars or {}
    names += [
        name
        for name, value in sorted((theirs.scalars or {}).items())
        if name not in mine or mine[name] < value
    ]
    return names


def is_amount(value: object) -> bool:
    """Return whether a value is a quantity."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        parse(value)
    except ValueError:
        return False
    return True
