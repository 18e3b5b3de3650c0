"""With ``--tz`` all times that text shows are of the zone, and times without one are read in it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from click.testing import Result

import reference

Run = Callable[..., Result]

BERLIN = ("--tz", "Europe/Berlin")
THEN = ("--at", "2026-11-21T02:53:36")
UTC_TIME = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z|\bUTC\b|T01:5\d|\b01:5\d:\d\d")
"""A time in UTC; the recording is of 01:52 to 01:55, which is 02:52 to 02:55 in Berlin."""

COMMANDS = (
    ("status",),
    ("overview",),
    ("events", "--limit", "50"),
    ("events", "pods", "-o", "wide", "--limit", "50"),
    ("get", "nodes,queues,podgroups", *THEN),
    ("get", "pods", "-A", "-o", "custom-columns=T:.metadata.creationTimestamp", *THEN),
    ("get", "queues", "--plot", *THEN),
    ("describe", "node", "node-1", *THEN),
    ("describe", "podgroup", "gpu-2", *THEN),
    ("history", "node-1"),
    ("diff", "02:53:02", "02:53:36", "--who"),
    ("belief", "nodes", *THEN),
    ("drift", *THEN),
    ("check", *THEN),
    ("session", *THEN),
    ("session", "list"),
    ("why", "gpu-2", *THEN),
    ("why", "queue/gold", "--plot", *THEN),
    ("path", "gpu-2-gpu-0", *THEN),
    ("shares", "gold", *THEN),
    ("blame", "queue/gold", "allocated.cpu", *THEN),
    ("upgrade-check", "--from", "v1.12.1", "--to", "v1.15.1", "--at", "02:53:02"),
    ("lint", *THEN),
    ("plot", "queues", "gold", "--from", "02:53:00", "--to", "02:54:00"),
    ("plot", "nodes"),
    ("branch", "list"),
    ("head",),
    ("checkpoint", "list"),
    (),
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_all_times_of_a_command_are_of_the_zone(
    run: Run, demo_log: str, words: tuple[str, ...]
) -> None:
    result = run(*words, *BERLIN, "--log", demo_log)
    assert result.exit_code in {0, 1}, result.stderr
    assert result.output
    assert UTC_TIME.search(result.stdout) is None
    # Points are quoted as they were given; what they are read as is of the zone.
    assert UTC_TIME.search(result.stderr) is None


def test_that_there_are_times_in_utc_without_the_zone_would_be_noticed(
    run: Run, demo_log: str
) -> None:
    for words in (
        ("status",),
        ("overview",),
        ("events",),
        ("history", "node-1"),
        ("plot", "nodes"),
    ):
        assert UTC_TIME.search(run(*words, "--log", demo_log).stdout), words


def test_the_zone_is_said_with_each_time_and_columns_stay_aligned(run: Run, demo_log: str) -> None:
    lines = run("session", "list", *BERLIN, "--log", demo_log).stdout.splitlines()
    place = lines[0].index("LASTS")
    assert all(line[place - 1] == " " and line[place] != " " for line in lines)
    assert "+01:00" in lines[1]
    picture = run("plot", "nodes", *BERLIN, "--log", demo_log).stdout
    assert "2026-11-21 02:52:36 to 02:55:19 Europe/Berlin" in picture


def test_a_time_that_is_shown_can_be_pasted_back(run: Run, demo_log: str) -> None:
    shown = run("why", "gpu-2", *THEN, *BERLIN, "--log", demo_log)
    time = re.search(r"session at (\S+) as", shown.stderr)
    assert time is not None
    again = run("why", "gpu-2", "--at", time[1], "--log", demo_log)
    utc = run("why", "gpu-2", "--at", "2026-11-21T01:53:36Z", "--log", demo_log)
    assert again.stdout == utc.stdout


@pytest.mark.parametrize("at", ["02:53:36", "2026-11-21T02:53:36", "01:53:36Z"])
def test_a_time_without_a_zone_is_read_in_it(run: Run, demo_log: str, at: str) -> None:
    utc = run("get", "pods", "--at", "2026-11-21T01:53:36Z", "--log", demo_log)
    assert run("get", "pods", "--at", at, *BERLIN, "--log", demo_log).stdout == utc.stdout


def test_a_date_is_its_midnight_in_the_zone(run: Run, demo_log: str) -> None:
    result = run("get", "nodes", "--at", "2026-11-22", *BERLIN, "--log", demo_log)
    assert "the beginning of that day, in Europe/Berlin" in result.stderr


def test_json_stays_in_utc(run: Run, demo_log: str) -> None:
    for words in (("history", "node-1"), ("events", "--limit", "9"), ("overview",)):
        plain = run(*words, "-o", "json", "--log", demo_log).stdout
        assert run(*words, "-o", "json", *BERLIN, "--log", demo_log).stdout == plain


def test_the_zone_may_be_in_the_environment_and_an_option_beats_it(run: Run, demo_log: str) -> None:
    ask = ("session", "list", "--log", demo_log)
    named = {"PLINIAN_TZ": "Asia/Kolkata"}
    assert "T07:22:47" in run(*ask, env=named).stdout
    assert "T02:52:47" in run("--tz", "Europe/Berlin", *ask, env=named).stdout
    assert "T02:52:47" in run("session", *BERLIN, "list", "--log", demo_log, env=named).stdout
    assert "T01:52:47" in run(*ask, "--tz", "UTC", env=named).stdout


def test_a_zone_that_does_not_exist_is_an_error(run: Run, demo_log: str) -> None:
    result = run("status", "--tz", "Berlin", "--log", demo_log)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean Europe/Berlin?" in result.stderr


def test_every_command_has_the_option() -> None:
    for name, command in reference.walk(reference.command_tree()):
        if not getattr(command, "no_args_is_help", False):
            assert any("--tz" in item.opts for item in command.params), name
