"""``plinian db``: the tables of a log, and its size."""

from __future__ import annotations

from typing import Annotated

from ..questions.fields import Field
from . import options
from .answers import write_answer
from .command import command, group
from .shell import note, style

_INDEX_REBUILT_SINCE = "0004"
"""The schema revision whose upgrade drops what is derived from the log."""


@command("db info")
def info(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    output: options.TextWideOrJson = "text",
) -> None:
    """Print where a log is and what it holds.

    Its location, size, branches and clusters.
    """
    from ...engine.log import open_log
    from ..render.figures import info_lines

    with open_log(log, read_only=True) as store:
        figures = store.info()
    write_answer(figures, info_lines(figures, style=style()), output)


@command("db upgrade")
def upgrade(
    revision: Annotated[str, Field("", "[REVISION]")] = "head",
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
) -> None:
    """Upgrade the tables to a schema revision; events do not change.

    By default to the newest one.
    """
    from ...engine.log import migrating

    before = migrating.info(log).current
    migrating.upgrade(log, revision)
    now = migrating.info(log).current
    note(f"the tables were at revision {before}, now at {now}")
    # Revisions are text of four digits, which sorts as the numbers do.
    if before is not None and before < _INDEX_REBUILT_SINCE <= (now or ""):
        note("rebuild the index and the checkpoints: plinian checkpoint build")


@command("db downgrade")
def downgrade(
    revision: Annotated[str, Field("The schema revision to go back to.", "REVISION")],
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    yes: Annotated[bool, Field("Needed for base, which drops the whole log.")] = False,
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


db = group("db", "Upgrade, downgrade, describe a log's tables.", info, upgrade, downgrade)
