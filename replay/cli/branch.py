"""``plinian branch``: named continuations of a log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import options
from .command import command, group
from .shell import note, style

if TYPE_CHECKING:
    from ...engine.log import LogStore


@command("branch create")
@click.argument("name", metavar="NAME")
@options.log
@click.option(
    "--at",
    default="end",
    show_default=True,
    metavar="@POSITION",
    help="Where to fork; the end by default.",
)
@click.option(
    "--branch", default="main", show_default=True, metavar="PARENT", help="The branch to continue."
)
def create(name: str, log: str, at: str, branch: str) -> None:
    """Create a branch that shares its parent's past.

    It never changes that past.
    """
    from ...engine.errors import UsageError
    from .open_log import opened

    with opened(log, branch=branch) as opened_log:
        if at != "end" and "@" not in at:
            raise UsageError(
                f"a branch forks at a position, not at {at!r}",
                now="write --at @1042; plinian events shows positions",
            )
        moment = _fork(opened_log.store, at, branch)
        made = opened_log.store.create_branch(name, parent=moment[0], fork=moment[1])
    note(f"branch {made.name} continues {made.parent} from @{made.fork}")


def _fork(store: LogStore, at: str, branch: str) -> tuple[str, int]:
    """Return the (branch, position) to fork at."""
    from ..moments.points import resolve

    # A position does not depend on the cluster; the first one makes this work with several.
    clusters = store.clusters()
    moment = resolve(store, at, branch=branch, cluster=clusters[0] if clusters else None)
    return moment.branch, moment.known


@command("branch list")
@options.log
@options.text_or_json
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
