"""The command line ``plinian``: which commands there are.

Each command is a module that imports what it needs when it runs, so that no command waits for
another's imports.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer
from typer.main import get_command

from ..render.screen import Screen
from . import (
    belief,
    bisect,
    branch,
    checkpoint,
    completion,
    db,
    demo,
    describe,
    diff,
    digest,
    drift,
    events,
    export,
    get,
    head,
    history,
    ingest,
    lint,
    release,
    session,
    simulate,
    status,
    upgrade_check,
    verify,
    version,
)
from .arguments import Commands
from .examples import add_examples, epilog_of

EXIT_CODES = (
    "Exit codes: 0 success, 1 a difference (with --exit-code), an object not found, an "
    "answer that never changes (bisect), or a fault found (lint), 2 anything that broke, 130 "
    "interrupted."
)

app = typer.Typer(
    cls=Commands,
    name="plinian",
    help="The recorded history of a Kubernetes cluster with Volcano, and its state at any moment."
    "\n\nOptions of a command may stand before it, as in kubectl.",
    epilog=epilog_of("", after=EXIT_CODES),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def plinian(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=version.print_and_leave,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Handle the options that stand before every command."""


app.command()(ingest.ingest)
app.command()(status.status)
app.command()(events.events)
app.command()(get.get)
app.command()(describe.describe)
app.command()(history.history)
app.command()(diff.diff)
app.command()(digest.digest)
app.command()(belief.belief)
app.command()(drift.drift)
app.command()(verify.verify)
app.command()(head.head)
app.command()(export.export)
app.command()(session.session)
app.command()(bisect.bisect)
app.command("upgrade-check")(upgrade_check.upgrade_check)
app.command()(simulate.simulate)
app.command()(lint.lint)
app.add_typer(release.app, name="release")
app.add_typer(db.app, name="db")
app.add_typer(checkpoint.app, name="checkpoint")
app.add_typer(branch.app, name="branch")
app.command()(demo.demo)
app.command()(completion.completion)
app.command("__complete", hidden=True)(completion.candidates)
app.command()(version.version)
add_examples(app)


GARBAGE = (100_000, 50, 50)
"""The threshold of garbage collection: commands make many objects and few cycles, and end soon."""


def main() -> None:
    """Run the command line and exit with its code; all its output passes through a screen."""
    gc.set_threshold(*GARBAGE)
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
    if sys.argv[1:2] == ["__complete"]:  # Completion must be fast: it does without the parser.
        completion.answer(get_command(app), sys.argv[3 if sys.argv[2:3] == ["--"] else 2 :])
        return
    app(prog_name="plinian")
