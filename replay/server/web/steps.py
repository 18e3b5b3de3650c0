"""Steps: from a position to the next or previous event of some sort."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ....engine.errors import PointUnknown, UsageError
from ...facade.log import Log
from .lives import life_of
from .look import MISSED, Look
from .pane import selected
from .rows import fields_of, next_position

NOTABLE = (
    *("process.panicked", "process.started", "node.deleted", "pod.evicted", "cleanup.retried"),
)
"""Kinds of events that people look for when something went wrong."""

WAYS: Mapping[str, str] = MappingProxyType(
    {
        "event": "event",
        "object": "event of the selected object",
        "change": "change of the selected object",
        "session": "session",
        "notable": "crash, start, eviction or lost node",
    }
)
"""What one can step to, in words."""


def step(log: Log, look: Look, what: str, *, forwards: bool) -> int:
    """Return the position of the next or previous event of a sort.

    :raises UsageError: there is no such sort. :raises PointUnknown: there is none.
    """
    position = _found(log, look, what, forwards=forwards)
    if position is None:
        raise PointUnknown(_none(look, what, forwards=forwards))
    return position


def missed(look: Look) -> list[str]:
    """Return a sentence for the step that led back to where it began, if one did."""
    what, _, way = look.get(MISSED).partition("/")
    none = _none(look, what, forwards=way == "next") if what in WAYS else ""
    return [f"{none[0].upper()}{none[1:]}."] if none else []


def _none(look: Look, what: str, *, forwards: bool) -> str:
    return f"there is no {WAYS[what]} {'after' if forwards else 'before'} {look.at}"


def _found(log: Log, look: Look, what: str, *, forwards: bool) -> int | None:
    if what == "event":
        return next_position(log, look, fields_of(log, look.filter), forwards=forwards)
    if what in {"object", "change"}:
        return _of_object(log, look, changed=what == "change", forwards=forwards)
    if what == "notable":
        return next_position(log, look, {"kinds": NOTABLE}, forwards=forwards)
    if what == "session":
        return _session(log, look, forwards=forwards)
    raise UsageError(f"there is no step to {what!r}", now=f"choose from: {', '.join(WAYS)}")


def _of_object(log: Log, look: Look, *, changed: bool, forwards: bool) -> int | None:
    named = selected(log, look)
    if not named:
        return None
    places = sorted(
        happening.position
        for happening in life_of(log, named).history.happenings
        if not changed or happening.changed
    )
    return _beside(places, look.position, forwards=forwards)


def _session(log: Log, look: Look, *, forwards: bool) -> int | None:
    position = next_position(log, look, {"kinds": ("session.opened",)}, forwards=forwards)
    if position is not None:
        return position
    from .lanes import LONGEST_INFERRED, shown_sessions  # noqa: PLC0415 -- few logs need it

    # Inferred sessions have no event that a query would find.
    if look.last > LONGEST_INFERRED:
        return None
    return _beside(
        sorted(session.position for session in shown_sessions(log)),
        look.position,
        forwards=forwards,
    )


def _beside(places: list[int], position: int, *, forwards: bool) -> int | None:
    """Return the nearest of rising places after or before a position."""
    if forwards:
        return next((at for at in places if at > position), None)
    return next((at for at in reversed(places) if at < position), None)
