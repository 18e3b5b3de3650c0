"""``-i``: a list of ``kubectl get`` is enough for ``why``, ``session`` and ``check``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from answer_worlds import listing
from click.testing import Result

import plinian
from sessions import group, node, pod, queue

Run = Callable[..., Result]


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.json"
    objects = [node("n"), queue("q"), group("g", queue="q"), pod("a", "g")]
    path.write_bytes(listing(objects))
    return path


@pytest.mark.parametrize(
    "command",
    [("session", "-o", "json"), ("check", "-o", "json"), ("check", "--at", "end", "-o", "json")],
)
def test_inputs_answer_as_a_log_of_them(
    command: tuple[str, ...], listed: Path, run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "log.db"
    assert run("ingest", str(listed), "--log", str(log)).exit_code == 0
    from_log = run(*command, "--log", str(log))
    from_inputs = run(*command, "-i", str(listed))
    assert from_log.exit_code == from_inputs.exit_code == 0
    assert from_log.stdout == from_inputs.stdout
    assert json.loads(from_inputs.stdout)


def test_python_answers_from_inputs_as_well(listed: Path) -> None:
    with plinian.read(str(listed)) as log:
        assert log.check().violations == ()
        assert log.session().result.binds


@pytest.mark.parametrize("command", [("why", "pod/a"), ("session",), ("check",)])
def test_an_input_that_is_missing_is_named(command: tuple[str, ...], run: Run) -> None:
    result = run(*command, "-i", "nowhere.json")
    assert result.exit_code == 2
    assert "nowhere.json: there is no such file" in result.stderr
