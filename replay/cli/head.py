"""``plinian head``: hashes that cover all of a log, to keep in another place."""

from __future__ import annotations

import sys

from . import options
from .command import command
from .shell import style


@command("head")
@options.log
@options.text_or_json
def head(log: str, output: str) -> None:
    """Print the hash of the end of each branch.

    The hash covers every event of the branch and of its past. Keep it in another place and check it
    later with plinian verify --head HASH. That also finds a log whose end was cut off, which
    nothing in the log itself can show.
    """
    import msgspec

    from ..render.documents import json_text
    from ..render.tables import Table, write_table
    from .open_log import opened

    with opened(log, read_only=True) as opened_log:
        heads = opened_log.heads()
    if output == "json":
        sys.stdout.write(json_text(msgspec.to_builtins(heads)) + "\n")
        return
    rows = [[info.branch, f"@{info.position}", str(info.batch), info.hash] for info in heads]
    # A wrapped or shortened hash could not be copied.
    whole = style()._replace(whole=True)
    write_table(sys.stdout, Table(("BRANCH", "LAST", "BATCH", "HASH"), rows), style=whole)
