"""Clusters that lived on from a moment, side by side, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...engine.kubernetes.amount_texts import exact_amount
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US, format_time
from ..coverage.coverage import unknown_text
from ..forecast.forecast_course import Course
from ..forecast.forecast_outcome import (
    Forecast,
    Summary,
    UncertainRow,
    What,
    differences,
    summaries,
)
from ..forecast.recorded_usage import QueueUse
from .blocks import Block, Section, block_lines, first_rows
from .tables import NONE, PLAIN, Style, Table

_SHOWN = 40
_SPARKS = "▁▂▃▄▅▆▇█"
_WIDTH = 20
_BYTES = frozenset({"memory", "ephemeral-storage"})
_MEBI = 2**20
_COMPARED = ("EARLIER", "LATER", "NEW", "LOST", "BY")


def forecast_lines(forecast: Forecast, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield who starts when, what is evicted, what queues hold, and how sure that is.

    The wide style has all rows, and all that is assumed.
    """
    head: list[Block] = []
    if forecast.missing:
        head.append(f"interrupted: not finished, and not shown: {', '.join(forecast.missing)}")
    head += (
        f"{style.bold(course.name)}: {'; '.join(course.texts)}"
        for course in forecast.courses[1:]
        if course.texts != (course.name,)
    )
    # Before all figures: a course that ended early cannot be compared.
    head += panic_texts(forecast)
    head.append(
        f"from {forecast.at} for {_duration(forecast.until - forecast.begin)}; times are after that"
    )
    parts: list[Sequence[Block]] = [head, [course_table(forecast)]]
    events, uses = event_table(forecast), use_table(forecast, wide=style.wide)
    if events.rows:
        parts.append(first_rows(events, None if style.wide else _SHOWN, "-o wide"))
    elif len(forecast.courses) > 1:
        parts.append(["Everything happens at the same times."])
    if uses.rows:
        parts.append([uses])
    parts.append([*certainty_texts(forecast, wide=style.wide)])
    return block_lines(map(Section, parts), style=style)


def panic_texts(forecast: Forecast) -> Iterator[str]:
    """Yield which processes panicked, and which courses ended early for it."""
    for course in forecast.courses:
        if course.panics:
            at, message = course.panics[0]
            more = len(course.panics) - 1
            again = f", and {more} more times" if more else ""
            yield f"{course.name}: panic at {_after(forecast, at)}: {message}{again}"
        if course.until < forecast.until:
            yield f"{course.name}: it ends at {_after(forecast, course.until)}, as it panics again"


def course_table(forecast: Forecast) -> Table:
    """Return a row for each course: how many start, and earlier or later than in the original."""
    rows, totals = [], summaries(forecast.courses)
    for place, summary in enumerate(totals):
        compared = _compared(summary) if place else ("",) * len(_COMPARED)
        ends = str(summary.evictions), str(summary.finished), str(summary.waiting)
        middle = compared if len(totals) > 1 else ()
        rows.append((summary.name, str(summary.started), *middle, *ends))
    heads = _COMPARED if len(totals) > 1 else ()
    headers = ("COURSE", "STARTED", *heads, "EVICTED", "FINISHED", "WAITING")
    return Table(headers, rows, title="The courses side by side")


def _compared(summary: Summary) -> tuple[str, ...]:
    by = NONE if summary.by is None else _moved(summary.by)
    return (
        str(summary.earlier),
        str(summary.later),
        str(summary.only_here),
        str(summary.not_here),
        by,
    )


def _starts(course: Course) -> list[UncertainRow]:
    """Return when what starts in the only course starts."""
    started = [work_item for work_item in course.works.values() if work_item.starts is not None]
    return [
        UncertainRow(
            what=What.STARTS, work=work_item.name, queue=work_item.queue, values=(work_item.starts,)
        )
        for work_item in sorted(started, key=lambda work_item: (work_item.starts, work_item.name))
    ]


def event_table(forecast: Forecast) -> Table:
    """Return what differs between courses; of a single course, when what starts in it starts."""
    rows = (
        differences(forecast.courses) if len(forecast.courses) > 1 else _starts(forecast.courses[0])
    )
    table = [(str(row.what), row.work, row.queue or NONE, *_values(forecast, row)) for row in rows]
    names = [course.name for course in forecast.courses]
    what = "What differs" if len(names) > 1 else "What starts"
    return Table(
        ("EVENT", "OBJECT", "QUEUE", *names),
        table,
        keep=("OBJECT", *names),
        title=f"{what}; times are after the moment",
    )


def _values(forecast: Forecast, row: UncertainRow) -> Iterator[str]:
    first = row.values[0]
    for value in row.values:
        if row.what in {What.EVICTED, What.WAITING}:
            yield counted(value or 0, "pod")
        elif value is None:
            yield NONE
        elif first is None or value == first:
            yield _after(forecast, value)
        else:
            yield f"{_after(forecast, value)} ({_moved(first - value)})"


