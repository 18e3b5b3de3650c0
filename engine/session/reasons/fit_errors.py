"""Why no node takes a task: one verdict for each node, and the sentence made of them.

Source: ``pkg/scheduler/api/unschedule_info.go`` (``FitErrors``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .objections import Objection
from .statuses import PASS, Reasons

ALL_NODES_UNAVAILABLE = "all nodes are unavailable"


class FitErrors:
    """Verdicts of a task over all nodes of the session.

    :param verdicts: int32 by node row; ``PASS`` where the node is not the reason.
    """

    def __init__(self, reasons: Reasons, verdicts: NDArray[np.int32]) -> None:
        self.verdicts = verdicts
        self._reasons = reasons
        self._given = ""
        self._base = ""
        self._text = ""
        self._codes: dict[str, int] | None = None
        self._hypernode = ""

    @classmethod
    def none(cls, reasons: Reasons, nodes: int) -> FitErrors:
        """Return fit errors without any node."""
        return cls(reasons, np.zeros(nodes, dtype=np.int32))

    def set_error(self, text: str) -> None:
        """Replace the number of nodes by a common text."""
        self._given = self._base = text
        self._text = ""

    def set_hypernode(self, name: str) -> None:
        """Set the hypernode of the checked nodes."""
        self._hypernode = name
        self._text = ""

    def set_node_error(self, node: int, verdict: int) -> None:
        """Set the reason of one node."""
        self.verdicts[node] = verdict
        self._text, self._codes = "", None

    def set_all(self, verdict: int) -> None:
        """Set the same reason for every node."""
        self.verdicts[:] = verdict
        self._text, self._codes = "", None

    def covers(self, other: FitErrors) -> bool:
        """Return whether other fit errors would have the same sentence."""
        same_text = (self._given, self._hypernode) == (other._given, other._hypernode)
        return same_text and np.array_equal(self.verdicts, other.verdicts)

    def unresolvable_nodes(self) -> NDArray[np.bool_]:
        """Return, by node row, whether evicting pods there cannot help."""
        table = np.array(
            [self._reasons.unresolvable(verdict) for verdict in range(len(self._reasons))]
        )
        mask: NDArray[np.bool_] = table[self.verdicts]
        return mask

    def reasons(self) -> Counter[str]:
        """Return of how many nodes the scheduler writes each reason."""
        reasons: Counter[str] = Counter()
        for objection, count in self._objections():
            reasons[objection.message] += count
        return reasons

    def _objections(self) -> Iterator[tuple[Objection, int]]:
        """Yield the objections of each verdict, with how many nodes have that."""
        counts: list[int] = np.bincount(self.verdicts).tolist()
        for verdict, count in enumerate(counts):
            for objection in self._reasons.objections(verdict) if count else ():
                yield objection, count

    def codes(self) -> dict[str, int]:
        """Return how many nodes refuse the task for the reason of each code, by code."""
        if self._codes is not None:
            return self._codes
        counts: Counter[str] = Counter()
        for objection, nodes in self._objections():
            for code in dict.fromkeys(reason.full_code for reason in objection.plain):
                counts[code] += nodes
        self._codes = dict(sorted(counts.items()))
        return self._codes

    def error(self) -> str:
        """Return the sentence; the number of nodes in it is that of the first call."""
        if not self._text:
            failed = int(np.count_nonzero(self.verdicts != PASS))
            # Not of all nodes: of those that have a reason (`len(f.nodes)`). It is kept as `f.err`.
            self._base = self._base or f"0/{failed} nodes are unavailable"
            counted = histogram(self.reasons())
            self._text = f"{self._base}: {', '.join(counted)}." if failed else self._base
            # Without nodes `Error` returns the base before it looks at the hypernode.
            if failed and self._hypernode:
                self._text = f"In hyperNode {self._hypernode}: {self._text}"
        return self._text


def histogram(counts: Counter[str]) -> list[str]:
    """Return ``<count> <key>`` for each key, sorted as strings: "10 x" comes before "2 y"."""
    return sorted(f"{count} {key}" for key, count in counts.items())
