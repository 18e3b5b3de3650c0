"""Courses side by side: who starts earlier or later, what is evicted, what waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from statistics import median

import msgspec

from ..moments.unknown import Unknown
from ..tabular.documents import shown_as
from ..tabular.record_columns import Time
from .forecast_course import Course, Eviction, WorkItem
from .recorded_usage import QueueUse


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
    queue = next((work_item.queue for work_item in works if work_item.queue), "")
    values: dict[What, tuple[int | None, ...]] = {
        What.STARTS: tuple(work_item.starts for work_item in works),
        What.FINISHES: tuple(work_item.finished for work_item in works),
        What.EVICTED: tuple(work_item.evictions for work_item in works),
        What.WAITING: tuple(work_item.waiting for work_item in works),
    }
    ran = all(work_item.had >= work_item.needs for work_item in works)
    for what, by_course in values.items():
        if len(set(by_course)) > 1:
            yield UncertainRow(what=what, work=name, queue=queue, values=by_course, ran=ran)


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
    # Work that starts when it does anyway would pull the median to 0.
    moved = [gain for gain in by if gain]
    works = course.works.values()
    return Summary(
        name=course.name,
        started=sum(work_item.starts is not None for work_item in works),
        earlier=sum(gain > 0 for gain in by),
        later=sum(gain < 0 for gain in by),
        only_here=only_here,
        not_here=not_here,
        by=round(median(moved)) if moved else None,
        evictions=len(course.evictions),
        finished=sum(work_item.finished is not None for work_item in works),
        waiting=sum(work_item.waiting for work_item in works),
        sessions=course.sessions,
        ran=course.ran,
        endless=course.endless,
    )


def _start(course: Course, name: str) -> int | None:
    work = course.works.get(name)
    return None if work is None else work.starts


class ShownPlacement(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that got a node. :param work: what it belongs to."""

    pod: str
    node: str
    at: Time
    work: str


class ForecastPanic(msgspec.Struct, frozen=True, kw_only=True):
    """A process that panicked."""

    at: Time
    message: str


class CourseDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What happened until a time; see :class:`.forecast_course.Course`.

    :param summary: in numbers, compared with the original.
    """

    name: str
    changes: tuple[str, ...]
    release: str
    conf: str
    until: Time
    works: list[WorkItem]
    placements: list[ShownPlacement]
    evictions: tuple[Eviction, ...]
    queues: tuple[QueueUse, ...]
    panics: list[ForecastPanic]
    summary: Summary


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Bindings of the cluster as it was, compared with the recorded ones.

    :param until: the last moment that is compared.
    :param recorded: how many bindings the log records until then.
    :param predicted: how many of these happen in the run. :param same_node: on the same node.
    :param off: how far they are from the recorded time, microseconds: the median;
        :param off_most: what nine in ten keep; None if none is predicted.
    :param invented: bindings of the run that the log does not record.
    """

    until: Time
    recorded: int
    predicted: int
    same_node: int
    off: int | None
    off_most: int | None
    invented: int


class ForecastDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Courses side by side, the original first; amounts are in base units.

    :param differences: ``what`` differs of which ``work`` and ``queue``, and the value by course.
    """

    at: str
    begin: Time
    until: Time
    assumed: tuple[str, ...]
    not_modelled: tuple[str, ...]
    not_known: tuple[Unknown, ...]
    missing: tuple[str, ...]
    unread: tuple[str, ...]
    calibration: Calibration | None
    courses: list[CourseDocument]
    differences: list[dict[str, int | str | None]]


def forecast_document(forecast: Forecast) -> ForecastDocument:
    """Return what answers show of a forecast."""
    courses = zip(forecast.courses, summaries(forecast.courses), strict=True)
    names = [course.name for course in forecast.courses]
    return shown_as(
        ForecastDocument,
        forecast,
        begin=Time(forecast.begin),
        until=Time(forecast.until),
        courses=[_course(course, summary) for course, summary in courses],
        differences=[
            {
                "what": str(row.what),
                "work": row.work,
                "queue": row.queue,
                **dict(zip(names, _values(row), strict=True)),
            }
            for row in differences(forecast.courses)
        ],
    )


def _values(row: UncertainRow) -> Iterable[int | None]:
    times = row.what in {What.STARTS, What.FINISHES}
    return map(Time.of, row.values) if times else row.values


def _course(course: Course, summary: Summary) -> CourseDocument:
    return shown_as(
        CourseDocument,
        course,
        changes=course.texts,
        until=Time(course.until),
        works=[work for _, work in sorted(course.works.items())],
        placements=[shown_as(ShownPlacement, placement) for placement in course.placements],
        panics=[ForecastPanic(at=Time(at), message=text) for at, text in course.panics],
        summary=summary,
    )


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """Courses side by side; the first one is that of the cluster as it was.

    :param at: the moment. :param begin: its time, microseconds. :param until: the end that was
        wanted; each course says how far it came.
    :param assumed: sentences: what the answer rests on.
    :param not_modelled: sentences: what does not happen here.
    :param calibration: how well the first course agrees with what the log records after the moment;
        None if the log records nothing of it.
    :param not_known: what sessions need and the log does not fully know.
    :param missing: the names of courses that an interrupt ended.
    :param unread: sentences: changed fields that no session reads, resources that nothing has.
    """

    at: str
    begin: int
    until: int
    courses: tuple[Course, ...]
    assumed: tuple[str, ...]
    not_modelled: tuple[str, ...]
    calibration: Calibration | None
    not_known: tuple[Unknown, ...]
    missing: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def document(self) -> ForecastDocument:
        """What answers show of it."""
        return forecast_document(self)
