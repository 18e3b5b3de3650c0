"""From series to pictures: which panels, lines, words and notes a picture has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US
from ..logs.given_names import stem_of
from ..render.screen import one_line
from ..series import node_use as nodes
from ..series.gang_counts_over_time import GangOverTime, GangPhase
from ..series.incidents import Incident
from ..series.node_use import NodeUse
from ..series.period import Period
from ..series.queue_shares import QueueShare, QueueShares, highest_of
from ..series.session_runs import SessionRuns
from ..series.waits import Waits, WaitSpread
from .picture import (
    CORDONED,
    COUNT,
    DURATION,
    LEVELS,
    NOT_READY,
    Cell,
    CellLevel,
    CellRow,
    Cells,
    Chart,
    DurationRange,
    IncidentMark,
    NumberLine,
    Picture,
    RangesPanel,
    Role,
    Values,
)
from .picture_words import clock_text, duration

_BEYOND = 20
"""A limit is not drawn if it is so many times as high as all else in its panel."""

_NOTED = 12
"""Incidents in the notes; further ones are only counted."""


def queues_picture(shares: QueueShares, log: str) -> Picture:
    """Return the picture of queues: one panel each, with limits as lines and incidents marked."""
    marks = numbered(shares.incidents)
    kinds = (Role.DESERVED, Role.CAPABILITY, Role.GUARANTEE)
    panels = tuple(_queue_panel(queue, shares.resource, kinds, marks) for queue in shares.queues)
    drawn = {line.role.value for panel in panels for line in panel.lines}
    notes = [*notes_of(marks, shares.period), resolution(shares.period, "highest")]
    if shares.left_out:
        more = counted(shares.left_out, "queue with less", "queues with less")
        notes.append(f"{more} allocated not shown; name queues to choose others")
    limits = [kind.value for kind in kinds if kind.value in drawn]
    against = (
        f" against {' and '.join(filter(None, [', '.join(limits[:-1]), limits[-1]]))}"
        if limits
        else ""
    )
    return Picture(
        title=f"Queues: {one_line(shares.resource)} allocated{against}",
        log=log,
        period=shares.period,
        panels=panels,
        notes=tuple(notes),
        empty="" if panels else "the log has no queue in this period",
    )


def _queue_panel(
    share: QueueShare, resource: str, kinds: Sequence[Role], marks: Sequence[IncidentMark]
) -> Chart:
    below = f" (with {counted(share.children, 'queue')} below it)" if share.children else ""
    limits = ((kind, getattr(share, kind.value)) for kind in kinds)
    lines = [NumberLine(kind, kind.value, values) for kind, values in limits if any(values)]
    beyond = beyond_of(share.allocated, lines)
    amounts = [f"{line.label} {short_amount(resource, highest_of(line.values))}" for line in beyond]
    said = f"; {', '.join(amounts)} above the panel" if beyond else ""
    return Chart(
        title=f"{one_line(share.queue)}{below}{said}",
        unit=resource,
        filled=(NumberLine(Role.ALLOCATED, "allocated", share.allocated),),
        lines=tuple(line for line in lines if line not in beyond),
        marks=tuple(mark for mark in marks if mark.incident.queue in {"", share.queue}),
    )


def beyond_of(used: Values, lines: Sequence[NumberLine]) -> list[NumberLine]:
    """Return the limits so far above all else that nothing else could be seen."""
    number_lines: list[NumberLine] = []
    for line in sorted(lines, key=lambda limit: highest_of(limit.values), reverse=True):
        others = [
            number_line.values
            for number_line in lines
            if number_line is not line and number_line not in number_lines
        ]
        # The highest limit first: without it, the next one may fit.
        rest = max(map(highest_of, [used, *others]))
        if not 0 < rest * _BEYOND < highest_of(line.values):
            break
        number_lines.append(line)
    return number_lines


def nodes_picture(use: NodeUse, log: str) -> Picture:
    """Return the picture of nodes: a row each, darker the more is used."""
    rows = tuple(
        CellRow(_row_label(row), tuple(map(_cell, row.used, row.states))) for row in use.rows
    )
    marks = numbered(use.incidents)
    notes = [*notes_of(marks, use.period), resolution(use.period, "highest")]
    together = max((row.count for row in use.rows), default=1)
    if together > 1:
        # Before all others: it says what a row is.
        notes.insert(
            0,
            f"{counted(use.nodes, 'node')} in {counted(len(rows), 'row')}: a row is up to "
            f"{together} nodes, used of all that they have together; "
            "it is marked if one of them is",
        )
    return Picture(
        title=f"Nodes: {one_line(use.resource)} used of what is allocatable",
        log=log,
        period=use.period,
        panels=(Cells(counted(use.nodes, "node"), rows, marks),) if rows else (),
        notes=tuple(notes),
        empty="" if rows else "the log has no node in this period",
    )


def _row_label(row: nodes.NodeUseRow) -> str:
    if row.count == 1:
        return one_line(row.name)
    return f"{one_line(row.name)} … {one_line(row.last)}"


def _cell(used: float | None, state: str) -> Cell:
    notes = {nodes.CORDONED: CORDONED, nodes.NOT_READY: NOT_READY}
    if state == nodes.GONE:
        return Cell(None)
    return Cell(None if used is None else level_of(used), notes.get(state))


def level_of(used: float) -> int:
    """Return the place of a share in :data:`LEVELS`."""
    # All of a node is a normal use, and more than all is not: each has its level.
    if used >= 1:
        return len(LEVELS) - (2 if used == 1 else 1)
    return 0 if used <= 0 else next(place for place, top in _TOPS if used <= top)


_TOPS = ((1, 0.25), (2, 0.5), (3, 0.75), (4, 1.0))


def gang_picture(gang: GangOverTime, log: str) -> Picture:
    """Return the picture of a gang: its pods by what they do, against minMember."""
    filled = tuple(
        NumberLine(Role(state), state, gang.counts[state])
        for state in ("finished", "running", "bound", "pending")
    )
    marks = numbered([_phase_incident(phase) for phase in gang.phases])
    needed = NumberLine(Role.NEEDED, "minMember", gang.min_member)
    return Picture(
        title=f"Gang of {one_line(gang.named)}: pods against minMember",
        log=log,
        period=gang.period,
        panels=(Chart("pods", COUNT, filled, (needed,), marks),),
        notes=(*notes_of(marks, gang.period), resolution(gang.period, "last")),
    )


def _phase_incident(phase: GangPhase) -> Incident:
    said = f"PodGroup {stem_of(phase.podgroup)} is {phase.phase}"
    return Incident(phase.time, None, "", said)


def sessions_picture(runs: SessionRuns, log: str) -> Picture:
    """Return the picture of sessions: how many, how long, what they bound and evicted."""
    marks = numbered(runs.incidents)
    step = duration(runs.period.step)

    def panel(title: str, unit: str, *lines: tuple[Role, str, Sequence[int | None]]) -> Chart:
        drawn = tuple(
            NumberLine(role, label, tuple(values)) for role, label, values in lines if any(values)
        )
        return Chart(title, unit, drawn, marks=marks)

    panels = [
        panel(
            f"sessions in {step}",
            COUNT,
            (Role.LOGGED, "in the scheduler's log", runs.logged),
            (Role.INFERRED, "inferred from writes", runs.inferred),
        ),
        panel("longest session", DURATION, (Role.LONGEST, "longest session", runs.longest)),
        panel(
            f"pods in {step}",
            COUNT,
            (Role.BOUND, "bound", runs.bound),
            (Role.EVICTED, "evicted", runs.evicted),
        ),
    ]
    filled = tuple(chart for chart in panels if chart.filled)
    notes = notes_of(marks, runs.period)
    if any(runs.inferred):
        notes.append(
            "inferred: known only from its bindings and PodGroups; a session that wrote nothing "
            "is then not known"
        )
    notes.append(f"each step is {step}")
    return Picture(
        title=f"Sessions of the scheduler: {counted(runs.sessions, 'session')}",
        log=log,
        period=runs.period,
        panels=filled,
        notes=tuple(notes),
        empty="" if filled else "the log has no session in this period",
    )


def waits_picture(waits: Waits, log: str) -> Picture:
    """Return the picture of waits: a row for the pods of each queue, and one for its gangs."""
    rows = tuple(map(_range, waits.spreads))
    notes = [
        (
            "line: shortest to longest; box: middle half; stroke in it: median; "
            "arrow: still waits at the end of the period"
        ),
        "of what was created in the period; a gang waits until minMember of its pods have a node",
    ]
    if waits.unknown:
        notes.append(f"{counted(waits.unknown, 'pod')} not shown: bound when the log first saw it")
    if waits.left_out:
        notes.append(f"{counted(waits.left_out, 'queue')} with fewer pods not shown")
    return Picture(
        title="Waits: from creation to binding, by queue",
        log=log,
        period=waits.period,
        panels=(RangesPanel("time from creation to binding", rows),) if rows else (),
        notes=tuple(notes) if rows else (),
        empty="" if rows else "nothing that the scheduler places was created in this period",
    )


def _range(spread: WaitSpread) -> DurationRange:
    said = [f"{spread.bound} bound"]
    said += [f"{spread.still} waiting"] if spread.still else []
    said += [f"{spread.gone} deleted before"] if spread.gone else []
    quartiles = (spread.least, spread.quarter, spread.median, spread.three_quarters, spread.most)
    known = tuple(value for value in quartiles if value is not None)
    values = (known[0], known[1], known[2], known[3], known[4]) if len(known) == 5 else None
    return DurationRange(
        f"{one_line(spread.queue) or '(no queue)'} {spread.what}",
        ", ".join(said),
        values,
        spread.waiting,
    )


def numbered(incidents: Iterable[Incident]) -> tuple[IncidentMark, ...]:
    """Return the marks of incidents; the first of them have numbers."""
    return tuple(
        IncidentMark(number if number <= _NOTED else 0, incident)
        for number, incident in enumerate(incidents, 1)
    )


def notes_of(marks: Sequence[IncidentMark], period: Period) -> list[str]:
    """Return the notes that say what each marked incident is."""
    notes = [f"{mark.number}  {_incident_text(mark, period)}" for mark in marks if mark.number]
    more = len(marks) - len(notes)
    return [*notes, f"and {more} more like these, marked without a number"] if more else notes


def _incident_text(mark: IncidentMark, period: Period) -> str:
    time, until, _, text = mark.incident
    clock = partial(clock_text, zone=period.zone, exact=min(SECOND_US, period.step))
    end = f" to {clock(until)}" if until is not None else ""
    return f"{clock(time)}{end}  {one_line(text)}"


def resolution(period: Period, kept: str) -> str:
    """Return the note that says what each step of a line stands for."""
    return f"each step is the {kept} value in {duration(period.step)}"


def shown_levels(cells: Cells) -> tuple[list[int], list[CellLevel]]:
    """Return the levels and notes that a panel has, for its legend."""
    shown = [cell for row in cells.rows for cell in row.cells]
    notes = {cell.note for cell in shown if cell.note is not None}
    levels = {cell.level for cell in shown if cell.level is not None}
    return sorted(levels), sorted(notes)
