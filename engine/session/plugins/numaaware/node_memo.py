"""Cached results of nodes for equal tasks, until a node changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ....model.session_tables import Ints, Rows


class NodeMemo:
    """Verdicts by node row, each with the version of its node."""

    def __init__(self, nodes: int) -> None:
        self._verdicts = np.zeros(nodes, dtype=np.int32)
        self._versions = np.full(nodes, -1, dtype=np.int64)

    def verdicts(self, rows: Rows, versions: NDArray[np.int64], find: Callable[[int], int]) -> Ints:
        """Return the verdicts of rows; ``find`` computes those with another version."""
        stale = rows[self._versions[rows] != versions[rows]]
        for node in stale.tolist():
            self._verdicts[node] = find(node)
        self._versions[stale] = versions[stale]
        found: Ints = self._verdicts[rows]
        return found
