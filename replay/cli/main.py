"""The command line ``plinian``: which commands there are.

Each command is a module that imports what it needs when it runs, so that no command waits for
another's imports.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TextIO

import click

from ..render.screen import Screen
from .commands import COMPLETE, Commands
from .examples import epilog_of
from .version import print_and_leave

EXIT_CODES = (
    "Exit codes: 0 success, 1 a difference (with --exit-code), an object not found, an "
    "answer that never changes (bisect), or a fault found (lint), 2 anything that broke, 130 "
    "interrupted."
)


@click.command(
    cls=Commands,
    name="plinian",
    help="The recorded history of a Kubernetes cluster with Volcano, and its state at any moment."
    "\n\nOptions of a command may stand before it, as in kubectl.",
    epilog=epilog_of("", after=EXIT_CODES),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_and_leave,
    help="Print the version and exit.",
)
def app() -> None:
    """Handle the options that stand before every command."""


GARBAGE = (100_000, 50, 50)
"""The threshold of garbage collection: commands make many objects and few cycles, and end soon."""


ONE_THREAD = "OPENBLAS_NUM_THREADS"
"""NumPy's library of linear algebra starts threads for each processor as it is loaded, which takes
as long as all the rest of NumPy; the only products of matrices here are small."""


def main() -> None:
    """Run the command line and exit with its code; all its output passes through a screen."""
    gc.set_threshold(*GARBAGE)
    os.environ.setdefault(ONE_THREAD, "1")
    # Python has no stream where a shell closed it, as with >&-.
    out, err = sys.stdout or _nothing(), sys.stderr or _nothing()
    sys.stdout, sys.stderr = Screen(out), Screen(err, messages=True)
    try:
        _run()
    except SystemExit:
        sys.stdout, sys.stderr = out, err
        raise
    # After another exception the screens stay in place: Python prints a traceback.
    sys.stdout, sys.stderr = out, err


def _nothing() -> TextIO:
    """Return a stream that discards output and keeps its file number from other files."""
    return Path(os.devnull).open("w", encoding="utf-8")


def _run() -> None:
    if sys.argv[1:2] == [COMPLETE]:  # Completion must be fast: it does without the parser.
        from .completion import answer

        answer(app, sys.argv[3 if sys.argv[2:3] == ["--"] else 2 :])
        return
    app.main(prog_name="plinian")
