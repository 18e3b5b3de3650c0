"""Progress on standard error, for what takes longer than a moment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .screen import Screen, one_line

Count = Callable[[int, int], None]
Phase = Callable[[str, int, int], None]


@contextmanager
def counting(what: str, *, visible: bool) -> Iterator[Count | None]:
    """Give a function to call with (done, in all); it moves a bar where anybody would see it.

    :param visible: False gives None, and draws nothing.
    """
    with phases(visible=visible) as move:
        yield None if move is None else lambda done, total: move(what, done, total)


@contextmanager
def _screened() -> Iterator[None]:
    """Put screens before the streams that rich has put before a bar: it obeys codes in text."""
    out, err = sys.stdout, sys.stderr
    sys.stdout = out if isinstance(out, Screen) else Screen(out)
    sys.stderr = err if isinstance(err, Screen) else Screen(err, messages=True)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


@contextmanager
def phases(*, visible: bool) -> Iterator[Phase | None]:
    """Give a function to call with (phase, done, in all); every phase has a bar of its own.

    :param visible: False gives None, and draws nothing.
    """
    if not visible:
        yield None
        return
    # rich takes a tenth of a second to import: only those who see it pay.
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
    # What it draws is its own, so it draws on the stream beneath the screen.
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
