"""``plinian verify`` and ``plinian head``, and what commands say of a damaged log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pods import pods
from tampering import tampering

from plinian.engine.log import open_log
from plinian.replay.cli.main import app
from plinian.replay.truth.truth import build_index


def run(place: str, *words: str) -> Any:
    return CliRunner().invoke(app, [*words, "--log", place])


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Make an indexed log with a branch."""
    path = str(tmp_path / "log.db")
    with open_log(path, create=True) as store:
        store.append(pods(*range(1, 30)))
        store.append(pods(*range(30, 40)))
        build_index(store, cluster="default", block_rows=8, checkpoint_events=16)
        store.create_branch("what-if", fork=29)
    return path


def test_heads_are_printed_to_be_kept(place: str) -> None:
    table = run(place, "head").stdout.splitlines()
    found = json.loads(run(place, "head", "-o", "json").stdout)
    assert [(one["branch"], one["position"], one["batch"]) for one in found] == [
        ("main", 39, 2),
        ("what-if", 29, 0),
    ]
    assert table[0].split() == ["BRANCH", "LAST", "BATCH", "HASH"]
    assert [line.split()[-1] for line in table[1:]] == [one["hash"] for one in found]


def test_a_kept_head_is_looked_for(place: str) -> None:
    kept = [one["hash"] for one in json.loads(run(place, "head", "-o", "json").stdout)]
    run(place, "branch", "create", "later")
    with open_log(place) as store:
        store.append(pods(50))
    whole = run(place, "verify", "--head", kept[0], "--head", kept[1])
    assert whole.exit_code == 0, whole.stderr
    assert f"{kept[0]} is batch 2 of branch main, up to @39; 1 event" in whole.stdout
    told = json.loads(run(place, "verify", "--head", kept[0], "-o", "json").stdout)
    assert [(one["position"], one["later"]) for one in told["held"]] == [(39, 1)]
    other = run(place, "verify", "--head", "ab" * 32)
    assert other.exit_code == 2
    assert f"has no batch with the hash {'ab' * 32}" in other.stderr
    assert "verified" not in other.stdout
    none = run(place, "verify", "--head", "main")
    assert none.exit_code == 2
    assert "64 hexadecimal digits" in none.stderr


@pytest.mark.parametrize(
    "words", [["events"], ["get", "pods"], ["status"], ["db", "info"], ["branch", "list"]]
)
def test_a_log_without_its_head_is_damaged_and_not_empty(place: str, words: list[str]) -> None:
    with tampering(place) as tamper:
        tamper("DELETE FROM head WHERE branch_id = 1")
    for asked in (words, ["verify"], ["head"]):
        ran = run(place, *asked)
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert "missing in table head" in ran.stderr


def test_damage_to_the_index_is_told_once_and_mended(place: str) -> None:
    whole = run(place, "digest")
    assert "damaged" not in whole.stderr
    with tampering(place) as tamper:
        tamper("DELETE FROM fact_block WHERE first = 9")
    damaged = run(place, "digest", "--at", "rv:20")
    assert damaged.stderr.count("damaged") == 1
    assert run(place, "digest").stdout == whole.stdout
    verified = run(place, "verify")
    assert verified.exit_code == 0
    assert "answers stay the same: plinian checkpoint build" in verified.stderr
    assert json.loads(run(place, "verify", "-o", "json").stdout)["damaged"]
    built = run(place, "checkpoint", "build")
    assert "the fact blocks of branch 'main' are damaged, and were deleted" in built.stderr
    again = run(place, "verify")
    assert (again.exit_code, again.stderr) == (0, "")
    assert run(place, "digest").stderr == whole.stderr
