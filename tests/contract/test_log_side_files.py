"""A reader of a log leaves no ``-wal`` and no ``-shm`` beside it, and disturbs no one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from pods import pods

from plinian.engine.log import Query, open_log
from plinian.engine.sqlite_side_files import opened_to_read
from plinian.replay.logs.completion_names import open_names


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Make a log that is closed."""
    with open_log(tmp_path / "log.db", create=True) as log:
        log.append(pods(1, 2, 3))
    return tmp_path / "log.db"


def _beside(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir() if file != path)


def test_a_reader_leaves_nothing_beside_the_log(path: Path) -> None:
    before = path.stat().st_mtime_ns
    with open_log(path, read_only=True) as log:
        assert len(list(log.read(Query()))) == 3
        assert _beside(path) != []
    assert _beside(path) == []
    assert path.stat().st_mtime_ns == before


def test_completion_and_a_look_at_a_pack_leave_nothing_either(path: Path) -> None:
    with open_names(str(path)) as names:
        assert names.branches() == ["main"]
    assert _beside(path) == []
    with opened_to_read(path) as connection:
        connection.execute("SELECT * FROM log").fetchall()
    assert _beside(path) == []


def test_the_last_of_several_readers_leaves_nothing(path: Path) -> None:
    first, second = (open_log(path, read_only=True) for _ in range(2))
    with closing(first), closing(second):
        for log in (first, second):
            assert len(list(log.read(Query()))) == 3
        first.close()
        assert _beside(path) != []
        assert len(list(second.read(Query()))) == 3
    assert _beside(path) == []


def test_a_reader_that_goes_leaves_a_writer_its_files(path: Path) -> None:
    with open_log(path) as writer:
        writer.append(pods(10))
        with open_log(path, read_only=True) as log:
            assert len(list(log.read(Query()))) == 4
        assert _beside(path) == ["log.db-shm", "log.db-wal"]
        writer.append(pods(20))
    with open_log(path, read_only=True) as log:
        assert len(list(log.read(Query()))) == 5


def test_a_reader_finishes_what_it_kept_a_writer_from_finishing(path: Path) -> None:
    with open_log(path, read_only=True) as log:
        list(log.read(Query()))
        with open_log(path) as writer:
            writer.append(pods(10))
        assert _beside(path) != []
    assert _beside(path) == []
    with open_log(path, read_only=True) as log:
        assert len(list(log.read(Query()))) == 4


def test_appends_that_a_killed_writer_left_are_in_the_log_after_a_reader(
    path: Path, tmp_path: Path
) -> None:
    left = tmp_path / "left"
    left.mkdir()
    with open_log(path) as writer:
        writer.append(pods(10))
        for side in ("", "-wal"):
            shutil.copy(f"{path}{side}", left)
    copy = left / path.name
    with open_log(copy, read_only=True) as log:
        assert len(list(log.read(Query()))) == 4
    assert _beside(copy) == []
    with open_log(copy, read_only=True) as log:
        assert len(list(log.read(Query()))) == 4


_WRITER = """
import sys
from plinian.engine.log import open_log
from pods import pods
for number in range(40):
    with open_log(sys.argv[1]) as log:
        log.append(pods(100 + number))
"""


def test_readers_that_come_and_go_lose_nothing_of_a_writer_that_comes_and_goes(path: Path) -> None:
    command = [sys.executable, "-c", _WRITER, str(path)]
    paths = {"PYTHONPATH": ":".join(sys.path)}
    writer = subprocess.Popen(command, env=paths)
    seen, running = 0, True
    while running:
        running = writer.poll() is None
        with open_log(path, read_only=True) as log:
            count = len(list(log.read(Query())))
        assert count >= seen
        seen = count
    assert writer.returncode == 0
    assert seen == 43
    assert _beside(path) == []
