"""Write the text from which new SQLite logs get their tables.

    python tools/sqlite_tables.py

Run it when a migration was added; a test says so.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from plinian.engine.log.creation import tables_text
from plinian.engine.log.location import parse_location
from plinian.engine.log.migrating import connected, migrate

TARGET = Path(__file__).parent.parent / "engine" / "log" / "sqlite_tables.sql"


def migrated_tables(folder: Path) -> str:
    """Return the text of the tables that the migrations make in a new file in a folder."""
    location = parse_location(str(folder / "migrated.db"))
    with connected(location, create=True) as connection:
        migrate(connection)
    return tables_text(location)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        TARGET.write_text(migrated_tables(Path(folder)))
