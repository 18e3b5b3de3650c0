"""The page of invariants: what was violated, since when, and what was not checked."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from ....engine.invariants.timeline import Breach
from ....engine.kubernetes.units import SECOND_US
from ...facade.documents import document
from ...facade.log import Log
from ...invariants.task import ALL, CheckReport, beginning, chosen_invariants, severity_of
from ...render.events import object_text
from ..reach import reach_all, reach_cache
from .bounded import Some, number, some
from .look import Look
from .notes import sentences
from .page import page

if TYPE_CHECKING:
    from ..works import Watch

EAGER = 20_000
"""A log with at most so many events is checked without being asked to."""

WHOLE, MOMENT = "log", "moment"


class Began(msgspec.Struct, frozen=True, kw_only=True):
    """An event with which a violation began."""

    position: int
    kind: str
    object: str


class Violated(msgspec.Struct, frozen=True, kw_only=True):
    """A violation. :param object: as links name it; empty if it has no page.

    :param subject: the object in words.
    :param before: it had begun before the log knew enough. :param until: None if it still holds.
    """

    invariant: str
    name: str
    severity: str
    object: str
    subject: str
    field: str
    message: str
    since: int
    before: bool
    until: int | None
    lasted: str
    events: tuple[Began, ...]


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """An invariant. :param violations: how many; None if it was not checked.

    :param unsettled: how many more did not last, as far as is known.
    :param reason: why it was not checked.
    """

    id: str
    name: str
    severity: str
    needs: str
    statement: str
    violations: int | None
    unsettled: int
    reason: str


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What was found. :param over: the whole log, or one moment. :param ran: it was checked.

    :param unsettled: how many violations did not last.
    """

    over: str
    ran: bool
    release: str
    lines: Some[Violated]
    unsettled: int
    settle: str
    sessions: int
    invariants: tuple[Known, ...]
    not_known: tuple[str, ...]
    report: CheckReport | None


def _json(found: Check) -> Any:
    """Return the report as the command prints it; null if nothing was checked."""
    return None if found.report is None else document(found.report)


@page(
    "check",
    template="check.html",
    title="Invariants",
    nav="Invariants",
    key="i",
    long=True,
    runs=lambda look: look.get("run") == "yes",
    json=_json,
)
def check(log: Log, look: Look, watch: Watch | None = None) -> Check:
    """Check the log up to the moment, or the moment alone; long logs only on demand.

    :raises UsageError: there is no invariant of that name.
    """
    wanted = (
        {one.id for one in chosen_invariants([name])} if (name := look.get("invariant")) else ()
    )
    over = MOMENT if look.get("over") == MOMENT else WHOLE
    asked = look.get("run") == "yes" or look.position <= EAGER
    report = None
    if asked:
        at, until = (look.at, None) if over == MOMENT else (None, look.at)
        if over == MOMENT:
            reach_cache(log, log.moment(look.at), [look.release])
        else:
            reach_all(log, "violations", f"plinian check --until {look.at}")
        progress = None if watch is None else partial(watch.report, "Events are checked.")
        report = log.check(at=at, until=until, release=look.release, progress=progress)
    found = [] if report is None else [_violated(one, report) for one in report.violations]
    return Check(
        over=over,
        ran=report is not None,
        release=look.release,
        lines=some(
            [one for one in found if not wanted or one.invariant in wanted], number(look, "skip")
        ),
        unsettled=0 if report is None else len(report.unsettled),
        settle="" if report is None else f"{report.settle / SECOND_US:g} s",
        sessions=0 if report is None else report.sessions,
        invariants=_known(report),
        not_known=() if report is None else sentences(report.not_known),
        report=report,
    )


def _violated(one: Breach, report: CheckReport) -> Violated:
    violation = one.violation
    begin = (report.events[at].event for at in beginning(one) if at in report.events)
    positions = [at for at in beginning(one) if at in report.events]
    return Violated(
        invariant=one.invariant.id,
        name=one.invariant.name,
        severity=severity_of(one).value,
        object=_link(violation.kind, violation.name),
        subject=f"{violation.kind} {violation.name}".strip(),
        field=violation.field,
        message=violation.message,
        since=one.since.position,
        before=one.before,
        until=None if one.until is None else one.until.position,
        lasted="" if one.lasted is None else f"{one.lasted / SECOND_US:.1f} s",
        events=tuple(
            Began(position=at, kind=event.kind, object=object_text(event.reference))
            for at, event in zip(positions, begin, strict=True)
        ),
    )


def _link(kind: str, name: str) -> str:
    """Return an object as links name it; empty if it is of a kind without a page."""
    return f"{kind.lower()}/{name}" if kind in _WITH_PAGE and name else ""


_WITH_PAGE = frozenset({"Pod", "Node", "Queue", "PodGroup", "Job", "PriorityClass", "HyperNode"})


def _known(report: CheckReport | None) -> tuple[Known, ...]:
    """Return all invariants, with how many violations each has."""
    counts: dict[str, int] = {}
    reasons: dict[str, str] = {}
    short = Counter[str]()
    if report is not None:
        counts = {one.id: 0 for one in report.checked}
        for breach in report.violations:
            counts[breach.invariant.id] = counts.get(breach.invariant.id, 0) + 1
        reasons = {one.invariant.id: one.reason for one in report.not_checked}
        short.update(breach.invariant.id for breach in report.unsettled)
    return tuple(
        Known(
            id=one.id,
            name=one.name,
            severity=one.severity.value,
            needs=one.needs.value,
            statement=one.statement,
            violations=counts.get(one.id),
            unsettled=short[one.id],
            reason=reasons.get(one.id, one.unseen),
        )
        for one in ALL
    )


PAGES = (check,)
