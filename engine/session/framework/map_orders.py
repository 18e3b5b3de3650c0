"""In which order a session goes through Go's maps: each order is possible, and one is used.

The recorded outcomes are those in ascending order of names, so that is the default. Another order
shows which decisions depend on it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...model.tables import Rows

_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


class MapOrders(Protocol):
    """Gives the order of one walk through a map after the other.

    :ivar ascending: every walk is in ascending order.
    """

    @property
    def ascending(self) -> bool:
        """Whether every walk is in ascending order."""
        ...

    def order(self, count: int) -> Rows:
        """Return the places of the keys in the order of one walk; they are given ascending."""
        ...


class Ascending:
    """Walks through the keys in ascending order."""

    ascending = True

    def order(self, count: int) -> Rows:
        """Return 0, 1, 2 …"""
        return np.arange(count)


class SeededOrders:
    """Another order for every walk, which depends on a seed and the number of the walk only.

    The same seed gives the same orders on every machine.
    """

    ascending = False

    def __init__(self, seed: int) -> None:
        self._seed, self._walks = seed, 0

    def order(self, count: int) -> Rows:
        """Return the places sorted by a hash of seed, number of the walk, and place."""
        self._walks += 1
        start = (self._seed * 0x1F123BB5 + self._walks * 0x5851F42D) % 2**63
        with np.errstate(over="ignore"):
            mixed = (np.arange(count, dtype=np.uint64) + np.uint64(start)) * np.uint64(_MIX[0])
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(_MIX[1])
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(_MIX[2])
            return np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")
