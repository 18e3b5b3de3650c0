"""The streams of a recorder as a table on a terminal, drawn again every second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from .shell import shown_zone, shows_progress

if TYPE_CHECKING:
    from ..capture.recorder import Recording

_EVERY = 1.0


class _Rates:
    """How many events a second each stream brings, since the last look."""

    def __init__(self) -> None:
        self._at = monotonic()
        self._counts: dict[str, int] = {}

    def of(self, recording: Recording) -> dict[str, float]:
        """Return events a second by the name of the stream."""
        now = monotonic()
        passed, self._at = max(now - self._at, 1e-9), now
        rates = {
            state.name: (state.events - self._counts.get(state.name, 0)) / passed
            for state in recording.streams
        }
        self._counts = {state.name: state.events for state in recording.streams}
        return rates


@contextmanager
def moving_table() -> Iterator[Callable[[Recording], None]]:
    """Yield what draws a recording on standard error, in place of what it drew before."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from ...engine.log.wall_clock import micros_now
    from ..render.recording import recording_lines
    from ..render.tables import Style

    console = Console(file=getattr(sys.stderr, "raw", sys.stderr))
    rates, drawn = _Rates(), [0.0]
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(recording: Recording) -> None:
            if monotonic() - drawn[0] < _EVERY:
                return
            drawn[0] = monotonic()
            style = Style(width=console.width, zone=shown_zone())
            lines = recording_lines(
                recording,
                now=micros_now(),
                rates=rates.of(recording),
                style=style,
                height=console.height,
            )
            live.update(Text("".join(lines)), refresh=True)

        yield show


@contextmanager
def shown_moving() -> Iterator[Callable[[Recording], None]]:
    """Yield what draws a recording if standard error is a terminal, else what does nothing."""
    if not shows_progress():
        yield lambda _recording: None
        return
    with moving_table() as show:
        yield show
