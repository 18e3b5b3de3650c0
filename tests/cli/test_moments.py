"""Moments given as times, in logs that know little of time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

from clusters import compact, initial_end, watched

Run = Callable[..., Result]

DAY = "2026-03-04"


def pod(revision: int, second: int, *, name: str = "bert-0", phase: str = "Pending") -> Any:
    """Return a version of a pod that was written at a second of the day's tenth hour."""
    stamp = f"{DAY}T09:00:{second:02}Z"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": f"uid-{name}",
            "resourceVersion": str(revision),
            "creationTimestamp": f"{DAY}T09:00:05Z",
            "managedFields": [{"manager": "m", "operation": "Update", "time": stamp}],
        },
        "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": phase},
    }


def a_list(*items: Any) -> bytes:
    return compact({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": list(items)})


def ingest(run: Run, tmp_path: Path, name: str, data: bytes, *options: str) -> str:
    log = str(tmp_path / "moments.db")
    path = tmp_path / name
    path.write_bytes(data)
    result = run("ingest", str(path), "--log", log, *options)
    assert result.exit_code == 0, result.stderr
    return log


def two_lists(run: Run, tmp_path: Path) -> str:
    first, last = pod(10, 5), pod(30, 14, phase="Running")
    ingest(run, tmp_path, "a.json", a_list(first), "--taken-at", f"{DAY}T09:00:10Z")
    return ingest(run, tmp_path, "b.json", a_list(last), "--taken-at", f"{DAY}T09:00:17Z")


def pods_at(run: Run, log: str, clock: str, *options: str) -> Result:
    return run("get", "pods", "-A", "--log", log, "--at", f"{DAY}T{clock}Z", *options)


def test_between_two_lists_nothing_is_known(run: Run, tmp_path: Path) -> None:
    """The state that the first list showed may have changed unseen."""
    log = two_lists(run, tmp_path)
    for clock in ("09:00:11", "09:00:13"):
        asked = pods_at(run, log, clock, "--strict")
        assert asked.exit_code == 2, asked.output
        assert "pods in ml: not known between rv:10" in asked.stderr
        assert "pods in ml: not known between rv:10" in pods_at(run, log, clock).stderr
    for clock in ("09:00:10", "09:00:15", "09:00:18"):
        assert pods_at(run, log, clock, "--strict").exit_code == 0


def test_long_after_the_end_nothing_is_known(run: Run, tmp_path: Path) -> None:
    log = two_lists(run, tmp_path)
    assert pods_at(run, log, "09:01:00", "--strict").exit_code == 0
    late = pods_at(run, log, "11:00:00", "--strict")
    assert late.exit_code == 2
    assert "pods in ml: not known after rv:30" in late.stderr


def test_a_quiet_watch_knows_what_is_between_its_changes(run: Run, tmp_path: Path) -> None:
    first, last = pod(10, 5), pod(30, 50, phase="Running")
    data = watched(("ADDED", first), initial_end(11, "Pod"), ("MODIFIED", last))
    log = ingest(run, tmp_path, "watch.jsonl", data)
    assert pods_at(run, log, "09:00:30", "--strict").exit_code == 0


def test_the_time_of_a_list_is_in_the_log_and_shows_it(run: Run, tmp_path: Path) -> None:
    """Its estimate is half a second later; it is not refused as before the log begins."""
    log = ingest(run, tmp_path, "a.json", a_list(pod(10, 5)), "--taken-at", f"{DAY}T09:00:10Z")
    assert "bert-0" in pods_at(run, log, "09:00:10").stdout
    begun = pods_at(run, log, "09:00:05")
    assert "bert-0" in begun.stdout
    assert "1 change (rv:10) may have happened before or after this moment" in begun.stderr
    early = pods_at(run, log, "09:00:04")
    assert early.exit_code == 2
    assert "before the log begins, at 2026-03-04T09:00:05Z" in early.stderr


def audited(verb: str, second: float) -> bytes:
    stamps = [f"{DAY}T09:00:{second + more:09.6f}Z" for more in (0, 0.01)]
    record = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": f"id-{second}",
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": "ann"},
        "requestURI": "/api/v1/namespaces/ml/pods/bert-0",
        "objectRef": {
            "resource": "pods",
            "namespace": "ml",
            "name": "bert-0",
            "apiVersion": "v1",
        },
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": stamps[0],
        "stageTimestamp": stamps[1],
    }
    return compact(record) + b"\n"


def test_requests_whose_versions_a_watch_holds_change_no_state(run: Run, tmp_path: Path) -> None:
    """Two updates in one second cannot be told apart; the watch shows all that came of them."""
    first, last = pod(10, 5), pod(30, 50, phase="Running")
    middle = pod(20, 20, phase="Running")
    changes = (("MODIFIED", middle), ("MODIFIED", last))
    data = watched(("ADDED", first), initial_end(11, "Pod"), *changes)
    log = ingest(run, tmp_path, "watch.jsonl", data)
    digests = [run("digest", "--log", log, "--at", "rv:20").stdout]
    requests = b"".join(audited("patch", second) for second in (20.7, 20.8, 20.9))
    ingest(run, tmp_path, "audit.log", requests)
    digests.append(run("digest", "--log", log, "--at", "rv:20").stdout)
    assert digests[0] == digests[1]
    shown = run("get", "pods", "-A", "--log", log, "--at", "rv:20", "-o", "json")
    assert json.loads(shown.stdout)["items"]
    assert "may be outdated" not in shown.stderr
