"""What skills say of a log that lacks something is what its answers show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from asking_tools import ask
from click.testing import Result

TIME = "2026-11-21T01:53:36Z"
POD = "pod/default/gpu-2-gpu-0"

Terminal = Callable[..., Result]
Logs = Mapping[str, Path]


def answer(log: Path, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the answer of a tool."""
    found = ask(log, lambda client: client.call_tool(tool, arguments))
    assert not found.is_error, found.content[0].text
    given: dict[str, Any] = found.structured_content
    return given


def test_a_release_that_is_assumed_is_in_assumed_until_it_is_named(
    logs: Logs, terminal: Terminal
) -> None:
    asked = {"object": POD, "at": TIME}
    assert "no release was named" in " ".join(answer(logs["demo"], "why", **asked)["assumed"])
    assert answer(logs["demo"], "why", **asked, release="v1.12.1")["assumed"] == []
    words = ("why", POD, "--at", TIME)
    assert "assumed: no release was named" in terminal(logs["demo"], *words).stderr
    named = terminal(logs["demo"], *words, "--release", "v1.12.1")
    assert "assumed" not in named.stdout + named.stderr


def test_a_kind_that_is_missing_is_in_not_known_and_there_is_no_reason(
    logs: Logs, terminal: Terminal
) -> None:
    found = answer(logs["nodeless"], "why", object=POD)
    assert [one["remedy"] for one in found["not_known"]] == [
        "ingest a list of nodes, or a complete watch of nodes"
    ]
    assert found["result"]["waits"] is None
    assert found["result"]["sentence"].startswith("it is not known why")
    printed = terminal(logs["nodeless"], "why", POD, "-v")
    assert printed.stdout.startswith("it is not known why")
    assert "warning" in printed.stderr
    assert "ingest a list of nodes" in printed.stderr


def test_without_an_audit_log_who_ended_a_pod_is_empty(logs: Logs, terminal: Terminal) -> None:
    evicted = {"object": "pod/default/train-b-worker-3"}
    happenings = answer(logs["unaudited"], "history", **evicted)["result"]["happenings"]
    (ending, *_) = (
        one
        for one in happenings
        if any(change["path"] == "metadata.deletionTimestamp" for change in one["changes"])
    )
    assert ending["actor"] == ""
    printed = terminal(logs["unaudited"], "history", evicted["object"]).stdout
    assert "EvictionByEvictionAPI" in printed
    assert " by " not in printed.partition("deletionTimestamp")[0]


def test_without_an_audit_log_who_made_a_reason_is_empty(logs: Logs) -> None:
    node = answer(logs["unaudited"], "history", object="node/node-1", ignore=["status"])
    assert {one["actor"] for one in node["result"]["happenings"]} == {""}
    why = answer(logs["unaudited"], "why", object="job/default/gpu-2", at=TIME)
    assert {one["by"] for one in why["result"]["made_by"]} == {""}


def test_a_list_that_is_cut_is_continued_with_next(logs: Logs) -> None:
    asked = {"object": "pod/default/train-b-worker-3", "limit": 5}
    first = answer(logs["demo"], "history", **asked)
    assert first["cut"][0] == {"field": "happenings", "first": 0, "shown": 5, "total": 19}
    second = answer(logs["demo"], "history", **asked, cursor=first["next"])
    shown = [one["result"]["happenings"][0]["position"] for one in (first, second)]
    assert shown == [503, 1930]


def test_an_object_that_is_not_found_may_be_missing_in_the_log_alone(
    logs: Logs, terminal: Terminal
) -> None:
    lacking = terminal(logs["nodeless"], "why", "job/default/gpu-2")
    assert "there may be one: the log holds no complete list of jobs" in lacking.stderr
    found = ask(
        logs["nodeless"], lambda client: client.call_tool("why", {"object": "job/default/gpu-2"})
    )
    assert found.is_error
    assert "there may be one" in found.content[0].text


def test_an_upgrade_whose_verdict_is_unknown_is_no_pass(logs: Logs, terminal: Terminal) -> None:
    releases = {"from": "v1.12.1", "to": "v1.13.0"}
    assert answer(logs["nodeless"], "upgrade_check", **releases)["result"]["verdict"] == "unknown"
    printed = terminal(
        logs["nodeless"], *("upgrade-check", "--from", "v1.12.1", "--to", "v1.13.0", "-v")
    )
    assert printed.exit_code == 2
    assert "not known whether anything changes" in printed.stdout
    assert "built-in configuration" in printed.stderr


def test_lint_says_which_rules_it_could_not_check(logs: Logs, terminal: Terminal) -> None:
    rules = answer(logs["nodeless"], "lint")["result"]["not_checked"]
    assert "pod-above-every-node" in {one["rule"] for one in rules}
    assert "not checked" in terminal(logs["nodeless"], "lint", "--at", "end").stderr


def test_a_queue_without_jobs_has_no_account(logs: Logs) -> None:
    for queue, accounts in (("default", 0), ("silver", 1)):
        chain = answer(logs["demo"], "why", object=f"queue/{queue}", at=TIME)["result"]["chain"]
        assert sum("accounts" in link for link in chain) == accounts


@pytest.mark.parametrize("words", [("--log", "none.db"), ()])
def test_without_a_log_a_command_says_how_to_make_one(
    words: tuple[str, ...], terminal: Terminal
) -> None:
    done = terminal(Path("none.db"), "why", POD, *words)
    assert done.exit_code == 2
    assert "plinian ingest" in done.stderr
