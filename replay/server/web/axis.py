"""The axis of the timeline: which position is at which time, and how many events there are when.

The times of a few hundred positions are read, however long the log is. Each stands for the events
up to the next one. The last object version is read, too: from it on, time stands still.

A position is drawn at the time of the last object version by then: that is what the state at the
position shows. Lines of logs have no version, and may be far from it in the log; they are counted
at their own times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ....engine.log import Query
from ...facade.log import Log
from ...moments.log_clock import clock_of
from ...moments.store_key import StoreKey
from ...moments.times import last_time, with_spans
from .positions import version_by

SAMPLES = 1200
"""Positions whose times are read."""

PARTS = 200
"""Equal parts of the time, for each of which events are counted."""


class Axis(NamedTuple):
    """Positions and their times.

    :param positions: rising. :param times: microseconds since 1970; they never fall. Without any
        time in the log, the positions.
    :param begin: and ``end``: the times at the left and at the right.
    :param bars: how many events each part of the time has.
    :param read: how many times were read. :param exact: whether they are those of all events.
    :param dated: whether the times are times.
    """

    positions: tuple[int, ...]
    times: tuple[int, ...]
    begin: int
    end: int
    bars: tuple[int, ...]
    read: int
    exact: bool
    dated: bool

    def share(self, position: int) -> float:
        """Return where a position is, from 0 at the left to 100 at the right."""
        return self.share_of(float(np.interp(position, self.positions, self.times)))

    def share_of(self, time: float) -> float:
        """Return where a time is, from 0 at the left to 100 at the right."""
        inside = min(max(time, self.begin), self.end) - self.begin
        return round(inside * 100 / max(self.end - self.begin, 1), 2)

    def places(self) -> list[tuple[int, float]]:
        """Return positions and where they are; those between two are between them."""
        return list(_places(self))


@lru_cache(maxsize=4)  # A move of the position leaves the axis as it is.
def _places(axis: Axis) -> tuple[tuple[int, float], ...]:
    shares = map(axis.share_of, axis.times)
    return tuple(dict.fromkeys(zip(axis.positions, shares, strict=True)))


class _Sample(NamedTuple):
    """A position that was read. :param stands_for: how many events.

    :param time: the best estimate. :param latest: the last possible time.
    """

    position: int
    time: int
    latest: int
    versioned: bool
    stands_for: int


def axis_of(log: Log, begin: int, end: int) -> Axis:
    """Return the axis of a window of positions."""
    moment = log.moment()
    return _axis(StoreKey(log.store), moment.branch, moment.cluster, begin, end, moment.known)


@lru_cache(maxsize=32)
def _axis(opened: StoreKey, branch: str, cluster: str, begin: int, end: int, _last: int) -> Axis:
    store = opened.store
    sampled = np.unique(np.linspace(begin, end, SAMPLES).astype(int)).tolist()
    clock = clock_of(store, branch=branch, cluster=cluster)
    events = list(store.read(Query(branch=branch, positions=tuple(sampled))))
    ending = list(store.read(version_by(branch, cluster, end)))
    gaps = np.diff([*sampled, end + 1]).tolist()
    samples = [
        _Sample(
            event.position,
            span.estimate,
            last_time(span) or 0,
            event.event.revision is not None,
            gap,
        )
        for (event, span), gap in zip(with_spans(events, clock), gaps, strict=True)
        if span.estimate is not None
    ]
    if not samples:
        return _undated(sampled, begin, end)
    # In a log without versions, lines of components are all that has a time.
    placed = [sample for sample in samples if sample.versioned] or samples
    last = [
        _Sample(event.position, span.estimate, last_time(span) or 0, versioned=True, stands_for=0)
        for event, span in with_spans(ending, clock)
        if span.estimate is not None and event.position > placed[-1].position
    ]
    placed = [*placed, *last]
    # Positions are in the order in which the log learned of events. Times of an axis only rise.
    times = list(accumulate((sample.time for sample in placed), max))
    # The axis of a whole log reaches as far as its lines; that of a part, only as its versions.
    whole = begin == 1 and end == _last
    low, high = (times[0], times[-1])
    if whole or low == high:
        low, high = min(sample.time for sample in samples), max(sample.latest for sample in samples)
    return Axis(
        tuple(sample.position for sample in placed),
        tuple(times),
        low,
        high,
        tuple(_bars(samples, low, high)),
        len(sampled),
        len(sampled) > end - begin,
        dated=True,
    )


def _undated(positions: Sequence[int], begin: int, end: int) -> Axis:
    """Return an axis of positions."""
    bars = np.diff(np.linspace(begin, end + 1, PARTS + 1).astype(int)).tolist()
    return Axis(
        tuple(positions), tuple(positions), begin, end, tuple(bars), 0, exact=True, dated=False
    )


def _bars(samples: Sequence[_Sample], low: int, high: int) -> Iterable[int]:
    """Count events in each part of the time; those of one sort are spread between two samples."""
    edges = np.linspace(low, high, PARTS + 1)
    until = np.zeros(PARTS + 1)
    for versioned in (True, False):
        weighted = sorted(
            (sample.time, sample.stands_for) for sample in samples if sample.versioned is versioned
        )
        if weighted:
            times = np.array([time for time, _ in weighted])
            sums = np.cumsum([count for _, count in weighted])
            # Interpolation needs rising times. Of equal ones the last has the sum of all.
            firsts = np.append(np.flatnonzero(np.diff(times)), len(times) - 1)
            until += np.interp(edges, times[firsts], sums[firsts], left=0)
    counts = np.diff(np.rint(until).astype(int))
    # Those at the left edge itself are in no difference between two edges.
    counts[0] += int(np.rint(until[0]))
    return [int(count) for count in counts]
