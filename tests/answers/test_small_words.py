"""Sentences that were not English where a number is one, or a time or a group is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from answer_worlds import PROPORTION, links, log_of
from click.testing import CliRunner
from kubectl_lists import audited, listed, take

import plinian
from plinian.engine.errors import UsageError
from plinian.replay.answers.records import Gang
from plinian.replay.answers.why import why_at
from plinian.replay.cli.main import app
from plinian.replay.render.would_help import help_lines
from plinian.replay.what_if.help import WouldHelp
from sessions import group, node, pod, queue


def printed(*words: str, code: int = 0) -> str:
    """Return what a command prints."""
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize(("nodes", "words"), [(1, "0 of 1 node takes"), (2, "0 of 2 nodes take")])
def test_one_node_takes_and_two_take(tmp_path: Path, nodes: int, words: str) -> None:
    some = [node(f"n{number}", 1) for number in range(nodes)]
    with log_of(tmp_path, PROPORTION, *some, queue("default"), group("pg", 1), pod("a", "pg", 4)):
        place = str(tmp_path / "log.db")
    assert f"=> {words} pod ns/a" in printed("why", "pod/ns/a", "--log", place)


SCENARIO = {
    "events": [
        {
            "type": "ADDED",
            "object": {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "n1"},
                "status": {"allocatable": {"cpu": "4", "pods": "10"}},
            },
        },
        {
            "type": "ADDED",
            "object": {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "PodGroup",
                "metadata": {"name": "g"},
                "spec": {"minMember": 1, "queue": "default"},
                "status": {"phase": "Pending"},
            },
        },
        {
            "type": "ADDED",
            "object": {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": "a",
                    "annotations": {"scheduling.k8s.io/group-name": "g"},
                },
                "spec": {
                    "schedulerName": "volcano",
                    "containers": [{"name": "c", "resources": {"requests": {"cpu": "9"}}}],
                },
                "status": {"phase": "Pending"},
            },
        },
    ]
}


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    """Return the log of a scenario: it has no times, and asks for one session."""
    (tmp_path / "a.case.json").write_text(json.dumps({"steps": [SCENARIO]}), "utf-8")
    place = str(tmp_path / "scenario.db")
    printed("ingest", str(tmp_path / "a.case.json"), "--log", place)
    return place


def test_an_object_without_a_time_exists_since_a_position(scenario: str) -> None:
    text = printed("why", "pod/a", "--log", scenario)
    assert "exists since @" in text
    assert "<none>" not in text
    assert "by <none>" not in printed("blame", "pod/a", "phase", "--log", scenario)
    assert " at <none>" not in printed("blame", "pod/a", "phase", "--log", scenario)


def test_nothing_is_compared_with_what_a_scenario_does_not_record(scenario: str) -> None:
    text = printed("fidelity", "--log", scenario, code=2)
    assert "nothing to compare: the log has 1 session of a scenario" in text
    assert "INVENTED" not in text
    with plinian.open(scenario, read_only=True) as log:
        found = log.fidelity()
    assert (found.requested, found.recorded, found.differences) == (1, 0, ())
    rows = CliRunner().invoke(app, ["session", "list", "--log", scenario]).stdout.splitlines()
    assert rows[1].split()[:2] == ["session:1", "<none>"], "1970 is no time of a scenario"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"tried": 35}, "None of 35 changes makes it start at once"),
        (
            {"tried": 39, "pairs": 4},
            "None of 35 changes and 4 pairs of them makes it start at once",
        ),
        ({"tried": 1}, "The one change that was tried does not make it start at once"),
        ({"tried": 2, "unchanged": "enqueued"}, "None of 2 changes makes it start sooner"),
    ],
)
def test_changes_that_do_not_help_are_counted_in_plain_words(
    changes: dict[str, int | str], text: str
) -> None:
    none = WouldHelp(found=(), tried=0, left=0)
    lines = list(help_lines(msgspec.structs.replace(none, **changes)))
    assert f"{text}.\n" in lines


def test_a_resource_of_the_core_group_has_no_dot_at_its_end(tmp_path: Path) -> None:
    line = audited("create", "gadgets", "g", "2026-05-01T08:00:00Z")
    line["objectRef"].pop("apiGroup", None)
    (tmp_path / "audit.log").write_text(json.dumps(line) + "\n", "utf-8")
    text = printed("ingest", str(tmp_path / "audit.log"), "--log", str(tmp_path / "log.db"))
    assert "the kind of gadgets is not known" in text


def test_python_takes_the_time_of_a_list_as_text(tmp_path: Path) -> None:
    items = [listed("Node", "n1", 10, status={"allocatable": {"cpu": "8"}})]
    at = "2026-05-01T08:30:00Z"
    ends = []
    with plinian.open(tmp_path / "a.db", create=True) as log:
        take(log, tmp_path / "list.json", items, at)
        ends.append(log.clock().last())
    for number, given in enumerate((at, f"2026-05-01T08:29:00Z/{at}")):
        with plinian.open(tmp_path / f"{number}.db", create=True) as log:
            log.ingest(tmp_path / "list.json", taken_at=given)
            ends.append(log.clock().last())
    assert len(set(ends)) == 1
    with plinian.open(tmp_path / "c.db", create=True) as log:
        for wrong in ("yesterday", 12, ("a", "b"), f"{at}/2026-05-01T08:00:00Z"):
            with pytest.raises(UsageError, match="taken_at"):
                log.ingest(tmp_path / "list.json", taken_at=wrong)


FOREIGN = pod("a", "pg", 1)
FOREIGN["spec"] = {**FOREIGN["spec"], "schedulerName": "default-scheduler"}


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ((), "gang: minMember 1; pods: none, as the log holds no pods"),
        ((pod("b", "other", 1),), "gang: minMember 1; pods: none"),
        (
            (FOREIGN,),
            "gang: minMember 1; pods: none that sessions see",
        ),
    ],
)
def test_a_gang_without_pods_says_if_the_log_holds_any(
    tmp_path: Path, others: tuple[Any, ...], words: str
) -> None:
    documents = (node("n1", 4), queue("default"), group("pg", 1, "Inqueue"), *others)
    with log_of(tmp_path, PROPORTION, *documents) as log:
        found = why_at(log, log.object("podgroup/ns/pg"), release="v1.12.1")
    assert [link.text for link in links(found, Gang)] == [words]
