"""Databases that are missing, foreign, read-only, full or gone: what, where, what now."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from pods import pods

from plinian.engine.errors import LogCorrupt, LogError, LogNotFound, LogUnavailable
from plinian.engine.log import open_log, patience
from plinian.engine.log.location import parse_location


def _explains(fault: LogError, place: str) -> None:
    assert fault.what
    assert place in fault.where
    assert fault.now


def test_a_missing_file_is_not_found(sqlite_log_path: str) -> None:
    with pytest.raises(LogNotFound) as caught:
        open_log(sqlite_log_path)
    _explains(caught.value, sqlite_log_path)
    assert not Path(sqlite_log_path).exists()


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    place = str(tmp_path / "no" / "log.db")
    with pytest.raises(LogUnavailable) as caught:
        open_log(place, create=True)
    _explains(caught.value, place)


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(LogNotFound, match="not a file"):
        open_log(tmp_path)


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("content", [b"kind: Pod\n" * 200, b"\0" * 5000], ids=["yaml", "zeros"])
def test_a_file_that_is_no_database_is_left_alone(
    tmp_path: Path,
    *,
    create: bool,
    content: bytes,
) -> None:
    path = tmp_path / "pods.yaml"
    path.write_bytes(content)
    with pytest.raises(LogError) as caught:
        open_log(path, create=create)
    _explains(caught.value, str(path))
    assert path.read_bytes() == content


@pytest.mark.parametrize("create", [False, True])
def test_another_programs_database_is_left_alone(
    sqlite_log_path: str,
    *,
    create: bool,
) -> None:
    with sqlite3.connect(sqlite_log_path) as other:
        other.execute("CREATE TABLE bookmarks (url)")
    before = Path(sqlite_log_path).read_bytes()
    with pytest.raises(LogUnavailable, match="not a Plinian log") as caught:
        open_log(sqlite_log_path, create=create)
    _explains(caught.value, sqlite_log_path)
    assert Path(sqlite_log_path).read_bytes() == before


def test_an_empty_file_becomes_a_log_only_when_asked(sqlite_log_path: str) -> None:
    Path(sqlite_log_path).touch()
    with pytest.raises(LogNotFound):
        open_log(sqlite_log_path)
    with open_log(sqlite_log_path, create=True) as log:
        assert log.append(pods(1)).last == 1


def test_a_log_cut_in_half_says_so(sqlite_log_path: str) -> None:
    with open_log(sqlite_log_path, create=True) as log:
        log.append(pods(*range(500)))
    path = Path(sqlite_log_path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises((LogCorrupt, LogUnavailable)) as caught, open_log(path) as log:
        log.verify()
    _explains(caught.value, str(path))


def test_reading_only_refuses_to_write(log_place: str) -> None:
    with open_log(log_place, create=True) as log:
        log.append(pods(1))
    with open_log(log_place, read_only=True) as log:
        assert log.last() == 1
        with pytest.raises(LogUnavailable, match="reading only"):
            log.append(pods(2))


_APPEND = """
import sys
from plinian.engine.errors import LogUnavailable
from plinian.engine.log import Query, open_log
sys.path.insert(0, sys.argv[2])
from pods import pods
with open_log(sys.argv[1], read_only=True) as log:
    assert len(list(log.read(Query()))) == 1
    log.verify()
try:
    with open_log(sys.argv[1]) as log:
        log.append(pods(*range(2, 4000)))
except LogUnavailable as fault:
    print(fault.what, "|", fault.where, "|", fault.now)
    sys.exit(2)
