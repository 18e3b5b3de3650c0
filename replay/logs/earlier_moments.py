"""Moments before another one, as answers about what happened shortly before need them."""

from __future__ import annotations

from ...engine.errors import PointTooEarly, UsageError
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.log.store import Query
from ..moments.moment import Moment
from ..moments.times import with_spans
from ..truth.points import Point
from .log import Log

BEFORE_US = 120 * SECOND_US
"""How long before a moment the state is compared with, by default."""

_NEAR = 100
"""How many events before a position may have its time."""


def earlier(log: Log, moment: Moment, point: Point | None) -> tuple[Moment | None, tuple[str, ...]]:
    """Return the moment to compare with, and remarks on it.

    :param point: None is two minutes before, or the log's first moment. A point before the log's
        first moment is that moment.
    :raises UsageError: it is after the moment.
    """
    if point is None:
        return shortly_before(log, moment), ()
    remarks: tuple[str, ...] = ()
    try:
        earlier_moment = _known(log, point, moment)
    except PointTooEarly as fault:
        earlier_moment = _known(log, fault.first, moment)
        remarks = (f"{fault.what}: the range begins there",)
    if _is_after(earlier_moment, moment):
        raise UsageError(
            f"{earlier_moment.label} is after {moment.label}",
            now="choose an earlier moment for --from",
        )
    return earlier_moment, remarks


def _is_after(moment: Moment, other: Moment) -> bool:
    if moment.revision is None:
        return moment.known > other.known or (
            other.revision is not None and moment.known == other.known
        )
    return other.revision is not None and moment.revision > other.revision


def _known(log: Log, point: Point, moment: Moment) -> Moment:
    """Return an earlier moment, with only the events that count at a moment."""
    if isinstance(point, Moment) or moment.known == log.store.last(moment.branch):
        return log.moment(point)
    return log.moment(point, as_known_at=f"@{moment.known}")


def time_at(log: Log, moment: Moment) -> int | None:
    """Return the time of a moment in microseconds; None if it is not known.

    That of a position is the last time of the events just before it.
    """
    clock = log.clock(moment)
    if moment.time is not None:
        return moment.time or None  # that of a scenario's session is 0
    if moment.revision is not None or moment.known == log.store.last(moment.branch):
        return clock.time_of(moment.revision)
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        newest_first=True,
        limit=_NEAR,
    )
    events = list(log.store.read(query))
    times = (span.estimate for _, span in with_spans(events, clock))
    return max((time for time in times if time is not None), default=None)


def shortly_before(log: Log, moment: Moment, span: int = BEFORE_US) -> Moment | None:
    """Return the moment some time before another one, or the log's first; None if it has neither.

    :param span: how long before, microseconds.
    """
    begins, now = log.clock(moment).begins(), time_at(log, moment)
    if begins is None or now is None:
        return None
    then = max(begins, now - span)
    if then >= now:
        return None
    try:
        return _known(log, format_time(then), moment)
    except PointTooEarly as fault:
        first_moment = _known(log, fault.first, moment)
        return None if _is_after(first_moment, moment) else first_moment
