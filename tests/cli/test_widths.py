"""What is printed fits a terminal, and is whole where there is none."""

from __future__ import annotations

import fcntl
import json
import os
import re
import struct
import subprocess
import termios
from collections.abc import Callable

import pytest
from click.testing import Result
from processes import PLINIAN

from plinian.engine.kubernetes.amount_texts import exact_amount, short_amount
from plinian.replay.objects.field_changes import FieldDifference
from plinian.replay.render.amounts import resource_list
from plinian.replay.render.differences import change_lines
from plinian.replay.render.session import number_text
from plinian.replay.render.tables import Style, Table, lines_of, paragraph, stream_lines

Run = Callable[..., Result]

WIDE = Table(
    ("NAME", "AMOUNT", "MESSAGE"),
    [
        ["train-0", "cpu=2,memory=1Gi", "0/5 nodes are unavailable: 4 Insufficient cpu."],
        ["train-1-with-a-long-name", "cpu=16", "x" * 70],
    ],
)


def test_a_table_is_as_wide_as_it_is_where_there_is_no_terminal() -> None:
    lines = list(lines_of(WIDE))
    assert len(lines) == 3
    assert lines[2].endswith("x" * 70 + "\n")


@pytest.mark.parametrize("width", [60, 70, 80, 100])
def test_on_a_terminal_cells_go_on_in_the_next_line_and_long_words_are_shortened(
    width: int,
) -> None:
    lines = list(lines_of(WIDE._replace(keep=WIDE.headers), style=Style(width=width)))
    assert max(len(line.rstrip("\n")) for line in lines) <= width
    words = " ".join(lines[1:]).split()
    assert {"train-0", "0/5", "nodes", "are", "unavailable:", "Insufficient"} <= {*words}
    assert {word[0] + word[-1] for word in words if "…" in word} <= {"xx", "te"}


def test_a_terminal_that_is_far_too_narrow_shows_the_names() -> None:
    lines = list(lines_of(WIDE, style=Style(width=12)))
    assert lines[:3] == ["NAME\n", "train-0\n", "train-…-name\n"]
    assert " ".join("".join(lines[3:]).split()).startswith("columns not shown: AMOUNT, MESSAGE")


def test_a_table_that_fits_is_the_same_on_a_terminal() -> None:
    assert list(lines_of(WIDE, style=Style(width=200))) == list(lines_of(WIDE))


def test_a_long_cell_that_comes_late_in_a_stream_does_not_break_the_others() -> None:
    rows = [["a", "b"], ["a", "y" * 300]]
    table = Table(("ONE", "TWO"), ())
    lines = list(stream_lines(table, rows, style=Style(width=80), look_ahead=1))
    assert max(len(line.rstrip("\n")) for line in lines) <= 80
    assert "y…y" in lines[2]
    plain = list(stream_lines(table, rows, look_ahead=1))
    assert plain[2] == f"a     {'y' * 300}\n"


def test_a_message_in_a_list_of_events_is_whole(run: Run, demo_log: str) -> None:
    words = ("events", "--kind", "message.logged", "--log", demo_log)
    lines = run(*words, "-o", "ndjson", "--payload").stdout.splitlines()
    events = [event for event in map(json.loads, lines) if not event["object"]["kind"]]
    bodies = [event["payload"] for event in events]
    messages = [
        body["message"] for body in bodies if not body.get("job") and not body.get("session")
    ]
    longest = max(messages, key=len).splitlines()[0]
    assert len(longest) > 100
    assert f" {longest} " in run(*words).stdout


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_changed_values_are_whole_and_go_on_in_the_next_line(width: int) -> None:
    taints = [{"effect": "NoSchedule", "key": f"pool-{number}"} for number in range(9)]
    change = FieldDifference(path="spec.taints", old=taints[:8], new=taints)
    (piped,) = change_lines([change], indent="  ")
    shown = list(change_lines([change], indent="  ", style=Style(width=width)))
    assert len(shown) > 1
    assert all(len(line.rstrip("\n")) <= width for line in shown)
    assert "".join("".join(shown).split()) == "".join(piped.split())
    assert [*change_lines([change], indent="  ", style=Style(width=900))] == [piped]


def test_a_terminal_shows_the_begin_of_a_value_of_several_pages() -> None:
    change = FieldDifference(path="data.x", old="", new="word " * 5_000)
    shown = "".join(change_lines([change], indent="  ", style=Style(width=80)))
    assert shown.endswith("…\n")
    assert len(shown) < 3_000


