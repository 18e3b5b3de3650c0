"""The picture of clusters that live on: what queues hold over time, as it was and changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.counts import counted
from ..forecast.forecast_course import Course
from ..forecast.forecast_outcome import Forecast
from ..forecast.recorded_usage import BUCKETS, QueueUse
from ..render.screen import one_line
from ..series.period import Period
from ..series.queue_shares import highest_of
from .compose import beyond_of, resolution
from .picture import Chart, NumberLine, Picture, Role, Values

MOST_PANELS = 6
"""Panels of one picture: those that differ most."""

_THOUSANDTHS = 1000.0
"""Pictures have amounts in Volcano's units: thousandths, but memory in bytes."""


class _Pair(NamedTuple):
    """One resource of a queue in the original, and in another course, if there is one."""

    queue: str
    resource: str
    course: str
    original: Values
    changed: Values
    limits: QueueUse

    @property
    def difference(self) -> float:
        """By how much they differ over time, compared with the most; alone, the most."""
        both = list(zip(self.original, self.changed, strict=False))
        if not both:
            return highest_of(self.original)
        most = max(highest_of(self.original), highest_of(self.changed)) or 1.0
        return sum(abs((one or 0.0) - (other or 0.0)) for one, other in both) / most


def forecast_picture(found: Forecast, log: str) -> Picture:
    """Return the picture of queues in all courses: a panel for each that differs.

    With the original alone, the panels are the queues that hold most cpu.
    """
    length = found.until - found.begin
    period = Period(begin=found.begin, end=found.until, step=max(-(-length // BUCKETS), 1))
    pairs = [one for one in _pairs(found, period) if one.difference]
    most = sorted(pairs, key=lambda one: (-one.difference, one[:3]))[:MOST_PANELS]
    several = len(found.courses) > 2
    panels = tuple(_panel(one, named=several) for one in pairs if one in most)
    notes = [resolution(period, "mean")]
    if len(pairs) > len(panels):
        more = counted(len(pairs) - len(panels), "panel", "panels")
        notes.append(f"{more} that differ less not shown; the table has all")
    alone = len(found.courses) == 1
    return Picture(
        title="Queues: allocated as it was" + ("" if alone else " and as changed"),
        log=log,
        period=period,
        panels=panels,
        notes=tuple(notes) if panels else (),
        empty="" if panels else "no queue holds anything" if alone else "queues hold the same",
    )


def _pairs(found: Forecast, period: Period) -> Iterator[_Pair]:
    """Yield what can be compared: every resource of every queue, in every other course."""
    first, *others = found.courses
    uses = [{(use.queue, use.resource): use for use in each.queues} for each in found.courses]
    for queue, resource in sorted({place for some in uses for place in some}):
        of = [some.get((queue, resource)) for some in uses]
        limits = next(use for use in of if use is not None)
        own = _values(of[0], first, period)
        if not others and resource == "cpu":
            yield _Pair(queue, resource, "", own, (), limits)
        for course, use in zip(others, of[1:], strict=True):
            yield _Pair(queue, resource, course.name, own, _values(use, course, period), limits)


def _values(use: QueueUse | None, course: Course, period: Period) -> Values:
    """Return a series by the parts of the period; None after the end of the course."""
    lasted = course.until - period.begin
    times = [period.time_of(part) - period.begin for part in range(period.parts)]
    if use is None:
        return tuple(0.0 if time < lasted else None for time in times)
    scale = 1.0 if use.resource == "memory" else _THOUSANDTHS
    return tuple(
        use.series[min(time * BUCKETS // lasted, BUCKETS - 1)] * scale if time < lasted else None
        for time in times
    )


def _panel(one: _Pair, *, named: bool) -> Chart:
    """Return a panel. :param named: its title names the course, as there are several."""
    changed = (NumberLine(Role.CHANGED, one_line(one.course), one.changed),) if one.changed else ()
    limits = list(_limits(one))
    beyond = beyond_of((*one.original, *one.changed), limits)
    amounts = [f"{line.label} {short_amount(one.resource, line.values[0] or 0)}" for line in beyond]
    course = f" as {one_line(one.course)}" if named else ""
    said = f"; {', '.join(amounts)} above the panel" if beyond else ""
    return Chart(
        title=f"{one_line(one.queue)}, {one_line(one.resource)}{course}{said}",
        unit=one.resource,
        filled=(NumberLine(Role.ALLOCATED, "original", one.original),),
        lines=(*(line for line in limits if line not in beyond), *changed),
    )


def _limits(one: _Pair) -> Iterator[NumberLine]:
    """Yield the limits that the queue had at the beginning, as flat lines."""
    scale = 1.0 if one.resource == "memory" else _THOUSANDTHS
    for role, amount in (
        (Role.DESERVED, one.limits.deserved),
        (Role.CAPABILITY, one.limits.capability),
    ):
        if amount:
            yield NumberLine(role, f"{role.value} at first", (amount * scale,) * len(one.original))
