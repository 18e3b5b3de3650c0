"""How commands end: messages, exit codes, pipes, interrupts, colour, speed of starting."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from pods import pod
from processes import PLINIAN, spawn

import plinian
from plinian.engine.errors import InputError
from plinian.replay.cli.shell import guarded

Run = Callable[..., Result]

INTERRUPTED = "plinian: interrupted\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("get", "pods", "--at", "@99"), "position @99 is beyond the end of the log"),
        (("get", "pods", "--at", "rv:1"), "rv:1 is before the log's first revision"),
        (("get", "pods", "--at", "rv:x"), "a resourceVersion is a decimal number"),
        (("get", "pods", "--at", "1999-01-01T00:00:00Z"), "is before the log begins"),
        (("get", "pods", "--at", "noon"), "invalid point 'noon'"),
        (("get", "pods", "--branch", "nowhere"), "there is no branch 'nowhere'"),
        (("get", "pods", "--cluster", "nowhere"), "the log holds no cluster 'nowhere'"),
        (("get", "podz"), "there is no kind 'podz'"),
        (("get", "pods", "-o", "xml"), "no output form 'xml'"),
        (("get", "pods", "-o", "jsonpath={.a"), "jsonpath: "),
        (("get", "pods", "-l", "a=(b"), "is not a condition on a label"),
        (("get", ","), "',' is not a kind"),
        (("export", "."), "this is a folder"),
        (("get", "pods,nodes", "a"), "names can follow one kind only"),
        (("describe", "podz"), "there is no kind 'podz'"),
        (("events", "--kind", "pod.bond"), "no event kind 'pod.bond'"),
        (("diff", "@1", "@99"), "position @99 is beyond the end of the log"),
        (("export", "x.csv", "--format", "xml"), "no format 'xml'"),
        (("export", "x.csv", "--format", "ndjson"), "ends in .csv, but --format is ndjson"),
        (("export", "x.PQ", "--format", "csv"), "ends in .pq, but --format is csv"),
        (("export", "x.json"), "the suffix .json is of no known format"),
        (("export", "x.csv.gz"), "export does not compress"),
    ],
)
def test_a_fault_of_the_question_says_what_and_what_now_and_exits_with_2(
    run: Run, small_log: str, arguments: tuple[str, ...], message: str
) -> None:
    result = run(*arguments, "--log", small_log)
    assert result.exit_code == 2, result.stderr
    lines = result.stderr.splitlines()
    first, *now = [line for line in lines if not line.startswith("warning: ")]
    assert first.startswith("plinian: ")
    assert message in first
    assert now
    assert all(line.startswith("        ") for line in now)
    assert result.stdout == ""


def test_a_misspelt_kind_or_event_kind_or_command_is_answered_with_a_guess(
    run: Run, small_log: str
) -> None:
    assert "did you mean node" in run("get", "nodez", "--log", small_log).stderr
    assert "did you mean job?" in run("why", "jbo/gang", "--log", small_log).stderr
    assert "pod.bound" in run("events", "--kind", "pod.bond", "--log", small_log).stderr
    result = run("histry")
    assert result.exit_code == 2
    assert "history" in result.stderr


def test_a_log_that_is_not_there_is_an_error_and_is_not_made(run: Run, tmp_path: Path) -> None:
    for command in (["get", "pods"], ["verify"], ["events"], ["db", "info"], ["digest"]):
        result = run(*command)
        assert result.exit_code == 2
        assert result.stderr.startswith("plinian: plinian.db: there is no such file\n")
    assert list(tmp_path.iterdir()) == []


def test_the_log_is_the_one_that_the_environment_names(run: Run, small_log: str) -> None:
    result = run("get", "nodes", "-o", "name", env={"PLINIAN_LOG": small_log})
    assert result.stdout == "node/n1\n"


def test_unknown_options_exit_with_2(run: Run) -> None:
    assert run("get", "pods", "--frobnicate").exit_code == 2


def test_the_where_of_an_error_stands_before_its_what(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @guarded
    def command() -> None:
        raise InputError("expected a number", where="a.json:7", now="fix it\nor leave it out")

    with pytest.raises(SystemExit) as ended:
        command()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "plinian: a.json:7: expected a number\n        fix it\n        or leave it out\n"
    )


@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(), 141, ""),
        (OSError(28, "No space left on device", "x.db"), 2, "x.db: No space left on device"),
        (RecursionError(), 2, "nested too deeply"),
        (ZeroDivisionError("oh"), 2, "internal error of Plinian: ZeroDivisionError: oh"),
    ],
)
def test_every_fault_ends_with_its_code_and_never_with_a_traceback(
    capsys: pytest.CaptureFixture[str], fault: BaseException, code: int, message: str
) -> None:
    @guarded
    def command() -> None:
        raise fault

    with pytest.raises(SystemExit) as ended:
        command()
    assert ended.value.code == code
    written = capsys.readouterr().err
    assert message in written
    assert "Traceback" not in written


def test_a_reader_that_goes_away_is_no_error(demo_log: str) -> None:
    process = spawn("events", "-o", "ndjson", "--payload", "--log", demo_log)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    written = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert written == ""


def test_an_interrupt_exits_with_130_and_one_line(small_log: str) -> None:
    process = spawn("events", "--follow", "-o", "ndjson", "--log", small_log)
    assert process.stdout is not None
    for _ in range(10):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", INTERRUPTED)


def test_an_interrupt_while_the_program_is_being_loaded_is_one_line_as_well() -> None:
    code = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from plinian.__main__ import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", INTERRUPTED)


def in_a_program(body: str) -> subprocess.CompletedProcess[str]:
    """Run a function ``command`` as the command line runs commands."""
    code = (
        "import gc, os, signal, sys, time, weakref\n"
        "from plinian.replay.cli.interruption import Interruption\n"
        "def interrupt(): signal.raise_signal(signal.SIGINT)\n"
        f"{body}\n"
        "Interruption().run(command)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "body",
    [
        # In a destructor or a callback it is lost, and Python only prints it.
        (
            "class Gone:\n  def __del__(self): interrupt(); time.sleep(0)\n"
            "def command():\n  Gone()\n  while True: time.sleep(0.1)"
        ),
        # In the lock of an import it leaves a lock locked, for which the import then waits.
        (
            "import _frozen_importlib as imports\n"
            "def command():\n"
            "  lock = imports._ModuleLock('m'); lock.acquire(); lock.lock.acquire()\n"
            "  try: interrupt()\n"
            "  finally: lock.release()"
        ),
        # So it does in that of an executor, at the end of its block.
        (
            "from concurrent.futures import ThreadPoolExecutor\n"
            "def command():\n"
            "  with ThreadPoolExecutor(1) as thread:\n"
            "    thread.submit(time.sleep, 0).result()\n"
            "    thread._shutdown_lock.acquire()\n"
            "    interrupt()"
        ),
        (
            "class Gone: pass\n"
            "def command():\n  one = Gone()\n  weakref.finalize(one, interrupt)\n  del one\n"
            "  while True: time.sleep(0.1)"
        ),
        # A library takes it for a fault of its own, and reports it.
        (
            "def command():\n  try: interrupt()\n  except BaseException as fault:\n"
            "    sys.stderr.write('Traceback: oh dear')\n    raise RuntimeError('mine') from fault"
        ),
        "def command():\n  try: interrupt()\n  except BaseException: sys.exit(2)",
        # Two more come while the first is cleaned up after.
        (
            "def command():\n  try: interrupt()\n  finally:\n    interrupt(); interrupt()\n"
            "    os.write(1, b'clean')"
        ),
        # One comes while the process ends.
        (
            "def command():\n  import atexit, threading\n"
            "  threading.Thread(target=lambda: time.sleep(60), daemon=False).start()\n"
            "  atexit.register(interrupt)\n  interrupt()"
        ),
    ],
)
def test_an_interrupt_is_one_line_wherever_it_is_raised(body: str) -> None:
    done = in_a_program(body)
    assert (done.returncode, done.stderr) == (130, INTERRUPTED)
    assert done.stdout == ("clean" if "clean" in body else "")


def test_an_interrupt_after_the_work_is_done_changes_nothing() -> None:
    done = in_a_program("def command():\n  import atexit\n  atexit.register(interrupt)")
    assert (done.returncode, done.stderr) == (0, "")


def test_who_does_not_wait_for_the_end_need_not() -> None:
    done = in_a_program(
        "def command():\n  try: interrupt()\n  finally:\n"
        "    while True: interrupt(); time.sleep(0.01)"
    )
    assert (done.returncode, done.stderr) == (130, INTERRUPTED)


def test_a_process_that_was_told_to_ignore_interrupts_does() -> None:
    done = in_a_program(
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "def command():\n  interrupt()\n  os.write(1, b'done')"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done", "")


def test_following_gives_what_is_appended_later(small_log: str, tmp_path: Path) -> None:
    path = str(tmp_path / "own.db")
    shutil.copy(small_log, path)
    process = spawn("events", "--follow", "--after", "@10", "-o", "ndjson", "--log", path)
    assert process.stdout is not None
    with plinian.open(path) as log:
        log.store.append([pod(99)])
    line = json.loads(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert (line["position"], line["resource_version"]) == (11, "99")


def test_colour_is_for_terminals_and_only_without_no_color(small_log: str) -> None:
    pty = pytest.importorskip("pty")

    def on_a_terminal(**environment: str) -> str:
        ours, theirs = pty.openpty()
        subprocess.run(
            [*PLINIAN, "get", "nodes", "--log", small_log],
            stdout=theirs,
            check=True,
            env={**os.environ, "TERM": "xterm", **environment},
        )
        os.close(theirs)
        written = os.read(ours, 65536).decode()
        os.close(ours)
        return written

    assert "\x1b[1mNAME" in on_a_terminal(NO_COLOR="")
    assert "\x1b" not in on_a_terminal(NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(TERM="dumb")


def test_a_command_imports_only_what_it_needs() -> None:
    """Half of what a person waits for is imports: none may creep into all commands."""
    code = (
        "import sys; sys.argv = ['plinian', 'version']\n"
        "from plinian.replay.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'sqlalchemy', 'alembic', 'psycopg', 'rich', 'yaml', 'msgspec'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    version, heavy = done.stdout.splitlines()
    assert re.fullmatch(r"plinian \S+ \(Python 3\.\d+\.\S+, \S+/\S+\)", version)
    assert heavy == "[]"
