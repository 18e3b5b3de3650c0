"""Fields of the wrong type end in an answer or a clean error, never in an internal error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from campaign import types
from plinian.replay.cli.main import app


def simulate(path: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["simulate", str(path), "--release", "v1.12.1", *options])


@pytest.fixture
def case(tmp_path: Path) -> Path:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {}}
    path = tmp_path / "x.case.json"
    path.write_text(json.dumps({"steps": [{"events": [{"type": "ADDED", "object": node}]}]}))
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": None},
        {"metadata": []},
        {"metadata": {"name": None}},
        {"metadata": {"name": {"a": 1}}},
        {"metadata": {"namespace": 3}},
        {"kind": {}},
        {"kind": None},
        {"apiVersion": [1]},
    ],
)
def test_a_patch_must_leave_an_object(case: Path, change: Any) -> None:
    done = simulate(case, "--patch", f"node/n={json.dumps(change)}")
    assert done.exit_code == 2
    assert "is not a valid object" in done.stderr
    assert "internal error of Plinian" not in done.stderr


@pytest.mark.parametrize("change", ['{"spec":"\\ud800"}', '{"metadata":{"labels":{"\\udc80":""}}}'])
def test_a_patch_with_half_a_character_is_none(case: Path, change: str) -> None:
    done = simulate(case, "--patch", f"node/n={change}")
    assert done.exit_code == 2
    assert "is not a patch" in done.stderr


def test_a_scenario_with_half_a_character_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.case.json"
    path.write_text('{"name":null,"steps":[{"events":[]}],"conf":"a \\ud800 b"}')
    done = simulate(path)
    assert done.exit_code == 2
    assert "not JSON" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["events", "--source", "\udcff"],
        ["history", "pod/\udcff"],
        ["branch", "create", "\udcff"],
    ],
)
def test_an_argument_that_is_no_text_is_refused(demo_log: str, arguments: list[str]) -> None:
    done = CliRunner().invoke(app, [*arguments, "--log", demo_log])
    assert done.exit_code == 2
    assert "is not valid text" in done.stderr


def test_a_patch_of_many_characters_is_not_repeated_whole(case: Path) -> None:
    done = simulate(case, "--patch", f"node/n={'x' * 5000}")
    assert done.exit_code == 2
    assert len(done.stderr) < 1000


@pytest.mark.slow
def test_no_field_of_the_wrong_type_breaks_a_command() -> None:
    found = types.run(seed=5, count=150, seconds=240)
    assert found.failures == ()
    assert {0, 2} <= set(found.by_code)