"""

_APPENDING = [sys.executable, "-c", _APPEND]
_TESTS = str(Path(__file__).parents[1] / "support")


def test_a_read_only_file_and_folder_can_be_read_but_not_appended_to(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    path = folder / "log.db"
    with open_log(path, create=True) as log:
        log.append(pods(1))
    path.chmod(0o444)
    folder.chmod(0o555)
    # File modes bind root only once it has given up the right to override them.
    right = "-dac_override,-dac_read_search"
    plain = ["setpriv", f"--bounding-set={right}", f"--inh-caps={right}"]
    done = subprocess.run(
        [*(plain if os.geteuid() == 0 else []), *_APPENDING, str(path), _TESTS],
        check=False,
        capture_output=True,
        text=True,
    )
    folder.chmod(0o755)
    assert done.returncode == 2, done.stderr
    assert str(path) in done.stdout
    assert "writable" in done.stdout


def test_a_full_disk_stores_nothing_and_goes_on_later(sqlite_log_path: str) -> None:
    with open_log(sqlite_log_path, create=True) as log:
        log.append(pods(1, 2))
        file = log._database._connection  # type: ignore[attr-defined]
        pages = file.execute("PRAGMA page_count").fetchone()[0]
        file.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(LogUnavailable, match="full") as caught:
            log.append(pods(*range(3, 2000)))
        _explains(caught.value, sqlite_log_path)
        assert "room" in caught.value.now
        assert caught.value.may_pass
        assert log.last() == 2
        file.execute("PRAGMA max_page_count = 1000000")
        assert log.append(pods(*range(3, 2000))).last == 1999
        assert log.verify().events == 1999


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with open_log(path, create=True) as log:
        log.append(pods(1))
    limit = path.stat().st_size + 100_000
    command = [*_APPENDING, str(path), _TESTS]
    # A limit on file sizes is as close to a full disk as a test comes without mounting one.
    done = subprocess.run(
        ["prlimit", f"--fsize={limit}", *command], check=False, capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    assert str(path) in done.stdout
    with open_log(path) as log:
        assert log.last() == 1
        log.verify()


@pytest.mark.postgres
def test_a_missing_schema_is_not_found(postgres_log_url: str) -> None:
    with pytest.raises(LogNotFound) as caught:
        open_log(postgres_log_url)
    _explains(caught.value, "schema=")


@pytest.mark.postgres
@pytest.mark.parametrize("create", [False, True])
def test_a_server_that_does_not_answer_is_said_without_its_password(
    postgres_server: str,
    *,
    create: bool,
) -> None:
    del postgres_server
    with pytest.raises(LogUnavailable) as caught:
        open_log("postgresql://me:secret@127.0.0.1:1/nowhere", create=create)
    _explains(caught.value, "127.0.0.1:1")
    assert "secret" not in str(caught.value) + caught.value.now


@pytest.mark.postgres
def test_a_database_that_goes_away_in_mid_batch_keeps_nothing_of_it(
    postgres_log_url: str, postgres_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PAUSES", (0.1, 0.2))
    with open_log(postgres_log_url, create=True) as log:
        log.append(pods(1, 2))
        database = log._database  # type: ignore[attr-defined]
        insert = database.insert

        def gone(table: str, rows: object) -> None:
            insert(table, rows)
            backend = database._connection.info.backend_pid
            with psycopg.connect(postgres_server, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", (backend,))

        database.insert = gone
        with pytest.raises(LogUnavailable) as caught:
            log.append(pods(3, 4))
        _explains(caught.value, "127.0.0.1" if "127.0.0.1" in postgres_server else "postgresql://")
        assert log.last() == 2, "it connects again"
    with open_log(postgres_log_url) as log:
        assert log.append(pods(2, 3, 4)).last == 4
        log.verify()


@pytest.mark.postgres
def test_a_reader_without_rights_is_told_so(postgres_log_url: str) -> None:
    open_log(postgres_log_url, create=True).close()
    location = parse_location(postgres_log_url)
    role = f"reader_{os.getpid()}"
    with psycopg.connect(location.conninfo, autocommit=True) as server:
        server.execute(f"CREATE ROLE {role} LOGIN")
        server.execute(f"GRANT USAGE ON SCHEMA {location.quoted_schema} TO {role}")
        server.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {location.quoted_schema} TO {role}")
        try:
            place = postgres_log_url.replace("://postgres@", f"://{role}@")
            with open_log(place) as log:
                assert log.last() == 0
                with pytest.raises(LogUnavailable, match="permission") as caught:
                    log.append(pods(1))
                assert "write" in caught.value.now
        finally:
            server.execute(f"DROP OWNED BY {role}")
            server.execute(f"DROP ROLE {role}")
