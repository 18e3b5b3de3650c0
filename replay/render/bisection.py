"""A bisection as text and JSON: where the answer flips, why, and what the sessions compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...engine.events import Recorded
from ...engine.units import format_time
from ..comparison.bisection import Bisection, Flip, Probe, Side
from ..comparison.sessions import parting_document
from ..session import step_document
from .comparison import behaviour_lines, cause_text, numbers_of, parting_lines, step_lines
from .tables import PLAIN, Style, Table, lines_of

_EVENTS_SHOWN = 10


def bisection_lines(found: Bisection, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield a bisection's lines: all answers, the flip, what made it, the object's steps."""
    rows = [(probe.at, _yes(probe), probe.answer.text) for probe in found.probes]
    yield from lines_of(Table(("AT", "ANSWER", "THE SESSION SAYS"), rows), style=style)
    yield "\n"
    if found.flip is None:
        yield f"{found.question}: {_yes(found.probes[0])} at every place that was asked.\n"
        return
    yield from _flip_lines(found, found.flip, style)


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


def bisection_document(found: Bisection) -> dict[str, Any]:
    """Return a bisection as JSON has it."""
    return {
        "question": found.question._asdict(),
        "probes": [_probe(probe) for probe in found.probes],
        "flip": None if found.flip is None else _flip(found.flip),
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
