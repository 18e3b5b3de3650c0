"""``plinian head``: hashes that cover all of a log, to keep in another place."""

from __future__ import annotations

import sys

from . import options
from .answers import write_json
from .command import command
from .shell import note, style

_DIGITS = 64
"""Of a hash."""

_LEAST = 16
"""Characters of a hash that the narrowest terminal shows."""

_GAP = 3
"""Spaces between two columns."""


@command("head")
def head(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    output: options.TextWideOrJson = "text",
) -> None:
    """Print the hash of the end of each branch.

    The hash covers every event of the branch and of its past. Keep it in another place and check it
    later with plinian verify --head HASH. That also finds a log whose end was cut off, which
    nothing in the log itself can show. A terminal that is too narrow shows the begin and the end of
    a hash; -o wide prints all of it.
    """
    from ..render.layout import shortened_word
    from ..render.tables import Table, write_table
    from .open_log import opened

    with opened(log, read_only=True) as opened_log:
        heads = opened_log.heads()
    if output == "json":
        write_json(heads)
        return
    fitted = style()
    width = None if fitted.whole else fitted.width
    rows = [[info.branch, f"@{info.position}", str(info.batch), info.hash] for info in heads]
    headers = ("BRANCH", "LAST", "BATCH", "HASH")
    beside = sum(max(map(len, column)) + _GAP for column in zip(headers, *rows, strict=True))
    # The hash is the last column: it has what the others leave.
    beside -= _DIGITS + _GAP
    narrow = width is not None and width < beside + _DIGITS
    room = _DIGITS if width is None or not narrow else max(_LEAST, width - beside)
    shown = [[*row, shortened_word(digits, room)] for *row, digits in rows]
    write_table(sys.stdout, Table(headers, shown), style=fitted)
    if narrow:
        note("the hashes are shortened: -o wide prints them whole, to be copied")
