"""What a command may load: imports are most of a start, so a command imports only what it uses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from plinian.replay.cli.commands import COMMANDS
from plinian.replay.cli.main import app
from plinian.replay.questions.table import QUESTIONS

NO_LOG = (
    *("numpy", "msgspec", "sqlite3", "zstandard", "blake3", "re2", "json", "hashlib"),
    *(
        "plinian.engine.log",
        "plinian.engine.state",
        "plinian.engine.volcano",
        *("plinian.replay.moments", "plinian.replay.truth", "plinian.replay.logs.log"),
    ),
)
"""What only a command that reads a log or a release needs."""

RARE = (
    *("sqlalchemy", "alembic", "psycopg", "pyarrow", "rich", "yaml", "pydantic", "re2"),
    *("jinja2", "markupsafe", "structlog"),
    *("importlib.metadata", "concurrent.futures", "multiprocessing", "numpy.ma", "email"),
)
"""What takes long to load, and what few commands need."""

SESSIONS = ("plinian.engine.cache", "plinian.engine.session", "plinian.engine.volcano")
UNUSUAL = (
    *("difflib", "importlib.resources", "tempfile"),
    *("plinian.engine.kubernetes.expressions", "plinian.engine.log.inspection"),
)
"""What only a new log, a wrong name, a selector or a repair needs."""

WRITING = ("plinian.engine.ingest", "plinian.engine.log.creation", "plinian.engine.log.verify")

LOADED = """
import sys
from plinian.__main__ import main
sys.argv = ["plinian", *sys.argv[1:]]
try:
    main()
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def loaded(*words: str) -> set[str]:
    """Return the modules that a command has loaded when it ends, with the packages they are in."""
    environment = {**os.environ, "PLINIAN_LOG": words[-1]} if words[-1].endswith(".db") else None
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout
    return set(done.stderr.split())


def of(modules: set[str], folders: tuple[str, ...]) -> list[str]:
    """Return those of some modules that are in one of these packages."""
    return sorted(
        name
        for name in modules
        if any(name == one or name.startswith(f"{one}.") for one in folders)
    )


@pytest.mark.parametrize(
    "words",
    [
        ["version"],
        ["--version"],
        ["--help"],
        ["db", "--help"],
        ["__complete", "--", "g"],
        ["__complete", "--", "get", "--"],
        *([name, "--help"] for name in COMMANDS),
    ],
    ids=" ".join,
)
def test_a_command_that_needs_no_log_loads_nothing_that_reads_one(words: list[str]) -> None:
    # A question is a record, and those about releases have commands below one.
    record = ("msgspec",) if words[0] in {*QUESTIONS, "release"} else ()
    heavy = tuple(name for name in (*NO_LOG, *RARE) if name not in record)
    assert of(loaded(*words), heavy) == []


@pytest.mark.parametrize(
    "words", [["--help"], ["version"], ["__complete", "--", "g"]], ids=" ".join
)
def test_the_program_imports_no_command_but_the_one_that_is_named(words: list[str]) -> None:
    modules = {name.replace("-", "_") for name in COMMANDS} - {"version", "completion"}
    folders = ("cli", "questions")
    commands = {f"plinian.replay.{folder}.{name}" for folder in folders for name in modules}
    assert commands & loaded(*words) == set()


@pytest.mark.parametrize(
    "words",
    [
        ["get", "pods", "-A"],
        ["history", "queue/default"],
        ["describe", "queue/default"],
        ["events", "--limit", "3"],
        ["status"],
        ["head"],
    ],
    ids=" ".join,
)
def test_a_command_that_shows_the_cluster_loads_no_scheduler(
    demo_log: str, words: list[str]
) -> None:
    got = loaded(*words, "--log", demo_log)
    assert "plinian.engine.log" in got
    assert of(got, (*RARE, *SESSIONS, *WRITING)) == []


@pytest.mark.parametrize("words", [["get", "pods"], ["status"], ["diff", "-5m"]], ids=" ".join)
def test_a_command_that_goes_well_loads_nothing_for_what_is_unusual(
    demo_log: str, words: list[str]
) -> None:
    assert of(loaded(*words, "--log", demo_log), UNUSUAL) == []


def test_the_law_sees_what_a_command_loads(demo_log: str) -> None:
    got = loaded("session", "--log", demo_log)
    assert of(got, ("numpy.ma", *SESSIONS))


def test_the_list_of_commands_has_the_first_sentences_of_their_help() -> None:
    assert dict(COMMANDS) == {
        name: command.get_short_help_str(200)
        for name, command in app.commands.items()
        if not command.hidden
    }
