"""What a report is asked: a moment, an earlier one, the objects that wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...engine.errors import PointTooEarly, UsageError
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.log.store import Query
from ...engine.state.facts import PodFact, PodGroupFact
from ...engine.state.truth_fold import Entry, Truth
from ..answers.answering_session import JOB, POD, PODGROUP
from ..logs.given_names import stem_of
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..moments.times import with_spans
from ..objects.kind_names import ObjectName
from ..truth.points import Point
from .state import WAITING

BEFORE_US = 120 * SECOND_US
"""How long before the moment the state is compared with, by default."""

_NEAR = 100
"""How many events before a position may have its time."""

MOST_ANSWERS = 3
"""For how many objects a report says why they wait, if none are named."""


class ReportRequest(NamedTuple):
    """A report to make.

    :param place: where the log is; only its name is shown.
    :param named: objects with the namespace to look in, if their names have none.
    :param before: the earlier moment; None if the log has nothing before.
    :param remarks: how the earlier moment was found, if that is not plain.
    :param conf: a configuration instead of the log's.
    :param assumed: what was assumed about the release, as sentences.
    """

    log: Log
    place: str
    moment: Moment
    named: Sequence[ObjectName]
    namespace: str | None
    before: Moment | None
    remarks: tuple[str, ...]
    release: str
    conf: ConfText | None
    assumed: Sequence[str]


def earlier(log: Log, moment: Moment, point: Point | None) -> tuple[Moment | None, tuple[str, ...]]:
    """Return the moment to compare with, and remarks on it.

    :param point: None is two minutes before, or the log's first moment. A point before the log's
        first moment is that moment.
    :raises UsageError: it is after the moment.
    """
    if point is None:
        return _some_minutes(log, moment), ()
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


def _some_minutes(log: Log, moment: Moment) -> Moment | None:
    begins, now = log.clock(moment).begins(), time_at(log, moment)
    if begins is None or now is None:
        return None
    then = max(begins, now - BEFORE_US)
    if then >= now:
        return None
    try:
        return _known(log, format_time(then), moment)
    except PointTooEarly as fault:
        first_moment = _known(log, fault.first, moment)
        return None if _is_after(first_moment, moment) else first_moment


def waiting(truth: Truth) -> list[ObjectName]:
    """Return the jobs and PodGroups that wait, those that wait longest first.

    Without any, pods of no PodGroup that have no node.
    """
    groups = [
        entry
        for entry in truth.of(*PODGROUP)
        if isinstance(entry.fact, PodGroupFact) and entry.fact.phase in WAITING
    ]
    if groups:
        return [_of_group(truth, entry) for entry in sorted(groups, key=_age)]
    pods = [
        entry
        for entry in truth.of(*POD)
        if isinstance(entry.fact, PodFact) and entry.fact.phase == "Pending" and not entry.fact.node
    ]
    return [
        ObjectName(*POD, entry.reference.name, entry.reference.namespace)
        for entry in sorted(pods, key=_age)
    ]


def _age(entry: Entry) -> tuple[int, str, str]:
    return entry.fact.created_at or 0, entry.reference.namespace, entry.reference.name


def _of_group(truth: Truth, entry: Entry) -> ObjectName:
    """Return the job of a PodGroup, by its name, else the PodGroup itself."""
    place, name = entry.reference.namespace, entry.reference.name
    job = stem_of(name)
    if job != name and truth.find(*JOB, place, job) is not None:
        return ObjectName(*JOB, job, place)
    return ObjectName(*PODGROUP, name, place)
