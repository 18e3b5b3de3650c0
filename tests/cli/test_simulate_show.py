"""``plinian simulate`` without ``--out``: sessions as tables, releases side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from decisions import written
from plinian.engine.volcano.session.history import SUPPORTED
from plinian.replay.cli.main import app
from plinian.replay.render.simulation import releases_lines, result_lines, spans

SIBLINGS = "004-both-at-once"
UNSOUND = "001-guarantee-over-root"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """Write the scenario of two siblings that together ask for more than their parent has."""
    return written(tmp_path, SIBLINGS)


def run(*arguments: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, ["simulate", *map(str, arguments)])


def rows(text: str) -> list[list[str]]:
    """Return the words of each line."""
    return [line.split() for line in text.splitlines()]


def test_a_session_is_told_by_decisions_phases_queues_and_what_waits(case: Path) -> None:
    ran = run(case, "--release", "v1.11.0")
    assert (ran.exit_code, ran.stderr) == (0, "")
    told = rows(ran.stdout)
    assert told[0] == ["004-both-at-once", "as", "v1.11.0"]
    assert told.count(["bind", "default/job-1-0", "n1"]) == 1
    assert any(row[:2] == ["default/job-2", "Inqueue"] for row in told)
    assert ["test-root", "cpu=2,memory=4Gi,pods=1", "<none>", "0"] in told
    assert ["root", "cpu=2,memory=4Gi,pods=1", "cpu=8,memory=16Gi", "0.25"] in told
    assert any(row[:2] == ["default/job-2-0", "pod"] for row in told)
    assert [row for row in told if row[:1] == ["session"]] == [
        ["session", str(number)] for number in (1, 2, 3)
    ]


def test_one_session_can_be_picked(case: Path) -> None:
    told = run(case, "--release", "v1.11.0", "--step", "2").stdout
    assert "session 2\n" in told
    assert "session 1\n" not in told
    assert "bind" not in told


def test_a_crash_and_what_the_scheduler_logs_are_told(tmp_path: Path) -> None:
    case = written(tmp_path, UNSOUND)
    dies = run(case, "--release", "v1.11.0").stdout
    assert "session 2, the scheduler was restarted\n" in dies
    assert "The scheduler panics: resource is not sufficient to do operation: <cpu 30000.00" in dies
    assert "\n  at api.(*Resource).Sub < plugins/capacity." in dies
    stands = run(case, "--release", "v1.12.1").stdout
    assert "SCHEDULER LOG\nFailed to check queue's hierarchical structure" in stands


def test_releases_that_did_the_same_share_a_column(case: Path) -> None:
    names = ("v1.12.1", "v1.11.0", "v1.11.1", "v1.11.2")
    ran = run(case, *(word for name in names for word in ("--release", name)))
    assert ran.exit_code == 0
    assert rows(ran.stdout) == [
        ["004-both-at-once"],
        ["SESSION", "DECISION", "OBJECT", "v1.12.1", "v1.11.0..v1.11.2"],
        ["1", "bind", "default/job-1-0", "n1", "n1"],
        ["1", "phase", "default/job-1", "Running", "Running"],
        ["1", "phase", "default/job-2", "Pending", "Inqueue"],
    ]


def test_all_is_every_release_of_volcano_whose_sessions_can_be_run(tmp_path: Path) -> None:
    names = [str(release) for release in SUPPORTED if not release.ours]
    ran = run(written(tmp_path, "basic-0"), "--release", "all", "--out", tmp_path)
    assert ran.exit_code == 0
    assert ran.stdout.splitlines() == [f"1 of 1 scenarios run as {name}" for name in names]
    assert {path.name for path in tmp_path.glob("basic-0.*.json")} - {"basic-0.case.json"} == {
        f"basic-0.{name}.json" for name in names
    }


def test_what_is_shown_can_be_written_as_well(case: Path, tmp_path: Path) -> None:
    ran = run(case, "--release", "v1.11.0", "--out", tmp_path, "--show")
    result = json.loads((tmp_path / f"{SIBLINGS}.v1.11.0.json").read_text("utf-8"))
    assert ran.stdout == "".join(result_lines(result)) + "1 of 1 scenarios run as v1.11.0\n"


def test_a_bad_scenario_is_named_and_the_others_are_shown(case: Path, tmp_path: Path) -> None:
    ran = run(tmp_path / "none.case.json", case, "--release", "v1.11.0")
    assert ran.exit_code == 2
    assert ran.stderr == f"plinian: {tmp_path / 'none.case.json'}: there is no such file\n"
    assert ran.stdout.startswith(SIBLINGS)


def a_session(**parts: Any) -> dict[str, Any]:
    """Return a session's part of a result in which nothing happened but what is given."""
    empty: dict[str, Any] = {name: {} for name in ("evict_reasons", "podgroups", "queues")}
    empty |= {name: {} for name in ("metrics", "pod_conditions", "fit_errors")}
    empty |= {name: [] for name in ("binds", "evictions", "pipelined", "errors")}
    return {"panic": None, **empty, **parts}


def test_evictions_nominations_and_gauges_are_told() -> None:
    session = a_session(
        evictions=["ns/low"],
        evict_reasons={"ns/low": "preempt"},
        pipelined=[["ns/high", "n1"]],
        queues={"q": {"allocated": {"cpu": "0", "pods": "1"}}},
        metrics={
            "q": {
                "deserved_milli_cpu": 1500.0,
                "deserved_memory_bytes": 0.0,
                "deserved_scalar_resources/nvidia.com/gpu": 2000.0,
                "share": "+Inf",
            }
        },
        fit_errors={"ns/high": "left out: it has a node", "ns/other": "no room"},
    )
    told = rows("".join(result_lines({"name": "a", "version": "v1.12.1", "steps": [session]})))
    assert ["evict", "ns/low", "preempt"] in told
    assert ["pipeline", "ns/high", "n1"] in told
    assert ["q", "pods=1", "cpu=1500m,nvidia.com/gpu=2", "+Inf"] in told
    assert told[-2:] == [["POD", "PENDING", "REASON"], ["ns/other", "no", "room"]]


def test_a_phase_is_told_where_it_changes_on_any_side() -> None:
    def result(version: str, *phases: str) -> dict[str, Any]:
        steps = [a_session(podgroups={"ns/g": {"phase": phase}}) for phase in phases]
        return {"name": "a", "version": version, "steps": steps}

    sides = [result("v1.12.1", "Pending", "Pending", "Running", "Running")]
    sides += [result("v1.13.0", "Pending", "Inqueue", "Running", "Running")]
    assert [row[0] for row in rows("".join(releases_lines(sides)))[2:]] == ["1", "2", "3"]
    assert [row[0] for row in rows("".join(releases_lines(sides, step=2)))[2:]] == ["2"]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["v1.12.1"], "v1.12.1"),
        (["v1.11.1", "v1.11.0"], "v1.11.0..v1.11.1"),
        (["v1.10.2", "v1.11.0", "v1.12.1"], "v1.10.2..v1.11.0,v1.12.1"),
        (["v1.15.1", "hardened"], "v1.15.1,hardened"),
    ],
)
def test_only_neighbours_are_joined(names: list[str], text: str) -> None:
    assert spans(names) == text
