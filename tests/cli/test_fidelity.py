"""``plinian session list``, ``session:N`` and ``plinian fidelity`` on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from recorded_cluster import RecordedCluster

import plinian
from plinian.replay.cli.main import app
from sessions import group, node, pod, queue

TIES = "session:12"
"""The first session of the demonstration that had a choice between equal nodes."""


def run(*words: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(map(str, words)))


def read(*words: str | Path) -> Any:
    """Return what a command prints as JSON."""
    ran = run(*words, "-o", "json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the place of the demonstration's log."""
    place = tmp_path_factory.mktemp("demo") / "demo.db"
    with plinian.demo(place):
        yield place


@pytest.fixture
def differing(tmp_path: Path) -> Path:
    """Give a log whose only session bound a pod to a node without room."""
    made, waiting = RecordedCluster(), pod("p", "g", cpu=4)
    made.saw(1, queue("default"), node("n1"), node("n2", cpu=1), group("g"), waiting)
    made.opened("1", 10)
    made.decided("1", "allocate", 10.02, task="ns/p", node="n2")
    made.bound(waiting, "n2", 10.05)
    with made.log(tmp_path / "differing.db"):
        return tmp_path / "differing.db"


def test_the_list_has_aligned_columns_and_numbers_that_are_moments(demo: Path) -> None:
    lines = run("session", "list", "--log", demo).stdout.splitlines()
    assert lines[0].split()[:3] == ["SESSION", "OPENED", "LASTS"]
    assert len(lines) == 140
    assert {line.index("rv:") for line in lines[1:]} == {lines[0].index("REVISION")}
    assert lines[12].startswith(TIES)


def test_the_list_is_the_same_as_json_and_yaml(demo: Path) -> None:
    found = read("session", "list", "--log", demo, "--at", TIES)
    assert found["kind"] == "SessionList"
    (only,) = found["items"]
    assert (only["session"], only["how"]) == (TIES, "logged")
    text = run("session", "list", "--log", demo, "--at", TIES, "-o", "yaml").stdout
    assert yaml.safe_load(text)["items"] == found["items"]


def test_options_may_stand_before_list(demo: Path) -> None:
    before = run("session", "--log", demo, "list", "--at", TIES).stdout
    assert before == run("session", "list", "--log", demo, "--at", TIES).stdout


def test_a_session_number_is_a_moment_for_every_command(demo: Path) -> None:
    (listed,) = read("session", "list", "--log", demo, "--at", TIES)["items"]
    session = read("session", "--log", demo, "--at", TIES)
    assert session["at"] == TIES
    assert len(session["binds"]) == listed["binds"] > 0
    revision = f"rv:{listed['revision']}"
    for command in ("get pods", "belief nodes"):
        words = command.split()
        by_number = run(*words, "--log", demo, "--at", TIES)
        assert by_number.exit_code == 0, by_number.output
        assert _names(by_number.stdout) == _names(
            run(*words, "--log", demo, "--at", revision).stdout
        )


def _names(table: str) -> list[str]:
    return [line.split()[0] for line in table.splitlines()]


def test_session_without_list_runs_one_as_before(demo: Path) -> None:
    ran = run("session", "--log", demo, "--at", "rv:400")
    assert ran.exit_code == 0
    assert "session at rv:400" in ran.stderr
    assert run("session", "lists", "--log", demo).exit_code == 2


def test_the_report_counts_what_came_out_how(demo: Path) -> None:
    found = read("fidelity", "--log", demo, "--jobs", "1")
    counts = {"recorded": 59, "exact": 50, "tie": 9, "different": 0, "missed": 0, "invented": 0}
    assert found["bindings"] == counts
    assert found["phases"]["recorded"] == found["phases"]["exact"] == 136
    assert found["sessions"]["run"] == found["sessions"]["exact_at_once"] == 139
    assert {each["cause"] for each in found["differences"]} == {"tie"}
    assert all(each["position"] > 0 for each in found["differences"])


