"""Files with one name are told apart in answers, and no path of this machine is in what is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import Result

import plinian
from plinian.engine.events.input_names import distinct_names

Run = Callable[..., Result]
CONF = 'actions: "{}"\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n'
AT = "2026-11-21T01:53:36Z"


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/x/a/conf.yaml", "/x/b/conf.yaml"], ["a/conf.yaml", "b/conf.yaml"]),
        (["/x/a/c.yaml", "/x/b/d.yaml"], ["c.yaml", "d.yaml"]),
        (["/1/same/c.yaml", "/2/same/c.yaml"], ["1/same/c.yaml", "2/same/c.yaml"]),
        (["/c.yaml", "/x/c.yaml"], ["c.yaml", "x/c.yaml"]),
        (["c.yaml", "/x/c.yaml"], ["c.yaml", "x/c.yaml"]),
        (["a/c.yaml", "b/c.yaml"], ["a/c.yaml", "b/c.yaml"]),
        (["/x/c.yaml", "/x/c.yaml"], ["c.yaml", "c.yaml"]),
        (["../x/c.yaml", "../../d.yaml"], ["c.yaml", "d.yaml"]),
        (["../x/c.yaml", "../y/c.yaml"], ["x/c.yaml", "y/c.yaml"]),
        ([r"C:\x\a\c.yaml", r"C:\x\b\c.yaml"], ["a/c.yaml", "b/c.yaml"]),
    ],
)
def test_names_are_the_shortest_ends_of_paths_that_differ(
    paths: Sequence[str], names: Sequence[str]
) -> None:
    found = distinct_names(paths)
    assert [found[path] for path in paths] == names


@pytest.fixture
def confs(tmp_path: Path) -> list[str]:
    """Write two configurations with one name, and return their absolute paths."""
    made = []
    for folder, actions in (("old", "enqueue, allocate"), ("new", "enqueue, allocate, backfill")):
        path = tmp_path / folder / "scheduler.conf"
        path.parent.mkdir()
        path.write_text(CONF.format(actions), "utf-8")
        made.append(str(path))
    return made


def test_configurations_with_one_name_have_different_labels(
    run: Run, demo_log: Path, confs: list[str], tmp_path: Path
) -> None:
    named = [part for one in confs for part in ("--conf", one)]
    result = run("session", "--at", AT, *named, "-o", "json", "--log", str(demo_log))
    assert result.exit_code == 0, result.output
    labels = re.findall(r'"label": "([^"]*)"', result.stdout)
    assert labels == ["old/scheduler.conf", "new/scheduler.conf"]
    assert str(tmp_path) not in result.output
    changed = run("what-if", "--at", AT, *named, "-o", "json", "--log", str(demo_log))
    assert changed.exit_code == 0, changed.output
    assert str(tmp_path) not in changed.output
    assert "new/scheduler.conf" in changed.output
    with plinian.open(demo_log, read_only=True) as log:
        sides = log.compare(at=AT, confs=confs).sides
    assert [side.label for side in sides] == labels


@pytest.mark.parametrize("form", ["json", "yaml", "github", "sarif", "junit"])
def test_lint_names_files_as_others_know_them(
    run: Run, confs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    result = run("lint", *confs, "-o", form)
    assert result.exit_code == 0, result.output
    assert str(tmp_path) not in result.stdout
    assert "old/scheduler.conf" in result.stdout
    assert "new/scheduler.conf" in result.stdout


def test_lint_names_files_below_the_present_folder_from_there(
    run: Run, confs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = json.loads(run("lint", confs[0], "-o", "json").stdout)
    assert {one["file"] for one in found["findings"]} == {"old/scheduler.conf"}
    assert found["conf"] == "old/scheduler.conf"
