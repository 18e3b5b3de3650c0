"""``history`` of a name that is none: what was meant, and what belongs to a job."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cli.conftest import VOLCANO, a_pod, an_object
from plinian.engine.events import Event, Reference
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.log import open_log

Run = Callable[..., Result]

BATCH = "batch.volcano.sh/v1alpha1"


def owned_by(document: Any, kind: str, name: str) -> Any:
    """Return an object that belongs to another."""
    owner = {"apiVersion": "v1", "kind": kind, "name": name, "uid": f"uid-of-{name}"}
    document["metadata"]["ownerReferences"] = [owner]
    return document


def objects() -> list[Any]:
    """Return a Volcano job and a Deployment with what belongs to them, and others of like names."""
    pods = [owned_by(a_pod(f"train-w-{n}", phase="Running"), "Job", "train") for n in range(12)]
    group = an_object("PodGroup", "train-uid-of-train", namespace="default", api=VOLCANO)
    made = an_object("ReplicaSet", "web-5d", namespace="default", api="apps/v1")
    named = an_object("PodGroup", "podgroup-7", namespace="default", api=VOLCANO)
    return [
        an_object("Job", "train", namespace="default", api=BATCH),
        an_object("Deployment", "web", namespace="default", api="apps/v1"),
        owned_by(made, "Deployment", "web"),
        owned_by(a_pod("web-5d-x", phase="Running"), "ReplicaSet", "web-5d"),
        owned_by(named, "ReplicaSet", "web-5d"),
        owned_by(group, "Job", "train"),
        *pods,
        a_pod("train-of-somebody-else", phase="Running"),
        an_object("Pod", "lonely", namespace="other", spec={"containers": [{"name": "c"}]}),
    ]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make their log; one pod was deleted, and a log line names the job's PodGroup by the job."""
    place = str(tmp_path_factory.mktemp("leads") / "a.db")
    events = []
    for revision, document in enumerate(objects(), start=1):
        document["metadata"]["resourceVersion"] = str(revision)
        events.append(version_event(document, verb="created", source="w", line=revision))
    gone = next(one for one in objects() if one["metadata"]["name"] == "train-w-0")
    gone["metadata"]["resourceVersion"] = "99"
    events.append(version_event(gone, verb="deleted", source="w", line=99))
    events += [
        Event(
            kind="decision.logged",
            reference=Reference("scheduling.volcano.sh", "PodGroup", "default", name),
            payload=b'{"component":"scheduler","kind":"decision.logged","message":"a line"}',
        )
        for name in ("train", "unheard")
    ]
    with open_log(place, create=True) as store:
        store.append(events)
    return place


def lost(run: Run, log: str, *named: str) -> list[str]:
    """Return what is said of a name that no object has."""
    result = run("history", *named, "--log", log)
    assert (result.exit_code, result.stdout) == (1, "")
    lines = [line.strip() for line in result.stderr.splitlines()]
    return [line for line in lines if not line.startswith("warning:")]


def test_a_name_that_others_begin_with_leads_to_them(run: Run, log: str) -> None:
    said = lost(run, log, "pod/train")
    assert said[0] == 'plinian: the log holds no pods "train" in namespace default'
    assert said[1] == "names that begin with train:"
    assert "plinian history pod/train-w-0" in said  # Though it is gone by the end.
    assert "and 3 more: plinian get pods" in said
    assert "plinian history job/train" in said


def test_lines_that_name_an_object_are_no_history_where_objects_may_be_meant(
    run: Run, log: str
) -> None:
    whole = run("history", "podgroup/train", "--log", log)
    assert "podgroup/default/train-uid-of-train" in whole.stdout, "a job's name is its PodGroup's"
    alone = run("history", "podgroup/unheard", "--log", log)
    assert alone.exit_code == 0
    assert "a line" in alone.stdout
    assert "the log holds no version of it" in alone.stderr


def test_the_name_of_an_owner_leads_to_what_it_owns(run: Run, log: str) -> None:
    said = lost(run, log, "pod/web-5d")
    assert "names that begin with web-5d:" in said
    assert "plinian history pod/web-5d-x" in said


def test_other_namespaces_and_names_much_the_same_are_named(run: Run, log: str) -> None:
    assert "plinian history pod/lonely -n other" in lost(run, log, "pod/lonely", "-n", "default")
    assert "plinian history pod/train-w-1" in lost(run, log, "pod/trian-w-1")
    (_, now) = lost(run, log, "pod/zzz")
    assert now == "the log never held it; list what exists: plinian get pods -A"


def test_what_belongs_to_a_job_follows_its_history(run: Run, log: str) -> None:
    result = run("history", "job/train", "--log", log)
    assert result.exit_code == 0
    assert "13 object names belong to it:\n" in result.stdout
    assert "  plinian history pod/train-w-0\n" in result.stdout
    assert "(3 more: -o json)" in result.stdout
    found = json.loads(run("history", "job/train", "-o", "json", "--log", log).stdout)
    names = [one["name"] for one in found["belonging"]]
    assert len(names) == 13
    assert "train-uid-of-train" in names
    assert "train-of-somebody-else" not in names


def test_what_belongs_to_a_workload_does_so_through_others(run: Run, log: str) -> None:
    found = json.loads(run("history", "deploy/web", "-o", "json", "--log", log).stdout)
    assert [one["name"] for one in found["belonging"]] == ["web-5d-x", "web-5d"]
    pod = json.loads(run("history", "pod/web-5d-x", "-o", "json", "--log", log).stdout)
    assert pod["belonging"] == []


def test_every_command_that_is_named_works(run: Run, log: str, tmp_path: Path) -> None:
    assert tmp_path.exists()
    for named in (("pod/train",), ("pod/lonely", "-n", "default")):
        commands = [line for line in lost(run, log, *named) if line.startswith("plinian history")]
        assert commands
        for command in commands:
            assert run(*command.split()[1:], "--log", log).exit_code == 0, command
