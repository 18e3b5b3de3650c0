"""How sessions came out when they were run again, as text: counts, causes, a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import format_time
from ..coverage.coverage import unknown_text
from ..fidelity.report import Cause, Difference, Fidelity, SessionFidelity
from ..fidelity.session_report import lag_text
from ..sessions.remarks import release_text
from .tables import NONE, PLAIN, Style, Table, lines_of

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


def fidelity_lines(found: Fidelity, *, unfold: bool = False, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines: what came out how, why the rest did not, each difference, a picture.

    :param unfold: also list the differences that deliveries, ties and orders of maps explain.
    """
    yield style.bold(_verdict(found) + "\n")
    if not found.sessions:
        return
    yield from _counts_lines(found, style)
    yield from _causes_lines(found, style)
    yield from _deliveries_lines(found, style, unfold=unfold)
    yield from _difference_lines(found, style, unfold=unfold)
    yield from picture_lines(found.sessions, style=style)


def _verdict(found: Fidelity) -> str:
    if not found.recorded and found.requested:
        sessions = counted(found.requested, "session")
        return (
            f"nothing to compare: the log has {sessions} of a scenario, which records nothing of "
            "what they decide; plinian session shows it"
        )
    if not found.recorded:
        return (
            "nothing to compare: the log has no session, neither in a scheduler's log nor in "
            "bindings or PodGroups"
        )
    if not found.sessions:
        before = counted(found.left_out, "session")
        return f"nothing to compare: {before} before the first complete lists of what sessions need"
    exact = sum(one.exact for one in found.sessions)
    moved = sum(bool(one.deliveries) for one in found.sessions)
    ordered = sum(bool(one.order) for one in found.sessions)
    panics = found.panics.invented
    sessions = counted(panics, "session")
    worst = f"{found.release} panics in {sessions} in which the log records no panic; "
    return (
        f"{worst if panics else ''}{exact} of {counted(len(found.sessions), 'session')} came out "
        f"as recorded, as {found.release}: {moved} with other deliveries, {ordered} with another "
        "order of Go's maps"
    )


def _counts_lines(found: Fidelity, style: Style) -> Iterator[str]:
    names = ("bindings", "evictions", "phases", "conditions", "panics")
    counts = {name: msgspec.structs.astuple(getattr(found, name)) for name in names}
    if not any(counts["panics"]):
        del counts["panics"]
    headers = ("COMPARED", "RECORDED", "EXACT", "TIE", "DIFFERENT", "MISSED", "INVENTED")
    yield "\n"
    table = Table(headers, [(name, *map(str, each)) for name, each in counts.items()])
    yield from lines_of(table, style=style)


def _causes_lines(found: Fidelity, style: Style) -> Iterator[str]:
    rows = [
        (cause.value, *_tally([each for each in found.differences if each.cause is cause]))
        for cause in Cause
    ]
    some = [row for row in rows if row[1] != "0"]
    if some:
        yield "\n"
        yield from lines_of(
            Table(("CAUSE", "DIFFERENCES", "SESSIONS", "FIRST AT"), some), style=style
        )
    if found.not_known:
        yield f"\nThe log lacks what sessions need: {unknown_text(found.not_known)}\n"


def _tally(differences: Sequence[Difference]) -> tuple[str, str, str]:
    sessions = {each.session for each in differences}
    first = f"session:{min(sessions)}" if sessions else NONE
    return str(len(differences)), str(len(sessions)), first


def _deliveries_lines(found: Fidelity, style: Style, *, unfold: bool) -> Iterator[str]:
    """Yield how far informers were from where the clock has them."""
    moved = [one for one in found.sessions if one.deliveries]
    if not moved:
        return
    rows = [
        (
            f"session:{one.number}",
            each.kind,
            str(each.behind or NONE),
            str(each.ahead or NONE),
            f"{each.us / 1_000_000:.2f}s",
            lag_text(each),
        )
        for one in moved
        for each in one.deliveries
    ]
    shown = rows if unfold else rows[:_SHOWN]
    yield "\n"
    yield from lines_of(
        Table(("INFORMER", "MOVED IN", "MOST CHANGES", "LONGEST"), list(_lag_rows(found))),
        style=style,
    )
    yield "\n"
    headers = ("SESSION", "INFORMER", "BEHIND", "AHEAD", "BY", "WHAT")
    yield from lines_of(Table(headers, shown), style=style)
    yield from _more(len(rows) - len(shown), "informer")


