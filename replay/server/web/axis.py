"""The axis of the timeline: which position is at which time, and where there are many events.

The times of a few hundred positions are read, however long the log is. Between two of them, events
are taken to be evenly spread.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ....engine.log import Query
from ...facade.log import Log
from ...moments.clock import StoreKey, clock_of
from ...moments.times import with_spans

SAMPLES = 600
"""Positions whose times are read."""

PARTS = 200
"""Equal parts of the time, for each of which events are counted."""


class Axis(NamedTuple):
    """Positions and their times.

    :param positions: rising. :param times: microseconds since 1970; they never fall, because an
        event is shown no earlier than those before it. Without any time in the log, the positions.
    :param dated: whether the times are times.
    """

    positions: tuple[int, ...]
    times: tuple[int, ...]
    dated: bool

    @property
    def exact(self) -> bool:
        """Whether every position of the window is among them."""
        return self.positions[-1] - self.positions[0] < len(self.positions)

    @property
    def begin(self) -> int:
        """The first time."""
        return self.times[0]

    @property
    def end(self) -> int:
        """The last time."""
        return self.times[-1]

    def share(self, position: int) -> float:
        """Return where a position is, from 0 at the left to 100 at the right."""
        return self.share_of(float(np.interp(position, self.positions, self.times)))

    def share_of(self, time: float) -> float:
        """Return where a time is, from 0 at the left to 100 at the right."""
        inside = min(max(time, self.begin), self.end) - self.begin
        return round(inside * 100 / max(self.end - self.begin, 1), 2)

    def density(self) -> list[int]:
        """Return how many events each part of the time has; their sum is that of all events."""
        edges = np.linspace(self.begin, self.end, PARTS + 1)
        if self.end == self.begin:
            return [self.positions[-1] - self.positions[0] + 1, *[0] * (PARTS - 1)]
        times, last = np.unique(np.array(self.times[::-1]), return_index=True)
        by_then = np.array(self.positions[::-1])[last] - self.positions[0] + 1
        until = np.rint(np.interp(edges[1:], times, by_then)).astype(int)
        return [int(one) for one in np.diff(until, prepend=0)]


def axis_of(log: Log, begin: int, end: int) -> Axis:
    """Return the axis of a window of positions."""
    moment = log.moment()
    return _axis(StoreKey(log.store), moment.branch, moment.cluster, begin, end, moment.known)


@lru_cache(maxsize=32)
def _axis(opened: StoreKey, branch: str, cluster: str, begin: int, end: int, _last: int) -> Axis:
    store = opened.store
    some = np.unique(np.linspace(begin, end, SAMPLES).astype(int)).tolist()
    clock = clock_of(store, branch=branch, cluster=cluster)
    found = list(store.read(Query(branch=branch, positions=tuple(some))))
    times = [span.estimate for _, span in with_spans(found, clock)]
    first = next((time for time in times if time is not None), None)
    if first is None:
        return Axis(tuple(some), tuple(some), dated=False)
    known = [first, *(time or 0 for time in times)]
    return Axis(tuple(some), tuple(accumulate(known, max))[1:], dated=True)
