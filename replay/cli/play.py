"""``plinian play``: steer the moment that a server serves."""

from __future__ import annotations

from typing import Annotated, Any

from ..questions.fields import Field
from . import options, serving
from .answers import write_answer
from .command import command

ACTIONS = ("play", "pause", "step", "to", "speed")


@command("play")
def play(
    action: Annotated[
        str | None,
        Field(
            "play [SPEED], pause, step (to the next change), to POINT, or speed SPEED. Without "
            "one, where the server is.",
            "[ACTION]",
            choices=ACTIONS,
        ),
    ] = None,
    value: Annotated[str | None, Field("As in 10x, or as --at.", "[SPEED|POINT]")] = None,
    *,
    server: serving.Server = serving.DEFAULT_SERVER,
    token_file: serving.ItsTokenFile = None,
    output: options.TextOrJson = "text",
) -> None:
    """Steer the moment that plinian serve serves to kubectl and other clients.

    Watches see what happens while the moment moves on. When it goes back they end, and clients ask
    again: they then show the earlier state.
    """
    from ..server.access_token import token_in
    from ..server.kubernetes.watch.control import asked, said

    token = "" if token_file is None else token_in(token_file)
    state = asked(server, token, _body(action, value))
    write_answer(state, [f"{said(state)}\n"], output)


def _body(action: str | None, value: str | None) -> dict[str, Any] | None:
    """Return what to send; None only asks.

    :raises UsageError: the action needs a value, or another one.
    """
    from ...engine.errors import UsageError

    if action is None:
        return None
    if action == "to":
        if value is None:
            raise UsageError("to which point?", now="write plinian play to POINT")
        return {"command": action, "point": _with_zone(value)}
    if action in {"pause", "step"}:
        if value is not None:
            raise UsageError(f"{action} takes no {value!r}", now=f"write plinian play {action}")
        return {"command": action}
    if value is None:
        if action == "speed":
            raise UsageError("which speed?", now="write plinian play speed 10x")
        return {"command": action}
    return {"command": action, "speed": speed_of(value)}


def _with_zone(point: str) -> str:
    """Return a point with the zone in which this command reads it, which a server does not know.

    :raises UsageError: it is a time of day, of which only the server knows the day.
    """
    from ...engine.errors import UsageError
    from ...engine.kubernetes.units import format_time
    from ..moments.zones import time_of
    from .shell import shown_zone

    zone = shown_zone()
    if zone is None or point.startswith(("rv:", "session:", "-", "@")) or ":" not in point:
        return point
    try:
        return format_time(time_of(point, zone))
    except ValueError as fault:
        raise UsageError(
            f"{point!r} has no date", now="write the date too, as in 2026-01-02T10:42:07"
        ) from fault


def speed_of(text: str) -> float:
    """Return a speed such as ``10x``.

    :raises UsageError: it is not one.
    """
    from ...engine.errors import UsageError

    try:
        speed = float(text.removesuffix("x"))
    except ValueError:
        speed = 0
    if not 0 < speed <= 100_000:
        raise UsageError(f"{text!r} is no speed", now="write a number such as 10x or 0.5x")
    return speed