def on_a_terminal(columns: int, *words: str) -> str:
    """Return what a command prints on a terminal of so many columns."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    subprocess.run(
        [*PLINIAN, *words],
        stdout=theirs,
        check=True,
        env={**environment, "TERM": "xterm", "NO_COLOR": "1"},
    )
    os.close(theirs)
    written = os.read(ours, 65536).decode()
    os.close(ours)
    return written


def test_a_command_fits_the_terminal_and_is_whole_when_piped(run: Run, demo_log: str) -> None:
    words = ("get", "pg", "-o=wide", "--at", "2026-11-21T01:53:36Z", "--log", demo_log)
    piped = run(*words).stdout
    shown = on_a_terminal(150, *words)
    assert max(map(len, piped.splitlines())) > 150
    assert max(map(len, shown.splitlines())) <= 150
    assert len(shown.splitlines()) > len(piped.splitlines())
    narrow = on_a_terminal(100, "history", "node/node-1", "--log", demo_log)
    assert max(map(len, narrow.splitlines())) <= 100
    assert "…" not in narrow
    assert "…" not in run("history", "node/node-1", "--log", demo_log).stdout


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 24000.0, "24"),
        ("cpu", 500.0, "500m"),
        ("cpu", 2666.6666666, "2666.667m"),
        ("cpu", -1500.0, "-1500m"),
        ("memory", 60129542144.0, "56Gi"),
        ("memory", 60129542145.0, "60129542145"),
        ("memory", 0.0, "0"),
        ("nvidia.com/gpu", 4000.0, "4"),
        ("pods", 12.0, "12"),
        ("requests.memory", 19327352832000.0, "18Gi"),
        ("ephemeral-storage", 1073741824000.0, "1Gi"),
        ("cpu", 1.7976931348623157e308, "unlimited"),
    ],
)
def test_what_was_compared_is_written_as_kubernetes_does(
    resource: str, amount: float, text: str
) -> None:
    assert exact_amount(resource, amount) == text


def test_amounts_of_quotas_are_bytes_too() -> None:
    assert resource_list({"requests.memory": 19327352832000.0}) == "requests.memory=18Gi"
    assert short_amount("limits.memory", 19327352833000.0) == "18Gi"
    assert short_amount("count/pods", 2000.0) == "2"


def test_a_trace_has_no_raw_amounts(run: Run, demo_log: str) -> None:
    words = ("session", "--trace", "--at", "2026-11-21T01:53:36Z", "--log", demo_log)
    out = run(*words).stdout
    assert "inqueue=(cpu=24,memory=56Gi,nvidia.com/gpu=4,pods=12)" in out
    assert "…" not in out.replace("…  ", "").replace("… ", "")
    assert number_text({"cpu": 1000.0, "memory": 2147483648.0}) == "(cpu=1,memory=2Gi)"
    assert number_text(["a", "b"]) == "a,b"


EVENTS = Table(
    ("POSITION", "KIND", "OBJECT", "VERSION", "TIME", "ACTOR"),
    [
        [
            *("@1234567", "priorityclass.created", "podgroup/etl/llama-2f978d87-1999-4e3f-a46d"),
            *("70915324", "2026-03-04T09:00:07.946Z", "system:serviceaccount:volcano-system:vc"),
        ]
    ],
)
JOBS = Table(
    (
        *("NAMESPACE", "NAME", "STATUS", "MINAVAILABLE", "RUNNINGS", "PENDING", "SUCCEEDED"),
        *("FAILED", "QUEUE", "AGE"),
    ),
    [["etl", "job.batch.volcano.sh/llama", "Running", "12345678", "0", "1", "2", "3", "etl", "9s"]],
)


@pytest.mark.parametrize("width", [70, 80, 100])
@pytest.mark.parametrize("table", [EVENTS, JOBS], ids=["events", "jobs"])
def test_a_table_of_many_columns_fits_and_parts_no_number(table: Table, width: int) -> None:
    for lines in (
        list(lines_of(table, style=Style(width=width))),
        list(stream_lines(table, table.rows, style=Style(width=width))),
    ):
        assert max(len(line.rstrip("\n")) for line in lines) <= width
        text = "".join(lines)
        shown, _, left_out = text.partition("columns not shown: ")
        for header, cell in zip(table.headers, table.rows[0], strict=True):
            assert (header in shown.split()) != (header in re.findall(r"[A-Z]+", left_out))
            if header in shown.split() and cell[-1].isdecimal():
                assert cell in shown.split()


@pytest.mark.parametrize(
    "command", ["events --limit 12", "get jobs", "get queues", "get queues -o wide"]
)
def test_a_command_fits_a_terminal_of_70_columns(demo_log: str, command: str) -> None:
    shown = on_a_terminal(70, *command.split(), "--log", demo_log).splitlines()
    assert len(shown) > 2
    assert max(map(len, shown)) <= 70


@pytest.mark.parametrize("command", ["check --settle 0s", "why queue gold", "get jobs"])
def test_a_command_fits_a_terminal_of_60_columns(demo_log: str, command: str) -> None:
    shown = on_a_terminal(60, *command.split(), "--log", demo_log).splitlines()
    assert len(shown) > 2
    assert max(map(len, shown)) <= 60


def test_advice_goes_on_in_the_next_line_on_a_terminal_only() -> None:
    text = "no complete list of nodes: ingest what this prints: kubectl get nodes -A -o json"
    assert list(paragraph(text, Style())) == [f"{text}\n"]
    lines = list(paragraph(text, Style(width=40)))
    assert max(len(line.rstrip("\n")) for line in lines) <= 40
    assert " ".join(line.strip() for line in lines) == text


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_rows_that_follow_fit_a_narrow_terminal_and_are_one_line_each_with_all_columns(
    width: int,
) -> None:
    rows = [("default", "a", "Running"), ("volcano-system", "x" * 70, "waits for " * 12)]
    table = Table(("NAMESPACE", "NAME", "STATUS"), [], keep=("NAME",))

    def lines(*, whole: bool) -> list[str]:
        style = Style(width=width, whole=whole)
        return list(stream_lines(table, iter(rows), style=style, look_ahead=1, endless=True))

    assert all(len(line.rstrip("\n")) <= width for line in lines(whole=False))
    shown = lines(whole=True)
    assert len(shown) == 1 + len(rows)
    assert all(
        cell.strip() in line for row, line in zip(rows, shown[1:], strict=True) for cell in row
    )
