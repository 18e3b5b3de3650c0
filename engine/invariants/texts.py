"""Texts in messages of violations."""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 3


def names_of(names: Iterable[str], noun: str) -> str:
    """Return a number of things with the first of their names, as in ``2 pods: ns/a, ns/b``."""
    some = sorted(names)
    count = f"1 {noun}" if len(some) == 1 else f"{len(some)} {noun}s"
    more = f" and {len(some) - _SHOWN} more" if len(some) > _SHOWN else ""
    return f"{count}: {', '.join(some[:_SHOWN])}{more}" if some else f"no {noun}"
