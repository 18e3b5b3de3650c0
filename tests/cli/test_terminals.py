"""What a person sees in a real terminal, of commands that no document shows."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import in_terminals
import pytest
from in_terminals import shown_in
from processes import PLINIAN
from terminal_words import faults, left_on_screen

pytest.importorskip("pty")

AT = ("--at", "2026-11-21T01:53:36Z")
COMMANDS = (
    ("release", "list"),
    ("release", "show", "v1.12.1", "-o", "wide"),
    ("lint", "--rules"),
    ("get", "all", "-A", "--show-labels", *AT),
    ("get", "events", "-A"),
    ("get", "nodes", "-o", "wide", *AT),
    ("describe", "node", "node-1", *AT),
    ("diff", "2026-11-21T01:53:02Z", AT[1], "--who"),
    ("history", "pod/train-b-worker-3"),
    ("belief", "tasks", *AT),
    ("session", "list"),
    ("events", "--limit", "60"),
    ("events", "--limit", "60", "-o", "wide"),
    ("status",),
    ("head",),
    ("verify",),
    (),
    ("overview", "--tz", "Europe/Berlin"),
    ("session", "list", "--tz", "Asia/Kolkata"),
    ("why", "gpu-2", *AT, "--tz", "Europe/Berlin"),
)
"""They end by themselves, change nothing, and each takes about a second."""


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_says_the_same_in_terminals_as_to_a_pipe(
    words: tuple[str, ...], demo_log: str, tmp_path: Path
) -> None:
    log = () if words[:1] in {("release",), ("lint",)} else ("--log", demo_log)
    subprocess.run(
        [sys.executable, in_terminals.__file__, *words, *log],
        env={**os.environ, in_terminals.PLACE: str(tmp_path)},
        capture_output=True,
        check=True,
    )
    (shown,) = shown_in(tmp_path)
    assert faults(shown) == []


def seen(columns: int, *words: str, **environment: str) -> str:
    """Return all that a command writes to a real terminal of so many columns, messages as well."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    usual = {name: value for name, value in os.environ.items() if name not in _OF_TERMINALS}
    process = subprocess.Popen(
        [*PLINIAN, *words],
        stdout=theirs,
        stderr=theirs,
        env={**usual, "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    text = b"".join(iter(lambda: _some(ours), b"")).decode()
    process.wait()
    os.close(ours)
    return text


_OF_TERMINALS = frozenset({"COLUMNS", "NO_COLOR", "TERM"})


def _some(ours: int) -> bytes:
    try:
        return os.read(ours, 65536)
    except OSError:  # The command has ended.
        return b""


def test_bars_of_progress_are_gone_at_the_end(demo_log: str) -> None:
    text = seen(80, "verify", "--log", demo_log)
    assert "━" in text  # There was one.
    assert re.fullmatch(
        r"verified: no changes in \d+ events \(\d+ batches\)\nhead [0-9a-f]{64}\n",
        left_on_screen(text).lstrip("\n"),
    )


def test_columns_counts_more_than_the_terminal(demo_log: str) -> None:
    lines = seen(200, "get", "queues", "--log", demo_log, COLUMNS="60").splitlines()
    assert 50 < max(map(len, map(left_on_screen, lines))) <= 60
    assert "columns not shown:" in "".join(lines)


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_is_written_where_none_is_wanted(demo_log: str, plain: dict[str, str]) -> None:
    words = ("get", "nodes", "--log", demo_log)
    assert "\x1b[1m" in seen(80, *words)
    assert "\x1b" not in seen(80, *words, **plain)


def test_what_an_error_says_goes_on_between_words(demo_log: str) -> None:
    text = seen(60, "get", "pods", "no-such-pod-at-all", "--at", "rv:1080", "--log", demo_log)
    lines = left_on_screen(text).splitlines()
    assert lines[0].startswith("plinian: ")
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_first_page_fits_and_its_commands_can_be_copied(columns: int, demo_log: str) -> None:
    text = seen(columns, PLINIAN_LOG=demo_log)
    lines = text.replace("\r\n", "\n").splitlines()
    assert max(map(len, lines)) <= columns
    assert "  plinian why job/default/impossible" in text
    assert lines[-1].split()[:2] in (["plinian", "--help"], ["all", "commands"])


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_what_makes_an_answer_uncertain_is_one_paragraph(columns: int, demo_log: str) -> None:
    text = seen(columns, "get", "pods", "--at", "2026-11-22", "--log", demo_log)
    said, _, _ = text.replace("\r\n", "\n").partition("NAME ")
    assert max(map(len, said.splitlines())) <= columns
    assert said.count("warning: ") == 1
    assert "2026-11-22 is the beginning of that day" in " ".join(said.split())


def test_times_of_a_zone_are_in_columns_of_a_terminal(demo_log: str) -> None:
    text = seen(
        160, "events", "pod/train-b-worker-3", "--tz", "local", "--log", demo_log, TZ="JST-9"
    )
    assert "2026-11-21T10:52:58.754+09:00" in text.replace("\x1b[0m", "")
