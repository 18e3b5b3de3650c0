"""How a gang comes together: its pods over time, against how many it needs."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ...engine.errors import ObjectNotFound, UsageError
from ...engine.kubernetes.units import format_time
from ...engine.state.facts import Fact, PodFact, PodGroupFact
from ..logs.given_names import stem_of
from ..logs.log import Log, Progress
from ..objects.kind_names import ObjectName
from .changes_in_order import StateChange, changes
from .period import Period, ShownPeriod, Track, divided

_KINDS = ("Job", "PodGroup")
_FINISHED = frozenset({"Succeeded", "Failed"})

PENDING, BOUND, RUNNING, FINISHED = STATES = ("pending", "bound", "running", "finished")
"""What a pod does: it has no node; it has one and does not run yet; it runs; it has ended."""


class GangPhase(NamedTuple):
    """A PodGroup got a phase. :param time: microseconds."""

    time: int
    podgroup: str
    phase: str


class GangOverTime(msgspec.Struct, frozen=True, kw_only=True):
    """The pods of a job or a PodGroup; of each part of the period the last number.

    :param named: as in ``job ns/name``. :param counts: how many pods, by :data:`STATES`.
    :param min_member: how many must start together; of several PodGroups the sum.
    """

    period: Period
    named: str
    counts: dict[str, tuple[float | None, ...]]
    min_member: tuple[float | None, ...]
    phases: tuple[GangPhase, ...]


def gang(
    log: Log,
    span: ShownPeriod,
    named: ObjectName,
    *,
    namespace: str | None = None,
    whole: bool = False,
    progress: Progress | None = None,
) -> GangOverTime:
    """Return how the pods of a job or a PodGroup came together.

    :param namespace: where it is; None is any that has it.
    :param whole: show the whole period; else only the time in which the gang existed.
    :param progress: called with (position, last position).
    :raises UsageError: it is neither a job nor a PodGroup, or several have the name.
    :raises ObjectNotFound: none in the period has the name.
    """
    if named.kind not in _KINDS:
        raise UsageError(
            f"a {named.kind} is no gang", now="name a job or a PodGroup, as in job/train"
        )
    place = named.namespace or namespace
    wanted = _Wanted(named.kind == "Job", named.name, place)
    gang_changes = [change for change in changes(log, span.end, progress) if wanted.has(change)]
    _refuse(wanted, named, gang_changes, span)
    period = span.period
    if not whole:
        begin = max(gang_changes[0].time, period.begin)
        # Not beyond the period, and never an empty one: a gang may have a single change.
        until = max(min(_until(gang_changes, period.end), period.end), begin)
        period = divided(begin, until, period.zone)
    title = f"{named.kind.lower()} {gang_changes[0].reference.namespace}/{named.name}"
    return _counted(wanted, title, gang_changes, period)


class _Wanted(NamedTuple):
    """Which objects belong to the gang."""

    job: bool
    name: str
    namespace: str | None

    def has(self, change: StateChange) -> bool:
        """Return whether a change is of a pod or the PodGroup of the gang."""
        reference = change.reference
        if self.namespace is not None and reference.namespace != self.namespace:
            return False
        return any(self.of(reference.name, fact) for fact in (change.before, change.now))

    def of(self, name: str, fact: Fact | None) -> bool:
        """Return whether an object as it was belongs to the gang: a pod may join it later."""
        if isinstance(fact, PodGroupFact):
            return self._names(name)
        if isinstance(fact, PodFact):
            # A pod that names its job is not taken for one of a PodGroup that is called the same.
            if self.job and fact.job:
                return fact.job == self.name
            return bool(fact.podgroup) and self._names(fact.podgroup)
        return False

    def _names(self, podgroup: str) -> bool:
        """Return whether the name of a PodGroup, or that of its job, is the one wanted."""
        return podgroup == self.name or stem_of(podgroup) == self.name


def _refuse(
    wanted: _Wanted, named: ObjectName, gang_changes: list[StateChange], span: ShownPeriod
) -> None:
    places = sorted({state_change.reference.namespace for state_change in gang_changes})
    if not places:
        raise ObjectNotFound(
            f"no pod or PodGroup of {named.kind.lower()} {wanted.name!r} in this period",
            now=f"the period ends at {format_time(span.period.end)}; give the namespace with -n "
            "if there is one",
        )
    if len(places) > 1:
        raise UsageError(
            f"{wanted.name!r} is in {len(places)} namespaces: {', '.join(places)}",
            now="choose one with -n",
        )


def _until(gang_changes: list[StateChange], end: int) -> int:
    """Return the end if any of it waits there, else when it last changed, and a tenth more."""
    last = {state_change.reference: state_change.now for state_change in gang_changes}
    if any(_waits(fact) for fact in last.values()):
        return end
    return gang_changes[-1].time + (gang_changes[-1].time - gang_changes[0].time) // 10


def _waits(fact: Fact | None) -> bool:
    if isinstance(fact, PodFact):
        return _state(fact) in {PENDING, BOUND}
    return isinstance(fact, PodGroupFact) and fact.phase in {"", "Pending", "Inqueue"}


def _counted(
    wanted: _Wanted, named: str, gang_changes: list[StateChange], period: Period
) -> GangOverTime:
    tracks = {state: Track(period, last=True) for state in STATES}
    least = Track(period, last=True)
    counts = dict.fromkeys(STATES, 0)
    members: dict[str, int] = {}
    phases: list[GangPhase] = []
    for change in gang_changes:
        before, now = change.before, change.now
        for fact, sign in ((before, -1), (now, 1)):
            if isinstance(fact, PodFact) and wanted.of(change.reference.name, fact):
                counts[_state(fact)] += sign
        if isinstance(now, PodGroupFact):
            members[change.reference.name] = now.min_member
            if now.phase and (not isinstance(before, PodGroupFact) or before.phase != now.phase):
                phases.append(GangPhase(change.time, change.reference.name, now.phase))
        elif isinstance(before, PodGroupFact):
            members.pop(change.reference.name, None)
        for state, track in tracks.items():
            track.set(change.time, float(counts[state]))
        least.set(change.time, float(sum(members.values())) if members else None)
    return GangOverTime(
        period=period,
        named=named,
        counts={state: track.values() for state, track in tracks.items()},
        min_member=least.values(),
        # Counts begin with what was before the period, so all changes were followed until here.
        phases=tuple(phase for phase in phases if period.begin <= phase.time <= period.end),
    )


def _state(pod: PodFact) -> str:
    if pod.phase in _FINISHED:
        return FINISHED
    if pod.phase == "Running":
        return RUNNING
    return BOUND if pod.node else PENDING
