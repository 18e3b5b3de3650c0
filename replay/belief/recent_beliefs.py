"""Beliefs in memory: the scheduler's cache at moments that were asked about before.

They save time, as stored beliefs do, and are never written. What they hold depends on nothing but
the log's content, which names them: a log that has grown, or another file, has other names.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .stored_belief import CacheBasis

MOST_BYTES = 4 * 2**20
"""How much memory they may take."""

END = 2**63 - 1
"""Stands for the revision of the end, which is not known."""


class BeliefBasis(NamedTuple):
    """What the caches of one release depend on, apart from the revision.

    :param head: the hash of the branch's end. :param known: only events up to this position count.
    """

    head: str
    cluster: str
    known: int
    basis: CacheBasis


class RecentBeliefs:
    """Encoded beliefs by course and revision; threads may share them.

    Those that were not used for the longest time go first.

    :param most: how many bytes they may take.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[BeliefBasis, int], bytes] = OrderedDict()
        self._bytes = 0

    def last(self, course: BeliefBasis, until: int, default: int) -> int:
        """Return the last revision up to one at which there is a belief."""
        with self._lock:
            revisions = [at for of, at in self._held if at <= until and of == course]
        return max(revisions, default=default)

    def get(self, course: BeliefBasis, revision: int) -> bytes | None:
        """Return the belief at a revision, if there still is one."""
        with self._lock:
            belief = self._held.get((course, revision))
            if belief is not None:
                self._held.move_to_end((course, revision))
            return belief

    def keep(self, course: BeliefBasis, revision: int, belief: bytes) -> None:
        """Hold a belief, and drop others if they are too many."""
        with self._lock:
            if (course, revision) in self._held or len(belief) > self._most:
                return
            self._held[course, revision] = belief
            self._bytes += len(belief)
            while self._bytes > self._most:
                self._bytes -= len(self._held.popitem(last=False)[1])
