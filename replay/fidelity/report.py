"""How faithful a log's sessions come out when they are run again: counts, and each difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from ...engine.kubernetes.units import format_time
from ..moments.unknown import Unknown
from ..recorded.recorded_sessions import HowKnown, RecordedSession
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.record_columns import Micros, TimeColumn
from ..tabular.tabular import Tabular
from .attempts import Aspect, Attempt, DifferingResult
from .deliveries import Arrival
from .known_inputs import UNRECORDED
from .rerun import Lag, RerunSession

SHOWN_CHANGES = 5
"""Changes that are named of those that an informer had not delivered."""


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


class Counts(NamedTuple):
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
        return Counts(*(one + two for one, two in zip(self, other, strict=True)))


class InformerChange(NamedTuple):
    """A change that an informer had or had not delivered.

    :param object: its kind and name, as in ``pod/default/x``. :param event: its event's kind.
    """

    position: int
    event: str
    object: str


class Delivery(NamedTuple):
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


class Difference(NamedTuple):
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


class SessionFidelity(NamedTuple):
    """How one session came out.

    :param number: as in ``session:N``. :param id: empty if it is not known.
    :param how: logged or inferred. :param opened: microseconds.
    :param revision: the last one that it may have known, by the clock.
    :param exact: nothing differs from the record in the nearest run.
    :param deliveries: informers that were moved for that. :param order: the number of the order of
        maps in it; 0 is the ascending one. :param runs: how often it was run.
    """

    number: int
    id: str
    how: str
    opened: int
    position: int
    revision: int
    exact: bool
    bindings: Counts
    evictions: Counts
    phases: Counts
    conditions: Counts
    deliveries: tuple[Delivery, ...]
    order: int
    runs: int
    differences: tuple[Difference, ...]
    panics: Counts = Counts()


class InformerLag(NamedTuple):
    """How far the informer of a kind was from where the clock has it, over all sessions.

    :param sessions: in how many it was elsewhere. :param most: changes in one of them.
    :param longest: time in one of them, microseconds.
    """

    kind: str
    sessions: int
    most: int
    longest: int


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
        return _sum(one.bindings for one in self.sessions)

    @property
    def evictions(self) -> Counts:
        """Evictions of pods."""
        return _sum(one.evictions for one in self.sessions)

    @property
    def phases(self) -> Counts:
        """Phases that sessions wrote to PodGroups."""
        return _sum(one.phases for one in self.sessions)

    @property
    def conditions(self) -> Counts:
        """Counts of pods and conditions that sessions wrote to PodGroups."""
        return _sum(one.conditions for one in self.sessions)

    @property
    def panics(self) -> Counts:
        """Panics of the scheduler: at most one in a session."""
        return _sum(one.panics for one in self.sessions)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All differences, in the order of the sessions."""
        return tuple(each for one in self.sessions for each in one.differences)

    @property
    def causes(self) -> dict[str, int]:
        """How many differences have each cause."""
        found = [each.cause for each in self.differences]
        return {cause.value: found.count(cause) for cause in Cause}

    @property
    def informers(self) -> tuple[InformerLag, ...]:
        """How much freedom deliveries needed, by kind."""
        found: dict[str, list[Delivery]] = {}
        for one in self.sessions:
            for each in one.deliveries:
                found.setdefault(each.kind, []).append(each)
        return tuple(
            InformerLag(
                kind,
                len(moved),
                max(max(each.behind, each.ahead) for each in moved),
                max(each.us for each in moved),
            )
            for kind, moved in sorted(found.items())
        )

    @property
    def exact(self) -> bool:
        """Whether no session decides otherwise than recorded, but for what is random."""
        return not any(each.cause in NOT_EXPLAINED for each in self.differences)

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
            DeliveryRow(one.number, *each[:4]) for one in self.sessions for each in one.deliveries
        )
        return {
            "differences": table_of(Difference, self.differences),
            "counts": table_of(CountRow, (CountRow(of, *each) for of, each in counted.items())),
            "sessions": table_of(SessionRow, map(_row, self.sessions)),
            "deliveries": table_of(DeliveryRow, moved),
        }


