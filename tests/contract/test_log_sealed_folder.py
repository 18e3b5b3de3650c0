"""Readers in a folder that they may not write, while another user appends to the log in it."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pods import message, pods
from unprivileged import another_user, readable_folder

from plinian.engine.errors import PlinianError
from plinian.engine.log import LogStore, Query, open_log
from plinian.engine.log import rest as _rest  # noqa: F401 -- verification imports these late
from plinian.engine.log import schema as _schema  # noqa: F401
from plinian.engine.log import sqlite_check as _sqlite_check  # noqa: F401
from plinian.engine.log import verify as _verify  # noqa: F401

pytestmark = pytest.mark.skipif(
    os.getuid() != 0, reason="only root can become another user, whom a folder shuts out"
)


@pytest.fixture
def place() -> Iterator[str]:
    """Make a log of 100 events in a folder that only its owner may write."""
    with readable_folder() as folder:
        path = folder / "log.db"
        with open_log(path, create=True) as log:
            log.append(pods(*range(1, 101)))
        path.chmod(0o644)  # New logs are their owner's alone.
        yield str(path)


def append(place: str, *revisions: int) -> None:
    """Append as the owner, and close the log."""
    with open_log(place) as log:
        log.append(pods(*revisions))


def reader(place: str) -> Generator[Any, str, None]:
    """Answer questions about a log that is opened once, with the first of them."""
    question = yield None
    try:
        log = open_log(place, read_only=True)
    except PlinianError as fault:
        yield type(fault).__name__, f"{fault.what} {fault.now}"
        return
    with log:
        while True:
            question = yield _answer(log, place, question)


def _answer(log: LogStore, place: str, question: str) -> Any:
    try:
        match question:
            case "last":
                return log.last()
            case "read":
                return len(list(log.read(Query())))
            case "verify":
                return log.verify().events
            case "follow 1" | "follow 30":
                query = Query(after=100, limit=int(question.removeprefix("follow ")))
                return [one.position for one in log.follow(query, timeout=300, poll=0.05)]
            case _:
                Path(f"{place}-shm").touch()
                return "written"
    except PlinianError as fault:
        return type(fault).__name__, fault.what
    except OSError as fault:
        return type(fault).__name__


def test_another_user_really_may_not_write(place: str) -> None:
    with another_user(reader, place) as ask:
        assert ask("write") == "PermissionError"
        assert (ask("last"), ask("read"), ask("verify")) == (100, 100, 100)
    assert [path.name for path in Path(place).parent.iterdir()] == ["log.db"]


def test_what_was_appended_and_closed_is_seen(place: str) -> None:
    with another_user(reader, place) as ask:
        assert ask("last") == 100
        for end in range(110, 200, 10):
            append(place, *range(end - 9, end + 1))
            assert (ask("last"), ask("read"), ask("verify")) == (end, end, end)


def test_what_is_appended_while_the_writer_stays_is_seen(place: str) -> None:
    with another_user(reader, place) as ask, open_log(place) as log:
        assert ask("last") == 100
        for end in range(110, 200, 10):
            log.append(pods(*range(end - 9, end + 1)))
            assert (ask("last"), ask("read"), ask("verify")) == (end, end, end)


def test_a_reader_that_shares_the_writers_files_sees_all_when_the_writer_is_gone(
    place: str,
) -> None:
    with another_user(reader, place) as ask:
        with open_log(place) as log:
            log.append(pods(101))
            assert (ask("last"), ask("verify")) == (101, 101)
            log.append(pods(102))
        assert (ask("last"), ask("verify")) == (102, 102)
        append(place, 103)
        assert (ask("last"), ask("verify")) == (103, 103)
    append(place, 104)
    with another_user(reader, place) as ask:
        assert ask("verify") == 104


def test_a_follower_sees_what_another_user_appends(place: str) -> None:
    with another_user(reader, place) as ask:
        assert ask("last") == 100
        later = threading.Timer(0.4, append, (place, *range(101, 131)))
        later.start()
        assert ask("follow 30") == [*range(101, 131)]
        later.join()


def test_a_large_append_that_is_folded_into_the_file_is_no_corruption(place: str) -> None:
    """What was read before the file changed must not be mixed with what comes after it."""
    with another_user(reader, place) as ask:
        assert ask("read") == 100
        stop = threading.Event()

        def keep_appending() -> None:
            revision = 1000
            while not stop.is_set():
                append(place, *range(revision, revision + 50))
                revision += 50

        writing = threading.Thread(target=keep_appending)
        writing.start()
        try:
            found = [ask(question) for question in ("last", "read", "verify") * 15]
        finally:
            stop.set()
            writing.join()
        told = [one for one in found if not isinstance(one, int)]
        assert all(name == "LogUnavailable" for name, _ in told), told
        assert all("another process writes" in what for _, what in told), told
        assert ask("verify") == ask("last") >= 150


def test_a_copy_whose_writer_did_not_end_says_what_is_missing(place: str) -> None:
    with readable_folder() as other, another_user(reader, str(other / "log.db")) as ask:
        with open_log(place) as log:
            log.append(pods(101))
            for end in ("", "-wal"):
                shutil.copy(place + end, other / f"log.db{end}")
        name, text = ask("last")
    assert name == "LogUnavailable"
    assert "-shm" in text


def test_a_line_of_a_log_is_enough_to_follow(place: str) -> None:
    with another_user(reader, place) as ask, open_log(place) as log:
        log.append([message("one")])
        assert ask("follow 1") == [101]
