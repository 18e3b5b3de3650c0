"""Sums and products of ``int64`` as Go has them: wrapped around, or held at the bounds.

Source: pkg/scheduler/api/saturating.go since v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

_HALF = 2**63


def wrap(number: int) -> int:
    """Return what is left of a number in 64 bits."""
    return (number + _HALF) % (2 * _HALF) - _HALF


def saturate(number: int) -> int:
    """Return the number of 64 bits that is nearest."""
    return max(-_HALF, min(_HALF - 1, number))


class Counting(NamedTuple):
    """How counts are bounded after each step."""

    bound: Callable[[int], int]

    def add(self, one: int, other: int) -> int:
        """Return a sum."""
        return self.bound(one + other)

    def multiply(self, one: int, other: int) -> int:
        """Return a product."""
        return self.bound(one * other)


WRAPPING = Counting(wrap)
SATURATING = Counting(saturate)
