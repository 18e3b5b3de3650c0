"""What an error of SQLite says of a log: damage, another process, or the place of the file."""

from __future__ import annotations

import sqlite3
from types import MappingProxyType

from ..errors import LogCorrupt, LogError, LogUnavailable

_ADVICE = MappingProxyType(
    {
        "SQLITE_BUSY": "wait until the other writer is done, or stop it",
        "SQLITE_LOCKED": "wait until the other writer is done, or stop it",
        "SQLITE_READONLY": "make the file and its folder writable, or copy the log elsewhere",
        "SQLITE_CANTOPEN": "make the file and its folder readable and writable",
        "SQLITE_PERM": "make the file and its folder readable and writable",
        "SQLITE_FULL": "make room on the disk and run the same command again",
        "SQLITE_IOERR": "check the disk and run the same command again",
    }
)
"""Families of errors that say nothing of the file's content, and what helps."""

_MAY_PASS = frozenset({"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR"})


def family_of(fault: sqlite3.Error) -> str:
    """Return the name of SQLite's primary code, such as ``SQLITE_BUSY``, or ``""``."""
    code = getattr(fault, "sqlite_errorname", "") or ""
    return "_".join(code.split("_")[:2])


def is_damage(fault: sqlite3.Error) -> bool:
    """Say whether the content of the file is at fault, and not the place or another process."""
    return family_of(fault) in ("SQLITE_CORRUPT", "SQLITE_NOTADB")


def explained(fault: sqlite3.Error, where: str) -> LogError:
    """Return the error of a log that an error of SQLite means."""
    family = family_of(fault)
    if family == "SQLITE_NOTADB":
        return LogUnavailable(
            "the file is not an SQLite database",
            where=where,
            now="check the path; input files are given to: plinian ingest PATH",
        )
    if family == "SQLITE_CORRUPT":
        return damage_of(fault, where)
    if family in _ADVICE:
        unavailable = LogUnavailable(str(fault), where=where, now=_ADVICE[family])
        unavailable.may_pass = family in _MAY_PASS
        return unavailable
    return LogUnavailable(
        f"SQLite refuses: {fault}",
        where=where,
        now="see whether it is damaged: plinian verify; if that says the same, restore a copy",
    )


def damage_of(fault: Exception, where: str) -> LogCorrupt:
    """Return the error of a damaged file."""
    return LogCorrupt(
        f"the file is damaged: {fault}",
        position=0,
        where=where,
        now="restore a copy, or ingest the inputs again into a new log",
    )
