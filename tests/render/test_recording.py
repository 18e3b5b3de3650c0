"""The table of a recorder on a terminal: faults first, what brings something, and one line of rest.

It is drawn in real pseudo-terminals: what does not fit would scroll away, or be cut.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
import textwrap
from pathlib import Path

import pytest

from plinian.engine.errors import ConnectionLost
from plinian.replay.capture.commit_writer import Committed
from plinian.replay.capture.recorded_kinds import RECORDED
from plinian.replay.capture.recorder import Recording
from plinian.replay.capture.stream_state import StreamPhase, StreamState
from plinian.replay.render.recording import recorded_lines, recording_lines
from plinian.replay.render.tables import Style

WIDTHS = (60, 80, 120, 200)
HEIGHT = 24
NOW = 1_800_000_000_000_000
FORBIDDEN = (
    'pods is forbidden: User "system:serviceaccount:volcano-system:plinian" cannot list \x1b[2J'
)


def crowded() -> tuple[Recording, dict[str, float]]:
    """Return thirty streams: two wait, one has holes, most bring something; and their rates."""
    streams = [
        StreamState(
            resource=kind.resource, phase=StreamPhase.WATCHING, heard_at=NOW - 4_000_000, events=9
        )
        for kind in RECORDED
    ]
    streams.append(
        StreamState(resource="scheduler.log", phase=StreamPhase.WATCHING, may_be_silent=True)
    )
    pods, nodes, groups, *rest = streams
    pods.phase, pods.fault = StreamPhase.WAITING, FORBIDDEN
    nodes.phase, nodes.fault = StreamPhase.WAITING, "connection refused"
    groups.holes = 2
    rest[0].phase = StreamPhase.ABSENT
    rates = {state.name: float(max(number - 1, 0)) for number, state in enumerate(rest)}
    return Recording(streams, Committed(12, 34_567, 8, 99, 1.0, 0.7), 21, 54_321, None, 1.2), rates


def _lines(width: int, height: int | None = HEIGHT) -> list[str]:
    recording, rates = crowded()
    lines = recording_lines(
        recording, now=NOW, rates=rates, style=Style(width=width), height=height
    )
    return "".join(lines).splitlines()


@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_with_faults_first(width: int) -> None:
    lines = _lines(width)
    assert len(lines) < HEIGHT
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("pods: pods is forbidden")
    head = next(number for number, line in enumerate(lines) if line.split()[0] == "STREAM")
    assert lines[head - 1] == "nodes: connection refused"
    assert "".join(" ".join(lines[: head - 1]).split()).endswith(r"cannotlist\u001b[2J")
    first = [line.split()[0] for line in lines[head + 1 : head + 4]]
    assert first[:2] == ["nodes", "pods"]
    assert first[2].startswith("podgroups.")
    said = " ".join(" ".join(lines[-4:]).split())
    assert re.search(r"[0-9]+ further streams; 1 quiet stream, each heard within 4 s", said)
    assert "1 kind that the cluster does not have" in said
    assert "34,567 events stored in 12 commits, 21 wait (53 KiB), 1.2 s behind" in said


def test_rates_and_holes_are_columns() -> None:
    lines = _lines(120, None)
    heads = lines[2].split("  ")
    assert [head.strip() for head in heads if head.strip()] == [
        *("STREAM", "STATE", "A SECOND", "HOLES", "HEARD", "EVENTS"),
    ]
    (group,) = (line for line in lines if line.startswith("podgroups"))
    assert group.split()[1:] == ["watching", "-", "2", "4s", "ago", "9"]
    busiest = lines[6].split()
    assert busiest[2] == "25", "those that bring the most come first"


def test_a_server_that_is_away_is_one_fault() -> None:
    recording, rates = crowded()
    for state in recording.streams:
        state.phase, state.fault = StreamPhase.WAITING, "connection refused"
    lost = Recording(recording.streams, Committed(), 3, 0, ConnectionLost("it went away"), 70.0)
    lines = list(recording_lines(lost, now=NOW, rates=rates, height=HEIGHT))
    assert lines[0] == "the log cannot be written: it went away\n"
    assert lines[1] == "connection refused (30 streams wait)\n"
    assert len(lines) == 3, "no stream has a row of its own for it"
    for state in recording.streams:
        state.fault_at, state.fault_now = "https://127.0.0.1:9", "check that the server runs"
    lines = list(recording_lines(recording, now=NOW, rates=rates, style=Style(width=80), height=24))
    assert lines[0].startswith("https://127.0.0.1:9: connection refused (30 streams wait)")
    done = "".join(recorded_lines(recording))
    assert "https://127.0.0.1:9: connection refused (30 streams waited at the end)" in done


def test_what_a_server_says_moves_no_cursor() -> None:
    assert not [line for line in _lines(200) if "\x1b" in line]
    assert "\\u001b[2J" in _lines(200)[0]


DRAWN = """
    import os, sys; sys.path[:0] = {paths!r}
    from test_recording import crowded
    from plinian.replay.cli import moving_recording
    moving_recording._EVERY = 0.0
    with moving_recording.moving_table() as show:
        show(crowded()[0])
        os.write(2, b"\\0")
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_in_a_terminal_all_of_it_is_on_the_screen(width: int) -> None:
    reading, writing = os.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, width, 0, 0))
    code = textwrap.dedent(DRAWN).format(paths=[str(Path(__file__).parent)])
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=writing,
        stdout=writing,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""},
    ):
        os.close(writing)
        drawn = b""
        try:
            while b"\0" not in drawn and (more := os.read(reading, 1 << 16)):
                drawn += more
        except OSError:  # The terminal is closed.
            pass
    os.close(reading)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.decode()).partition("\0")[0]
    lines = text.replace("\r", "").splitlines()
    assert 5 < len(lines) < HEIGHT, text
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("pods: pods is forbidden")
    assert "s behind" in text
