"""What tests of the command line share: a small log, the demonstration's log, a way to run."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jobs_log import make_jobs_log

from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.kubernetes.units import parse_time
from plinian.engine.log import open_log
from plinian.replay.cli.main import app

Run = Callable[..., Result]

VOLCANO = "scheduling.volcano.sh/v1beta1"


def at(second: int) -> str:
    """Return a time of the small log: so many seconds after noon."""
    return f"2026-01-02T12:00:{second:02d}Z"


def an_object(kind: str, name: str, *, namespace: str = "", uid: str = "", **parts: Any) -> Any:
    """Return a Kubernetes object without a resourceVersion; ``api`` is its apiVersion."""
    metadata: dict[str, Any] = {
        "name": name,
        "uid": uid or f"uid-of-{name}",
        "creationTimestamp": at(0),
        "labels": parts.pop("labels", {}),
    }
    if namespace:
        metadata["namespace"] = namespace
    if "annotations" in parts:
        metadata["annotations"] = parts.pop("annotations")
    return {"apiVersion": parts.pop("api", "v1"), "kind": kind, "metadata": metadata, **parts}


def a_pod(name: str, *, phase: str, node: str = "", cpu: str = "2", **more: Any) -> Any:
    """Return a pod of the podgroup ``train``, asking for some cpu and a gibibyte."""
    spec: dict[str, Any] = {
        "schedulerName": "volcano",
        "containers": [
            {"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}},
        ],
    }
    if node:
        spec["nodeName"] = node
    ready = phase == "Running"
    status = {"phase": phase, "containerStatuses": [{"ready": ready, "restartCount": 0}]}
    return an_object(
        "Pod",
        name,
        namespace="default",
        annotations={"scheduling.k8s.io/group-name": "train"},
        spec=spec,
        status=status,
        **more,
    )


def small_history() -> list[tuple[int, int, str, str, Any]]:
    """Return (revision, second, verb, actor, object) of a cluster in which little happens.

    A pod is created, bound, runs and goes; another of its name comes; a queue is widened.
    """
    node = an_object(
        "Node",
        "n1",
        labels={"zone": "a"},
        spec={},
        status={
            "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.32.2"},
        },
    )
    queue = an_object(
        "Queue",
        "gold",
        api=VOLCANO,
        spec={"weight": 4, "parent": "root", "capability": {"cpu": "4"}},
        status={"state": "Open"},
    )
    wider = copy.deepcopy(queue) | {
        "spec": {"weight": 4, "parent": "root", "capability": {"cpu": "6"}}
    }
    group = an_object(
        "PodGroup",
        "train",
        namespace="default",
        api=VOLCANO,
        spec={"minMember": 1, "queue": "gold"},
        status={"phase": "Running"},
    )
    labels = {"app": "train"}
    return [
        (10, 1, "created", "admin", node),
        (11, 2, "created", "admin", queue),
        (12, 3, "created", "", group),
        (13, 4, "created", "controllers", a_pod("train-0", phase="Pending", labels=labels)),
        (14, 5, "updated", "", a_pod("train-0", phase="Pending", node="n1", labels=labels)),
        (15, 6, "updated", "", a_pod("train-0", phase="Running", node="n1", labels=labels)),
        (16, 7, "updated", "admin", wider),
        (17, 8, "deleted", "admin", a_pod("train-0", phase="Running", node="n1", labels=labels)),
        (18, 9, "created", "controllers", a_pod("train-0", phase="Pending", uid="uid-of-second")),
        (19, 9, "created", "", an_object("Widget", "w1", namespace="default", api="acme.io/v1")),
    ]


@pytest.fixture(scope="session")
def small_log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a log of :func:`small_history`, and give its path; for reading only."""
    path = str(tmp_path_factory.mktemp("small") / "small.db")
    with open_log(path, create=True) as store:
        events = []
        for line, (revision, second, verb, actor, one) in enumerate(small_history(), start=1):
            document = copy.deepcopy(one)
            document["metadata"]["resourceVersion"] = str(revision)
            event = version_event(
                document,
                verb=verb,
                source="watch.jsonl",
                line=line,
                earliest=parse_time(at(second)),
                latest=parse_time(at(second)),
                actor=actor,
            )
            events.append(event)
        store.append(events)
    return path


@pytest.fixture(scope="session")
def jobs_log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make the log of a job that comes twice, and give its path; for reading only."""
    path = str(tmp_path_factory.mktemp("jobs") / "jobs.db")
    make_jobs_log(path)
    return path


@pytest.fixture(scope="session")
def demo_log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make the log that ``plinian demo`` makes, and give its path; for reading only."""
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    result = CliRunner().invoke(app, ["demo", "--log", str(path)])
    assert result.exit_code == 0, result.stderr
    return str(path)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLINIAN_LOG", raising=False)

    def invoke(*arguments: str, **more: Any) -> Result:
        return CliRunner().invoke(app, list(arguments), **more)

    return invoke


@pytest.fixture
def ask(run: Run, small_log: str) -> Callable[..., str]:
    """Run a command on the small log, and return what it prints when it succeeds."""

    def asked(*arguments: str) -> str:
        result = run(*arguments, "--log", small_log)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return asked
