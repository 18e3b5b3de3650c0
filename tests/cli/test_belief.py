"""``plinian belief`` and ``plinian drift``: what a scheduler took the cluster for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from click.testing import Result

Ask = Callable[..., str]
Run = Callable[..., Result]


def table(text: str) -> str:
    """Return a table as it stands in a test."""
    return dedent(text).lstrip("\n")


def test_belief_shows_nodes_and_queues(ask: Ask) -> None:
    assert ask("belief", "nodes,queues", "--at", "rv:16") == table(
        """
        NODE   STATE   PODS   USED                      IDLE                         RELEASING
        n1     Ready   1      cpu=2,memory=1Gi,pods=1   cpu=6,memory=15Gi,pods=109   <none>

        QUEUE   STATE   WEIGHT   PARENT   JOBS   ALLOCATED
        gold    Open    4        root     1      <none>
        """
    )


def test_belief_shows_jobs_too_unless_parts_are_chosen(ask: Ask) -> None:
    shown = ask("belief", "--at", "rv:16").split("\n\n")
    assert [part.split()[0] for part in shown] == ["NODE", "JOB", "QUEUE"]
    row = ("default/train", "gold", "Running", "1", "0", "Running=1", "cpu=2,memory=1Gi,pods=1")
    assert shown[1].splitlines()[1].split() == [*row, "yes"]


def test_a_part_is_chosen_and_things_in_it_by_name(ask: Ask) -> None:
    shown = ask("belief", "tasks", "default/train-0", "--at", "rv:14", "--no-headers")
    assert shown.split() == [
        *("default/train-0", "default/train", "Bound", "n1", "1"),
        "cpu=2,memory=1Gi,pods=1",
    ]


def test_json_and_yaml_have_the_same_by_part(ask: Ask) -> None:
    shown = json.loads(ask("belief", "jobs,hypernodes", "--at", "rv:14", "-o", "json"))
    assert shown == yaml.safe_load(ask("belief", "jobs,hypernodes", "--at", "rv:14", "-o", "yaml"))
    assert shown == {
        "jobs": [
            {
                "job": "default/train",
                "podGroup": "uid-of-train",
                "resourceVersion": "12",
                "phase": "Running",
                "queue": "gold",
                "seen": "yes",
                "minAvailable": 1,
                "priority": 0,
                "tasks": {"Bound": 1},
                "allocated": {"cpu": "2", "memory": "1Gi", "pods": "1"},
            }
        ],
        "hypernodes": [],
    }


def test_nothing_to_show_is_said_aside(run: Run, small_log: str) -> None:
    result = run("belief", "work", "--log", small_log)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.endswith("\nNothing.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("nodes", "n9"), 1, "the scheduler's cache has no node 'n9' at @"),
        (("nodes,jobs", "n9"), 2, "names can follow one part only"),
        (("pods",), 2, "choose from: nodes, jobs, tasks, queues, hypernodes, work"),
        (("-o", "csv"), 2, "no output form 'csv'"),
        (("--release", "v0.1"), 2, "v0.1 is older than v1.8.0"),
        (("--at", "rv:1"), 2, "rv:1 is before the log's first revision"),
    ],
)
def test_what_cannot_be_shown_is_said(
    run: Run, small_log: str, arguments: tuple[str, ...], code: int, told: str
) -> None:
    result = run("belief", *arguments, "--log", small_log)
    assert (result.exit_code, result.stdout) == (code, "")
    assert told in result.stderr


def test_where_all_is_well_nothing_has_drifted(run: Run, small_log: str) -> None:
    result = run("drift", "--exit-code", "--log", small_log)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.endswith(
        "\nNothing differs at @10 in what the log knows. It lacks nodes, queues, podgroups, pods.\n"
    )


@pytest.fixture
def odd_log(run: Run, tmp_path: Path) -> str:
    """Make a log in which a node goes and comes back under its pod, and give its path."""

    def changed(how: str, kind: str, name: str, **rest: Any) -> dict[str, Any]:
        about = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **rest}
        return {"type": how, "object": about}

    room = {"status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}}
    asked = [{"name": "c", "resources": {"requests": {"cpu": "1500m"}}}]
    running = {"spec": {"nodeName": "n1", "containers": asked}, "status": {"phase": "Running"}}
    events = [
        changed("ADDED", "Node", "n1", **room),
        changed("ADDED", "Pod", "a", **running),
        changed("DELETED", "Node", "n1", **room),
        changed("ADDED", "Node", "n1", **room),
    ]
    case = tmp_path / "odd.case.json"
    case.write_text(json.dumps({"name": "odd", "steps": [{"events": events, "noSession": True}]}))
    place = str(tmp_path / "odd.db")
    assert run("ingest", str(case), "--log", place).exit_code == 0
    return place


def test_drift_says_what_parted_and_since_which_event(run: Run, odd_log: str) -> None:
    result = run("drift", "--exit-code", "--log", odd_log)
    assert result.exit_code == 1
    assert result.stdout == table(
        """
        KIND   NAME   FIELD             API SERVER   CACHE    SINCE
        Node   n1     pods[default/a]   default-a    <none>   @7
        Node   n1     used.cpu          1500m        0        @7
        Node   n1     used.pods         1            0        @7
        """
    )
    assert run("drift", "--at", "@5", "--exit-code", "--log", odd_log).exit_code == 0


def test_drift_as_json_has_null_where_there_is_nothing(run: Run, odd_log: str) -> None:
    shown = json.loads(run("drift", "-o", "json", "--log", odd_log).stdout)
    assert shown == yaml.safe_load(run("drift", "-o", "yaml", "--log", odd_log).stdout)
    assert {key: shown[key] for key in ("at", "release", "crashes")} == {
        "at": "@7",
        "release": "v1.12.1",
        "crashes": [],
    }
    assert shown["differences"][0] == {
        "kind": "Node",
        "name": "n1",
        "field": "pods[default/a]",
        "truth": "default-a",
        "belief": None,
        "since": 7,
    }
