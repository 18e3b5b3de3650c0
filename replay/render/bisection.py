"""A bisection as text: where the answer changes, why, and what the sessions compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...engine.events import Recorded
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import format_time
from ..compare import bisection
from ..compare.bisection import Bisection, Flip, Probe
from ..compare.crashes import LoggedCrash, PanickingReleases
from ..coverage.coverage import plurals, unknown_text
from ..moments.times import known_text
from .blocks import Section, TerminalLine, block_lines, first_rows
from .comparison import (
    behaviour_table,
    cause_text,
    first_difference_sections,
    numbers_of,
    step_texts,
)
from .tables import NONE, PLAIN, Style, Table, TextColumn, table_of

_EVENTS_SHOWN = 10

_ALIKE_SHOWN = 4
"""Up to this many equal answers in a row are all shown."""


def bisection_lines(
    found: Bisection, crashes: Sequence[LoggedCrash] = (), *, style: Style = PLAIN
) -> Iterator[str]:
    """Yield a bisection's lines: all answers, the change, its cause, the object's steps.

    :param crashes: those that the log records.
    """
    answers = Table(
        ("AT", "ANSWER", "RESULT"), list(_probe_rows(found.probes)), keep=("ANSWER", "RESULT")
    )
    parts = [Section([answers])]
    if found.flip is None:
        parts.append(Section(list(_unchanged(found))))
    else:
        parts += _flip_sections(found, found.flip, style)
    if crashes:
        begin = f"The log records {counted(len(crashes), 'crash', 'crashes')} of the scheduler:"
        table = table_of(_CRASHES, crashes)
        parts.append(Section([begin, *first_rows(table, _EVENTS_SHOWN)]))
    return block_lines(parts, style=style)


def _unchanged(found: Bisection) -> Iterator[str]:
    """Yield that the answer is the same everywhere, how certain it is, and what was not checked."""
    answer = f"{_yes(found.probes[0])} {_everywhere(found)}"
    if not found.answered:
        yield (
            f"{found.question}: not known, because the log lacks what sessions need "
            f"({unknown_text(found.not_known)}). With what is in the log: {answer}"
        )
    else:
        yield f"{found.question}: {answer}"
    if 0 < found.doubtful < len(found.probes):
        be, moments = ("is", "a moment") if found.doubtful == 1 else ("are", "moments")
        yield (
            f"{found.doubtful} of the {len(found.probes)} {be} at {moments} for which the "
            f"log lacks what sessions need: {unknown_text(found.not_known)}"
        )
    there = found.there
    if there is not None and any(probe.answer.absent for probe in found.probes):
        last = "" if there.first == there.last else f" to rv:{there.last}"
        gone = ", when it was deleted" if there.gone else ""
        yield f"The log holds {there.name} from rv:{there.first}{last}{gone}."


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
    count: int, releases: PanickingReleases | None, taken: str, *, placed: bool = True
) -> str:
    """Return which releases panic at a crash that the log records, and which one is used.

    :param releases: None if no release does.
    :param placed: for some crash it is known which change it followed.
    """
    begin = f"The log records {counted(count, 'crash', 'crashes')}, but not the release."
    end = f"Using {taken}; choose another with --release."
    if not placed:
        return (
            f"{begin} It holds nothing of the cluster before a crash, so releases cannot be "
            f"tried. {end}"
        )
    if releases is None:
        return f"{begin} No session of a known release panics there. {end}"
    names = ", ".join(map(str, releases.releases))
    how = "with the same message" if releases.same else "with a similar message"
    return f"{begin} At the crash recorded @{releases.crash.position}, {names} panics {how}. {end}"


_CRASHES: Sequence[TextColumn[LoggedCrash]] = (
    TextColumn("POSITION", lambda crash: f"@{crash.position}"),
    TextColumn(
        "REVISION", lambda crash: NONE if crash.revision is None else f"rv:{crash.revision}"
    ),
    TextColumn("TIME", lambda crash: known_text(crash.span) or NONE),
    TextColumn("MESSAGE", lambda crash: crash.message, keep=True),
)


def _flip_sections(found: Bisection, flip: Flip, style: Style) -> Iterator[Section]:
    before, after = flip.before.probe, flip.after.probe
    yes, no = f"{_yes(before)} until {before.at}", f"{_yes(after)} from {after.at}"
    yield Section([TerminalLine(f"{found.question}: {yes}, {no}")])
    if flip.events:
        yield Section(first_rows(table_of(_EVENTS, flip.events), _EVENTS_SHOWN))
    labels = (before.at, after.at)
    if flip.behaviours or flip.causes:
        origins = (
            ", ".join(filter(None, (*behaviour.since, behaviour.pull, behaviour.source)))
            for behaviour in flip.behaviours
        )
        since = (
            f"{diff.behaviour}: since {origin}"
            for diff, origin in zip(flip.behaviours, origins, strict=True)
        )
        table = behaviour_table(flip.behaviours, labels)
        yield Section([f"Cause: {cause_text(flip.causes)}", table, *since])
    for parting in flip.first_differences:
        yield from first_difference_sections(parting, labels)
    # The numbers of the first difference say it already.
    if not any(numbers_of(parting.alike) for parting in flip.first_differences):
        for side in (flip.before, flip.after):
            if side.steps:
                yield Section([f"{side.probe.at}:", *step_texts(side.steps, style)])


def _name(recorded: Recorded) -> str:
    reference = recorded.event.reference
    return "/".join(filter(None, (reference.namespace, reference.name)))


_EVENTS: Sequence[TextColumn[Recorded]] = (
    TextColumn("POSITION", lambda event: f"@{event.position}"),
    TextColumn(
        "REVISION",
        lambda recorded: "" if recorded.event.revision is None else f"rv:{recorded.event.revision}",
    ),
    TextColumn("EVENT", lambda recorded: recorded.event.kind, keep=True),
    TextColumn("OBJECT", _name, keep=True),
    TextColumn(
        "TIME",
        lambda recorded: (
            "" if recorded.event.observed_at is None else format_time(recorded.event.observed_at)
        ),
    ),
)


def _yes(probe: Probe) -> str:
    return "yes" if probe.answer.holds else "no"