def _row(one: SessionFidelity) -> SessionRow:
    return SessionRow(
        *one[:7],
        bindings=one.bindings.recorded,
        evictions=one.evictions.recorded,
        phases=one.phases.recorded,
        differences=len(one.differences),
        moved=len(one.deliveries),
        order=one.order,
        runs=one.runs,
    )


def _sum(counts: Iterable[Counts]) -> Counts:
    total = Counts()
    for one in counts:
        total = total.plus(one)
    return total


def fidelity_of_session(
    rerun: RerunSession, number: int, *, lacks: str, sampled: bool
) -> SessionFidelity:
    """Return how a session came out.

    :param lacks: what the log does not know of what it needs, as a sentence; empty if nothing.
    :param sampled: the cluster is so large that the scheduler looks at some nodes only.
    """
    recorded, best = rerun.recorded, rerun.found.best
    return SessionFidelity(
        number=number,
        id=recorded.uid,
        how=recorded.how.value,
        opened=recorded.opened,
        position=recorded.position,
        revision=rerun.revision,
        exact=rerun.same,
        bindings=_bindings(recorded, best),
        evictions=_counts(
            len(recorded.evictions) if recorded.how is HowKnown.LOGGED else 0,
            best.differing,
            Aspect.EVICTION,
        ),
        phases=_counts(len(recorded.groups), best.differing, Aspect.PHASE),
        conditions=_counts(len(recorded.groups), best.differing, Aspect.CONDITION),
        deliveries=tuple(_delivery(lag) for lag in rerun.lags),
        order=rerun.found.state.order,
        runs=rerun.found.runs,
        differences=tuple(_differences(rerun, number, lacks=lacks, sampled=sampled)),
        panics=_counts(int(bool(recorded.panic)), best.differing, Aspect.PANIC),
    )


def _bindings(recorded: RecordedSession, best: Attempt) -> Counts:
    counts = _counts(len(recorded.binds), best.differing, Aspect.BINDING)
    differing = {one.name for one in best.differing if one.aspect is Aspect.BINDING}
    ties = sum(1 for pod in best.ties if pod not in differing)
    return counts._replace(exact=counts.exact - ties, tie=ties)


def _counts(total: int, differing: Sequence[DifferingResult], aspect: Aspect) -> Counts:
    found = [one for one in differing if one.aspect is aspect]
    missed = sum(not one.again for one in found)
    invented = sum(not one.recorded for one in found)
    different = len(found) - missed - invented
    return Counts(total, total - missed - different, 0, different, missed, invented)


def _delivery(lag: Lag) -> Delivery:
    changes = (*lag.behind, *lag.ahead)
    some = tuple(_change(one) for one in changes[:SHOWN_CHANGES])
    return Delivery(lag.kind, len(lag.behind), len(lag.ahead), lag.us, some)


def _change(arrival: Arrival) -> InformerChange:
    reference = arrival.event.reference
    names = (reference.kind.lower(), reference.namespace, reference.name)
    return InformerChange(arrival.position, arrival.event.kind, "/".join(filter(None, names)))


def _differences(
    rerun: RerunSession, number: int, *, lacks: str, sampled: bool
) -> Iterable[Difference]:
    """Yield ties, what other deliveries or orders of maps explain, and what differs in the end."""
    recorded, found = rerun.recorded, rerun.found

    def difference(one: DifferingResult, cause: Cause, why: str) -> Difference:
        place = recorded.places.get(one.name, recorded.position)
        return Difference(
            number, place, one.aspect.value, one.name, one.recorded, one.again, cause, why
        )

    for pod, node in sorted(found.best.ties.items()):
        if pod not in found.best.names:
            tied = DifferingResult(Aspect.BINDING, pod, recorded.binds[pod], node)
            yield difference(tied, Cause.TIE, f"{recorded.binds[pod]} had the same score as {node}")
    left = {(one.aspect, one.name) for one in found.best.differing}
    for one in found.first.differing:
        if (one.aspect, one.name) not in left:
            yield difference(one, *_explained(rerun, one.name))
    for one in found.best.differing:
        cause, why = _left(rerun, one, lacks=lacks, sampled=sampled)
        yield difference(one, cause, why)


