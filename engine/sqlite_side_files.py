"""The files that SQLite keeps beside a log while it is open: ``-wal`` and ``-shm``.

The last process that closes the log moves what ``-wal`` holds into the log, and removes both. A
process that may only read cannot: without what is here, each command that reads would leave them
behind, and a copy of the log without them could lack its last events.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path


def remove_side_files(path: Path) -> None:
    """Remove the files beside a log that was read and closed, if no one else has it open.

    SQLite does it, with a connection that may write: the last one removes them, under a lock that
    it does not get while anyone has the log open. Where this user may not write, they stay.
    """
    beside = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
    is_ours = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if not is_ours or not any(file.exists() for file in beside):
        return
    uri = f"{path.absolute().as_uri()}?mode=rw"
    # Another process has locked it, or it is no log: then nothing is to be done.
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True, timeout=0)) as last:
        last.execute("SELECT 1 FROM sqlite_master").fetchone()


@contextmanager
def opened_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a log that is only read, and leave nothing beside it.

    :raises sqlite3.Error: the file cannot be opened.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            yield connection
    finally:
        remove_side_files(path)
