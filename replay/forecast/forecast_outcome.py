"""Courses side by side: who starts earlier or later, what is evicted, what waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from statistics import median
from typing import Any

import msgspec

from ...engine.kubernetes.units import format_time
from .forecast_course import Course, WorkItem
from .forecast_run import Forecast


class What(StrEnum):
    """What differs."""

    STARTS = "starts"
    FINISHES = "finishes"
    EVICTED = "evicted"
    WAITING = "waits at the end"


class UncertainRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is not the same in all courses for one job, deployment, PodGroup or pod.

    :param what: of ``starts`` and ``finishes`` the values are times, in microseconds since 1970, or
        None if that does not happen; of the others numbers of pods.
    :param values: one for each course, the original first. :param ran: whether it ran already.
    """

    what: What
    work: str
    queue: str
    values: tuple[int | None, ...]
    ran: bool = False


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One course in numbers, compared with the original.

    :param started: jobs and the like that started. :param earlier: than in the original;
        ``later`` likewise; ``only_here``: those that do not start there; ``not_here``: the reverse.
    :param by: the median of by how much they start earlier, in microseconds, negative if later;
        None if none starts at another time.
    """

    name: str
    started: int
    earlier: int
    later: int
    only_here: int
    not_here: int
    by: int | None
    evictions: int
    finished: int
    waiting: int
    sessions: int
    ran: int
    endless: int


def differences(courses: Sequence[Course]) -> list[UncertainRow]:
    """Return what is not the same in all courses: who starts when first, each by name."""
    names = sorted({name for course in courses for name in course.works})
    rows = [row for name in names for row in _rows(courses, name)]
    return [row for what in What for row in rows if row.what is what]


def _rows(courses: Sequence[Course], name: str) -> Iterator[UncertainRow]:
    works = [course.works.get(name, WorkItem(name=name, queue="")) for course in courses]
    queue = next((one.queue for one in works if one.queue), "")
    values: dict[What, tuple[int | None, ...]] = {
        What.STARTS: tuple(one.starts for one in works),
        What.FINISHES: tuple(one.finished for one in works),
        What.EVICTED: tuple(one.evictions for one in works),
        What.WAITING: tuple(one.waiting for one in works),
    }
    ran = all(one.had >= one.needs for one in works)
    for what, some in values.items():
        if len(set(some)) > 1:
            yield UncertainRow(what=what, work=name, queue=queue, values=some, ran=ran)


def summaries(courses: Sequence[Course]) -> list[Summary]:
    """Return all courses in numbers."""
    return [_summary(course, courses[0]) for course in courses]


def _summary(course: Course, original: Course) -> Summary:
    by, only_here, not_here = [], 0, 0
    for name in sorted({*course.works, *original.works}):
        here, there = _start(course, name), _start(original, name)
        if here is not None and there is not None:
            by.append(there - here)
        only_here += here is not None and there is None
        not_here += here is None and there is not None
    moved = [one for one in by if one]
    works = course.works.values()
    return Summary(
        name=course.name,
        started=sum(one.starts is not None for one in works),
        earlier=sum(one > 0 for one in by),
        later=sum(one < 0 for one in by),
        only_here=only_here,
        not_here=not_here,
        by=round(median(moved)) if moved else None,
        evictions=len(course.evictions),
        finished=sum(one.finished is not None for one in works),
        waiting=sum(one.waiting for one in works),
        sessions=course.sessions,
        ran=course.ran,
        endless=course.endless,
    )


def _start(course: Course, name: str) -> int | None:
    work = course.works.get(name)
    return None if work is None else work.starts


def forecast_document(found: Forecast) -> dict[str, Any]:
    """Return a forecast for JSON; times as texts, amounts in base units."""
    calibration = found.calibration
    return {
        "at": found.at,
        "begin": format_time(found.begin),
        "until": format_time(found.until),
        "assumed": list(found.assumed),
        "not_modelled": list(found.not_modelled),
        "not_known": found.not_known,
        "missing": list(found.missing),
        "unread": list(found.unread),
        "calibration": None
        if calibration is None
        else {**msgspec.to_builtins(calibration), "until": format_time(calibration.until)},
        "courses": [
            {**_course(course), "summary": msgspec.to_builtins(summary)}
            for course, summary in zip(found.courses, summaries(found.courses), strict=True)
        ],
        "differences": [
            {
                "what": str(row.what),
                "work": row.work,
                "queue": row.queue,
                **{
                    course.name: _value(row, value)
                    for course, value in zip(found.courses, row.values, strict=True)
                },
            }
            for row in differences(found.courses)
        ],
    }


def _value(row: UncertainRow, value: int | None) -> str | int | None:
    times = row.what in {What.STARTS, What.FINISHES}
    return format_time(value) if times and value is not None else value


def _course(course: Course) -> dict[str, Any]:
    return {
        "name": course.name,
        "changes": list(course.texts),
        "release": course.release,
        "conf": course.conf,
        "until": format_time(course.until),
        "works": [_work(one) for _, one in sorted(course.works.items())],
        "placements": [
            {"pod": one.pod, "node": one.node, "at": format_time(one.at), "work": one.work}
            for one in course.placements
        ],
        "evictions": [
            {"pod": one.pod, "at": format_time(one.at), "work": one.work}
            for one in course.evictions
        ],
        "queues": msgspec.to_builtins(course.queues),
        "panics": [{"at": format_time(at), "message": text} for at, text in course.panics],
    }


def _work(work: WorkItem) -> dict[str, Any]:
    whole: dict[str, Any] = msgspec.to_builtins(work)
    times = {
        name: None if at is None else format_time(at)
        for name, at in (("starts", work.starts), ("finished", work.finished))
    }
    return {**whole, **times}
