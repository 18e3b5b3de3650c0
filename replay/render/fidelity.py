"""How sessions came out when they were run again, as text: counts, causes, a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US, format_time
from ..coverage.coverage import unknown_text
from ..fidelity.report import Cause, Delivery, Difference, Fidelity, InformerLag, SessionFidelity
from ..fidelity.session_report import lag_text
from ..sessions.remarks import release_text
from .blocks import Block, Section, TerminalLine, block_lines
from .tables import NONE, PLAIN, Style, Table, TextColumn, table_of

_PLAIN_WIDTH = 80
_SHOWN = 20
"""Differences that the text shows; JSON has all."""

_FOLDED = frozenset({Cause.TIE, Cause.NOT_YET_DELIVERED, Cause.MAP_ORDER})
"""Causes that are no fault of the session's code, and that are counted only."""

EXACT, MOVED, DIFFERS, OPEN = "=", "~", "x", "!"
_LEGEND: Mapping[str, str] = MappingProxyType(
    {
        EXACT: "as recorded",
        MOVED: "as recorded, with other deliveries or another order of maps",
        DIFFERS: "differs, explained",
        OPEN: "differs, not explained",
    }
)


def fidelity_lines(
    report: Fidelity, *, unfold: bool = False, style: Style = PLAIN
) -> Iterator[str]:
    """Yield the lines: what came out how, why the rest did not, each difference, a picture.

    :param unfold: also list the differences that deliveries, ties and orders of maps explain.
    """
    sections = [Section([TerminalLine(_verdict(report))])]
    if report.sessions:
        sections += _sections(report, unfold=unfold)
        sections.append(Section(list(_picture(report.sessions, style))))
    return block_lines(sections, style=style)


def _sections(report: Fidelity, *, unfold: bool) -> Iterator[Section]:
    most = None if unfold else _SHOWN
    yield Section([_counts(report)])
    if report.differences:
        yield Section([_causes(report.differences)])
    if report.not_known:
        yield Section([f"The log lacks what sessions need: {unknown_text(report.not_known)}"])
    if report.informers:
        yield Section([table_of(_LAGS, report.informers)])
        moved = [
            (session.number, each) for session in report.sessions for each in session.deliveries
        ]
        yield Section(_first(table_of(_DELIVERIES, moved), most, "informer"))
    # A tie or a map's order is no fault, and there may be thousands: they are only counted.
    known = [each for each in report.differences if each.cause in _FOLDED and not unfold]
    table = table_of(_DIFFERENCES, [each for each in report.differences if each not in known])
    if table.rows:
        yield Section(_first(table, most, "difference"))
    if known:
        differences = counted(len(known), "difference")
        yield Section([f"Not shown: {differences} with a known cause (see them with --all)"])


def _first(table: Table, most: int | None, noun: str) -> list[Block]:
    """Return the first rows of a table, and how many more there are."""
    more = len(table.rows) - len(table.rows[:most])
    rest = f"({counted(more, f'more {noun}')}: --all shows them)"
    return [table.first(most), *([rest] * bool(more))]


def _verdict(report: Fidelity) -> str:
    if not report.recorded and report.requested:
        sessions = counted(report.requested, "session")
        return (
            f"nothing to compare: the log has {sessions} of a scenario, which records nothing of "
            "what they decide; plinian session shows it"
        )
    if not report.recorded:
        return (
            "nothing to compare: the log has no session, neither in a scheduler's log nor in "
            "bindings or PodGroups"
        )
    if not report.sessions:
        before = counted(report.left_out, "session")
        return f"nothing to compare: {before} before the first complete lists of what sessions need"
    exact = sum(session.exact for session in report.sessions)
    moved = sum(bool(fidelity.deliveries) for fidelity in report.sessions)
    ordered = sum(bool(fidelity.order) for fidelity in report.sessions)
    panics = report.panics.invented
    sessions = counted(panics, "session")
    worst = f"{report.release} panics in {sessions} in which the log records no panic; "
    return (
        f"{worst if panics else ''}{exact} of {counted(len(report.sessions), 'session')} came out "
        f"as recorded, as {report.release}: {moved} with other deliveries, {ordered} with another "
        "order of Go's maps"
    )


def _counts(report: Fidelity) -> Table:
    names = ("bindings", "evictions", "phases", "conditions", "panics")
    counts = {name: msgspec.structs.astuple(getattr(report, name)) for name in names}
    # Few logs have a panic: a row of zeros would alarm.
    if not any(counts["panics"]):
        del counts["panics"]
    headers = ("COMPARED", "RECORDED", "EXACT", "TIE", "DIFFERENT", "MISSED", "INVENTED")
    return Table(headers, [(name, *map(str, each)) for name, each in counts.items()])


