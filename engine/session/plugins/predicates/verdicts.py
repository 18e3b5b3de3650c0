"""Verdicts of several filters: they are joined, until one ends the filters.

Source: pkg/scheduler/plugins/predicates/predicates.go ShouldAbort.
"""

from __future__ import annotations

from enum import Enum, auto

import numpy as np

from ....model.session_tables import Ints
from ...reasons.statuses import PASS, Reasons


class EndsWith(Enum):
    """What ends the asking of filters."""

    FINAL = auto()
    """A verdict that evicting pods cannot change."""
    ANY = auto()
    """Any verdict."""
    NONE = auto()
    """Nothing: all filters are asked."""


class FilterVerdicts:
    """Joins verdicts; every pair is computed once."""

    def __init__(self, reasons: Reasons, ends: EndsWith = EndsWith.FINAL) -> None:
        self._reasons = reasons
        self._ends = ends
        self._pairs: dict[tuple[int, int], int] = {}

    def then(self, done: int, found: int) -> int:
        """Return the joined verdict of ``done`` and the next filter's ``found``."""
        if PASS in (found, done):
            return done or found
        joined = self._pairs.get((done, found))
        if joined is None:
            reasons = self._reasons
            joined = done
            if not self._ended(done):
                joined = reasons.intern_all((*reasons.statuses(done), *reasons.statuses(found)))
            self._pairs[done, found] = joined
        return joined

    def _ended(self, verdict: int) -> bool:
        if self._ends is EndsWith.FINAL:
            return self._reasons.stops_preemption(verdict)
        return self._ends is EndsWith.ANY

    def all_then(self, done: Ints, found: Ints) -> Ints:
        """Return the same as :meth:`then`, node by node."""
        joined: Ints = np.where(done == PASS, found, done)
        both = np.flatnonzero((done != PASS) & (found != PASS))
        if len(both):
            pairs, places = np.unique(
                np.stack((done[both], found[both])), axis=1, return_inverse=True
            )
            merged = [self.then(*pair) for pair in pairs.T.tolist()]
            joined[both] = np.array(merged, dtype=np.int32)[places.reshape(-1)]
        return joined
