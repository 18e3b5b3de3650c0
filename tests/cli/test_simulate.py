"""``plinian simulate`` at the terminal: files in, files out, faults named one by one."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decisions import decided, differences
from plinian.replay.cli.main import app

NAMES = ("basic-0", "gang-0", "preempt-0", "hdrf-1")


@pytest.fixture
def cases(tmp_path: Path) -> list[Path]:
    """Write some recorded scenarios, one of them packed."""
    paths = []
    for name in NAMES:
        path = tmp_path / f"{name}.case.json"
        path.write_text(json.dumps(decided()[name]["case"]), "utf-8")
        paths.append(path)
    packed = tmp_path / "basic-0.case.json.gz"
    packed.write_bytes(gzip.compress(paths[0].read_bytes()))
    paths[0].unlink()
    return [packed, *paths[1:]]


def run(*arguments: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, ["simulate", *map(str, arguments)])


def test_every_scenario_has_a_result_of_its_name_and_release(
    cases: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ran = run(*cases, "--release", "v1.12.1", "--out", out, "--jobs", "1")
    assert (ran.exit_code, ran.stdout) == (0, "4 of 4 scenarios run as v1.12.1\n")
    for name in NAMES:
        result = json.loads((out / f"{name}.v1.12.1.json").read_text("utf-8"))
        assert (result["name"], result["version"]) == (name, "v1.12.1")
        assert not differences(name, "v1.12.1", result["steps"])


def test_neither_hash_seed_nor_number_of_processes_changes_a_byte(
    cases: list[Path], tmp_path: Path
) -> None:
    made = []
    for seed, jobs in (("0", "1"), ("4711", "2")):
        out = tmp_path / seed
        subprocess.run(
            [
                *(sys.executable, "-m", "plinian", "simulate", *map(str, cases)),
                *("--release", "v1.12.1", "--out", str(out), "--jobs", jobs),
            ],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        made.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert made[0] == made[1]
    assert len(made[0]) == len(NAMES)


def test_a_bad_scenario_is_named_and_the_others_run(cases: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.case.json"
    bad.write_text('{"steps": [{"events": [{"type": "PATCHED"}]}]}', "utf-8")
    torn = tmp_path / "torn.case.json.gz"
    torn.write_bytes(cases[0].read_bytes()[:100])
    out = tmp_path / "out"
    ran = run(
        bad, cases[1], torn, tmp_path / "none.case.json", "--release", "v1.12.1", "--out", out
    )
    assert ran.exit_code == 2
    assert ran.stdout == "1 of 4 scenarios run as v1.12.1\n"
    lines = [line for line in ran.stderr.splitlines() if line.startswith("plinian: ")]
    assert "unknown type 'PATCHED' at $.steps[0].events[0].type" in lines[0]
    assert lines[1].startswith(f"plinian: {torn}: damaged compressed data")
    assert lines[2] == f"plinian: {tmp_path / 'none.case.json'}: there is no such file"
    assert [path.name for path in out.iterdir()] == ["gang-0.v1.12.1.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--release", "v1.12"), "v1.12 names a line of releases"),
        (("--release", "v1.99"), "v1.99 is newer than v1.15.1"),
        (("--release", "v1.12.9"), "v1.12.9 is not a known release of Volcano"),
        (("--release", "v1.12.1", "--now", "noon"), "--now: 'noon' is not an RFC 3339 time"),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused_before_anything_runs(
    cases: list[Path], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    ran = run(cases[0], "--out", tmp_path / "out", *arguments)
    assert ran.exit_code == 2
    assert message in ran.stderr
    assert not (tmp_path / "out").exists()


def test_two_scenarios_of_one_name_would_have_one_result(cases: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    twin = other / cases[1].name
    twin.write_bytes(cases[1].read_bytes())
    ran = run(cases[1], twin, "--release", "v1.12.1", "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert "have results with the same file name" in ran.stderr
