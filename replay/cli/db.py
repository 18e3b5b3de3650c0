"""``plinian db``: the tables of a log, and its size."""

from __future__ import annotations

import sys

import click

from . import options
from .command import command, group
from .shell import note, style, write_lines

_INDEX_REBUILT_SINCE = "0004"
"""The schema revision whose upgrade drops what is derived from the log."""


@command("db info")
@options.log
@options.text_wide_or_json
def info(log: str, output: str) -> None:
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
        write_lines(info_lines(figures, style=style()))


@command("db upgrade")
@options.log
@click.argument("revision", required=False, default="head", metavar="[REVISION]")
def upgrade(log: str, revision: str) -> None:
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


@command("db downgrade")
@click.argument("revision", metavar="REVISION", help="The schema revision to go back to.")
@options.log
@click.option("--yes", is_flag=True, help="Needed for base, which drops the whole log.")
def downgrade(revision: str, log: str, yes: bool) -> None:
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


db = group("db", "Upgrade, downgrade, describe a log's tables.", info, upgrade, downgrade)
