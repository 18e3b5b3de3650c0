"""What an SQLite file has besides the tables of a pack: a stranger may have written it.

Views and generated columns run SQL when they are read, and triggers when something is written. So a
file with any of them is refused before its first row is read.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ...engine.errors import InputError
from ...engine.log.creation import shipped_tables
from ...engine.sqlite_side_files import opened_to_read

PACK_TABLE = "CREATE TABLE pack (name TEXT PRIMARY KEY, value TEXT NOT NULL)"

_ENTRIES = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_SHOWN = 60

Entry = tuple[str, str, str, str | None]


def check_shape(path: Path) -> None:
    """Check that a file has the tables of a pack, as Plinian creates them, and nothing else.

    :raises InputError: it has something else. A file that is no database, or of another version of
        the tables, is named by what opens it.
    """
    try:
        with opened_to_read(path) as opened:
            there = set(opened.execute(_ENTRIES))
    except (sqlite3.Error, UnicodeDecodeError):
        return
    wanted = _wanted()
    names = {entry[:3] for entry in wanted}
    foreign = sorted(entry for entry in there - wanted if entry[:3] not in names)
    for kind, name, *_ in foreign:
        raise _refused(path, f"{kind} {name[:_SHOWN]!r}, which no pack has")
    for kind, name, *_ in sorted(there - wanted):
        raise _refused(path, f"{kind} {name[:_SHOWN]!r} with other columns than a pack has")


def _wanted() -> set[Entry]:
    with closing(sqlite3.connect(":memory:")) as pristine:
        for statement in shipped_tables("sqlite"):
            pristine.execute(statement)
        pristine.execute(PACK_TABLE)
        return set(pristine.execute(_ENTRIES))


def _refused(path: Path, what: str) -> InputError:
    return InputError(
        f"the file has a {what}: Plinian did not write it so",
        where=str(path),
        now="do not open it with other programs, and ask the sender for the file as it was written",
    )
