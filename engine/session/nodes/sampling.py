"""How many nodes are checked: in large clusters the scheduler stops when it has found enough.

Recorded decisions were made without it. In the scheduler many workers run in parallel, and which of
the last nodes are found is random; here one worker checks one node after the other.

Source: ``pkg/scheduler/util/scheduler_helper.go:CalculateNumOfFeasibleNodesToFind`` and
``predicate_helper.go:PredicateNodes``.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

MIN_NODES_TO_FIND = 100
"""Flag ``--minimum-feasible-nodes``: up to this many nodes, all are checked."""

MIN_PERCENTAGE = 5
"""Flag ``--minimum-percentage-nodes-to-find``."""

BASELINE_PERCENTAGE = 50
"""The percentage for a small cluster; one percent less for every 125 nodes."""


class SamplingMemory(msgspec.Struct):
    """What a process remembers of its searches.

    :ivar next_node: the index of the node after the last checked one.
    """

    next_node: int = 0


def nodes_to_find(nodes: int) -> int:
    """Return how many feasible nodes end the search."""
    if nodes <= MIN_NODES_TO_FIND:
        return nodes
    percentage = max(BASELINE_PERCENTAGE - nodes // 125, MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_NODES_TO_FIND)


class Sampling:
    """The place where the next search begins: all searches of a process share it.

    :param memory: what the process remembers; it is changed.
    """

    def __init__(self, memory: SamplingMemory) -> None:
        self._memory = memory

    def visit(self, passing: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return which of a list of nodes are checked, in that order, and advance.

        The node found after enough were found is checked, but not returned.

        :param passing: by place in the list, whether the node would be found.
        """
        count = len(passing)
        if not count:
            return np.empty(0, dtype=np.intp)
        last = self._memory.next_node
        order = (last + np.arange(count)) % count
        places = np.flatnonzero(passing[order])
        enough = nodes_to_find(count)
        seen = int(places[enough]) + 1 if len(places) > enough else count
        self._memory.next_node = (last + seen) % count
        visited: NDArray[np.intp] = order[:seen]
        return visited[:-1] if len(places) > enough else visited
