"""``plinian session``: one session on what a log tells of a moment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from decisions import decided
from plinian.replay.cli.main import app

SINGLE = ("basic-0", "gang-0")
"""Recorded scenarios whose first step can be had from a log: all before the first session."""


def run(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Ingest what comes before the first session of some scenarios, each into a log of its own."""
    folder = tmp_path_factory.mktemp("sessions")
    made = {}
    for name in SINGLE:
        case = dict(decided()[name]["case"])
        case["steps"] = case["steps"][:1]
        source = folder / f"{name}.case.json"
        source.write_text(json.dumps(case), "utf-8")
        made[name] = folder / f"{name}.db"
        assert run("ingest", "--log", made[name], source).exit_code == 0
    return made


def answer(log: Path, *more: str | Path) -> dict[str, Any]:
    """Return the JSON of a session at the end of a log."""
    ran = run("session", "--log", log, "-o", "json", *more)
    assert ran.exit_code == 0, ran.output
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


@pytest.mark.parametrize("name", SINGLE)
def test_it_decides_what_the_real_scheduler_decided(logs: Mapping[str, Path], name: str) -> None:
    expected = decided()[name]["v1.12.1"]["steps"][0]
    assert answer(logs[name])["binds"] == (expected.get("binds") or [])
    assert expected.get("binds")


def test_yaml_says_what_json_says(logs: Mapping[str, Path]) -> None:
    ran = run("session", "--log", logs["gang-0"], "-o", "yaml")
    assert yaml.safe_load(ran.stdout) == answer(logs["gang-0"])


def test_a_table_names_every_decision(logs: Mapping[str, Path]) -> None:
    ran = run("session", "--log", logs["gang-0"])
    for pod, node in answer(logs["gang-0"])["binds"]:
        assert any(line.split()[:3] == ["bind", pod, node] for line in ran.stdout.splitlines()), (
            ran.stdout
        )


def test_a_trace_tells_who_voted_how(logs: Mapping[str, Path]) -> None:
    steps = answer(logs["gang-0"], "--trace")["trace"]
    assert {"enqueue", "allocate"} <= {step["action"] for step in steps}
    votes = [step for step in steps if step["what"] == "JobEnqueueable"]
    assert {step["by"] for step in votes} >= {"overcommit"}
    assert answer(logs["gang-0"])["trace"] == []
    assert "JobEnqueueable" in run("session", "--log", logs["gang-0"], "--trace").stdout


def test_what_the_session_says_of_itself_is_printed(
    logs: Mapping[str, Path], tmp_path: Path
) -> None:
    conf = tmp_path / "own.conf"
    conf.write_text("actions: allocate\ntiers:\n- plugins:\n  - name: ours\n", "utf-8")
    said = "Failed to get plugin ours."
    assert answer(logs["gang-0"], "--conf", conf)["errors"] == [said]
    shown = run("session", "--log", logs["gang-0"], "--conf", conf).stdout
    assert f"SCHEDULER LOG\n{said}\n" in shown
    assert "SCHEDULER LOG" not in run("session", "--log", logs["gang-0"]).stdout


def test_a_configuration_of_ones_own(logs: Mapping[str, Path], tmp_path: Path) -> None:
    conf = tmp_path / "none.conf"
    conf.write_text('actions: "enqueue"\ntiers:\n- plugins:\n  - name: gang\n')
    told = answer(logs["gang-0"], "--conf", conf)
    assert (told["binds"], told["conf"]) == ([], conf.name)
    assert told["enqueued"]


def test_faults_say_what_to_do(logs: Mapping[str, Path], tmp_path: Path) -> None:
    ran = run("session", "--log", logs["gang-0"], "--release", "v0.1.0")
    assert ran.exit_code == 2
    assert "v0.1.0 is older than v1.8.0" in ran.stderr
    ran = run("session", "--log", logs["gang-0"], "-o", "xml")
    assert ran.exit_code == 2
    broken = tmp_path / "broken.conf"
    broken.write_bytes(b"\xff\xfa")
    ran = run("session", "--log", logs["gang-0"], "--conf", broken)
    assert ran.exit_code == 2
    assert "not UTF-8" in ran.output
    ran = run("session", "--log", logs["gang-0"], "--conf", tmp_path / "missing.conf")
    assert ran.exit_code == 2


def test_lots_are_drawn_by_a_seed_and_only_among_equals(logs: Mapping[str, Path]) -> None:
    told = [answer(logs["gang-0"], "--choose", str(seed)) for seed in (1, 1, 2, 3)]
    assert told[0] == told[1]
    assert {pod for pod, _ in told[0]["binds"]} == {
        pod for pod, _ in answer(logs["gang-0"])["binds"]
    }
    for pod, node in told[2]["binds"]:
        scores = answer(logs["gang-0"], "--choose", "2", "--trace")["node_scores"].get(pod)
        assert scores is None or scores[node] == max(scores.values())


def test_another_way_to_choose_is_refused(logs: Mapping[str, Path]) -> None:
    ran = run("session", "--log", logs["gang-0"], "--choose", "dice")
    assert ran.exit_code == 2
    assert "least-name, recorded, or a seed" in ran.output


def test_what_was_recorded_is_taken_among_equals() -> None:
    recording = files("plinian.replay") / "recordings" / "quickstart"
    with as_file(recording) as folder, TemporaryDirectory() as place:
        log = Path(place) / "quickstart.db"
        assert run("ingest", "--log", log, folder).exit_code == 0
        at = ("--at", "2026-11-21T01:52:58.7Z")
        told = dict(answer(log, *at, "--choose", "recorded")["binds"])
        least = dict(answer(log, *at)["binds"])
    assert told.keys() == least.keys()
    master = "default/train-a-ps-0"
    assert (told[master], least[master]) == ("node-3", "node-0")
