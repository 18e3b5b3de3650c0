"""What a first hour meets: names that are pasted back, short moments, globs, what is assumed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import plinian
from clusters import compact, watched
from plinian.engine.kubernetes.units import parse_time
from plinian.replay.cli.completion_candidates import candidates_of
from plinian.replay.cli.main import app
from plinian.replay.truth.points import resolve

Run = Callable[..., Result]

VOLCANO = "scheduling.volcano.sh/v1beta1"
UID = "619699cf-e198-4ad9-b06c-144a025b413f"


def a_pod(revision: int, node: str = "", second: int = 1) -> dict[str, object]:
    metadata = {
        "name": "bert-w-0",
        "namespace": "ml",
        "uid": "7eed8d14-f06d-4fef-b019-66a0c381e88f",
        "resourceVersion": str(revision),
        "creationTimestamp": f"2026-03-04T09:00:{second:02d}Z",
    }
    spec = {"nodeName": node} if node else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}}


def a_group(revision: int) -> dict[str, object]:
    metadata = {
        "name": f"bert-{UID}",
        "namespace": "ml",
        "uid": "uid-of-group",
        "resourceVersion": str(revision),
        "creationTimestamp": "2026-03-04T09:00:01Z",
    }
    spec = {"minMember": 1, "queue": "default"}
    return {"apiVersion": VOLCANO, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def asked(verb: str, second: int, subresource: str = "") -> bytes:
    """Return the line of an audit log of level Metadata: a write, and not what it made."""
    ref = {"resource": "pods", "namespace": "ml", "name": "bert-w-0", "apiVersion": "v1"}
    if subresource:
        ref["subresource"] = subresource
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": f"{verb}-{second}",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/ml/pods/bert-w-0",
        "verb": verb,
        "user": {"username": "volcano-scheduler"},
        "objectRef": ref,
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": f"2026-03-04T09:00:{second:02d}.001000Z",
        "stageTimestamp": f"2026-03-04T09:00:{second:02d}.009000Z",
    }
    return compact(event) + b"\n"


def rows_of(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def log(run: Run, tmp_path: Path) -> str:
    """Make a log of a pod that is bound and deleted, by a watch and an audit log."""
    gone = a_pod(30, "n1")
    inputs = (
        watched(
            ("ADDED", a_group(9)),
            ("ADDED", a_pod(10)),
            ("MODIFIED", a_pod(20, "n1")),
            ("DELETED", gone),
        ),
        asked("create", 5, "binding") + asked("delete", 8),
    )
    place = str(tmp_path / "own.db")
    for number, data in enumerate(inputs):
        (tmp_path / f"{number}.in").write_bytes(data)
        done = run("ingest", str(tmp_path / f"{number}.in"), "--log", place)
        assert done.exit_code == 0, done.stderr
    return place


def test_a_name_is_taken_as_events_and_differences_print_it(run: Run, log: str) -> None:
    listed = run("events", "--log", log).stdout
    assert "pod/ml/bert-w-0" in listed
    for question in (
        ("history", "pod/ml/bert-w-0"),
        ("history", "pod", "ml/bert-w-0"),
        ("events", "--object", "pod/ml/bert-w-0"),
        ("get", "pod/ml/bert-w-0", "--at", "rv:20"),
        ("describe", "pod/ml/bert-w-0", "--at", "rv:20"),
        ("describe", "podgroup/ml/bert", "--at", "rv:20"),
        ("history", "podgroup/ml/bert", "-n", "ml"),
    ):
        result = run(*question, "--log", log)
        assert result.exit_code == 0, (question, result.stderr)
        assert "bert" in result.stdout
    refused = run("history", "pod/ml/bert-w-0", "-n", "etl", "--log", log)
    assert "is in namespace ml, but the command says etl" in refused.stderr
    refused = run("get", "queue/ml/root", "--log", log)
    assert "queues have no namespace" in refused.stderr
    for flag, about in (
        ("--enqueued", "podgroup/ml/bert"),
        ("--enqueued", "ml/bert"),
        ("--bound", "pod/ml/bert-w-0"),
        ("--phase", "job/ml/bert=Running"),
    ):
        result = run("bisect", flag, about, "--log", log, "-j", "1")
        assert result.stdout.startswith("AT"), result.stderr
    assert "this is a Pod" in run("bisect", "--enqueued", "pod/ml/a", "--log", log).stderr


def complete(*words: str) -> list[str]:
    return candidates_of(app, list(words))


def test_names_in_other_namespaces_and_of_jobs_are_completed(log: str) -> None:
    assert complete("history", "--log", log, "pod/") == ["pod/ml/bert-w-0"]
    assert complete("history", "--log", log, "pod/ml/be") == ["pod/ml/bert-w-0"]
    assert complete("get", "--log", log, "-n", "ml", "pod/") == ["pod/bert-w-0"]
    assert complete("bisect", "--log", log, "--enqueued", "ml/") == ["ml/bert", f"ml/bert-{UID}"]


def test_a_binding_without_its_node_takes_it_from_the_version_it_made(run: Run, log: str) -> None:
    shown = run("history", "pod/ml/bert-w-0", "--log", log).stdout
    assert 'spec.nodeName: <none> → "n1"' in shown
    assert "bound to n1" in shown
    assert "not recorded" not in shown


def test_the_line_of_a_request_says_which_version_it_made(run: Run, log: str) -> None:
    lines = run("events", "--kind", "*.deleted,request.*,pod.bound", "--log", log).stdout
    rows = rows_of(run("events", "--log", log, "-o", "ndjson"))
    made = {row["position"]: row["made"] for row in rows if row["made"]}
    kinds = {row["position"]: row["kind"] for row in rows}
    assert "pod.deleted" in {kinds[version] for version in made.values()}
    for position, version in made.items():
        (line,) = [line for line in lines.splitlines() if line.split()[0] == f"@{position}"]
        assert f"makes @{version}" in line


def test_kinds_of_events_may_have_a_star_on_both_sides(run: Run, log: str) -> None:
    rows = rows_of(run("events", "--kind", "*.deleted", "--log", log, "-o", "ndjson"))
    assert {row["kind"] for row in rows} == {"pod.deleted"}
    refused = run("events", "--kind", "*.eaten", "--log", log)
    assert refused.exit_code == 2
    assert "no event kind '*.eaten'" in refused.stderr


@pytest.mark.parametrize(
    "text", ["2026-03-04T09:00Z", "2026-03-04T10:00+01:00", "2026-03-04 09:00"]
)
def test_a_moment_needs_no_seconds(log: str, text: str) -> None:
    with plinian.open(log) as opened:
        later = text.replace(":00", ":01", 1) if "+" not in text else text.replace(":00+", ":01+")
        assert resolve(opened.store, later).time == parse_time("2026-03-04T09:01:00Z")


def test_a_release_that_nobody_named_is_said_to_be_assumed(run: Run, log: str) -> None:
    unnamed = run("session", "--log", log).stderr
    assert "as v1.12.1 (the default; choose another with --release)" in unnamed
    assert "(the default" not in run("session", "--log", log, "--release", "v1.12.1").stderr
    search = ("bisect", "--enqueued", "ml/bert", "--log", log, "-j", "1")
    assert "sessions as v1.12.1 (the default" in run(*search).stderr
    assert "(the default" not in run(*search, "--release", "v1.11.0").stderr


def test_all_kinds_are_not_missed_one_by_one(run: Run, log: str) -> None:
    (warning,) = [
        line for line in run("get", "all", "-A", "--log", log).stderr.splitlines() if "not" in line
    ]
    assert "services" not in warning
    assert "nodes" in run("get", "pods,nodes", "-A", "--log", log).stderr


KLOG = b"""\
I0304 09:00:04.700001       1 scheduler.go:95] Start scheduling ...
I0304 09:00:04.700101       1 session.go:186] Open Session 11111111-2222-3333-4444-555555555501 \
with <1> Job and <4> Queues
I0304 09:00:04.700201       1 enqueue.go:45] Enter Enqueue ...
I0304 09:00:04.700401       1 enqueue.go:103] Leaving Enqueue ...
I0304 09:00:04.700501       1 allocate.go:43] Enter Allocate ...
I0304 09:00:04.700601       1 allocate.go:176] There are <1> nodes for Job <ml/bert>
I0304 09:00:04.700701       1 allocate.go:250] Binding Task <ml/bert-w-0> to node <a100-1>
I0304 09:00:04.700801       1 allocate.go:300] Leaving Allocate ...
I0304 09:00:04.700901       1 session.go:242] Close Session 11111111-2222-3333-4444-555555555501
W0304 09:00:05.700201       1 cache.go:700] Failed to bind pod <ml/bert-w-9>
"""


def test_every_line_of_a_component_log_is_counted_once(run: Run, tmp_path: Path) -> None:
    (tmp_path / "scheduler.log").write_bytes(KLOG)
    place = str(tmp_path / "own.db")
    told = run("ingest", str(tmp_path / "scheduler.log"), "--log", place, "--year", "2026").stdout
    events = int(re.search(r"new events +(\d+)", told)[1])  # type: ignore[index]
    left_out = sum(map(int, re.findall(r"info line [a-z: ]+ (\d+) ", told, re.IGNORECASE)))
    assert events + left_out == len(KLOG.splitlines())
    shown = run("status", "--log", place).stdout
    assert "from 2026-03-04T09:00:04.700101Z to 2026-03-04T09:00:05.700201Z" in shown


def test_status_shows_what_is_complete_without_its_holes(run: Run, tmp_path: Path) -> None:
    bookmark = {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "40"}}
    for number, revision in enumerate((10, 31)):
        listed = {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": str(revision)},
            "items": [a_pod(10)],
        }
        (tmp_path / f"{number}.json").write_bytes(compact(listed))
    place = str(tmp_path / "own.db")
    (tmp_path / "2.json").write_bytes(watched(("MODIFIED", a_pod(35)), ("BOOKMARK", bookmark)))
    for number in range(3):
        run("ingest", str(tmp_path / f"{number}.json"), "--log", place)
    (line,) = [
        line
        for line in run("status", "--log", place).stdout.splitlines()
        if line.startswith("pods  ")
    ]
    cells = re.split(r" {3,}", line)
    assert cells[-3].startswith("rv:10, rv:31")
    assert cells[-2] == "rv:11 to rv:30"


def test_the_demonstration_shortens_names_as_get_does(run: Run, demo_log: str) -> None:
    shown = run("demo", "--log", demo_log).stdout
    table = shown.partition("$ plinian diff")[0]
    assert "big-gang-09629e74…" in table
    assert not re.search(r"big-gang-09629e74-", table)


# -- Python ---------------------------------------------------------------------------------------


def test_a_history_of_a_name_that_never_was_is_an_error_in_python_too(log: str) -> None:
    with plinian.open(log) as opened:
        assert opened.history("pod/bert-w-0", namespace="ml").uids
        assert opened.history("pod/ml/bert-w-0").uids
        assert opened.history("podgroup/bert", namespace="ml").uids
        with pytest.raises(plinian.ObjectNotFound) as caught:
            opened.history("pod/bert-w-7", namespace="ml")
        assert "bert-w-0" in caught.value.now


def test_python_refuses_what_is_not_known_and_tells_it(log: str) -> None:
    with plinian.open(log) as opened:
        assert [one.name for one in opened.not_known("pods")] == ["pods"]
        assert {one.pair[1] for one in opened.not_known()} >= {"Node", "Queue", "PodGroup", "Pod"}
        assert opened.not_known("pods", namespace="ml")[0].reason.startswith("not fully known")
        for ask in (
            lambda: opened.get("pods", strict=True),
            lambda: opened.history("pod/ml/bert-w-0", strict=True),
            lambda: opened.describe("podgroup/ml/bert", at="rv:20", strict=True),
            lambda: opened.diff("rv:10", strict=True),
            lambda: opened.digest(strict=True),
            lambda: opened.session(strict=True),
            lambda: opened.compare(strict=True),
            lambda: opened.compare_moments("rv:10", strict=True),
            lambda: opened.bisect(panic=True, strict=True),
            lambda: opened.upgrade_check(from_="v1.10.2", to="v1.12.1", strict=True),
            lambda: opened.belief(strict=True),
            lambda: opened.drift(strict=True),
        ):
            with pytest.raises(plinian.NotKnown):
                ask()
        assert opened.get("podgroups", at="rv:20")