def test_another_release_than_the_one_that_ran_shows(demo: Path) -> None:
    words = ("fidelity", "--log", demo, "--at", TIES, "--release", "v1.15.1", "-j", "1")
    found = read(*words)
    assert found["phases"]["different"] == 1
    assert found["causes"]["unexplained"] == 1
    assert run(*words, "--exit-code").exit_code == 1


def test_the_text_has_the_counts_first_and_a_picture_last(demo: Path) -> None:
    lines = run("fidelity", "--log", demo, "--jobs", "1").stdout.splitlines()
    assert lines[0].startswith("139 of 139 sessions came out as recorded")
    assert lines[2].split() == (
        ["COMPARED", "RECORDED", "EXACT", "TIE", "DIFFERENT", "MISSED", "INVENTED"]
    )
    assert lines[-2] == "=" * 80
    assert lines[-1] == "= as recorded"


def test_several_processes_find_the_same(demo: Path) -> None:
    words = ("fidelity", "--log", demo, "--until", "session:40")
    assert read(*words, "--jobs", "2") == read(*words, "--jobs", "1")


def test_python_says_the_same_as_the_command(demo: Path) -> None:
    with plinian.open(demo) as log:
        found = log.fidelity(since=TIES, until="session:20")
        assert found.bindings.recorded > 0
        assert len(found.sessions) == 9
        told = json.loads(json.dumps(plinian.document(found)))
        listed = json.loads(json.dumps(plinian.document(log.sessions(at=TIES))))
    assert told == read(
        *("fidelity", "--log", demo, "--jobs", "1", "--since", TIES, "--until", "session:20")
    )
    assert listed == read("session", "list", "--log", demo, "--at", TIES)["items"]


def test_the_exit_code_names_an_unexplained_difference(differing: Path, demo: Path) -> None:
    assert run("fidelity", "--log", differing).exit_code == 0
    ran = run("fidelity", "--log", differing, "--exit-code")
    assert ran.exit_code == 1
    assert "n2         n1      unexplained" in ran.stdout
    assert ran.stdout.splitlines()[-1] == "! differs, not explained"
    assert run("fidelity", "--log", demo, "--exit-code", "--at", TIES).exit_code == 0


def test_nothing_to_compare_is_said_and_nothing_is_invented(tmp_path: Path) -> None:
    made = RecordedCluster()
    made.saw(1, queue("default"), node("n1"))
    with made.log(tmp_path / "log.db"):
        pass
    ran = run("fidelity", "--log", tmp_path / "log.db")
    assert ran.exit_code == 2
    assert ran.stdout.startswith("nothing to compare: the log has no session")
    listed = run("session", "list", "--log", tmp_path / "log.db")
    assert listed.exit_code == 0
    assert "no sessions: the log has neither" in listed.stderr


def test_an_empty_log_has_no_sessions(tmp_path: Path) -> None:
    with plinian.open(tmp_path / "log.db", create=True):
        pass
    assert run("session", "list", "--log", tmp_path / "log.db").exit_code == 0
    assert run("fidelity", "--log", tmp_path / "log.db").exit_code == 2
    assert run("session", "--log", tmp_path / "log.db", "--at", "session:1").exit_code == 2


@pytest.mark.parametrize("command", [("session", "list"), ("fidelity",)])
def test_a_moment_and_a_range_do_not_go_together(demo: Path, command: tuple[str, ...]) -> None:
    ran = run(*command, "--log", demo, "--at", TIES, "--since", TIES)
    assert ran.exit_code == 2
    assert "--since and --until are a range" in ran.stderr


def test_completion_offers_the_list_and_session_points() -> None:
    def offered(*words: str) -> list[str]:
        return run("__complete", "--", *words).stdout.split()

    assert offered("session", "l") == ["list"]
    assert "session:" in offered("session", "--at", "")
    assert "--choose" in offered("session", "--")
    assert "--since" in offered("session", "list", "--")
    assert "fidelity" in offered("fid")


def test_a_pipe_gets_no_colours(demo: Path) -> None:
    words = [sys.executable, "-m", "plinian", "fidelity", "--log", demo, "--at", TIES, "-j", "1"]
    done = subprocess.run(words, capture_output=True, check=True)
    assert b"\x1b" not in done.stdout
