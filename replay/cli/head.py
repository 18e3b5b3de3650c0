"""``plinian head``: the hashes that commit to all of a log, to be kept elsewhere."""

from __future__ import annotations

import sys

from . import options
from .shell import guarded, style


@guarded
def head(log: options.Place = options.DEFAULT_LOG, output: options.JsonOrText = "text") -> None:
    """Print the hash of the end of each branch.

    It commits to every event of the branch and of its past. Keep it in another place, and compare
    later with plinian verify --head HASH: that finds an end that was cut off, which nothing in the
    log itself can show.
    """
    import msgspec

    from ..render.documents import json_text
    from ..render.tables import Table, write_table
    from .opening import opened

    with opened(log, read_only=True) as opened_log:
        heads = opened_log.heads()
    if output == "json":
        sys.stdout.write(json_text(msgspec.to_builtins(heads)) + "\n")
        return
    rows = [[info.branch, f"@{info.position}", str(info.batch), info.hash] for info in heads]
    # A hash in two pieces could not be copied: lines may be longer than the terminal is wide.
    whole = style()._replace(width=None)
    write_table(sys.stdout, Table(("BRANCH", "LAST", "BATCH", "HASH"), rows), style=whole)