def use_table(forecast: Forecast, *, wide: bool = False) -> Table:
    """Return what queues hold in each course.

    :param wide: all rows; else the first ones.
    """
    head = ("QUEUE", "RESOURCE", "COURSE", "MEAN", "PEAK", "DESERVED", "CAPABILITY", "USE")
    rows = list(_uses(forecast.courses, wide=wide))
    keep = ("RESOURCE", "COURSE", "MEAN", "PEAK")
    return Table(head, rows, keep=keep, title="What queues hold")


def _uses(courses: Sequence[Course], *, wide: bool) -> Iterator[tuple[str, ...]]:
    """Yield what queues hold: of resources of which it differs, if there are several courses."""
    of = [{(use.queue, use.resource): use for use in course.queues} for course in courses]
    shown = 0
    for place in sorted({place for by_place in of for place in by_place}):
        uses = [by_place.get(place) for by_place in of]
        # What all courses hold alike is no difference; a single course shows all.
        if len({None if use is None else use.series for use in uses}) == 1 < len(uses):
            continue
        # One scale for all courses, so that their pictures can be compared.
        top = max(max(use.series) for use in uses if use is not None)
        for course, use in zip(courses, uses, strict=True):
            shown += 1
            if use is not None and (wide or shown <= _SHOWN):
                yield _use(course, use, top)


def _use(course: Course, use: QueueUse, top: float) -> tuple[str, ...]:
    return (
        use.queue,
        use.resource,
        course.name,
        _amount(use.resource, use.mean),
        _amount(use.resource, use.peak),
        NONE if use.deserved is None else _amount(use.resource, use.deserved),
        NONE if use.capability is None else _amount(use.resource, use.capability),
        _sparks(use.series, top),
    )


def _amount(resource: str, amount: float) -> str:
    """Return an amount as Kubernetes writes it: of bytes whole mebibytes, else thousandths."""
    if resource in _BYTES:
        return exact_amount("memory", float(round(amount / _MEBI) * _MEBI))
    return exact_amount(resource, float(round(amount * 1000)))


def _sparks(series: Sequence[float], top: float) -> str:
    """Return a small picture: one character for several samples, as high as the most of them."""
    # The series is longer than the picture: several samples share a character.
    each = len(series) // _WIDTH
    parts = (max(series[at * each : (at + 1) * each]) for at in range(_WIDTH))
    steps = len(_SPARKS) - 1
    return "".join(_SPARKS[round(part / top * steps) if top else 0] for part in parts)


def certainty_texts(forecast: Forecast, *, wide: bool = False) -> Iterator[str]:
    """Yield how sure the answer is, and what it rests on."""
    seen = forecast.calibration
    if seen is None:
        yield "How sure: not known; the log records nothing after the moment."
    elif not seen.recorded:
        yield (
            f"How sure: not known; the log records no binding from the moment until "
            f"{format_time(seen.until)}, and the original has {seen.invented}."
        )
    else:
        yield f"How sure: {_calibration(forecast)}"
    for course in forecast.courses[: None if wide else 1]:
        if course.endless:
            yield (
                f"{course.name}: {counted(course.endless, 'pod runs', 'pods run')} for ever, "
                "as the log does not say how long; --run-for says so."
            )
    yield from (*forecast.assumed, *forecast.not_modelled)
    if forecast.not_known:
        yield f"With what is in the log, but {unknown_text(forecast.not_known)}."


def _calibration(forecast: Forecast) -> str:
    seen = forecast.calibration
    assert seen is not None
    bindings = counted(seen.recorded, "binding")
    text = (
        f"of {bindings} that the log records until {_after(forecast, seen.until)}, the original "
        f"has {seen.predicted}, and {seen.same_node} of them on the same node"
    )
    if seen.off is not None and seen.off_most is not None:
        text += (
            f"; half of them are off by at most {_duration(seen.off)}, nine in ten by at most "
            f"{_duration(seen.off_most)}"
        )
    return f"{text}. It has {counted(seen.invented, 'binding')} that the log does not have."


def _after(forecast: Forecast, at: int) -> str:
    return f"+{_duration(at - forecast.begin)}"


def _moved(by: int) -> str:
    return f"{_duration(abs(by))} {'earlier' if by > 0 else 'later'}"


def _duration(micros: int) -> str:
    """Return a duration: ``0.3s``, ``42s``, ``1m20s``, ``2h5m``."""
    if micros < 10 * SECOND_US:
        return f"{micros / SECOND_US:.1f}s".replace(".0s", "s")
    seconds = round(micros / SECOND_US)
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m" if minutes else f"{hours}h"
    if minutes:
        return f"{minutes}m{seconds}s" if seconds else f"{minutes}m"
    return f"{seconds}s"
