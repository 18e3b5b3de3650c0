"""The file of a pack: a log in SQLite without other files beside it, and a table to read by eye."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path

from ...engine.errors import LogUnavailable
from ...engine.events import Event
from ...engine.log import open_log
from ...engine.log.creation import PRIVATE
from ...engine.log.event_packing import RAW, Block, Packer
from ...engine.sqlite_side_files import opened_to_read
from .shape import PACK_TABLE

_AT_ONCE = 5_000
_BESIDE = ("", "-wal", "-shm", "-journal")

Progress = Callable[[str, int, int], None]
"""Called with what is done, how much of it is, and how much there is in all."""

Summary = Mapping[str, str]
"""What the table ``pack`` holds: names and values, in order."""


@contextmanager
def replacing(path: Path, *, keep: bool = True) -> Iterator[Path]:
    """Yield a place beside a file; what is there in the end replaces the file, or nothing does.

    :param keep: False removes it in the end.
    """
    beside = path.with_name(f".{path.name}.part")
    _remove(beside)
    try:
        # A part of an earlier run that was killed.
        yield beside
        if not keep:
            return
        # Before the name: the pack is never readable for others, not even for a moment.
        beside.chmod(PRIVATE)
        beside.replace(path)
    finally:
        _remove(beside)


def _remove(path: Path) -> None:
    for end in _BESIDE:
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).unlink()


def counter(progress: Progress | None, what: str, total: int) -> Callable[[int], None] | None:
    """Return a function to call with how much of something is done; None if no one listens."""
    if progress is None:
        return None
    return lambda done: progress(what, done, total)


def write_events(
    path: Path, events: Iterable[Event], *, progress: Callable[[int], None] | None = None
) -> int:
    """Append events to a new log, and return how many there were."""
    rest, written = iter(events), 0
    with open_log(path, create=True) as store:
        while slice_ := list(islice(rest, _AT_ONCE)):
            appended = store.append(slice_)
            assert len(appended.appended) == len(slice_), "each event of a slice is another one"
            written += len(slice_)
            if progress is not None:
                progress(written)
    return written


def seal(path: Path, summary: Summary, *, plain: bool = False) -> None:
    """Add the table ``pack``, and make the log one file without free pages.

    :param plain: store payloads without compression, so that a search of the file's bytes finds
        whatever is in it.
    :raises LogUnavailable: it cannot be written.
    """
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            # Pages that become free are overwritten: what is left out must not stay in the file.
            connection.execute("PRAGMA secure_delete = ON")
            if plain:
                _decompress(connection)
            connection.execute(PACK_TABLE)
            connection.executemany("INSERT INTO pack VALUES (?, ?)", summary.items())
            # One file can be sent; a log beside it, with its last pages, would be forgotten.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("VACUUM")
    except sqlite3.Error as fault:
        raise LogUnavailable(f"the pack cannot be written: {fault}", where=str(path)) from fault


def _decompress(connection: sqlite3.Connection) -> None:
    """Store all payloads as they are; hashes are of the uncompressed bytes, so none changes.

    The dictionary goes too: it was made from objects of another cluster.
    """
    packer = Packer(
        {row[0]: row[1] for row in connection.execute("SELECT id, data FROM dictionary")}
    )
    guards = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'payload_block'"
    ).fetchall()
    # The log's triggers refuse to change a block; nothing of it changes here but its form.
    for name, _ in guards:
        connection.execute(f'DROP TRIGGER "{name}"')
    columns = "first, last, codec, dictionary_id, sizes, data"
    for row in connection.execute(f"SELECT {columns} FROM payload_block").fetchall():  # noqa: S608
        _, payloads = packer.unpack(Block(*row))
        connection.execute(
            "UPDATE payload_block SET codec = ?, dictionary_id = NULL, data = ? WHERE first = ?",
            (RAW, payloads, row[0]),
        )
    for _, sql in guards:
        connection.execute(sql)
    connection.execute("DELETE FROM dictionary")


def summary_in(path: Path) -> dict[str, str]:
    """Return the table ``pack`` of a file; empty if it has none."""
    with opened_to_read(path) as connection:
        try:
            return dict(connection.execute("SELECT name, value FROM pack ORDER BY rowid"))
        # There is no such table: it is a log, but no pack.
        except sqlite3.DatabaseError:
            return {}
