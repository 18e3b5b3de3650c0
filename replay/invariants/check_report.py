"""What a check found, and what answers show of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from ...engine.events import Recorded
from ...engine.invariants.invariant import Invariant, Severity
from ...engine.invariants.violation_timeline import Breach, HappeningPlace
from ...engine.kubernetes.units import SECOND_US
from ...engine.state.clock import UNDATED, TimeSpan, span_at
from ..moments.unknown import Unknown
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import shown_as
from ..tabular.record_columns import Seconds, Time, TimeColumn
from ..tabular.tabular import Tabular


class NotChecked(NamedTuple):
    """An invariant that was not checked, and why."""

    invariant: Invariant
    reason: str


class ViolationRow(NamedTuple):
    """A violation. :param since_before: it had begun before the log knew enough.

    :param since_time: within the bounds ``since_earliest`` and ``since_latest``, so is ``lasted``
        counted. :param until_position: None if it holds at the end.
    """

    invariant: str
    name: str
    severity: str
    kind: str
    object: str
    field: str
    message: str
    since_position: int
    since_revision: int | None
    since_time: TimeColumn | None
    since_before: bool
    until_position: int | None
    until_time: TimeColumn | None
    lasted: Seconds | None
    since_earliest: TimeColumn | None
    since_latest: TimeColumn | None
    until_earliest: TimeColumn | None
    until_latest: TimeColumn | None


class NotCheckedRow(NamedTuple):
    """An invariant that was not checked, and why."""

    invariant: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class CheckReport(Tabular):
    """The violations, the most severe first; what was checked and what was not.

    :param at: the moment, or the end of the range, as printed.
    :param unsettled: violations that did not last for the settle window, as far as is known.
    :param sessions: how many sessions were run. :param not_known: gaps of the log.
    :param events: by position, the events with which violations began.
    :param spans: by revision, between which times violations began and ended.
    """

    at: str
    since: str
    release: str
    settle: int
    violations: tuple[Breach, ...]
    unsettled: tuple[Breach, ...]
    checked: tuple[Invariant, ...]
    not_checked: tuple[NotChecked, ...]
    sessions: int
    not_known: tuple[Unknown, ...]
    events: Mapping[int, Recorded]
    spans: Mapping[int, TimeSpan]

    @property
    def document(self) -> CheckDocument:
        """What answers show of it."""
        return shown_as(
            CheckDocument,
            self,
            since=self.since or None,
            settle_seconds=self.settle / SECOND_US,
            violations=[_violation(violation, self) for violation in self.violations],
            unsettled=[_violation(breach, self) for breach in self.unsettled],
            checked=[invariant.id for invariant in self.checked],
            not_checked=[
                ShownUnchecked(invariant=unchecked.invariant.id, reason=unchecked.reason)
                for unchecked in self.not_checked
            ],
        )

    def span_of(self, place: HappeningPlace) -> TimeSpan:
        """Return between which times a violation began or ended."""
        if place.revision is not None:
            return self.spans[place.revision]
        return UNDATED if place.time is None else span_at(place.time)

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the violations, those that did not last, and what was not checked."""
        left_out = (
            NotCheckedRow(unchecked.invariant.id, unchecked.invariant.name, unchecked.reason)
            for unchecked in self.not_checked
        )
        return {
            "violations": table_of(ViolationRow, map(self._row, self.violations)),
            "unsettled": table_of(ViolationRow, map(self._row, self.unsettled)),
            "not_checked": table_of(NotCheckedRow, left_out),
        }

    def _row(self, breach: Breach) -> ViolationRow:
        violation, until = breach.violation, breach.until
        began = self.span_of(breach.since)
        ended = UNDATED if until is None else self.span_of(until)
        return ViolationRow(
            breach.invariant.id,
            breach.invariant.name,
            severity_of(breach).value,
            violation.kind,
            violation.name,
            violation.field,
            violation.message,
            breach.since.position,
            breach.since.revision,
            breach.since.time,
            since_before=breach.before,
            until_position=None if until is None else until.position,
            until_time=None if until is None else until.time,
            lasted=None if breach.lasted is None else breach.lasted / SECOND_US,
            since_earliest=began.earliest,
            since_latest=began.latest,
            until_earliest=ended.earliest,
            until_latest=ended.latest,
        )