def _causes(differences: Sequence[Difference]) -> Table:
    rows = []
    for cause in Cause:
        sessions = [each.session for each in differences if each.cause is cause]
        if sessions:
            first = f"session:{min(sessions)}"
            rows.append((cause.value, str(len(sessions)), str(len({*sessions})), first))
    return Table(("CAUSE", "DIFFERENCES", "SESSIONS", "FIRST AT"), rows)


def _seconds(micros: int) -> str:
    return f"{micros / SECOND_US:.2f}s"


_LAGS: Sequence[TextColumn[InformerLag]] = (
    TextColumn("INFORMER", lambda lag: lag.kind),
    TextColumn("MOVED IN", lambda lag: counted(lag.sessions, "session")),
    TextColumn("MOST CHANGES", lambda lag: str(lag.most)),
    TextColumn("LONGEST", lambda lag: _seconds(lag.longest)),
)
_DELIVERIES: Sequence[TextColumn[tuple[int, Delivery]]] = (
    TextColumn("SESSION", lambda moved: f"session:{moved[0]}"),
    TextColumn("INFORMER", lambda moved: moved[1].kind),
    TextColumn("BEHIND", lambda moved: str(moved[1].behind or NONE)),
    TextColumn("AHEAD", lambda moved: str(moved[1].ahead or NONE)),
    TextColumn("BY", lambda moved: _seconds(moved[1].us)),
    TextColumn("WHAT", lambda moved: lag_text(moved[1])),
)
_DIFFERENCES: Sequence[TextColumn[Difference]] = (
    TextColumn("SESSION", lambda difference: f"session:{difference.session}"),
    TextColumn("POSITION", lambda difference: f"@{difference.position}"),
    TextColumn("ABOUT", lambda difference: difference.about),
    TextColumn("NAME", lambda difference: difference.name or NONE, keep=True),
    TextColumn("RECORDED", lambda difference: difference.recorded or NONE, keep=True),
    TextColumn("AGAIN", lambda difference: difference.again or NONE, keep=True),
    TextColumn("CAUSE", lambda difference: difference.cause.value, keep=True),
    TextColumn("WHY", lambda difference: difference.why),
)


def _picture(sessions: Sequence[SessionFidelity], style: Style) -> Iterator[str]:
    """Yield sessions over time: one mark for each slice, for the session that came out worst."""
    opened = [fidelity.opened for fidelity in sessions]
    first, last = min(opened), max(opened)
    width = min(style.width or _PLAIN_WIDTH, _PLAIN_WIDTH)
    marks = [" "] * width
    for session in sessions:
        place = (session.opened - first) * (width - 1) // max(last - first, 1)
        # Several sessions share a place of the line: the worst one is shown.
        marks[place] = max(marks[place], mark_of(session), key=" =~x!".index)
    yield f"{format_time(first)} to {format_time(last)}:"
    yield "".join(_coloured(mark, style) for mark in marks).rstrip()
    used = [mark for mark in _LEGEND if mark in marks]
    yield "   ".join(f"{_coloured(mark, style)} {_LEGEND[mark]}" for mark in used)


def mark_of(session: SessionFidelity) -> str:
    """Return the mark of a session in the picture."""
    if session.exact:
        return MOVED if session.deliveries or session.order else EXACT
    # A session is as bad as the worst of its differences.
    left = {each.cause for each in session.differences}
    return OPEN if left - _FOLDED else DIFFERS


def _coloured(mark: str, style: Style) -> str:
    if mark == EXACT:
        return style.added(mark)
    if mark == OPEN:
        return style.removed(mark)
    return style.changed(mark) if mark.strip() else mark


def fidelity_notes(report: Fidelity, *, named: bool) -> Iterator[str]:
    """Yield what sessions were run as, and how many are left out, or inferred.

    :param named: the release was named.
    """
    yield f"sessions as {release_text(report.release, named=named)}, configuration {report.conf}"
    if report.left_out and report.sessions:
        yield (
            f"{counted(report.left_out, 'session is', 'sessions are')} left out: there are no "
            "complete lists of what sessions need before them"
        )
    if report.requested and report.recorded:
        requested = counted(
            report.requested, "session of a scenario is", "sessions of a scenario are"
        )
        yield f"{requested} left out: nothing is recorded of the decisions"
    inferred = sum(session.how != "logged" for session in report.sessions)
    if inferred:
        yield (
            f"{counted(inferred, 'session is', 'sessions are')} inferred from what was written: "
            "evictions, and sessions that wrote nothing, are not known"
        )
