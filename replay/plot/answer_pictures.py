"""Pictures of answers: clusters that live on, and recorded sessions that were run again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.counts import counted
from ..fidelity.report import NOT_EXPLAINED, Difference, Fidelity, SessionFidelity
from ..forecast.forecast_course import Course
from ..forecast.forecast_outcome import Forecast
from ..forecast.recorded_usage import BUCKETS, QueueUse
from ..moments.zones import UTC_ZONE, Zone
from ..render.screen import one_line
from ..series.incidents import Incident
from ..series.period import Period, divided
from ..series.queue_shares import highest_of
from .compose import beyond_of, notes_of, numbered, resolution
from .picture import COUNT, DURATION, Chart, NumberLine, Picture, Role, Values
from .picture_words import duration

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
        return sum(abs((original or 0.0) - (changed or 0.0)) for original, changed in both) / most


def forecast_picture(forecast: Forecast, log: str, zone: Zone = UTC_ZONE) -> Picture:
    """Return the picture of queues in all courses: a panel for each that differs.

    With the original alone, the panels are the queues that hold most cpu.
    """
    length = forecast.until - forecast.begin
    step = max(-(-length // BUCKETS), 1)
    period = Period(begin=forecast.begin, end=forecast.until, step=step, zone=zone)
    pairs = [pair for pair in _pairs(forecast, period) if pair.difference]
    most = sorted(pairs, key=lambda pair: (-pair.difference, pair[:3]))[:MOST_PANELS]
    several = len(forecast.courses) > 2
    panels = tuple(_panel(pair, named=several) for pair in pairs if pair in most)
    notes = [resolution(period, "mean")]
    if len(pairs) > len(panels):
        more = counted(len(pairs) - len(panels), "panel", "panels")
        notes.append(f"{more} that differ less not shown; the table has all")
    alone = len(forecast.courses) == 1
    return Picture(
        title="Queues: allocated as it was" + ("" if alone else " and as changed"),
        log=log,
        period=period,
        panels=panels,
        notes=tuple(notes) if panels else (),
        empty="" if panels else "no queue holds anything" if alone else "queues hold the same",
    )


def _pairs(forecast: Forecast, period: Period) -> Iterator[_Pair]:
    """Yield what can be compared: every resource of every queue, in every other course."""
    first, *others = forecast.courses
    uses = [{(use.queue, use.resource): use for use in each.queues} for each in forecast.courses]
    for queue, resource in sorted({place for by_place in uses for place in by_place}):
        of = [by_place.get((queue, resource)) for by_place in uses]
        limits = next(use for use in of if use is not None)
        own = _values(of[0], first, period)
        if not others and resource == "cpu":
            yield _Pair(queue, resource, "", own, (), limits)
        for course, use in zip(others, of[1:], strict=True):
            yield _Pair(queue, resource, course.name, own, _values(use, course, period), limits)


def _values(use: QueueUse | None, course: Course, period: Period) -> Values:
    """Return a series by the parts of the period; None after the end of the course."""
    # A course ends before the period where the scheduler panics again and again.
    lasted = course.until - period.begin
    times = [period.time_of(part) - period.begin for part in range(period.parts)]
    if use is None:
        return tuple(0.0 if time < lasted else None for time in times)
    scale = 1.0 if use.resource == "memory" else _THOUSANDTHS
    return tuple(
        use.series[min(time * BUCKETS // lasted, BUCKETS - 1)] * scale if time < lasted else None
        for time in times
    )


def _panel(pair: _Pair, *, named: bool) -> Chart:
    """Return a panel. :param named: its title names the course, as there are several."""
    changed = (
        (NumberLine(Role.CHANGED, one_line(pair.course), pair.changed),) if pair.changed else ()
    )
    limits = list(_limits(pair))
    beyond = beyond_of((*pair.original, *pair.changed), limits)
    amounts = [
        f"{line.label} {short_amount(pair.resource, line.values[0] or 0)}" for line in beyond
    ]
    course = f" as {one_line(pair.course)}" if named else ""
    said = f"; {', '.join(amounts)} above the panel" if beyond else ""
    return Chart(
        title=f"{one_line(pair.queue)}, {one_line(pair.resource)}{course}{said}",
        unit=pair.resource,
        filled=(NumberLine(Role.ALLOCATED, "original", pair.original),),
        lines=(*(line for line in limits if line not in beyond), *changed),
    )


def _limits(pair: _Pair) -> Iterator[NumberLine]:
    """Yield the limits that the queue had at the beginning, as flat lines."""
    scale = 1.0 if pair.resource == "memory" else _THOUSANDTHS
    for role, amount in (
        (Role.DESERVED, pair.limits.deserved),
        (Role.CAPABILITY, pair.limits.capability),
    ):
        if amount:
            yield NumberLine(role, f"{role.value} at first", (amount * scale,) * len(pair.original))


def fidelity_picture(report: Fidelity, log: str, zone: Zone = UTC_ZONE) -> Picture:
    """Return the picture of sessions by how they came out, and of what was needed for that.

    Differences that are not explained are marked.
    """
    sessions = report.sessions
    times = [fidelity.opened for fidelity in sessions]
    period = divided(min(times, default=0), max(times, default=0), zone)
    parts: list[list[SessionFidelity]] = [[] for _ in range(period.parts)]
    for session in sessions:
        parts[period.part_of(session.opened)].append(session)
    marks = numbered(_incidents(sessions))
    panels = [panel for panel in _fidelity_panels(parts, period) if panel.filled]
    exact = sum(session.exact for session in sessions)
    return Picture(
        title=f"Sessions run again: {exact} of {counted(len(sessions), 'session')} as recorded",
        log=log,
        period=period,
        panels=tuple(chart._replace(marks=marks) for chart in panels),
        notes=(*notes_of(marks, period), f"each step is {duration(period.step)}"),
        empty="" if panels else "no session was run again",
    )


def _fidelity_panels(parts: Sequence[Sequence[SessionFidelity]], period: Period) -> Iterator[Chart]:
    step = duration(period.step)
    yield _outcomes(
        f"sessions in {step}",
        ("as recorded", [sum(_at_once(session) for session in of_part) for of_part in parts]),
        (
            "as recorded, with other deliveries or another order",
            [
                sum(session.exact and not _at_once(session) for session in of_part)
                for of_part in parts
            ],
        ),
        ("not as recorded", [sum(not session.exact for session in of_part) for of_part in parts]),
    )
    bindings = [[fidelity.bindings for fidelity in of_part] for of_part in parts]
    yield _outcomes(
        f"bindings in {step}",
        ("exact", [sum(each.exact for each in of_part) for of_part in bindings]),
        (
            "to a node with the same score",
            [sum(each.tie for each in of_part) for of_part in bindings],
        ),
        (
            "different, missed or invented",
            [
                sum(each.different + each.missed + each.invented for each in of_part)
                for of_part in bindings
            ],
        ),
    )
    late = tuple(
        max((each.us for session in of_part for each in session.deliveries), default=None)
        for of_part in parts
    )
    moved = NumberLine(Role.LONGEST, "farthest", late)
    yield Chart("how far deliveries were moved", DURATION, (moved,) if any(late) else ())


def _outcomes(title: str, *outcomes: tuple[str, Sequence[int]]) -> Chart:
    """Return a panel of numbers: the same as recorded, the same in another way, different."""
    roles = (Role.SAME, Role.EXPLAINED, Role.DIFFERENT)
    lines = (
        NumberLine(role, label, tuple(values))
        for role, (label, values) in zip(roles, outcomes, strict=True)
        if any(values)
    )
    return Chart(title, COUNT, tuple(lines))


def _at_once(fidelity: SessionFidelity) -> bool:
    return fidelity.exact and not fidelity.deliveries and not fidelity.order


def _incidents(sessions: Sequence[SessionFidelity]) -> Iterator[Incident]:
    """Yield what is not explained: of each session the first difference, and how many more."""
    for session in sessions:
        bad = [each for each in session.differences if each.cause in NOT_EXPLAINED]
        if bad:
            yield Incident(session.opened, None, "", _difference_text(bad[0], len(bad) - 1))


def _difference_text(difference: Difference, more: int) -> str:
    others = f", and {more} more" if more else ""
    recorded, again = (one_line(text) or "none" for text in (difference.recorded, difference.again))
    return (
        f"session {difference.session}: {difference.about} of {one_line(difference.name)} is "
        f"{again}, recorded {recorded}: {difference.cause.value}{others}"
    )
