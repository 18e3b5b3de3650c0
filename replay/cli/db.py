"""``plinian db``: the tables of a log, and its size."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import options
from .shell import guarded, note, style

app = typer.Typer(
    help="Upgrade, downgrade, describe a log's tables.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_INDEX_REBUILT_SINCE = "0004"
"""The schema revision whose upgrade drops what is derived from the log."""


@app.command()
@guarded
def info(
    log: options.Place = options.DEFAULT_LOG,
    output: options.JsonOrText = "text",
) -> None:
    """Print where a log is and what it holds.

    Its location, size, branches and clusters.
    """
    import msgspec

    from ...engine.log import open_log
    from ..render.documents import json_text
    from ..render.figures import info_lines

    with open_log(log, read_only=True) as store:
        figures = store.info()
    if output == "json":
        sys.stdout.write(json_text(msgspec.to_builtins(figures)) + "\n")
    else:
        sys.stdout.writelines(info_lines(figures, style=style()))


@app.command()
@guarded
def upgrade(
    log: options.Place = options.DEFAULT_LOG,
    revision: Annotated[str, typer.Argument(metavar="[REVISION]")] = "head",
) -> None:
    """Upgrade the tables to a schema revision; events do not change.

    By default to the newest one.
    """
    from ...engine.log import migrating

    before = migrating.info(log).current
    migrating.upgrade(log, revision)
    now = migrating.info(log).current
    note(f"the tables were at revision {before}, now at {now}")
    if before is not None and before < _INDEX_REBUILT_SINCE <= (now or ""):
        note("rebuild the index and the checkpoints: plinian checkpoint build")


@app.command()
@guarded
def downgrade(
    revision: Annotated[
        str, typer.Argument(metavar="REVISION", help="The schema revision to go back to.")
    ],
    log: options.Place = options.DEFAULT_LOG,
    yes: Annotated[
        bool, typer.Option("--yes", help="Needed for base, which drops the whole log.")
    ] = False,
) -> None:
    """Downgrade the tables to an older revision, for an older Plinian.

    Going back to base drops the log with everything in it, and needs --yes.
    """
    from ...engine.errors import UsageError
    from ...engine.log import migrating

    if revision == "base" and not yes:
        raise UsageError(
            "going back to base drops the log with all its events; nothing was done",
            where=log,
            now="to do it, run it again with --yes",
        )
    before = migrating.info(log).current
    migrating.downgrade(log, revision)
    note(f"the tables were at revision {before}, now at {migrating.info(log).current}")
