"""Writes that changed nothing: they made no version, and say nothing of when one was made."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from clusters import compact, pod, watched
from plinian.engine.kubernetes.units import SECOND_US, parse_time
from plinian.engine.log import Query, open_log
from plinian.replay.ingest.ingest_run import ingest_at
from plinian.replay.logs.log import Log
from plinian.replay.moments.actors import attributed
from plinian.replay.moments.log_clock import clock_of
from plinian.replay.questions.history import HistoryQuestion

AT = parse_time("2026-01-02T12:00:00Z")
BORN = {"creationTimestamp": "2026-01-02T11:00:00Z"}


def written(revision: int, second: int) -> dict[str, Any]:
    stamps = [{"manager": "m", "time": f"2026-01-02T12:00:{second:02d}Z"}]
    return pod("a", revision, **BORN, managedFields=stamps)


def audited(actor: str, second: int, answer: dict[str, Any], **fields: Any) -> bytes:
    record = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": f"{actor}-{second}",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/default/pods/a",
        "verb": "update",
        "user": {"username": actor},
        "objectRef": {
            "resource": "pods",
            "namespace": answer["metadata"]["namespace"],
            "name": "a",
        },
        "responseStatus": {"code": 200},
        "responseObject": answer,
        "requestReceivedTimestamp": f"2026-01-02T12:00:{second:02d}.100000Z",
        "stageTimestamp": f"2026-01-02T12:00:{second:02d}.200000Z",
    }
    return compact(record | fields) + b"\n"


def update(actor: str, second: int, base: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return audited(actor, second, answer, requestObject=base)


def label(actor: str, second: int, answer: dict[str, Any]) -> bytes:
    patch = {"metadata": {"labels": {"app": "a"}}}
    return audited(actor, second, answer, verb="patch", requestObject=patch)


FIRST, SECOND = written(10, 1), written(20, 3)


@pytest.fixture(params=["update", "patch"])
def again(request: pytest.FixtureRequest) -> bytes:
    """Return a write of mallory at 12:00:40, answered with a version of 12:00:03."""
    if request.param == "update":
        return update("mallory", 40, SECOND, SECOND)
    return label("mallory", 40, SECOND)


def log_of(folder: Path, **inputs: bytes) -> str:
    place = str(folder / "log.db")
    for name, data in inputs.items():
        (folder / name).write_bytes(data)
    ingest_at(place, [str(folder / name) for name in inputs])
    return place


def actors(place: str) -> dict[int, str]:
    """Return who made each revision, by ``events``; ``history`` must say the same."""
    with open_log(place, read_only=True) as store:
        clock = clock_of(store, branch="main", cluster="default")
        found = {
            one.event.revision: one.actor
            for one in attributed(store, clock, store.read(Query()), branch="main")
            if one.event.kind.startswith("pod.") and one.event.revision is not None
        }
        lines = HistoryQuestion("pod/a", namespace="default").ask(Log(store)).happenings
        assert {one.revision: one.actor for one in lines if one.revision is not None} == found
        return found


def bounds(place: str, revision: int) -> tuple[int | None, int | None]:
    with open_log(place, read_only=True) as store:
        span = clock_of(store, branch="main", cluster="default").spans([revision])[0]
        return span.earliest, span.latest


def test_of_a_cut_audit_log_a_repeated_version_has_no_writer(tmp_path: Path, again: bytes) -> None:
    place = log_of(tmp_path, audit=again)
    assert actors(place) == {20: ""}
    assert bounds(place, 20) == (AT + 3 * SECOND_US, AT + 40_200_000)


def test_beside_a_watch_it_does_not_move_the_version_either(tmp_path: Path, again: bytes) -> None:
    plain = pod("a", 20, **BORN)
    watch = watched(("ADDED", pod("a", 10, **BORN)), ("MODIFIED", plain))
    seconds = "".join(f"{AT / SECOND_US + second:.6f}\n" for second in (1.5, 3.5))
    (tmp_path / "watch.recv").write_text(seconds)
    place = log_of(tmp_path, **{"watch.jsonl": watch, "audit": again})
    assert actors(place) == {10: "", 20: ""}
    assert bounds(place, 20)[1] == AT + 3_500_000


def test_the_real_writer_stays_whoever_repeats_it(tmp_path: Path, again: bytes) -> None:
    real = update("alice", 3, FIRST, SECOND)
    place = log_of(tmp_path, audit=real + again)
    assert actors(place) == {20: "alice"}
    assert bounds(place, 20) == (AT + 3_100_000, AT + 3_200_000)


def test_a_write_that_was_asked_for_after_its_version_was_there_did_not_make_it(
    tmp_path: Path,
) -> None:
    bare = copy.deepcopy(SECOND)
    del bare["metadata"]["managedFields"]
    later = update("bob", 10, written(25, 9), written(30, 10))
    place = log_of(tmp_path, audit=label("mallory", 40, bare) + later)
    assert actors(place) == {20: "", 30: "bob"}


def test_neither_did_one_that_only_an_attribution_tells_of(tmp_path: Path) -> None:
    bare = copy.deepcopy(SECOND)
    del bare["metadata"]["managedFields"]
    watch = watched(("ADDED", pod("a", 10, **BORN)), ("MODIFIED", bare))
    place = log_of(tmp_path, watch=watch)
    later = update("bob", 10, written(25, 9), written(30, 10))
    place = log_of(tmp_path, audit=label("mallory", 40, bare) + later)
    assert actors(place) == {10: "", 20: "", 30: "bob"}


def test_a_version_that_another_request_was_answered_with_is_not_that_of_a_binding(
    tmp_path: Path,
) -> None:
    placed = written(30, 5)
    placed["spec"]["nodeName"] = "node-1"
    reference = {"resource": "pods", "namespace": "default", "name": "a", "uid": "uid-a"}
    binding = audited(
        *("scheduler", 4, {"kind": "Status", "metadata": {"namespace": "default"}}),
        verb="create",
        objectRef=reference | {"subresource": "binding"},
        responseStatus={"code": 201, "status": "Success"},
        requestObject={"kind": "Binding", "target": {"kind": "Node", "name": "node-1"}},
    )
    place = log_of(
        tmp_path,
        audit=update("alice", 3, FIRST, SECOND)
        + binding
        + audited("kubelet", 5, placed, verb="patch", requestObject={"status": {"phase": "x"}}),
    )
    with open_log(place, read_only=True) as store:
        lines = HistoryQuestion("pod/a", namespace="default").ask(Log(store)).happenings
    assert [(one.revision, one.kind, one.actor) for one in lines] == [
        (20, "pod.updated", "alice"),
        (None, "pod.bound", "scheduler"),
        (30, "pod.updated", "kubelet"),
    ]
    assert bounds(place, 30) == (AT + 5_100_000, AT + 5_200_000)
