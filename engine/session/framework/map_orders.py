"""In which order a session goes through Go's maps: each order is possible, and one is used.

The recorded outcomes are those in ascending order of names, so that is the default. Another order
shows which decisions depend on it; and a log may show in which order a recorded session went.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec
import numpy as np

from ...model.session_tables import Rows

JOBS, QUEUES, DESERVED = "jobs", "queues", "deserved"
"""What is walked through: starving jobs, their queues, and the queues that divide the cluster.

Else it is :func:`tasks_on` a node, or the pod, ``ns/name``, for which nodes of equal score are
tried.
"""


def tasks_on(node: str) -> str:
    """Return what is walked through: the pods of a node, ``ns/name``, as victims."""
    return f"tasks on {node}"


_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


class MapWalk(msgspec.Struct, frozen=True):
    """A walk through a map.

    :param action: that runs, or ``open``. :param about: what is walked through, see above.
    """

    action: str
    about: str


Names = Callable[[], Sequence[str]]
"""Returns the names of the keys; called only where they matter."""


class MapOrders(Protocol):
    """Gives the order of one walk through a map after the other."""

    @property
    def ascending(self) -> bool:
        """Whether every walk is in ascending order."""
        ...

    def order(self, walk: MapWalk, count: int, names: Names) -> Rows:
        """Return the places of the keys in the order of one walk; they are given ascending."""
        ...


class Ascending:
    """Walks through the keys in ascending order."""

    ascending = True

    def order(self, walk: MapWalk, count: int, names: Names) -> Rows:
        """Return 0, 1, 2 …."""
        del walk, names
        return np.arange(count)


class SeededOrders:
    """Another order for every walk, which depends on a seed and the number of the walk only.

    The same seed gives the same orders on every machine.
    """

    ascending = False

    def __init__(self, seed: int) -> None:
        self._seed, self._walks = seed, 0

    def order(self, walk: MapWalk, count: int, names: Names) -> Rows:
        """Return the places sorted by a hash of seed, number of the walk, and place."""
        del walk, names
        self._walks += 1
        start = (self._seed * 0x1F123BB5 + self._walks * 0x5851F42D) % 2**63
        # SplitMix64: neighbouring seeds and walks give orders that have nothing in common.
        with np.errstate(over="ignore"):
            mixed = (np.arange(count, dtype=np.uint64) + np.uint64(start)) * np.uint64(_MIX[0])
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(_MIX[1])
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(_MIX[2])
            return np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")


class RecordedOrders:
    """Takes the keys first that a recorded session came to first; the rest in another order.

    :param first: names of keys by walk, in the order in which the session came to them.
    :param rest: the order of all other keys and walks.
    """

    def __init__(self, first: Mapping[MapWalk, Sequence[str]], rest: MapOrders) -> None:
        self._first, self._rest = first, rest

    @property
    def ascending(self) -> bool:
        """Whether every walk is in ascending order."""
        return not self._first and self._rest.ascending

    def order(self, walk: MapWalk, count: int, names: Names) -> Rows:
        """Return the places of the recorded keys, then the others."""
        order = self._rest.order(walk, count, names)
        first = self._first.get(walk)
        if not first:
            return order
        # Backwards, so that a name that comes twice has its first place.
        rank = {name: place for place, name in reversed(list(enumerate(first)))}
        known = names()
        ranks = np.array([rank.get(known[place], len(first)) for place in order.tolist()])
        return order[np.argsort(ranks, kind="stable")] if count else order
