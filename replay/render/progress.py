"""Progress bars on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .screen import Screen, one_line

Count = Callable[[int, int], None]
Phase = Callable[[str, int, int], None]


@contextmanager
def counting(what: str, *, visible: bool) -> Iterator[Count | None]:
    """Yield a function to call with (done, total); it moves a progress bar if one is visible.

    :param visible: False yields None, and draws nothing.
    """
    with phases(visible=visible) as move:
        yield None if move is None else lambda done, total: move(what, done, total)


@contextmanager
def _screened() -> Iterator[None]:
    """Put screens before the streams that rich wraps for a bar: rich obeys codes in text."""
    out, err = sys.stdout, sys.stderr
    sys.stdout = out if isinstance(out, Screen) else Screen(out)
    sys.stderr = err if isinstance(err, Screen) else Screen(err, messages=True)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


@contextmanager
def phases(*, visible: bool) -> Iterator[Phase | None]:
    """Yield a function to call with (phase, done, total); every phase has its own bar.

    :param visible: False yields None, and draws nothing.
    """
    if not visible:
        yield None
        return
    # rich takes a tenth of a second to import: only if the bar is visible.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TaskID,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    # It draws its own codes, so it writes to the stream beneath the screen.
    console = Console(file=getattr(sys.stderr, "raw", sys.stderr))
    moving = Progress(
        *columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()
    )
    with moving as progress, _screened():
        tasks: dict[str, TaskID] = {}

        def move(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = progress.add_task(one_line(phase), total=None)
            progress.update(tasks[phase], completed=done, total=total or None)

        yield move
