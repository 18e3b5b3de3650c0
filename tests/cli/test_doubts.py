"""What makes an answer uncertain is one line, and with ``-v`` all of it; nothing is said twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

QUEUES = """\
apiVersion: v1
kind: List
items:
- apiVersion: scheduling.volcano.sh/v1beta1
  kind: Queue
  metadata: {name: gold}
  spec: {weight: 1}
- apiVersion: scheduling.volcano.sh/v1beta1
  kind: PodGroup
  metadata: {name: train, namespace: ml}
  spec: {queue: gold, minMember: 1}
  status: {phase: Pending}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Write a file without nodes, pods, uids and configuration."""
    (tmp_path / "some.yaml").write_text(QUEUES, "utf-8")
    return str(tmp_path / "some.yaml")


ASKED = (("why", "train"), ("overview",), ("shares",), ("session",), ("why", "queue/gold"))


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_all_that_makes_an_answer_uncertain_is_one_line(
    run: Run, file: str, words: tuple[str, ...]
) -> None:
    result = run(*words, "-i", file)
    warning, *others = result.stderr.splitlines()
    assert warning.startswith("warning: sessions need what the log lacks: nodes, pods; ")
    assert warning.endswith(" (-v says more)")
    assert "the log holds no configuration of the scheduler; " in warning
    assert [line for line in others if not line.startswith("session at ")] == []
    assert len(others) <= 1


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_with_v_each_is_said_in_full_once_and_what_to_do(
    run: Run, file: str, words: tuple[str, ...]
) -> None:
    result = run(*words, "-i", file, "-v")
    lines = result.stderr.splitlines()
    assert any(line.startswith("warning: THE LOG LACKS WHAT SESSIONS NEED") for line in lines)
    assert "What to do:" in lines
    assert sum("no configuration of the scheduler" in line for line in lines) == 1
    assert sum("neither uid nor resourceVersion" in line for line in lines) == 1
    assert len(set(lines)) == len(lines)


def test_a_doubt_that_is_short_is_said_as_it_is(run: Run, demo_log: str) -> None:
    result = run("why", "gpu-2", "--at", "rv:1080", "--log", demo_log)
    assert result.stderr.splitlines() == [
        "assumed: no release was named: the answer is that of v1.12.1",
        "session at rv:1080 as v1.12.1, configuration volcano-scheduler.conf",
    ]
    named = run("why", "gpu-2", "--at", "rv:1080", "--release", "v1.12.1", "--log", demo_log)
    assert len(named.stderr.splitlines()) == 1


def test_how_a_moment_was_read_is_in_the_same_line(run: Run, demo_log: str) -> None:
    (line,) = run("get", "pods", "--at", "2026-11-22", "--log", demo_log).stderr.splitlines()
    assert line.startswith("warning: pods in default: not known after rv:2059 ")
    assert "; 2026-11-22 is the beginning of that day, in UTC" in line


def test_doubts_are_said_before_an_error(run: Run, demo_log: str) -> None:
    lines = run("why", "pod/nosuch", "--at", "01:53:36", "--log", demo_log).stderr.splitlines()
    assert lines[0].startswith("plinian: 01:53:36 is read as 2026-11-21T01:53:36Z")
    assert lines[1].startswith('plinian: pods "nosuch" not found')


def test_without_doubts_nothing_is_said(run: Run, demo_log: str) -> None:
    asked = ("get", "pods", "--at", "rv:1080", "--log", demo_log)
    assert run(*asked).stderr == run(*asked, "-v").stderr == ""
