"""A bisection as text and JSON: where the answer flips, why, and what the sessions compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from ...engine.events import Recorded
from ...engine.units import format_time
from ..comparison import bisection
from ..comparison.bisection import Bisection, Flip, Probe, Side
from ..comparison.crashes import Crash, Dying
from ..comparison.sessions import parting_document
from ..coverage import document_of
from ..session import step_document
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
        yield f"{found.question}: {_yes(found.probes[0])} {_everywhere(found)}\n"
    else:
        yield from _flip_lines(found, found.flip, style)
    if crashes:
        yield "\n"
        yield from _crash_lines(crashes, style)


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
            return (
                f"at {both} and after every change between ({count} asked): the log tells of no "
                "sessions"
            )


def dying_text(count: int, found: Dying | None, taken: str) -> str:
    """Say which releases die where a log tells of so many crashes, and which one is taken.

    :param found: None if none of them does.
    """
    begin = f"The log tells of {counted(count, 'crash', 'crashes')}, and not of which release."
    end = f"{taken} is taken; --release takes another."
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
        "flip": None if found.flip is None else _flip(found.flip),
    }


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
