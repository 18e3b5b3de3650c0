"""``plinian`` alone, ``plinian help``, and commands of kubectl that cannot exist."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import plinian
from plinian.replay.cli.absent_commands import _ABSENT
from plinian.replay.cli.commands import COMMANDS

Run = Callable[..., Result]


def test_without_a_log_it_says_how_to_begin(run: Run, tmp_path: Path) -> None:
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    assert "There is no log at plinian.db yet." in result.stdout
    for command in ("plinian demo", "plinian ingest dump.tar.gz", "plinian --help"):
        assert f"  {command} " in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_without_a_log_it_names_files_that_may_be_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cluster.db").touch()
    assert "plinian --log cluster.db " in run().stdout


def test_a_log_that_was_named_and_is_not_there_is_an_error(run: Run) -> None:
    for result in (run("--log", "nosuch.db"), run(env={"PLINIAN_LOG": "nosuch.db"})):
        assert (result.exit_code, result.stdout) == (2, "")
        assert "nosuch.db: there is no such file" in result.stderr


def test_it_says_what_the_log_holds_what_is_wrong_and_what_to_ask_next(
    run: Run, demo_log: str
) -> None:
    result = run(env={"PLINIAN_LOG": demo_log})
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("demo.db: 4,450 events of cluster default, from ")
    assert lines[1] == "At the end there are 4 nodes, 5 queues, 18 jobs, 3 podgroups and 39 pods."
    assert lines[2].startswith("1 job waits, ")
    assert "  plinian why job/default/impossible " in result.stdout
    assert len(lines) < 20


def test_the_commands_that_it_names_find_the_log_and_exist(run: Run, demo_log: str) -> None:
    result = run("--log", demo_log, "--at", "2026-11-21T01:53:36Z")
    named = [line.strip() for line in result.stdout.splitlines() if line.startswith("  plinian ")]
    assert len(named) > 4
    for line in named:
        words = line.split("   ")[0].split()
        assert words[1] in COMMANDS or words[1] == "--help"
        assert words[-2:] == ["--log", demo_log] or words[1] == "--help"
    for line in named:  # A server would not end.
        words = line.split("   ")[0].split()
        if words[1] not in {"serve", "--help"}:
            assert run(*words[1:]).exit_code in {0, 1}, line
    why = next(line for line in named if " why " in line).split("   ")[0].split()
    assert why[-4:-2] == ["--at", "2026-11-21T01:53:36Z"]
    assert "At 2026-11-21T01:53:36Z there are 5 nodes, " in result.stdout
    assert run(*why[1:]).exit_code == 0


def test_of_several_clusters_it_says_which_and_asks_about_one(run: Run, tmp_path: Path) -> None:
    node: dict[str, Any] = {"apiVersion": "v1", "kind": "Node"}
    for cluster, count in (("west", 1), ("east", 2)):
        node["metadata"] = {"name": "n1", "uid": "u", "resourceVersion": str(count)}
        (tmp_path / "node.json").write_text(json.dumps(node))
        assert run("ingest", "node.json", "--cluster", cluster, "--log", "log.db").exit_code == 0
    both = run("--log", "log.db").stdout
    assert "2 clusters" in both
    assert "Choose one with --cluster: east, west." in both
    assert "plinian overview --log log.db --cluster east" in both
    one = run("--log", "log.db", "--cluster", "west").stdout
    assert " of cluster west" in one
    assert "plinian overview --log log.db --cluster west" in one


def test_an_empty_log_is_to_be_filled(run: Run, tmp_path: Path) -> None:
    with plinian.open(tmp_path / "log.db", create=True):
        pass
    lines = run("--log", "log.db").stdout.splitlines()
    assert lines[:3] == ["log.db: no events.", "", "Fill it:"]


def test_options_that_it_does_not_have_show_the_help(run: Run) -> None:
    assert run("-n", "ml").stdout == run("--help").stdout


@pytest.mark.parametrize("words", [(), ("why",), ("release", "show"), ("session",)])
def test_help_is_the_help_of_a_command(run: Run, words: tuple[str, ...]) -> None:
    asked = run("help", *words)
    assert (asked.exit_code, asked.stdout) == (0, run(*words, "--help").stdout)


def test_help_of_no_command_is_an_error(run: Run) -> None:
    result = run("help", "gett")
    assert result.exit_code == 2
    assert "No such command 'gett'" in result.stderr


@pytest.mark.parametrize("name", ["logs", "top", "exec", "apply", "edit", "delete", "scale"])
def test_a_command_that_cannot_exist_says_what_there_is(run: Run, name: str) -> None:
    result = run("-n", "ml", name, "pod/train-0")
    assert (result.exit_code, result.stdout) == (2, "")
    first, *instead = result.stderr.splitlines()
    assert first.startswith(f"plinian: there is no plinian {name}: ")
    assert all("plinian " in line for line in instead)
    assert instead


def test_what_is_said_of_absent_commands_names_commands_that_exist() -> None:
    for name, (_, now) in _ABSENT.items():
        assert name not in COMMANDS
        for line in now.split("\n"):
            assert line.partition("plinian ")[2].split()[0].rstrip(",") in COMMANDS


def test_a_command_of_an_answer_finds_the_log_of_that_answer(run: Run, demo_log: str) -> None:
    at = ("--at", "2026-11-21T01:53:36Z")
    named = [
        line.split()[1:]
        for line in run("overview", "--log", demo_log, *at).stdout.splitlines()
        if line.startswith("  plinian ")
    ]
    assert len(named) > 1
    for words in named:
        assert words[-2:] == ["--log", demo_log]
        assert run(*words).exit_code in {0, 1}, words
    usual = run("overview", *at, env={"PLINIAN_LOG": demo_log}).stdout
    assert "  plinian " in usual
    assert "--log" not in usual
