"""``why`` and ``blame`` on the command line: what they print, at each depth and form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from answer_worlds import NODES, listing
from click.testing import Result

from sessions import group, node, pod, queue

Run = Callable[..., Result]

AT = "2026-11-21T01:53:36Z"
SENTENCE = (
    "job default/gpu-2 waits because none of 5 nodes takes it: 4 nodes lack cpu (the nearest, "
    "node-4, lacks 1500m cpu); node-2 has no nvidia.com/gpu (as v1.12.1, which is assumed)"
)


def test_the_sentence_comes_first_then_the_reasons(run: Run, demo_log: str) -> None:
    lines = run("why", "job/gpu-2", "--at", AT, "--log", demo_log).stdout.splitlines()
    assert lines[0] == SENTENCE
    assert any(line.startswith("=> 0 of 5 nodes take pod default/gpu-2-gpu-0") for line in lines)
    assert any(line.split() == ["NODE", "LACKS", "FREE", "REASON"] for line in lines)


def test_each_depth_prints_more(run: Run, demo_log: str) -> None:
    words = ["why", "job", "gpu-2", "--at", AT, "--log", demo_log]
    plain, more, most = (run(*words, *depth).stdout for depth in ([], ["-v"], ["-vv"]))
    assert "RESTS ON" not in plain
    assert "RESTS ON" in more
    assert "Allocatable" not in more
    assert "Allocatable" in most
    assert "memory=58Gi" in most
    assert set(plain.splitlines()) <= {*more.splitlines(), *most.splitlines()} | {
        line for line in plain.splitlines() if line.startswith("   ")
    }


def test_json_and_yaml_are_the_same_record(run: Run, demo_log: str) -> None:
    words = ["why", "job/gpu-2", "--at", AT, "--log", demo_log, "-o"]
    as_json, as_yaml = (run(*words, form).stdout for form in ("json", "yaml"))
    assert json.loads(as_json) == yaml.safe_load(as_yaml)
    assert json.loads(as_json)["sentence"] == SENTENCE


def test_a_list_alone_is_answered_without_a_log(run: Run, tmp_path: Path) -> None:
    world = (node("n1", 1), queue("default"), group("pg", 1), pod("a", "pg", 4))
    (tmp_path / "cluster.json").write_bytes(listing(world))
    (tmp_path / "my.conf").write_text(NODES)
    given = ["-i", str(tmp_path / "cluster.json"), "--conf", str(tmp_path / "my.conf")]
    found = run("why", "pod/a", "-n", "ns", *given)
    assert found.stdout.startswith(
        "pod ns/a waits because the only node does not take it: n1 lacks 3 cpu; no node has 4 cpu, "
        "even when it is empty (as v1.12.1, which is assumed)\n"
    )
    assert "no release was named" in found.stderr
    assert not (tmp_path / "plinian.db").exists()


def test_without_a_configuration_the_assumption_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pods.json").write_bytes(listing([pod("a", "pg")]))
    found = run("why", "pod/a", "-n", "ns", "-i", str(tmp_path / "pods.json"))
    assert found.stdout.startswith("it is not known why pod ns/a waits: the log holds no podgroups")
    assert "the log holds no configuration of the scheduler" in found.stderr


def test_a_job_that_never_existed_exits_with_1(run: Run, demo_log: str) -> None:
    found = run("why", "job/none", "--log", demo_log)
    assert found.exit_code == 1
    assert 'jobs "none" not found in namespace default' in found.stderr


@pytest.mark.parametrize("words", [["why", "pod/a", "-o", "wide"], ["blame", "a", "b", "-o", "x"]])
def test_an_output_form_that_does_not_exist(run: Run, words: list[str]) -> None:
    assert run(*words).exit_code == 2


def test_blame_prints_the_number_its_last_change_and_its_parts(run: Run, demo_log: str) -> None:
    words = ["blame", "queue/gold", "allocated.cpu", "--at", AT, "--log", demo_log]
    lines = run(*words).stdout.splitlines()
    assert lines[0].startswith("queue/gold allocated.cpu is 17: ")
    assert lines[1].startswith("last changed by pod.updated pod/default/mixed-exec-2 @1256 by ")
    amounts = [line.split()[0] for line in lines[4:]]
    assert sum(map(int, amounts)) == 17
