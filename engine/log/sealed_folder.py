"""Reading a log in a folder that may not be written, where another user may append to it.

A reader needs two files beside the log: ``-wal``, which has the last appends, and ``-shm``, which
SQLite's processes share. A writer creates them, and a reader without write permission can share
them. While no process has the log open, they do not exist, and such a reader cannot create them.
SQLite then reads the file only as ``immutable``. But a writer may come at any time, so the file is
checked after every query: rows that were read while it changed do not count.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from .sqlite_faults import family_of

_T = TypeVar("_T")

SETTLE_SECONDS = 0.02
"""Resolution of the times of a file, at worst."""

_TRIES = 50
_PAUSE_SECONDS = 0.02
"""How often, and after how long, a reader asks again while a writer is in the way."""


class Stamp(msgspec.Struct, frozen=True):
    """The attributes of a file by which a change is detected."""

    inode: int
    size: int
    modified: int
    changed: int


def is_sealed(path: Path) -> bool:
    """Say whether a log without a ``-wal`` is in a folder that this user cannot write."""
    return not os.access(path.parent, os.W_OK) and not wal_of(path).exists()


def lacks_memory(path: Path) -> bool:
    """Say whether a log with a ``-wal`` lacks the ``-shm``, and this user cannot create it."""
    shared = path.with_name(f"{path.name}-shm")
    return not os.access(path.parent, os.W_OK) and wal_of(path).exists() and not shared.exists()


def wal_of(path: Path) -> Path:
    """Return the ``-wal`` file, which has the last appends."""
    return path.with_name(f"{path.name}-wal")


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file, after waiting until the next change will show in it."""
    for _ in range(_TRIES):
        stamp = _stamp(path)
        if abs(time.time_ns() - stamp.changed) > SETTLE_SECONDS * 1e9:
            return stamp
        time.sleep(SETTLE_SECONDS)
    return stamp


def is_unchanged(path: Path, stamp: Stamp) -> bool:
    """Say whether a file has not changed since its stamp, and no writer has it open."""
    return _stamp(path) == stamp and not wal_of(path).exists()


def read_past_writer(read: Callable[[], _T]) -> _T:
    """Return what a function reads; read again while a writer rebuilds what processes share.

    A writer that opens or restarts the ``-wal`` rebuilds the ``-shm``. A reader that comes
    meanwhile would have to rebuild it too. If it may not write the file, SQLite says that it
    attempts to write a read-only database, though nothing is wrong with the log.
    """
    for _ in range(_TRIES):
        try:
            return read()
        except sqlite3.OperationalError as fault:
            if family_of(fault) != "SQLITE_READONLY":
                raise
            time.sleep(_PAUSE_SECONDS)
    return read()


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
