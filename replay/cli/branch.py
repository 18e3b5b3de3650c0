"""``plinian branch``: named continuations of a log."""

from __future__ import annotations

import sys

import click

from . import options
from .command import command, group
from .shell import note, style


@command("branch create")
@click.argument("name", metavar="NAME")
@options.log
@click.option(
    "--at",
    default="end",
    show_default=True,
    metavar="POINT",
    help="Where to fork: a position, or a moment before which the log has no later event; the end "
    "by default.",
)
@click.option(
    "--branch", default="main", show_default=True, metavar="PARENT", help="The branch to continue."
)
def create(name: str, log: str, at: str, branch: str) -> None:
    """Create a branch that shares its parent's past.

    It never changes that past.
    """
    from ..logs.forks import fork_at
    from .open_log import opened

    with opened(log, branch=branch) as opened_log:
        parent, position = fork_at(opened_log.store, at, branch=branch)
        made = opened_log.store.create_branch(name, parent=parent, fork=position)
    note(f"branch {made.name} continues {made.parent} from @{made.fork}")


@command("branch list")
@options.log
@options.text_wide_or_json
def list_branches(log: str, output: str) -> None:
    """List the branches of a log."""
    import msgspec

    from ...engine.log import open_log
    from ..render.documents import json_text
    from ..render.tables import NONE, Table, write_table

    with open_log(log, read_only=True) as store:
        branches = store.branches()
    if output == "json":
        sys.stdout.write(json_text(msgspec.to_builtins(list(branches))) + "\n")
        return
    rows = [[info.name, info.parent or NONE, f"@{info.fork}", f"@{info.last}"] for info in branches]
    write_table(sys.stdout, Table(("BRANCH", "PARENT", "FORK", "LAST"), rows), style=style())


branch = group("branch", "Create and list branches of a log.", create, list_branches)
