"""``plinian session``: one session on what a log tells of a moment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

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


def test_a_configuration_of_ones_own(logs: Mapping[str, Path], tmp_path: Path) -> None:
    conf = tmp_path / "none.conf"
    conf.write_text('actions: "enqueue"\ntiers:\n- plugins:\n  - name: gang\n')
    told = answer(logs["gang-0"], "--conf", conf)
    assert (told["binds"], told["conf"]) == ([], str(conf))
    assert told["enqueued"]


def test_faults_say_what_to_do(logs: Mapping[str, Path], tmp_path: Path) -> None:
    ran = run("session", "--log", logs["gang-0"], "--release", "v0.1.0")
    assert ran.exit_code != 0
    ran = run("session", "--log", logs["gang-0"], "-o", "xml")
    assert ran.exit_code == 2
    broken = tmp_path / "broken.conf"
    broken.write_bytes(b"\xff\xfe")
    ran = run("session", "--log", logs["gang-0"], "--conf", broken)
    assert ran.exit_code == 2
    assert "not UTF-8" in ran.output
    ran = run("session", "--log", logs["gang-0"], "--conf", tmp_path / "missing.conf")
    assert ran.exit_code == 2
