"""Windows of time in which a write of a user ends badly, in words."""

from __future__ import annotations

from typing import NamedTuple

from ...engine.machine.bad_windows import BadWindow, Due, Windows
from ...engine.machine.machine import State
from ...engine.machine.natural import StateViolation
from .order_token import Token, encoded
from .scenario_world import ScenarioWorld, digest_of, run_steps, server_in, steps_of
from .step_writes import writes_between


class ToldWindow(NamedTuple):
    """A stretch of time in which a write ends badly.

    :param begin: microseconds after the write before. :param end: None if it has no end.
    :param opens, closes: what happens at the begin and at the end; empty if nothing does.
    :param token: runs it with the write at the begin; empty if nothing is due then.
    """

    begin: int
    end: int | None
    opens: str
    closes: str
    violations: tuple[StateViolation, ...]
    token: str


class ToldWrite(NamedTuple):
    """A write of a user, and when it ends badly.

    :param number: of the write, from 1. :param sentence: what it does if it comes at once.
    """

    number: int
    sentence: str
    windows: tuple[ToldWindow, ...]


def windows_in(world: ScenarioWorld) -> tuple[ToldWrite, ...]:
    """Return when each write of a user after the first ends badly, if nothing else is late."""
    return tuple(
        ToldWrite(
            write.number,
            _writes(world, (write.before, write.after)) or "writes, and nothing changes",
            tuple(_told(world, window) for window in write.windows),
        )
        for write in Windows(world.machine, world.start, world.check).of_all_writes()
    )


def _told(world: ScenarioWorld, window: BadWindow) -> ToldWindow:
    opens, closes = (
        "" if due is None else _happening(world, due) for due in (window.opens, window.closes)
    )
    token = _token(world, window) if window.way else ""
    return ToldWindow(window.begin, window.end, opens, closes, window.violations, token)


def _token(world: ScenarioWorld, window: BadWindow) -> str:
    steps = steps_of(world, window.way)
    digest = digest_of(world, run_steps(world, steps).rest)
    invariant = window.violations[0].invariant
    return encoded(Token(world.case, world.release, steps, invariant, digest))


def _happening(world: ScenarioWorld, due: Due) -> str:
    """Return what happens when something is due: what is written, or else what is done."""
    steps = map(world.machine.step, due.steps)
    done = (str(step) for step in steps if not step.kind)
    return _writes(world, (due.before, due.state)) or ", ".join(dict.fromkeys(done))


def _writes(world: ScenarioWorld, states: tuple[State, State]) -> str:
    before, after = (server_in(world, state) for state in states)
    return ", ".join(write.sentence for write in writes_between(before, after))