def _explained(rerun: RerunSession, name: str) -> tuple[Cause, str]:
    """Return why something comes out as recorded in the nearest run, and not by the clock."""
    order = rerun.found.state.order
    if order and (name in rerun.found.by_order or not rerun.lags):
        return Cause.MAP_ORDER, f"as recorded if Go's maps are walked in order {order}"
    return Cause.NOT_YET_DELIVERED, "; ".join(lag_text(_delivery(lag)) for lag in rerun.lags)


def _left(
    rerun: RerunSession, one: DifferingResult, *, lacks: str, sampled: bool
) -> tuple[Cause, str]:
    """Return why something differs in the nearest run."""
    by_order = rerun.found.by_order.get(one.name)
    if by_order:
        return Cause.MAP_ORDER, "as recorded in another order of Go's maps"
    if one.name in rerun.absent:
        return Cause.MISSING_INPUT, "the log does not have it when the session opens"
    # The scheduler's own log shows a panic.
    if lacks and not (one.aspect is Aspect.PANIC and lacks == UNRECORDED):
        return Cause.MISSING_INPUT, lacks
    if by_order is not None:
        return (
            Cause.MAP_ORDER,
            "it changes with the order of Go's maps; no order tried is as recorded",
        )
    if sampled and one.aspect is Aspect.BINDING:
        return Cause.SAMPLING, "with more than 100 nodes the scheduler looks at some only"
    return Cause.UNEXPLAINED, "no delivery and no order of maps that was tried is as recorded"


def lag_text(delivery: Delivery) -> str:
    """Return how far an informer was away, in words."""
    seconds = f"{delivery.us / 1_000_000:.2f}s"
    count = delivery.behind or delivery.ahead
    first = delivery.changes[0]
    more = f" and {count - 1} more" if count > 1 else ""
    seen = "had not yet seen" if delivery.behind else "had already seen"
    return f"the scheduler {seen} {first.event} {first.object} (@{first.position}){more}: {seconds}"


def fidelity_document(found: Fidelity) -> dict[str, Any]:
    """Return a report for JSON."""
    moved = [one for one in found.sessions if one.deliveries]
    ordered = [one for one in found.sessions if one.order]
    return {
        "release": found.release,
        "conf": found.conf,
        "sessions": {
            "recorded": found.recorded,
            "left_out": found.left_out,
            "requested": found.requested,
            "run": len(found.sessions),
            "exact": sum(one.exact for one in found.sessions),
            "exact_at_once": sum(
                one.exact and not one.deliveries and not one.order for one in found.sessions
            ),
            "moved": len(moved),
            "reordered": len(ordered),
        },
        "bindings": found.bindings._asdict(),
        "phases": found.phases._asdict(),
        "conditions": found.conditions._asdict(),
        "evictions": found.evictions._asdict(),
        "panics": found.panics._asdict(),
        "causes": found.causes,
        "informers": [each._asdict() for each in found.informers],
        "differences": [each._asdict() for each in found.differences],
        "deliveries": [_moved_document(one) for one in moved],
        "by_session": [_session_document(one) for one in found.sessions],
        "not_known": found.not_known,
    }


def _moved_document(one: SessionFidelity) -> dict[str, Any]:
    return {
        "session": one.number,
        "informers": [
            {**each._asdict(), "changes": [change._asdict() for change in each.changes]}
            for each in one.deliveries
        ],
    }


def _session_document(one: SessionFidelity) -> dict[str, Any]:
    document = msgspec.to_builtins(one._asdict())
    for name in ("bindings", "evictions", "phases", "conditions", "panics"):
        document[name] = getattr(one, name)._asdict()
    document["opened"] = format_time(one.opened)
    del document["differences"], document["deliveries"]
    return dict(document)