def beginning(breach: Breach) -> tuple[int, ...]:
    """Return the positions of the events with which a violation began; none if not known."""
    return () if breach.before else breach.since.events


def severity_of(breach: Breach) -> Severity:
    """Return the severity of a violation."""
    return breach.violation.severity or breach.invariant.severity


class BreachObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object, by its name."""

    kind: str
    namespace: str
    name: str


class BreachPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a violation began or ended: ``time`` is the likely one, within the bounds."""

    position: int
    revision: int | None
    time: Time | None
    earliest: Time | None
    latest: Time | None


class BreachEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event with which a violation began."""

    position: int
    kind: str
    object: BreachObject
    actor: str | None


class ShownViolation(msgspec.Struct, frozen=True, kw_only=True):
    """A violation of an invariant.

    :param since_before: it had begun before the log knew enough. :param until: null if it holds at
        the end.
    """

    invariant: str
    name: str
    severity: Severity
    object: BreachObject
    field: str | None
    message: str
    since: BreachPlace
    since_before: bool
    until: BreachPlace | None
    lasted_seconds: float | None
    events: list[BreachEvent]


class ShownUnchecked(msgspec.Struct, frozen=True, kw_only=True):
    """An invariant that was not checked, and why."""

    invariant: str
    reason: str


class CheckDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The violations of invariants, the most severe first.

    :param unsettled: those that did not last for the settle window, as far as is known.
    :param sessions: how many were run.
    """

    at: str
    since: str | None
    release: str
    settle_seconds: float
    sessions: int
    violations: list[ShownViolation]
    unsettled: list[ShownViolation]
    checked: list[str]
    not_checked: list[ShownUnchecked]
    not_known: tuple[Unknown, ...]


class InvariantDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An invariant."""

    invariant: str
    name: str
    severity: Severity
    needs: str
    settles: bool
    range: bool
    only_if_named: bool
    never_checked: str | None
    statement: str


def _violation(breach: Breach, report: CheckReport) -> ShownViolation:
    violation = breach.violation
    namespace, _, name = violation.name.rpartition("/")
    return ShownViolation(
        invariant=breach.invariant.id,
        name=breach.invariant.name,
        severity=severity_of(breach),
        object=BreachObject(kind=violation.kind, namespace=namespace, name=name),
        field=violation.field or None,
        message=violation.message,
        since=_place(breach.since, report),
        since_before=breach.before,
        until=None if breach.until is None else _place(breach.until, report),
        lasted_seconds=None if breach.lasted is None else breach.lasted / SECOND_US,
        events=[_event(at, report) for at in beginning(breach) if at in report.events],
    )


def _place(place: HappeningPlace, report: CheckReport) -> BreachPlace:
    span = report.span_of(place)
    return BreachPlace(
        position=place.position,
        revision=place.revision,
        time=Time.of(place.time),
        earliest=Time.of(span.earliest),
        latest=Time.of(span.latest),
    )


def _event(at: int, report: CheckReport) -> BreachEvent:
    event = report.events[at].event
    return BreachEvent(
        position=at,
        kind=event.kind,
        object=shown_as(BreachObject, event.reference),
        actor=event.actor or None,
    )


def invariant_document(invariant: Invariant) -> InvariantDocument:
    """Return what the list of invariants shows of one."""
    return shown_as(
        InvariantDocument,
        invariant,
        invariant=invariant.id,
        needs=invariant.needs.value,
        range=invariant.ranged,
        only_if_named=invariant.named,
        never_checked=invariant.unseen or None,
    )
