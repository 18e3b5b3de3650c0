"""A bisection as text: where the answer changes, why, and what the sessions compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...engine.events import Recorded
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import format_time
from ..compare import bisection
from ..compare.bisection import Bisection, Flip, ObjectRange, Probe
from ..compare.crashes import LoggedCrash, PanickingReleases
from ..coverage.coverage import plurals, unknown_text
from ..moments.times import known_text
from .comparison import behaviour_lines, cause_text, first_difference_lines, numbers_of, step_lines
from .tables import NONE, PLAIN, Style, Table, lines_of

_EVENTS_SHOWN = 10

_ALIKE_SHOWN = 4
"""Up to this many equal answers in a row are all shown."""


def bisection_lines(
    found: Bisection, crashes: Sequence[LoggedCrash] = (), *, style: Style = PLAIN
) -> Iterator[str]:
    """Yield a bisection's lines: all answers, the change, its cause, the object's steps.

    :param crashes: those that the log records.
    """
    rows = list(_probe_rows(found.probes))
    yield from lines_of(
        Table(("AT", "ANSWER", "RESULT"), rows, keep=("ANSWER", "RESULT")), style=style
    )
    yield "\n"
    if found.flip is None:
        yield from _unchanged_lines(found)
    else:
        yield from _flip_lines(found, found.flip, style)
    if crashes:
        yield "\n"
        yield from _crash_lines(crashes, style)


def _unchanged_lines(found: Bisection) -> Iterator[str]:
    """Yield that the answer is the same everywhere, how certain it is, and what was not checked."""
    answer = f"{_yes(found.probes[0])} {_everywhere(found)}"
    if not found.answered:
        yield (
            f"{found.question}: not known, because the log lacks what sessions need "
            f"({unknown_text(found.not_known)}). With what is in the log: {answer}\n"
        )
    else:
        yield f"{found.question}: {answer}\n"
    if 0 < found.doubtful < len(found.probes):
        be, moments = ("is", "a moment") if found.doubtful == 1 else ("are", "moments")
        yield (
            f"{found.doubtful} of the {len(found.probes)} {be} at {moments} for which the "
            f"log lacks what sessions need: {unknown_text(found.not_known)}\n"
        )
    if found.there is not None and _missing(found):
        yield f"{_there_text(found.there)}\n"


def _missing(found: Bisection) -> bool:
    """Return whether any session was run at a moment without the object."""
    return any(probe.answer.absent for probe in found.probes)


def _there_text(there: ObjectRange) -> str:
    last = "" if there.first == there.last else f" to rv:{there.last}"
    gone = ", when it was deleted" if there.gone else ""
    return f"The log holds {there.name} from rv:{there.first}{last}{gone}."


def left_out_text(found: Bisection) -> str:
    """Return which moments a search left out, why, and how to include them; empty if none."""
    left = found.left_out
    if left is None:
        return ""
    logged = found.searched == bisection.SESSIONS
    words = ("session",) if logged else ("moment of a change", "moments of a change")
    be = "is" if left.moments == 1 else "are"
    return (
        f"{counted(left.moments, *words)} before {left.begin} {be} left out: there is no earlier "
        f"complete list of {plurals(left.lists)}; to include them, with what is known then: "
        f"--from {left.first}"
    )


def _probe_rows(probes: Sequence[Probe]) -> Iterator[tuple[str, str, str]]:
    """Yield answers; of many equal ones in a row, the first and the last."""
    for _, run in groupby(probes, key=lambda probe: probe.answer):
        rows = [(probe.at, _yes(probe), probe.answer.text) for probe in run]
        if len(rows) > _ALIKE_SHOWN:
            rows[1:-1] = [(f"({len(rows) - 2} more)", rows[0][1], "the same")]
        yield from rows


def _everywhere(found: Bisection) -> str:
    """Return where an answer was checked that never changes."""
    count, first, last = len(found.probes), found.probes[0].at, found.probes[-1].at
    both = f"both ends ({first} and {last})" if count > 1 else first
    match found.searched:
        case bisection.HALVES:
            between = (
                "; the moments between were not checked, and the answer may change several "
                "times: leave out --halve to check every session"
            )
            return f"at {both}{between * (count > 1)}"
        case bisection.RELEASES_IN_TURN:
            many = f"each of the {count} releases from {first} to {last}"
            return f"as {many if count > 1 else first}"
        case bisection.STEPS:
            many = f"each of the {count} sessions" if count > 1 else "the only session"
            return f"in {many} of the scenario"
        case bisection.SESSIONS:
            return f"at {both} and at every recorded session between ({count} checked)"
        case _:
            sessions = counted(found.sessions, "session")
            why = (
                f"of the {sessions} that the log records, none is known to come after a change"
                if found.sessions
                else "the log records no sessions"
            )
            between = f" and after every change between ({count} checked)" if count > 1 else ""
            return f"at {both}{between}: {why}"


def release_choice_text(
    count: int, found: PanickingReleases | None, taken: str, *, placed: bool = True
) -> str:
    """Return which releases panic at a crash that the log records, and which one is used.

    :param found: None if no release does.
    :param placed: for some crash it is known which change it followed.
    """
    begin = f"The log records {counted(count, 'crash', 'crashes')}, but not the release."
    end = f"Using {taken}; choose another with --release."
    if not placed:
        return (
            f"{begin} It holds nothing of the cluster before a crash, so releases cannot be "
            f"tried. {end}"
        )
    if found is None:
        return f"{begin} No session of a known release panics there. {end}"
    names = ", ".join(map(str, found.releases))
    how = "with the same message" if found.same else "with a similar message"
    return f"{begin} At the crash recorded @{found.crash.position}, {names} panics {how}. {end}"


def _crash_lines(crashes: Sequence[LoggedCrash], style: Style) -> Iterator[str]:
    yield f"The log records {counted(len(crashes), 'crash', 'crashes')} of the scheduler:\n"
    rows = [
        (
            f"@{crash.position}",
            NONE if crash.revision is None else f"rv:{crash.revision}",
            known_text(crash.span) or NONE,
            crash.message,
        )
        for crash in crashes[:_EVENTS_SHOWN]
    ]
    table = Table(("POSITION", "REVISION", "TIME", "MESSAGE"), rows, keep=("MESSAGE",))
    yield from lines_of(table, style=style)
    if len(crashes) > _EVENTS_SHOWN:
        yield f"({len(crashes) - _EVENTS_SHOWN} more: -o json)\n"


def _flip_lines(found: Bisection, flip: Flip, style: Style) -> Iterator[str]:
    before, after = flip.before.probe, flip.after.probe
    yield style.bold(
        f"{found.question}: {_yes(before)} until {before.at}, {_yes(after)} from {after.at}\n"
    )
    if flip.events:
        yield "\n"
        yield from _event_lines(flip.events, style)
    if flip.behaviours or flip.causes:
        yield f"\nCause: {cause_text(flip.causes)}\n"
        yield from behaviour_lines(flip.behaviours, (before.at, after.at), style=style)
        for row in flip.behaviours:
            origin = ", ".join(filter(None, (*row.since, row.pull, row.source)))
            yield f"{row.behaviour}: since {origin}\n"
    for parting in flip.first_differences:
        yield "\n"
        yield from first_difference_lines(parting, (before.at, after.at), style=style)
    numbered = any(numbers_of(parting.alike) for parting in flip.first_differences)
    for side in (flip.before, flip.after) if not numbered else ():
        if side.steps:
            yield f"\n{side.probe.at}:\n"
            yield from step_lines(side.steps, style=style)


def _event_lines(events: list[Recorded], style: Style) -> Iterator[str]:
    rows = [_event_row(recorded) for recorded in events[:_EVENTS_SHOWN]]
    headers = ("POSITION", "REVISION", "EVENT", "OBJECT", "TIME")
    yield from lines_of(Table(headers, rows, keep=("EVENT", "OBJECT")), style=style)
    if len(events) > _EVENTS_SHOWN:
        yield f"({len(events) - _EVENTS_SHOWN} more: -o json)\n"


def _event_row(recorded: Recorded) -> tuple[str, ...]:
    event = recorded.event
    revision = "" if event.revision is None else f"rv:{event.revision}"
    time = "" if event.observed_at is None else format_time(event.observed_at)
    return f"@{recorded.position}", revision, event.kind, _name(recorded), time


def _name(recorded: Recorded) -> str:
    reference = recorded.event.reference
    return "/".join(filter(None, (reference.namespace, reference.name)))


def _yes(probe: Probe) -> str:
    return "yes" if probe.answer.holds else "no"
