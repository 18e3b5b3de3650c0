"""A file that another process keeps from being read is not called damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pods import pods

from plinian.engine.log import open_log
from plinian.engine.log.sealed_folder import read_past_writer
from plinian.engine.log.sqlite_check import checking


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Make a log that is closed."""
    with open_log(tmp_path / "log.db", create=True) as log:
        log.append(pods(1))
    return tmp_path / "log.db"


@pytest.fixture
def reader(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the log's file as one that may only be read."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        yield connection


def test_a_check_that_could_not_be_done_finds_no_damage(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("PRAGMA locking_mode = EXCLUSIVE")
        owner.execute("BEGIN EXCLUSIVE")
        with (
            checking(path.as_uri(), busy_seconds=0) as faults,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            faults()
    with checking(path.as_uri(), busy_seconds=0) as faults:
        assert faults() == []


def test_a_reader_that_comes_while_the_shared_index_is_rebuilt_reads_again(
    reader: sqlite3.Connection,
) -> None:
    statements = iter(("DELETE FROM log", "DELETE FROM log", "SELECT count(*) FROM log"))
    assert read_past_writer(lambda: reader.execute(next(statements)).fetchone()) == (1,)


def test_another_fault_is_raised_at_once(reader: sqlite3.Connection) -> None:
    statements = iter(("SELECT nothing FROM log", "SELECT count(*) FROM log"))
    with pytest.raises(sqlite3.OperationalError, match="nothing"):
        read_past_writer(lambda: reader.execute(next(statements)).fetchone())
