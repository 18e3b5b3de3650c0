"""Texts in messages of violations."""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 3


def names_of(names: Iterable[str], noun: str) -> str:
    """Return a number of things with the first of their names, as in ``2 pods: ns/a, ns/b``."""
    ordered = sorted(names)
    count = f"1 {noun}" if len(ordered) == 1 else f"{len(ordered)} {noun}s"
    more = f" and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else ""
    return f"{count}: {', '.join(ordered[:_SHOWN])}{more}" if ordered else f"no {noun}"
