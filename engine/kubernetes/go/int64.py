"""Sums and products of ``int64`` as in Go: with overflow, or saturating.

Source: pkg/scheduler/api/saturating.go since v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

_HALF = 2**63


def wrap(number: int) -> int:
    """Return what is left of a number in 64 bits."""
    return (number + _HALF) % (2 * _HALF) - _HALF


def saturate(number: int) -> int:
    """Return the nearest number of 64 bits."""
    return max(-_HALF, min(_HALF - 1, number))


def as_unsigned(number: int) -> int:
    """Return a number converted to unsigned: -1 becomes the largest number."""
    return number % (2 * _HALF)


class Counting(NamedTuple):
    """How counts are bounded after each step."""

    bound: Callable[[int], int]

    def add(self, one: int, other: int) -> int:
        """Return a sum."""
        return self.bound(one + other)

    def multiply(self, one: int, other: int) -> int:
        """Return a product."""
        return self.bound(one * other)

    def merge(self, into: dict[str, int], counts: Iterable[tuple[str, int]]) -> None:
        """Add counts to what there is of each name."""
        for name, count in counts:
            into[name] = self.add(into.get(name, 0), count)


WRAPPING = Counting(wrap)
SATURATING = Counting(saturate)


def counting(*, saturates: bool) -> Counting:
    """Return how a release counts."""
    return SATURATING if saturates else WRAPPING
