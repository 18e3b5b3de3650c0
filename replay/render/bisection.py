"""A bisection as text and JSON: where the answer flips, why, and what the sessions compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from ...engine.events import Recorded
from ...engine.kubernetes.units import format_time
from ..compare import bisection
from ..compare.bisection import Bisection, Flip, LeftOut, Probe, Side, There
from ..compare.crashes import Crash, Dying
from ..compare.sessions import parting_document
from ..moments.coverage import document_of, plurals, told
from ..sessions.session import step_document
from .comparison import behaviour_lines, cause_text, numbers_of, parting_lines, step_lines
from .figures import counted
from .tables import NONE, PLAIN, Style, Table, lines_of

_EVENTS_SHOWN = 10

_ALIKE_SHOWN = 4
"""Answers one after the other that are all shown, though they are the same."""


def bisection_lines(
    found: Bisection, crashes: Sequence[Crash] = (), *, style: Style = PLAIN
) -> Iterator[str]:
    """Yield a bisection's lines: all answers, the flip, what made it, the object's steps.

    :param crashes: that the log tells of.
    """
    rows = list(_probe_rows(found.probes))
    yield from lines_of(Table(("AT", "ANSWER", "THE SESSION SAYS"), rows), style=style)
    yield "\n"
    if found.flip is None:
        yield from _unchanged_lines(found)
    else:
        yield from _flip_lines(found, found.flip, style)
    if crashes:
        yield "\n"
        yield from _crash_lines(crashes, style)


def _unchanged_lines(found: Bisection) -> Iterator[str]:
    """Yield that the answer is the same everywhere, how far that is one, and what was not asked."""
    answer = f"{_yes(found.probes[0])} {_everywhere(found)}"
    if not found.answered:
        yield (
            f"{found.question}: not known, for no session could be asked with all that it needs "
            f"({told(found.not_known)}). On what is in the log: {answer}\n"
        )
    else:
        yield f"{found.question}: {answer}\n"
    if 0 < found.doubtful < len(found.probes):
        yield (
            f"{found.doubtful} of the {len(found.probes)} were asked where the log does not know "
            f"all that sessions need: {told(found.not_known)}\n"
        )
    if found.there is not None and _missing(found):
        yield f"{_there_text(found.there)}\n"


def _missing(found: Bisection) -> bool:
    """Say whether any session was asked where the object is not there."""
    return any(probe.answer.text.startswith("no such") for probe in found.probes)


def _there_text(there: There) -> str:
    last = "" if there.first == there.last else f" to rv:{there.last}"
    gone = ", where it is deleted" if there.gone else ""
    return f"The log holds {there.name} from rv:{there.first}{last}{gone}."


def left_out_text(found: Bisection) -> str:
    """Say which moments a search left out, why, and how to ask them; empty if it left out none."""
    left = found.left_out
    if left is None:
        return ""
    logged = found.searched == bisection.SESSIONS
    words = ("session",) if logged else ("moment of a change", "moments of a change")
    be = "is" if left.moments == 1 else "are"
    return (
        f"{counted(left.moments, *words)} before {left.begin} {be} left out: there is no complete "
        f"list of {plurals(left.lists)} before it; to ask all the same, on what is known there: "
        f"--from {left.first}"
    )


def _probe_rows(probes: Sequence[Probe]) -> Iterator[tuple[str, str, str]]:
    """Yield answers; of many that are the same one after the other, the first and the last."""
    for _, run in groupby(probes, key=lambda probe: probe.answer):
        rows = [(probe.at, _yes(probe), probe.answer.text) for probe in run]
        if len(rows) > _ALIKE_SHOWN:
            rows[1:-1] = [(f"({len(rows) - 2} more)", rows[0][1], "the same")]
        yield from rows


def _everywhere(found: Bisection) -> str:
    """Say of an answer that never changes where it was asked for."""
    count, first, last = len(found.probes), found.probes[0].at, found.probes[-1].at
    both = f"both ends ({first} and {last})" if count > 1 else first
    match found.searched:
        case bisection.HALVES:
            between = (
                "; between them nothing was asked, and answers may come and go: leave out --halve "
                "to ask at every session"
            )
            return f"at {both}{between * (count > 1)}"
        case bisection.RELEASES_IN_TURN:
            return f"as each of the {count} releases from {first} to {last}"
        case bisection.STEPS:
            return f"in each of the {count} sessions of the scenario"
        case bisection.SESSIONS:
            return f"at {both} and at every session that the log tells of between ({count} asked)"
        case _:
            sessions = counted(found.sessions, "session")
            why = (
                f"of the {sessions} that the log tells of, none is known to come after a change"
                if found.sessions
                else "the log tells of no sessions"
            )
            between = f" and after every change between ({count} asked)" if count > 1 else ""
            return f"at {both}{between}: {why}"


def dying_text(count: int, found: Dying | None, taken: str, *, placed: bool = True) -> str:
    """Say which releases die where a log tells of so many crashes, and which one is taken.

    :param found: None if none of them does.
    :param placed: of some crash it is known after which change it was.
    """
    begin = f"The log tells of {counted(count, 'crash', 'crashes')}, and not of which release."
    end = f"{taken} is taken; --release takes another."
    if not placed:
        return f"{begin} Of the cluster it holds nothing by then, to try releases on. {end}"
    if found is None:
        return f"{begin} No session of a known release dies there. {end}"
    names = ", ".join(map(str, found.releases))
    how = "of the same" if found.same else "of something alike"
    return f"{begin} Where @{found.crash.position} tells of one, {names} dies {how}. {end}"


def _crash_lines(crashes: Sequence[Crash], style: Style) -> Iterator[str]:
    yield f"The log tells of {counted(len(crashes), 'crash', 'crashes')} of the scheduler:\n"
    rows = [
        (
            f"@{crash.position}",
            NONE if crash.revision is None else f"rv:{crash.revision}",
            NONE if crash.time is None else format_time(crash.time),
            crash.message,
        )
        for crash in crashes[:_EVENTS_SHOWN]
    ]
    yield from lines_of(Table(("POSITION", "AFTER", "TIME", "MESSAGE"), rows), style=style)
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
        yield f"\nBecause of {cause_text(flip.causes)}:\n"
        yield from behaviour_lines(flip.behaviours, (before.at, after.at), style=style)
        for row in flip.behaviours:
            origin = ", ".join(filter(None, (*row.since, row.pull, row.source)))
            yield f"{row.behaviour}: since {origin}\n"
    for parting in flip.partings:
        yield "\n"
        yield from parting_lines(parting, (before.at, after.at), style=style)
    told = any(numbers_of(parting.alike) for parting in flip.partings)
    for side in (flip.before, flip.after) if not told else ():
        if side.steps:
            yield f"\n{side.probe.at}:\n"
            yield from step_lines(side.steps, style=style)


def _event_lines(events: list[Recorded], style: Style) -> Iterator[str]:
    rows = [_event_row(recorded) for recorded in events[:_EVENTS_SHOWN]]
    yield from lines_of(Table(("POSITION", "REVISION", "EVENT", "OF", "TIME"), rows), style=style)
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


def bisection_document(
    found: Bisection, crashes: Sequence[Crash] = (), died: Dying | None = None
) -> dict[str, Any]:
    """Return a bisection as JSON has it.

    :param crashes: that the log tells of.
    :param died: why the release was taken, if nobody named it.
    """
    return {
        "question": found.question._asdict(),
        "searched": found.searched,
        "release": found.release or None,
        "release_because": None if died is None else _died(died),
        "unsure": msgspec.to_builtins(found.unsure),
        "not_known": list(map(document_of, found.not_known)),
        "crashes": [_crash(crash) for crash in crashes],
        "probes": [_probe(probe) for probe in found.probes],
        "answered": found.answered,
        "doubtful": found.doubtful,
        "left_out": None if found.left_out is None else _left_out(found.left_out),
        "object_there": None if found.there is None else found.there._asdict(),
        "flip": None if found.flip is None else _flip(found.flip),
    }


def _left_out(left: LeftOut) -> dict[str, Any]:
    return {"count": left.moments, "before": left.begin, "first": left.first}


def _crash(crash: Crash) -> dict[str, Any]:
    return {
        "position": crash.position,
        "revision": crash.revision,
        "observed_at": None if crash.time is None else format_time(crash.time),
        "message": crash.message,
    }


def _died(died: Dying) -> dict[str, Any]:
    return {
        "crash": died.crash.position,
        "same": died.same,
        "releases": [str(release) for release in died.releases],
    }


def _probe(probe: Probe) -> dict[str, Any]:
    return {"at": probe.at, "answer": probe.answer.holds, "says": probe.answer.text}


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "before": _side(flip.before),
        "after": _side(flip.after),
        "events": [
            {
                "position": recorded.position,
                "revision": recorded.event.revision,
                "kind": recorded.event.kind,
                "object": _name(recorded),
            }
            for recorded in flip.events
        ],
        "causes": [list(cause) for cause in flip.causes],
        "behaviours": [row._asdict() for row in flip.behaviours],
        "partings": [parting_document(parting) for parting in flip.partings],
    }


def _side(side: Side) -> dict[str, Any]:
    return _probe(side.probe) | {"steps": [step_document(step) for step in side.steps]}
