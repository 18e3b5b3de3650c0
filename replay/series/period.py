"""The period of a picture, divided into equal parts: memory and size do not grow with the log."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events import KINDS, Recorded
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.log.store import Query
from ..logs.log import Log
from ..moments.log_clock import time_of_moment
from ..moments.moment import Moment
from ..moments.verbs import TELLING, VERBS, verb_of_version
from ..moments.zones import UTC_ZONE, Zone
from ..truth.points import Point

PARTS = 250
"""How many parts a period has at most."""

_MINUTE, _HOUR, _DAY = 60 * SECOND_US, 3600 * SECOND_US, 86_400 * SECOND_US
_STEPS = (
    *(unit * digit for unit in (1000, 10_000, 100_000) for digit in (1, 2, 5)),
    *(second * SECOND_US for second in (1, 2, 5, 10, 15, 30)),
    *(minute * _MINUTE for minute in (1, 2, 5, 10, 15, 30)),
    *(hour * _HOUR for hour in (1, 2, 3, 6, 12)),
    *(day * _DAY for day in (1, 2, 7, 30, 365)),
)
"""Lengths of a part that people can read, microseconds."""


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """A time between two moments, and its division.

    :param begin: and ``end``: microseconds since 1970. :param step: the length of a part.
    :param zone: in which a picture shows its times.
    """

    begin: int
    end: int
    step: int
    zone: Zone = UTC_ZONE

    @property
    def parts(self) -> int:
        """How many parts it has; the last one may reach beyond the end."""
        return max(1, -(-(self.end - self.begin) // self.step))

    def part_of(self, time: int) -> int:
        """Return the part that has a time; of one outside, the first or the last."""
        return min(max(0, (time - self.begin) // self.step), self.parts - 1)

    def time_of(self, part: int) -> int:
        """Return when a part begins."""
        return self.begin + part * self.step


class ShownPeriod(NamedTuple):
    """The period of a log that a picture shows.

    :param end: the moment at its end; only what had happened by then counts.
    """

    period: Period
    end: Moment


def span_of(
    log: Log, from_: Point | None = None, to: Point | None = None, *, whole: bool = False
) -> ShownPeriod:
    """Return the period between two points; by default while the log observed the cluster.

    :param whole: by default from the first time in the log: when its oldest object was created.
    :raises UsageError: the log has no times, or the first point is not before the second.
    """
    end = log.moment("end" if to is None else to)
    clock = log.clock(end)
    first, last = clock.first(), clock.last()
    if first is None or last is None:
        raise UsageError(
            "the log holds no times, so nothing can be drawn over time",
            now="ingest inputs with times, such as a watch or an audit log",
        )
    until = min(time_of_moment(log.store, end) or last, last)
    begin: int | None
    if from_ is None:
        begin = min(first if whole else observed_from(log, end) or first, until)
    else:
        begin = time_of_moment(log.store, log.moment(from_))
    if begin is None or begin > until or (from_ is not None and begin == until):
        raise UsageError(
            f"the period is empty: it would begin at {format_time(begin or first)} and end at "
            f"{format_time(until)}",
            now=f"the log has times from {format_time(first)} to {format_time(last)}",
        )
    return ShownPeriod(divided(begin, until, log.zone), end)


def observed_from(log: Log, moment: Moment) -> int | None:
    """Return when the log began to observe the cluster, microseconds; None if it has no times.

    That is its first change, or when a complete list of its nodes was seen: objects in a list are
    often much older than what the log knows of the cluster.
    """
    clock = log.clock(moment)
    listed = _listed_from(log, moment)
    times: list[int | None] = []
    if listed is not None:
        seen = clock.span_of(listed)
        times.append(seen.estimate if seen.latest is None else seen.latest)
    for recorded in _first_changes(log, moment):
        event = recorded.event
        dated = None if event.revision is None else clock.time_of(event.revision)
        times.append(event.observed_at if dated is None else dated)
    return min((time for time in times if time is not None), default=clock.first())


def _first_changes(log: Log, moment: Moment) -> Iterator[Recorded]:
    """Yield the first change that each input shows.

    It may show one of a version that another input had first, so that it is stored as seen.
    """
    query = Query(branch=moment.branch, cluster=moment.cluster, until=moment.known)
    sources = log.store.sources(known=moment.known, cluster=moment.cluster, branch=moment.branch)
    for source in sources:
        for kinds, limit in ((_CHANGES, 1), (TELLING, None)):
            if kinds.isdisjoint(source.kinds):
                continue
            of_source = msgspec.structs.replace(
                query, source=source.source, kinds=tuple(sorted(kinds)), limit=limit
            )
            changed = filter(_is_change, log.store.read(of_source))
            yield from islice(changed, 1)


def _is_change(recorded: Recorded) -> bool:
    """Return whether an event shows that something changed, and not only that it was there."""
    return recorded.event.kind in _CHANGES or verb_of_version(recorded) in VERBS


def _listed_from(log: Log, moment: Moment) -> int | None:
    """Return the revision from which on nodes are known; without them pods, or any kind."""
    coverage = log.coverage(moment)
    begins = {pair: coverage.begin(pair) for pair in coverage.kinds()}
    first = {pair: begin for pair, begin in begins.items() if begin is not None}
    moving = [first[pair] for pair in _MOVING if pair in first]
    return moving[0] if moving else min(first.values(), default=None)


_MOVING = (("", "Node"), ("", "Pod"))
"""Kinds that change all the time, nodes every few minutes: a list of them has a recent revision."""

_CHANGES = (
    frozenset(kind for kind in KINDS if not kind.endswith((".observed", ".joined")))
    - TELLING
    - {"config.applied"}
)
"""Kinds of events that show a change; a configuration may be much older than what shows it."""


def divided(begin: int, end: int, zone: Zone = UTC_ZONE) -> Period:
    """Return a period with parts of a length that people can read."""
    length = max(end - begin, 1)
    step = next(
        (length_of_part for length_of_part in _STEPS if length <= length_of_part * PARTS),
        -(-length // PARTS),
    )
    # A period without any length has one part, too.
    return Period(begin=begin, end=max(end, begin + step), step=step, zone=zone)


class Track:
    """A number over time: of each part of a period the highest value that it had in it.

    :param last: of each part the last value instead.
    """

    def __init__(self, period: Period, *, last: bool = False) -> None:
        self._period, self._last = period, last
        self._values: list[float | None] = []
        self.now: float | None = None

    def set(self, time: int, value: float | None) -> None:
        """Change the number; None: there is none. Times must not fall."""
        if value == self.now:
            return
        if time >= self._period.begin:
            # The part begins with the number from before; if that falls now, it stays the highest.
            self._fill(self._period.part_of(time) + 1)
            in_part = self._values[-1]
            if self._last or in_part is None or (value is not None and value > in_part):
                self._values[-1] = value
        self.now = value

    def values(self) -> tuple[float | None, ...]:
        """Return the values of all parts."""
        self._fill(self._period.parts)
        return tuple(self._values)

    def _fill(self, parts: int) -> None:
        self._values.extend([self.now] * (parts - len(self._values)))
