"""The control of what is played: where the served moment is, and where it goes."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from .....engine.errors import UsageError
from ..wire.api_status import JSON
from .course import MomentCourse

COMMANDS = ("play", "pause", "step", "to", "speed")
_WAYS = f'send {{"command": …}} with one of {", ".join(COMMANDS)}'


class Command(msgspec.Struct, forbid_unknown_fields=True):
    """What to do with the served moment.

    :param command: one of :data:`COMMANDS`. :param point: where to go, for ``to``.
    :param speed: how many times faster than it happened, for ``play`` and ``speed``.
    """

    command: str
    point: str | None = None
    speed: float | None = None


async def play(request: Request) -> Response:
    """Answer where the served moment is, after doing what a POST says."""
    course: MomentCourse = request.app.state.kubernetes.course
    if request.method == "POST":
        await _done(course, _command(await request.body()))
    return Response(msgspec.json.encode(await course.position()), media_type=JSON)


def _command(body: bytes) -> Command:
    try:
        return msgspec.json.decode(body, type=Command)
    except (msgspec.MsgspecError, RecursionError) as fault:
        raise UsageError(f"no command: {fault}", now=_WAYS) from fault


async def _done(course: MomentCourse, command: Command) -> None:
    match command:
        case Command(command="play", speed=speed):
            await course.play(speed)
        case Command(command="pause"):
            await course.pause()
        case Command(command="step"):
            await course.step()
        case Command(command="to", point=str(point)):
            await course.to(point)
        case Command(command="speed", speed=float(speed)):
            await course.set_speed(speed)
        case _:
            raise UsageError(f"no command {command.command!r} with these fields", now=_WAYS)
