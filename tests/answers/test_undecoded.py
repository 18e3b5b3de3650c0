"""Objects of which a field cannot be decoded: sentences about them say which, and its value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import NODES, Document, log_of, owned
from click.testing import CliRunner

import plinian
from plinian.replay.answers.why import why_at
from plinian.replay.cli.main import app
from sessions import group, node, pod, queue

JOB: Document = {
    "kind": "Job",
    "metadata": {"name": "train", "namespace": "ns", "uid": "uid-train"},
    "spec": {"minAvailable": 1, "queue": "q", "schedulerName": "volcano", "tasks": []},
    "status": {"state": {"phase": "Pending"}},
}


def _with(kind: str, *path: str, value: Any) -> list[Document]:
    """Return a small cluster in which a field of the object of a kind has a value."""
    made = {
        "Node": node("n1"),
        "Queue": queue("q"),
        "Job": JOB,
        "PodGroup": owned(group("pg", 1, "Inqueue", queue="q"), "train"),
        "Pod": pod("p", "pg", 1),
    }
    changed = json.loads(json.dumps(made[kind]))
    holder = changed
    for key in path[:-1]:
        holder = holder[int(key) if isinstance(holder, list) else key]
    holder[path[-1]] = value
    return [*(one for of, one in made.items() if of != kind), changed]


BROKEN = {
    "pod/ns/p": (
        ("Pod", "spec", "containers", "0", "resources", "requests", "cpu"),
        "1x",
        'spec.containers[0].resources.requests.cpu is "1x", not a quantity',
    ),
    "node/n1": (
        ("Node", "status", "allocatable", "memory"),
        "8Gx",
        'status.allocatable.memory is "8Gx", not a quantity',
    ),
    "queue/q": (("Queue", "spec", "weight"), "one", 'spec.weight is "one", not a whole number'),
    "podgroup/ns/pg": (
        ("PodGroup", "spec", "minMember"),
        "one",
        'spec.minMember is "one", not a whole number',
    ),
    "job/ns/train": (
        ("Job", "spec", "minAvailable"),
        "one",
        'spec.minAvailable is "one", not a whole number',
    ),
}
ABOUT = {
    "pod/ns/p": ("pod/ns/p", "podgroup/ns/pg", "job/ns/train", "queue/q"),
    "node/n1": ("node/n1", "pod/ns/p", "podgroup/ns/pg", "job/ns/train", "queue/q"),
    "queue/q": ("queue/q", "pod/ns/p", "podgroup/ns/pg", "job/ns/train"),
    "podgroup/ns/pg": ("podgroup/ns/pg", "pod/ns/p", "job/ns/train", "queue/q"),
    "job/ns/train": ("job/ns/train",),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_every_answer_says_which_field_cannot_be_decoded(tmp_path: Path, broken: str) -> None:
    (kind, *path), value, fault = BROKEN[broken]
    with log_of(tmp_path, NODES, *_with(kind, *path, value=value)) as log:
        for named in ABOUT[broken]:
            found = why_at(log, log.object(named), release="v1.12.1")
            said = f"cannot be decoded: {fault}; no API server stores such an object"
            assert said in found.sentence, named
            assert "does not exist" not in found.sentence
            assert "yet" not in found.sentence
            assert any(said in link.text for link in found.chain)


@pytest.mark.parametrize("broken", BROKEN)
def test_tables_and_programs_are_warned_of_it(tmp_path: Path, broken: str) -> None:
    (kind, *path), value, fault = BROKEN[broken]
    with log_of(tmp_path, NODES, *_with(kind, *path, value=value)):
        pass
    place, name = str(tmp_path / "log.db"), broken.split("/")
    plain = [name[0], name[-1], *(["-n", name[1]] if len(name) > 2 else [])]
    for command in ("get", "describe"):
        done = CliRunner().invoke(app, [command, *plain, "--log", place])
        assert f"cannot be decoded: {fault}" in " ".join(done.stderr.split())
    if kind != "Job":
        with plinian.open(place) as log:
            (found,) = [one for one in log.session(release="v1.12.1").not_known if one.objects]
            assert f"cannot be decoded: {fault}" in found.reason


@pytest.mark.parametrize("broken", BROKEN)
def test_a_cluster_lives_on_without_it(tmp_path: Path, broken: str) -> None:
    (kind, *path), value, fault = BROKEN[broken]
    with log_of(tmp_path, NODES, *_with(kind, *path, value=value)):
        pass
    place = str(tmp_path / "log.db")
    done = CliRunner().invoke(app, ["what-if", "--for", "1m", "--log", place])
    assert done.exit_code == 0, done.stderr
    assert f"cannot be decoded: {fault}" in " ".join(done.stdout.split())


def test_tables_show_what_can_be_read(tmp_path: Path) -> None:
    with log_of(tmp_path, NODES, *_with("PodGroup", "spec", "minMember", value="one")):
        pass
    done = CliRunner().invoke(app, ["get", "pg", "-n", "ns", "--log", str(tmp_path / "log.db")])
    assert done.stdout.splitlines()[1].split()[:2] == ["pg", "Inqueue"]