def _lag_rows(found: Fidelity) -> Iterator[tuple[str, ...]]:
    for one in found.informers:
        longest = f"{one.longest / 1_000_000:.2f}s"
        yield one.kind, counted(one.sessions, "session"), str(one.most), longest


def _difference_lines(found: Fidelity, style: Style, *, unfold: bool) -> Iterator[str]:
    every = (
        found.differences
        if unfold
        else [each for each in found.differences if each.cause not in _FOLDED]
    )
    shown = every if unfold else every[:_SHOWN]
    if shown:
        yield "\n"
        headers = ("SESSION", "POSITION", "ABOUT", "NAME", "RECORDED", "AGAIN", "CAUSE", "WHY")
        rows = [_difference_row(each) for each in shown]
        kept = ("NAME", "RECORDED", "AGAIN", "CAUSE")
        yield from lines_of(Table(headers, rows, keep=kept), style=style)
        yield from _more(len(every) - len(shown), "difference")
    folded = len(found.differences) - len(every)
    if folded:
        known = counted(folded, "difference")
        yield f"\nNot shown: {known} with a known cause (see them with --all)\n"


def _difference_row(each: Difference) -> tuple[str, ...]:
    return (
        f"session:{each.session}",
        f"@{each.position}",
        each.about,
        each.name or NONE,
        each.recorded or NONE,
        each.again or NONE,
        each.cause.value,
        each.why,
    )


def _more(count: int, noun: str) -> Iterator[str]:
    if count:
        yield f"({counted(count, f'more {noun}')}: --all shows them)\n"


def picture_lines(sessions: Sequence[SessionFidelity], *, style: Style = PLAIN) -> Iterator[str]:
    """Yield sessions over time: one mark for each slice, for the session that came out worst."""
    opened = [one.opened for one in sessions]
    first, last = min(opened), max(opened)
    width = min(style.width or _PLAIN_WIDTH, _PLAIN_WIDTH)
    marks = [" "] * width
    for one in sessions:
        place = (one.opened - first) * (width - 1) // max(last - first, 1)
        marks[place] = max(marks[place], mark_of(one), key=" =~x!".index)
    yield f"\n{format_time(first)} to {format_time(last)}:\n"
    yield "".join(_coloured(mark, style) for mark in marks).rstrip() + "\n"
    used = [mark for mark in _LEGEND if mark in marks]
    yield "   ".join(f"{_coloured(mark, style)} {_LEGEND[mark]}" for mark in used) + "\n"


def mark_of(session: SessionFidelity) -> str:
    """Return the mark of a session in the picture."""
    if session.exact:
        return MOVED if session.deliveries or session.order else EXACT
    left = {each.cause for each in session.differences}
    return OPEN if left - _FOLDED else DIFFERS


def _coloured(mark: str, style: Style) -> str:
    if mark == EXACT:
        return style.added(mark)
    if mark == OPEN:
        return style.removed(mark)
    return style.changed(mark) if mark.strip() else mark


def fidelity_notes(found: Fidelity, *, named: bool) -> Iterator[str]:
    """Yield what sessions were run as, and how many are left out, or inferred.

    :param named: the release was named.
    """
    yield f"sessions as {release_text(found.release, named=named)}, configuration {found.conf}"
    if found.left_out and found.sessions:
        yield (
            f"{counted(found.left_out, 'session is', 'sessions are')} left out: there are no "
            "complete lists of what sessions need before them"
        )
    if found.requested and found.recorded:
        requested = counted(
            found.requested, "session of a scenario is", "sessions of a scenario are"
        )
        yield f"{requested} left out: nothing is recorded of the decisions"
    inferred = sum(one.how != "logged" for one in found.sessions)
    if inferred:
        yield (
            f"{counted(inferred, 'session is', 'sessions are')} inferred from what was written: "
            "evictions, and sessions that wrote nothing, are not known"
        )
