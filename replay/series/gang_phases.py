"""Jobs over time: the phases of their PodGroups."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...engine.state.facts import PodGroupFact
from ..logs.given_names import stem_of
from ..logs.log import Log, Progress
from .changes_in_order import changes
from .period import Period, ShownPeriod

MOST_ROWS = 200
"""PodGroups in one picture; the first ones are kept."""

PENDING = "Pending"
"""The phase of a PodGroup that has none yet."""


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """A phase of a PodGroup. :param begin: and ``end``: microseconds, within the period."""

    phase: str
    begin: int
    end: int


class GangRow(msgspec.Struct, frozen=True, kw_only=True):
    """A PodGroup: its phases in order; it does not exist between two that do not touch.

    :param job: the name of its job, if it has one: what comes before the job's uid.
    """

    namespace: str
    name: str
    job: str
    queue: str
    phases: tuple[Phase, ...]


class GangPhases(msgspec.Struct, frozen=True, kw_only=True):
    """The PodGroups of a period, by the begin of their first phase in it.

    :param left_out: how many more there are.
    """

    period: Period
    rows: tuple[GangRow, ...]
    left_out: int


def gang_phases(log: Log, span: ShownPeriod, *, progress: Progress | None = None) -> GangPhases:
    """Return the phases that PodGroups had in a period.

    :param progress: called with (position, last position).
    """
    courses: dict[tuple[str, str], _Course] = {}
    for change in changes(log, span.end, progress):
        if isinstance(change.now or change.before, PodGroupFact):
            name = change.reference.namespace, change.reference.name
            fact = change.now if isinstance(change.now, PodGroupFact) else None
            courses.setdefault(name, _Course()).take(change.time, fact)
    rows = [
        GangRow(
            namespace=place,
            name=name,
            job=stem_of(name),
            queue=course.queue,
            phases=tuple(course.phases(span.period)),
        )
        for (place, name), course in courses.items()
    ]
    gang_rows = sorted(
        (row for row in rows if row.phases),
        key=lambda gang_row: (gang_row.phases[0].begin, gang_row.name),
    )
    return GangPhases(
        period=span.period, rows=tuple(gang_rows[:MOST_ROWS]), left_out=len(gang_rows[MOST_ROWS:])
    )


class _Course:
    """What a PodGroup was since when; None: it did not exist."""

    def __init__(self) -> None:
        self.queue = ""
        self._steps: list[tuple[int, str | None]] = []

    def take(self, time: int, fact: PodGroupFact | None) -> None:
        """Take a version, or None for the end."""
        phase = None if fact is None else fact.phase or PENDING
        if fact is not None:
            self.queue = fact.queue or "default"
        if not self._steps or self._steps[-1][1] != phase:
            self._steps.append((time, phase))

    def phases(self, period: Period) -> Iterator[Phase]:
        """Yield its phases within a period."""
        last = period.time_of(period.parts)
        ends = [time for time, _ in self._steps[1:]] + [last]
        for (begin, phase), end in zip(self._steps, ends, strict=True):
            shown, until = max(begin, period.begin), min(end, last)
            if phase is not None and shown < until:
                yield Phase(phase=phase, begin=shown, end=until)
