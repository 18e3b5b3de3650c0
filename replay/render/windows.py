"""When the writes of a user end badly, as a table and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..explore.scenario_world import ScenarioWorld
from ..explore.window_words import ToldWindow, ToldWrite
from .race import wrapped
from .tables import NONE, PLAIN, Style, Table, lines_of

_HEADERS = ("WRITE", "FROM", "UNTIL", "LASTS", "BEGINS WITH", "ENDS WITH")
_SECOND_US = 1_000_000


def windows_lines(
    world: ScenarioWorld, writes: Sequence[ToldWrite], style: Style = PLAIN
) -> Iterator[str]:
    """Yield a table of the windows, and what is wrong then."""
    rows = [(one, window) for one in writes for window in one.windows]
    if rows:
        table = Table(_HEADERS, [_row(*row) for row in rows], keep=("FROM", "UNTIL", "BEGINS WITH"))
        yield from lines_of(table, style=style)
        yield "\n"
    violations = dict.fromkeys(one for _, window in rows for one in window.violations)
    for one in violations:
        yield from wrapped(f"{one.invariant}: {one.sentence}", style)
    for write, window in rows:
        if window.token:
            begin = _seconds(window.begin)
            yield "\n"
            yield from wrapped(
                f"To see this run ({write.sentence} at {begin}), step by step:", style
            )
            yield f"  plinian explore --replay {window.token}\n"
    if rows:
        yield "\n"
    yield from wrapped(summary(world, writes), style)


def summary(world: ScenarioWorld, writes: Sequence[ToldWrite]) -> str:
    """Return what was tried, and how many windows there are."""
    count = sum(len(one.windows) for one in writes)
    tried = len(writes)
    if not tried:
        return f"{world.release}: the user writes only once, so there is nothing to put off"
    found = f"{count or 'no'} window{'' if count == 1 else 's'}"
    return (
        f"{world.release}, if nothing is late but a write of the user: {found} in which it ends "
        f"badly; {tried} write{'' if tried == 1 else 's'} tried. Times are those after the write "
        "before it; at 0s all has been done that follows from that one and needs no time."
    )


def _row(write: ToldWrite, window: ToldWindow) -> tuple[str, ...]:
    end, begin = window.end, window.begin
    return (
        write.sentence,
        _seconds(begin),
        NONE if end is None else _seconds(end),
        "for ever" if end is None else _seconds(end - begin),
        window.opens or NONE,
        window.closes or NONE,
    )


def _seconds(microseconds: int) -> str:
    text = f"{microseconds / _SECOND_US:.6f}"
    return f"{text.rstrip('0').rstrip('.')}s"


def windows_document(world: ScenarioWorld, writes: Sequence[ToldWrite]) -> dict[str, Any]:
    """Return the windows for programs."""
    return {
        "case": world.case.name,
        "release": world.release,
        "writes": [
            {
                "number": one.number,
                "write": one.sentence,
                "windows": [_document(window) for window in one.windows],
            }
            for one in writes
        ],
    }


def _document(window: ToldWindow) -> dict[str, Any]:
    end = window.end
    return {
        "begin_seconds": window.begin / _SECOND_US,
        "end_seconds": None if end is None else end / _SECOND_US,
        "begins_with": window.opens or None,
        "ends_with": window.closes or None,
        "token": window.token or None,
        "violations": [one._asdict() for one in window.violations],
    }
