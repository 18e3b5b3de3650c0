"""``--plot``: answers with a picture below them, in characters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from drawn_cluster import DrawnCluster, node, pod, queue

import plinian
from plinian import Log
from plinian.replay.answers.records import QueuePath
from plinian.replay.cli.main import app
from plinian.replay.plot.asked import GANG, QUEUES
from plinian.replay.plot.picture import Chart, Role
from plinian.replay.plot.plot_run import plot_of_why

FULL = "2026-11-21T01:53:36Z"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give the log of the demonstration."""
    with plinian.demo(tmp_path_factory.mktemp("demo") / "demo.db") as log:
        yield log


def run(log: Log, *words: str, **environment: str) -> Result:
    """Run a command with ``--plot``."""
    return CliRunner(env=environment).invoke(app, [*words, "--plot", "--log", log.place])


ASKED = (
    ["why", "queue/gold", "--at", FULL],
    ["why", "node/node-1", "--at", FULL],
    ["why", "job/train-a", "--at", FULL],
    ["get", "queues", "--at", FULL],
    ["get", "nodes", "-o", "wide"],
    ["get", "job", "train-a", "--at", FULL],
    ["session", "list", "--until", FULL],
    ["what-if", "--for", "30s", "--at", FULL, "--set", "queue/gold.spec.capability.cpu=10"],
)


@pytest.mark.slow
@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_the_answer_stays_and_a_picture_follows(demo: Log, words: list[str]) -> None:
    plain = CliRunner().invoke(app, [*words, "--log", demo.place])
    drawn = run(demo, *words, COLUMNS="60")
    assert drawn.exit_code == 0, drawn.output
    assert drawn.stdout.startswith(f"{plain.stdout}\n")
    picture = drawn.stdout.removeprefix(plain.stdout).splitlines()
    assert any("demo.db, 2026-11-21" in line for line in picture)
    assert all(len(line) <= 60 for line in picture)
    assert any("█" in line or "▒" in line for line in picture)


def test_a_picture_of_an_answer_ends_at_its_moment(demo: Log) -> None:
    drawn = run(demo, "why", "queue/gold", "--at", FULL)
    assert "to 01:53:36 UTC" in drawn.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["why", "queue/gold", "-o", "json"],
        ["get", "queues", "-o", "yaml"],
        ["get", "queues", "-o", "name"],
        ["fidelity", "-o", "junit"],
        ["session", "list", "-o", "json"],
        ["what-if", "--for", "1s", "-o", "json"],
        ["what-if", "--cordon", "node-3"],
        ["get", "pods"],
        ["get", "jobs"],
        ["get", "queues,pods"],
        ["get", "queues", "-w"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_printed(
    demo: Log, words: list[str]
) -> None:
    refused = run(demo, *words)
    assert refused.exit_code == 2
    assert "--plot" in refused.stderr
    assert refused.stdout == ""


@pytest.mark.slow
def test_what_a_queue_keeps_waiting_is_drawn_as_that_queue_and_else_as_its_gang(
    demo: Log,
) -> None:
    full, early = demo.moment("01:54:00"), demo.moment("01:53:36")
    found = demo.why("podgroup/gpu-2", at=full)
    assert found.cause == "queue-full gold"
    asked = plot_of_why(demo, found, full)
    assert asked[:2] == (QUEUES, ("gold",))
    path = next(link for link in found.chain if isinstance(link, QueuePath) and link.blocks)
    assert asked.resource in path.accounts[0].exceeded
    drawn = demo.plot_of(found).picture
    assert drawn.title.startswith(f"Queues: {asked.resource} allocated")
    assert [one.title.split()[0] for one in drawn.panels] == ["gold"]
    for named in ("podgroup/gpu-2", "pod/gpu-2-gpu-0"):
        found = demo.why(named, at=early)
        assert found.cause.startswith("no-node")
        assert plot_of_why(demo, found, early)[:2] == (GANG, (f"podgroup/{_GROUP}",))


_GROUP = "gpu-2-4881877e-050f-458c-8d21-7ad9534978c9"


def test_a_pod_without_a_podgroup_keeps_its_answer(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    alone = pod("alone", group="")
    del alone["metadata"]["annotations"]
    cluster.saw(0, node("n1"), queue("default"), alone)
    cluster.saw(9, node("n1"), verb="updated")
    with cluster.log(tmp_path / "log.db") as log:
        answered = run(log, "why", "pod/alone", "-n", "ml")
    assert answered.exit_code == 0, answered.output
    assert answered.stdout.startswith("pod ml/alone ")
    assert "nothing is drawn: pod ml/alone has no PodGroup" in answered.stderr


def test_a_list_of_one_time_is_answered_and_not_drawn(tmp_path: Path) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [node("n1")]}
    listed["items"][0]["metadata"]["resourceVersion"] = "7"
    (tmp_path / "nodes.json").write_text(json.dumps(listed))
    words = ["why", "node/n1", "-i", str(tmp_path / "nodes.json"), "--plot"]
    answered = CliRunner().invoke(app, words)
    assert answered.exit_code == 0, answered.output
    assert answered.stdout.startswith("it is not known what waits for node n1")
    assert "nothing is drawn: the log has one time only" in answered.stderr
    assert "each step" not in answered.stdout


def test_sessions_that_were_run_again_are_drawn_by_how_they_came_out(demo: Log) -> None:
    found = demo.fidelity(until=FULL)
    picture = demo.plot_of(found).picture
    sessions, bindings, *_ = picture.panels
    assert isinstance(sessions, Chart)
    assert isinstance(bindings, Chart)
    totals = {line.role: sum(value or 0 for value in line.values) for line in sessions.filled}
    assert sum(totals.values()) == len(found.sessions)
    assert totals[Role.SAME] == sum(one.exact and not one.deliveries for one in found.sessions)
    exact, tie = (sum(value or 0 for value in line.values) for line in bindings.filled)
    assert (exact, tie) == (found.bindings.exact, found.bindings.tie)
    assert demo.plot_of(found).data("svg").startswith(b"<svg ")
    drawn = run(demo, "fidelity", "--until", FULL)
    assert drawn.stdout.endswith(demo.plot_of(found).text())


def test_what_queues_hold_is_drawn_as_it_was_and_as_changed(demo: Log) -> None:
    found = demo.forecast("30s", at=FULL, fields=["queue/gold.spec.capability.cpu=10"])
    picture = demo.plot_of(found).picture
    gold = next(one for one in picture.panels if one.title.startswith("gold, cpu"))
    assert isinstance(gold, Chart)
    (original,), changed = gold.filled, gold.lines[-1]
    assert (original.label, changed.label) == ("original", "changed")
    for line, course in ((original, 0), (changed, 1)):
        use = next(
            one
            for one in found.courses[course].queues
            if (one.queue, one.resource) == ("gold", "cpu")
        )
        assert line.values == pytest.approx([value * 1000 for value in use.series])
    assert original.values != changed.values
    assert demo.plot_of(found).data("png").startswith(b"\x89PNG")


def test_without_matplotlib_and_utf_8_the_picture_is_ascii(demo: Log, tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not installed')\n")
    done = subprocess.run(
        [sys.executable, "-m", "plinian", "why", "queue/gold", "--plot", "--log", demo.place],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(tmp_path)},
    )
    assert b"allocated" in done.stdout
    assert done.stdout.isascii()
    assert b"\x1b" not in done.stdout
