"""What tests share: logs on each database, one of a recording, and one Postgres server."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from forking import Forking, forking
from hypothesis import HealthCheck, settings

import plinian
from plinian import Log
from plinian.replay.demo import recorded_inputs
from postgres import NoPostgres, server_url, stop_server

_SCHEMAS = count(1)

MEMORY = Path("/dev/shm")
"""A folder in memory, on many machines."""

ROOM = 2**31
"""Bytes that all tests together have room in."""

LOADED = (
    *("writers", "plinian.replay.cli.main", "plinian.replay.render.figures"),
    *("plinian.replay.truth.truth", "plinian.replay.render.progress"),
    *("plinian.engine.log.creation", "plinian.engine.log.migrating", "plinian.engine.log.postgres"),
    "sqlalchemy.dialects.sqlite",
)
"""What processes of :func:`fresh` have loaded when they begin."""

# A property holds or fails whatever else the machine does: no example has a time limit.
settings.register_profile("plinian", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("plinian")


def pytest_configure() -> None:
    """Prepare this process, and those that it starts.

    They take interrupts as in a terminal, also where tests run in the background of a shell: it
    makes what it starts there ignore them, and processes inherit that. And they keep what they
    compile: hundreds of processes would each compile Plinian, and each worker all tests.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    _write_to_memory()


def _write_to_memory() -> None:
    """Put what tests write where nobody waits for a disk, if there is room and no other wish.

    Tests make thousands of logs and wait for all their writes. They kill writers, not machines.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    memory = os.statvfs(MEMORY)
    if memory.f_bavail * memory.f_frsize > ROOM and not memory.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage only after all tests are collected, and never at what that made.

    Collecting makes millions of objects that stay: each look at them would take seconds.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


LAWS = frozenset({"test_tidy.py", "test_patterns.py", "test_shared_state.py", "test_words.py"})
"""The modules of ``tests/project`` that hold the code to its laws."""

_NOT_SMOKE = ("slow", "browser", "postgres", "scheduler", "apiserver")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what ``-m smoke`` runs: all laws, and one quick test of each other module."""
    seen: set[Path] = set()
    for item in items:
        law = item.path.name in LAWS
        if not law and (item.path in seen or any(map(item.get_closest_marker, _NOT_SMOKE))):
            continue
        seen.add(item.path)
        item.add_marker("smoke")


@pytest.fixture(scope="module", autouse=True)
def _few_objects_to_look_at() -> None:
    """Leave what exists out of garbage collections: after hours of tests each would take seconds.

    A server collects after every long question, and in tests it shares the process.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Open the log of the recording that comes with Plinian."""
    place = tmp_path_factory.mktemp("recording") / "recording.db"
    with plinian.open(place, create=True) as made, recorded_inputs() as paths:
        made.ingest(paths)
    with plinian.open(place, read_only=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forking]:
    """Start processes that have modules loaded; in the folder and environment of this one."""
    with forking(tmp_path_factory.mktemp("said"), *LOADED) as started:
        yield started


@pytest.fixture(scope="session")
def postgres_server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[str]:
    """Give the URL of a Postgres server that all workers of this session share."""
    shared = tmp_path_factory.getbasetemp()
    worker = hasattr(request.config, "workerinput")
    if worker:
        shared = shared.parent
    try:
        yield server_url(shared)
    except NoPostgres as fault:
        if os.environ.get("CI") and os.environ.get("PLINIAN_SKIP_POSTGRES") != "1":
            pytest.fail(f"no Postgres, and CI is set: {fault}", pytrace=False)
        pytest.skip(f"no Postgres: {fault}")
    if not worker:
        stop_server(shared)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the server that workers shared, once all of them are done."""
    factory = getattr(session.config, "_tmp_path_factory", None)
    if not hasattr(session.config, "workerinput") and factory is not None:
        stop_server(factory.getbasetemp())


@pytest.fixture
def postgres_log_url(postgres_server: str) -> Iterator[str]:
    """Give the URL of a log that does not exist yet, in a schema of its own."""
    schema = f"t{os.getpid()}_{next(_SCHEMAS)}"
    separator = "&" if "?" in postgres_server else "?"
    yield f"{postgres_server}{separator}schema={quote(schema)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')


@pytest.fixture
def sqlite_log_path(tmp_path: Path) -> str:
    """Give the path of a log that does not exist yet."""
    return str(tmp_path / "log.db")


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)],
)
def log_place(request: pytest.FixtureRequest) -> str:
    """Give the place of a log that does not exist yet, on each database in turn."""
    name = "sqlite_log_path" if request.param == "sqlite" else "postgres_log_url"
    place: str = request.getfixturevalue(name)
    return place
