"""Write the text from which new logs on Postgres get their tables.

    python tools/postgres_tables.py URL

The URL is of a log that does not exist yet, in a separate schema; it is left empty. Run it when a
migration was added; a test says so.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sqlalchemy import event

from plinian.engine.log.creation import as_text
from plinian.engine.log.location import parse_location
from plinian.engine.log.migrating import connected, downgrade, migrate

TARGET = Path(__file__).parent.parent / "engine" / "log" / "postgres_tables.sql"
DEFINING = ("CREATE ", "ALTER ", "DROP ")


def migrating_statements(place: str) -> str:
    """Return the text of the statements by which the migrations make the tables of a new log."""
    sent: list[str] = []

    def keep(*about: Any) -> None:
        lines = about[2].replace("%%", "%").strip().splitlines()
        statement = "\n".join(line.rstrip() for line in lines)
        if statement.startswith(DEFINING):
            sent.append(statement)

    with connected(parse_location(place), create=True) as connection:
        event.listen(connection, "before_cursor_execute", keep)
        migrate(connection)
    return as_text(sent)


if __name__ == "__main__":
    TARGET.write_text(migrating_statements(sys.argv[1]), "utf-8")
    downgrade(sys.argv[1], "base")
