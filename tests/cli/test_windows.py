"""``plinian explore --windows``: when a write of a user ends badly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

import plinian

ARTICLE = str(Path(__file__).parents[2] / "docs/articles/002-deployment-scaled.case.json")


def test_windows_say_when_a_write_ends_badly_as_a_pre_release(run: Callable[..., Result]) -> None:
    done = run("explore", ARTICLE, "--windows", "--release", "v1.9.0-alpha.0", "-o", "json")
    assert done.exit_code == 0
    (window,) = json.loads(done.stdout)["writes"][1]["windows"]
    assert (window["begin_seconds"], window["end_seconds"]) == (30, 40.955)
    (from_python,) = plinian.windows(ARTICLE, release="v1.9.0-alpha.0")[1].windows
    assert from_python.token == window["token"]
    again = run("explore", "--replay", window["token"])
    assert "I-01: PodGroup default/" in again.stdout


def test_windows_need_a_user_who_writes(run: Callable[..., Result]) -> None:
    for arguments in (("--replay", "plinian1.x"), ("--model", "device-list")):
        done = run("explore", "--windows", *arguments)
        assert done.exit_code == 2
        assert f"{arguments[0]} has none" in done.stderr


def test_a_pre_release_is_refused_where_sessions_are_asked_of_it(
    run: Callable[..., Result],
) -> None:
    for command in (("simulate", ARTICLE), ("session",), ("belief", "nodes"), ("drift",)):
        done = run(*command, "--release", "v1.9.0-alpha.0")
        assert done.exit_code == 2
        assert "pre-release" in done.stderr
    assert run("release", "diff", "v1.9.0-alpha.0", "v1.9.0").exit_code == 0
