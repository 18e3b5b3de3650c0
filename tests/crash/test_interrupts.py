"""Ctrl-C anywhere: exit code 130, one line, no traceback; the log whole, and the work completed.

``PLINIAN_INTERRUPTS`` sets how many interrupts each test does; they are spread evenly.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from clusters import pod, watched
from plinian.engine.log import Query, open_log
from plinian.engine.log.migrating import downgrade
from plinian.replay.cli.main import app
from plinian.replay.ingest.ingest_run import ingest_at

INTERRUPTS = int(os.environ.get("PLINIAN_INTERRUPTS", "12"))
PROGRAM = Path(__file__).parents[1] / "support" / "interrupts.py"
SAID = "plinian: interrupted\n"


class Server:
    """The program that runs commands and interrupts them."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(
        self,
        *command: str,
        at: int = 1,
        times: int = 1,
        bare: bool = False,
        within: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        """Run a command; return its code, what it wrote to standard error, and its points."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"at": at, "times": times, "bare": bare, "within": within}
        request["command"] = command
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def points(self, *command: str, bare: bool = False) -> int:
        """Run a command undisturbed; return at how many points it could be interrupted."""
        answer = self.run(*command, times=0, bare=bare)
        assert answer["code"] == 0, answer
        return int(answer["points"])


@contextmanager
def served() -> Iterator[Server]:
    """Start the program."""
    with subprocess.Popen(
        [sys.executable, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Server(process)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Start the program, for commands whose modules are there already."""
    with served() as started:
        yield started


@pytest.fixture(scope="module")
def bare() -> Iterator[Server]:
    """Start the program, for commands that are loaded from nothing."""
    with served() as started:
        yield started


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make the log that ``plinian demo`` makes, and give its path."""
    path = str(tmp_path_factory.mktemp("recorded") / "demo.db")
    assert CliRunner().invoke(app, ["demo", "--log", path]).exit_code == 0
    return path


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Write an input of several batches."""
    lines = watched(*[("MODIFIED", pod(f"p{n % 50}", n + 1)) for n in range(2500)])
    (tmp_path / "in.jsonl").write_bytes(lines)
    return str(tmp_path / "in.jsonl")


def content(place: str) -> list[str]:
    """Return all events of a log, but for when they were appended."""
    with open_log(place) as log:
        assert log.verify().events == log.last()
        return [repr((one.position, one.event)) for one in log.read(Query())]


def spread(points: int) -> list[int]:
    """Return where to interrupt: evenly, and not at the same place of a loop each time."""
    return [points * number // INTERRUPTS + number % 7 + 1 for number in range(INTERRUPTS)]


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_an_ingest_that_is_interrupted_anywhere_says_one_line_and_can_be_gone_on_with(
    server: Server, log_place: str, source: str, times: int
) -> None:
    command = ("ingest", source, "--log", log_place)
    points = server.points(*command)
    whole = content(log_place)
    downgrade(log_place, "base")
    reached, interrupted = set(), 0
    for number, at in enumerate(spread(points * 95 // 100)):
        answer = server.run(*command, at=at, times=times)
        # What goes on with a log has fewer points: it may be done before the interrupt.
        assert (answer["code"], answer["stderr"]) in {(130, SAID), (0, "")}, at
        interrupted += answer["code"] == 130
        with open_log(log_place, create=True) as log:
            assert log.verify().events == log.last()
            reached.add(log.last())
        # Every other log is gone on with by an ingest that is interrupted as well.
        if number % 2 or reached == {len(whole)}:
            ingest_at(log_place, [source])
            assert content(log_place) == whole, at
            downgrade(log_place, "base")
    assert reached <= {0, 1000, 2000, len(whole)}
    assert interrupted > INTERRUPTS * 3 // 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", ["get pods -o wide", "diff rv:900 rv:1000 --who", "verify", "--help"]
)
def test_other_commands_say_one_line_also_while_they_are_being_loaded(
    bare: Server, recorded: str, command: str
) -> None:
    asked = (*command.split(), *(() if command == "--help" else ("--log", recorded)))
    points = bare.points(*asked, bare=True)
    for times in (1, 3):
        for at in spread(points * 95 // 100)[:: max(1, 8 // times)]:
            answer = bare.run(*asked, at=at, times=times, bare=True)
            assert (answer["code"], answer["stderr"]) == (130, SAID), at


@pytest.mark.slow
def test_interrupts_at_any_time_end_a_check_with_its_processes(recorded: str) -> None:
    """Here interrupts come by the clock, to all processes, as from a terminal."""
    command = ("upgrade-check", "--from", "v1.11.0", "--to", "v1.15.1", "-j", "2")
    code = "from plinian.__main__ import main; print(flush=True); main()"
    ended = []
    for number in range(max(4, INTERRUPTS // 5)):
        with subprocess.Popen(
            [sys.executable, "-c", code, *command, "--log", recorded],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.05 + number * 0.3 % 4)
            os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate()
            ended.append(process.returncode)
            # Standard error ends when the last process has let go of it: none is left behind.
            assert (process.returncode, err) in {(130, SAID), (0, err)}, number
            assert "Traceback" not in err
    assert 130 in ended
