"""A question that is declared is asked at all doors, without another line of code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import plinian

PROGRAM = Path(__file__).with_name("new_question.py")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the log of the demo."""
    found = tmp_path_factory.mktemp("asked") / "demo.db"
    plinian.demo(found).close()
    return str(found)


@pytest.fixture(scope="module")
def nodes(place: str) -> int:
    """Return how many nodes the log has at its end."""
    with plinian.open(place) as log:
        return len(log.get("nodes"))


def at_door(door: str, *words: str) -> str:
    """Return what a process writes in which the question is declared."""
    asked = [sys.executable, str(PROGRAM), door, *words]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_a_command(place: str, nodes: int) -> None:
    assert at_door("command", "census", "nodes", "--log", place) == f"{nodes} nodes\n"
    found: dict[str, Any] = json.loads(
        at_door("command", "census", "nodes", "--twice", "-o", "json", "--log", place)
    )
    assert found == {"kind": "nodes", "objects": 2 * nodes}


def test_its_help_is_what_it_declares() -> None:
    text = at_door("command", "census", "--help")
    for part in (
        "Count the objects of a kind.",
        "Objects that are being deleted count.",
        "KIND  The kind, as in pods.",
        "--twice                         Count each object twice.",
        "plinian census pods --at -5m",
    ):
        assert part in text
    assert "  census         Count the objects of a kind.\n" in at_door("command", "--help")


def test_python_asks_it(place: str, nodes: int) -> None:
    assert json.loads(at_door("python", place)) == {"kind": "nodes", "objects": nodes}


def test_the_api_answers_it(place: str, nodes: int) -> None:
    found = json.loads(at_door("http", place))
    assert found["objects"] == 2 * nodes
    assert found["command"].startswith("plinian census nodes --twice --at ")
    assert found["names"] == ["kind", "twice", "at", "strict", "limit", "cursor"]


def test_it_is_a_tool_of_agents(place: str, nodes: int) -> None:
    assert json.loads(at_door("tool", place)) == {
        "kind": "nodes",
        "objects": nodes,
        "about": [
            "How many objects of a kind there are. For a number alone.",
            "The kind, as in pods.",
        ],
    }
