"""A log is founded once, however many try at a time, and only its owner may read it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from forking import Forking

from plinian.engine.log import open_log
from plinian.replay.export import write_file
from plinian.replay.ingest.ingest_run import ingest_at

MANY = 8


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(3))
def test_many_processes_found_one_log(fresh: Forking, tmp_path: Path, attempt: int) -> None:
    go = tmp_path / "go"
    place = tmp_path / f"log-{attempt}.db"
    running = [
        fresh.start("writers:found_at", *map(str, (place, tmp_path / f"ready-{number}", go)))
        for number in range(MANY)
    ]
    while len(list(tmp_path.glob("ready-*"))) < MANY:
        assert all(one.poll() is None for one in running)
        time.sleep(0.01)
    go.touch()
    assert [one.wait() for one in running] == [0] * MANY
    assert [one.stderr for one in running] == [""] * MANY


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o277])
def umask(request: pytest.FixtureRequest) -> object:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_new_log_is_its_owners_alone(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    with open_log(place, create=True) as store:
        store.append([])
        assert store.last() == 0
        for path in tmp_path.iterdir():
            assert mode(path) == 0o600, path


@pytest.mark.usefixtures("umask")
def test_an_export_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    write_file(path, lambda out: out.write(b"x"))
    assert mode(path) == 0o600


def test_an_export_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    path.touch(0o640)
    path.chmod(0o640)
    write_file(path, lambda out: out.write(b"x"))
    assert mode(path) == 0o640


def test_a_log_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    open_log(place, create=True).close()
    place.chmod(0o644)
    listed = {"apiVersion": "v1", "kind": "List", "items": []}
    (tmp_path / "list.json").write_text(json.dumps(listed))
    ingest_at(place, [str(tmp_path / "list.json")])
    assert mode(place) == 0o644


def test_an_empty_file_becomes_a_log_and_keeps_its_mode(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    place.touch()
    place.chmod(0o640)
    open_log(place, create=True).close()
    assert mode(place) == 0o640


def test_what_the_driver_of_postgres_remarks_is_not_printed() -> None:
    code = (
        "import logging, plinian.engine.log.postgres;"
        "logging.getLogger('psycopg').warning('error ignored terminating')"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stderr == ""
