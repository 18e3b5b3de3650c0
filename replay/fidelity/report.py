"""How faithful a log's sessions come out when they are run again: counts, and each difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from ..moments.unknown import Unknown
from ..recorded.recorded_sessions import HowKnown
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import shown_as
from ..tabular.record_columns import Micros, Time, TimeColumn
from ..tabular.tabular import Tabular


class Cause(StrEnum):
    """Why something came out differently."""

    TIE = "tie"
    """Several nodes had the same score, and the scheduler picks one of them at random."""
    MAP_ORDER = "map order"
    """It depends on the order of a Go map, which is random."""
    NOT_YET_DELIVERED = "not yet delivered"
    """An informer was elsewhere than the times of writes say."""
    SAMPLING = "sampling"
    """In a large cluster the scheduler looks at some nodes only."""
    MISSING_INPUT = "missing input"
    """The log does not know all that the session needs."""
    UNEXPLAINED = "unexplained"


NOT_EXPLAINED = frozenset({Cause.UNEXPLAINED, Cause.MISSING_INPUT, Cause.SAMPLING})
"""The causes with which a session does not come out as recorded, whatever is random in it."""


class Counts(msgspec.Struct, frozen=True):
    """How many came out how.

    :param recorded: by the sessions that were run again: the sum of the next four.
    :param exact: the same as recorded. :param tie: on another of several nodes with the same score.
    :param different: another node, phase or conditions. :param missed: recorded, not again.
    :param invented: again, but not recorded.
    """

    recorded: int = 0
    exact: int = 0
    tie: int = 0
    different: int = 0
    missed: int = 0
    invented: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return the sums."""
        each = zip(*map(msgspec.structs.astuple, (self, other)), strict=True)
        return Counts(*(one + two for one, two in each))


class InformerChange(msgspec.Struct, frozen=True):
    """A change that an informer had or had not delivered.

    :param object: its kind and name, as in ``pod/default/x``. :param event: its event's kind.
    """

    position: int
    event: str
    object: str


class Delivery(msgspec.Struct, frozen=True):
    """An informer that was elsewhere than by the clock.

    :param kind: of its objects. :param behind: how many changes it had not delivered yet.
    :param ahead: how many it had delivered already. :param us: from the farthest of them to the
        opening of the session, microseconds. :param changes: the first of them.
    """

    kind: str
    behind: int
    ahead: int
    us: int
    changes: tuple[InformerChange, ...]


class Difference(msgspec.Struct, frozen=True):
    """Something that came out differently, or does so without what explains it.

    :param session: its number. :param position: of the event that shows what was recorded; else
        of the one that shows the session. :param about: what was compared, as in ``binding``.
    :param name: of the pod or PodGroup; empty for a panic.
    :param recorded: and ``again``: empty if there was none.
    :param why: a sentence.
    """

    session: int
    position: int
    about: str
    name: str
    recorded: str
    again: str
    cause: Cause
    why: str


class CountRow(NamedTuple):
    """How many of one aspect came out how."""

    about: str
    recorded: int
    exact: int
    tie: int
    different: int
    missed: int
    invented: int


class SessionRow(NamedTuple):
    """A session. :param differences: how many it has. :param moved: informers that were moved."""

    number: int
    id: str
    how: str
    opened: TimeColumn
    position: int
    revision: int
    exact: bool
    bindings: int
    evictions: int
    phases: int
    differences: int
    moved: int
    order: int
    runs: int


class DeliveryRow(NamedTuple):
    """An informer that was elsewhere than by the clock in one session."""

    session: int
    kind: str
    behind: int
    ahead: int
    us: Micros


class SessionCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How one session came out; see :class:`SessionFidelity`."""

    number: int
    id: str
    how: HowKnown
    opened: Time
    position: int
    revision: int
    exact: bool
    bindings: Counts
    evictions: Counts
    phases: Counts
    conditions: Counts
    panics: Counts
    order: int
    runs: int


class SessionFidelity(SessionCounts, frozen=True, kw_only=True):
    """How one session came out.

    :param number: as in ``session:N``. :param id: empty if it is not known.
    :param how: logged or inferred. :param opened: microseconds.
    :param revision: the last one that it may have known, by the clock.
    :param exact: nothing differs from the record in the nearest run.
    :param deliveries: informers that were moved for that. :param order: the number of the order of
        maps in it; 0 is the ascending one. :param runs: how often it was run.
    """

    deliveries: tuple[Delivery, ...]
    differences: tuple[Difference, ...]


class InformerLag(msgspec.Struct, frozen=True):
    """How far the informer of a kind was from where the clock has it, over all sessions.

    :param sessions: in how many it was elsewhere. :param most: changes in one of them.
    :param longest: time in one of them, microseconds.
    """

    kind: str
    sessions: int
    most: int
    longest: int


class SessionsRun(msgspec.Struct, frozen=True, kw_only=True):
    """How many sessions were run again, and how they came out.

    :param exact_at_once: without a moved informer, and in the ascending order of maps.
    """

    recorded: int
    left_out: int
    requested: int
    run: int
    exact: int
    exact_at_once: int
    moved: int
    reordered: int


class MovedInformers(msgspec.Struct, frozen=True, kw_only=True):
    """The informers that were moved for a session to come out as recorded."""

    session: int
    informers: tuple[Delivery, ...]


class FidelityDocument(msgspec.Struct, frozen=True, kw_only=True):
    """How the sessions of a log came out when they were run again; see :class:`Fidelity`.

    :param causes: how many differences have each cause.
    """

    release: str
    conf: str
    sessions: SessionsRun
    bindings: Counts
    phases: Counts
    conditions: Counts
    evictions: Counts
    panics: Counts
    causes: dict[str, int]
    informers: tuple[InformerLag, ...]
    differences: tuple[Difference, ...]
    deliveries: list[MovedInformers]
    by_session: list[SessionCounts]
    not_known: tuple[Unknown, ...]


@dataclass(frozen=True, slots=True)
class Fidelity(Tabular):
    """How the sessions of a log came out when they were run again.

    :param release: that they were run as. :param conf: the source of the configuration.
    :param recorded: how many sessions the log records in the range.
    :param left_out: how many of them are before the log knows what sessions need.
    :param not_known: what sessions need and the log does not know somewhere among them.
    :param requested: how many further sessions a scenario asks for: nothing is recorded of them.
    """

    release: str
    conf: str
    recorded: int
    left_out: int
    sessions: tuple[SessionFidelity, ...]
    not_known: tuple[Unknown, ...] = ()
    requested: int = 0

    @property
    def bindings(self) -> Counts:
        """Bindings of pods to nodes."""
        return _sum(session.bindings for session in self.sessions)

    @property
    def evictions(self) -> Counts:
        """Evictions of pods."""
        return _sum(session.evictions for session in self.sessions)

    @property
    def phases(self) -> Counts:
        """Phases that sessions wrote to PodGroups."""
        return _sum(session.phases for session in self.sessions)

    @property
    def conditions(self) -> Counts:
        """Counts of pods and conditions that sessions wrote to PodGroups."""
        return _sum(session.conditions for session in self.sessions)

    @property
    def panics(self) -> Counts:
        """Panics of the scheduler: at most one in a session."""
        return _sum(session.panics for session in self.sessions)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All differences, in the order of the sessions."""
        return tuple(each for session in self.sessions for each in session.differences)

    @property
    def causes(self) -> dict[str, int]:
        """How many differences have each cause."""
        causes = [each.cause for each in self.differences]
        return {cause.value: causes.count(cause) for cause in Cause}

    @property
    def informers(self) -> tuple[InformerLag, ...]:
        """How much freedom deliveries needed, by kind."""
        by_kind: dict[str, list[Delivery]] = {}
        for session in self.sessions:
            for each in session.deliveries:
                by_kind.setdefault(each.kind, []).append(each)
        return tuple(
            InformerLag(
                kind,
                len(moved),
                max(max(each.behind, each.ahead) for each in moved),
                max(each.us for each in moved),
            )
            for kind, moved in sorted(by_kind.items())
        )

    @property
    def exact(self) -> bool:
        """Whether no session decides otherwise than recorded, but for what is random."""
        return not any(each.cause in NOT_EXPLAINED for each in self.differences)

    @property
    def document(self) -> FidelityDocument:
        """What answers show of it."""
        moved = [session for session in self.sessions if session.deliveries]
        ordered = [fidelity for fidelity in self.sessions if fidelity.order]
        exact = [session for session in self.sessions if session.exact]
        return shown_as(
            FidelityDocument,
            self,
            sessions=SessionsRun(
                recorded=self.recorded,
                left_out=self.left_out,
                requested=self.requested,
                run=len(self.sessions),
                exact=len(exact),
                exact_at_once=sum(
                    not session.deliveries and not session.order for session in exact
                ),
                moved=len(moved),
                reordered=len(ordered),
            ),
            deliveries=[
                MovedInformers(session=session.number, informers=session.deliveries)
                for session in moved
            ],
            by_session=[shown_as(SessionCounts, session) for session in self.sessions],
        )

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the differences, the counts, the sessions, and the moved informers."""
        counted = {
            "bindings": self.bindings,
            "evictions": self.evictions,
            "phases": self.phases,
            "conditions": self.conditions,
            "panics": self.panics,
        }
        moved = (
            DeliveryRow(session.number, each.kind, each.behind, each.ahead, each.us)
            for session in self.sessions
            for each in session.deliveries
        )
        return {
            "differences": table_of(Difference, self.differences),
            "counts": table_of(
                CountRow,
                (CountRow(of, *msgspec.structs.astuple(each)) for of, each in counted.items()),
            ),
            "sessions": table_of(SessionRow, map(_row, self.sessions)),
            "deliveries": table_of(DeliveryRow, moved),
        }


def _row(session: SessionFidelity) -> SessionRow:
    cells: dict[str, Any] = msgspec.structs.asdict(session) | {
        "bindings": session.bindings.recorded,
        "evictions": session.evictions.recorded,
        "phases": session.phases.recorded,
        "differences": len(session.differences),
        "moved": len(session.deliveries),
    }
    return SessionRow(**{name: cells[name] for name in SessionRow._fields})


def _sum(counts: Iterable[Counts]) -> Counts:
    total = Counts()
    for count in counts:
        total = total.plus(count)
    return total
