"""``plinian branch``: named continuations of a log."""

from __future__ import annotations

import sys
from typing import Annotated

from ..questions.fields import Field
from . import options
from .answers import write_json
from .command import command, group
from .shell import note, style


@command("branch create")
def create(
    name: Annotated[str, Field("", "NAME")],
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    at: Annotated[
        str,
        Field(
            "Where to fork: a position, or a moment before which the log has no later event; the "
            "end by default.",
            "POINT",
        ),
    ] = "end",
    branch: Annotated[str, Field("The branch to continue.", "PARENT")] = "main",
) -> None:
    """Create a branch that shares its parent's past.

    It never changes that past.
    """
    from ..logs.forks import fork_at
    from .open_log import opened

    with opened(log, branch=branch) as opened_log:
        parent, position = fork_at(opened_log.store, at, branch=branch)
        created = opened_log.store.create_branch(name, parent=parent, fork=position)
    note(f"branch {created.name} continues {created.parent} from @{created.fork}")


@command("branch list")
def list_branches(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    output: options.TextWideOrJson = "text",
) -> None:
    """List the branches of a log."""
    from ...engine.log import open_log
    from ..render.tables import NONE, Table, write_table

    with open_log(log, read_only=True) as store:
        branches = store.branches()
    if output == "json":
        write_json(branches)
        return
    rows = [[info.name, info.parent or NONE, f"@{info.fork}", f"@{info.last}"] for info in branches]
    write_table(sys.stdout, Table(("BRANCH", "PARENT", "FORK", "LAST"), rows), style=style())


branch = group("branch", "Create and list branches of a log.", create, list_branches)
