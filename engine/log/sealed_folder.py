"""Reading a log in a folder that may not be written, where another user may append to it.

A reader needs two files beside the log: ``-wal``, which holds what was appended of late, and
``-shm``, through which SQLite's processes agree. Who writes makes them; where they are there, a
reader that may write nothing can share them. Where nobody has the log open they are not there, and
the reader may not make them: SQLite then reads a file only if it is promised that the file does not
change. Nobody can promise that here, so the file is looked at after every query: what was read
while it changed does not count.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

SETTLE_SECONDS = 0.02
"""The clock of a file's times may stand still for so long."""

_TRIES = 50


class Stamp(NamedTuple):
    """By what a change of a file is seen."""

    inode: int
    size: int
    modified: int
    changed: int


def is_sealed(path: Path) -> bool:
    """Say whether a reader must do without files of its own, and nobody else's are there."""
    return not os.access(path.parent, os.W_OK) and not wal_of(path).exists()


def lacks_memory(path: Path) -> bool:
    """Say whether a log was left, or copied, without the file through which processes agree."""
    shared = path.with_name(f"{path.name}-shm")
    return not os.access(path.parent, os.W_OK) and wal_of(path).exists() and not shared.exists()


def wal_of(path: Path) -> Path:
    """Return the file that holds what was appended of late."""
    return path.with_name(f"{path.name}-wal")


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file, once it is old enough to show the next change."""
    for _ in range(_TRIES):
        stamp = _stamp(path)
        if abs(time.time_ns() - stamp.changed) > SETTLE_SECONDS * 1e9:
            return stamp
        time.sleep(SETTLE_SECONDS)
    return stamp


def is_unchanged(path: Path, stamp: Stamp) -> bool:
    """Say whether nobody has written to a file since its stamp was taken, or is about to."""
    return _stamp(path) == stamp and not wal_of(path).exists()


def _stamp(path: Path) -> Stamp:
    found = path.stat()
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
