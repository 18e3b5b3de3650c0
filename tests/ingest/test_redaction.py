"""What ``ingest --redact`` leaves out, what it keeps, and that the log says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from campaign import secrets
from plinian.engine.events import Event
from plinian.engine.ingest.objects.redaction import MARK, RULES
from plinian.engine.log import open_log
from plinian.engine.log.store import Query
from plinian.replay.ingest.ingest_run import IngestOptions, ingest_at
from plinian.replay.logs.log import opened
from plinian.replay.logs.log_status import status_of

CONF = 'actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n'
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
HIDDEN = "zqjxkvbw"
KEPT = "keptword"


def metadata(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "namespace": "d", "uid": f"u-{name}", "resourceVersion": "7"} | more


def template() -> dict[str, Any]:
    return {
        "containers": [
            {
                "name": KEPT,
                "image": KEPT,
                "command": ["sh", "-c", HIDDEN],
                "args": [HIDDEN],
                "env": [
                    {"name": KEPT, "value": HIDDEN},
                    {"name": KEPT, "valueFrom": {"fieldRef": {"fieldPath": KEPT}}},
                ],
                "livenessProbe": {
                    "httpGet": {"httpHeaders": [{"name": KEPT, "value": HIDDEN}]},
                    "exec": {"command": [HIDDEN]},
                },
            }
        ]
    }


def objects() -> dict[str, Any]:
    status = {"containerStatuses": [{"lastState": {"terminated": {"message": HIDDEN}}}]}
    applied = metadata("p", annotations={APPLIED: HIDDEN, "other": KEPT})
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": applied, "spec": template()}
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": metadata("j"),
        "spec": {
            "plugins": {"env": [], "svc": [KEPT]},
            "tasks": [{"template": {"spec": template()}}],
        },
    }
    data = {"volcano-scheduler.conf": CONF, "device-config.yaml": KEPT, "password": HIDDEN}
    maps = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("c"), "data": data}
    maps["binaryData"] = {KEPT: HIDDEN}
    return {"apiVersion": "v1", "kind": "List", "items": [pod | {"status": status}, job, maps]}


def audit() -> bytes:
    ref = {"resource": "pods", "namespace": "d", "name": "p"}
    kept = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Request",
        "auditID": "a",
        "stage": "ResponseComplete",
        "verb": "patch",
        "user": {"username": KEPT},
        "objectRef": ref,
        "responseStatus": {"code": 200},
        "stageTimestamp": secrets.TIME,
    }
    refused = {"code": 422, "message": f'spec: Invalid value: "{HIDDEN}": {KEPT}'}
    bodies = [
        {"requestObject": [{"op": "add", "path": f"/{KEPT}", "value": {"a": HIDDEN}}]},
        {"requestObject": {"spec": template()}},
        {"requestObject": {"spec": {}}, "responseStatus": refused},
        {
            "objectRef": {"resource": "configmaps", "namespace": "d", "name": "c"},
            "requestObject": {"data": {"k": HIDDEN, "volcano-scheduler.conf": CONF}},
        },
    ]
    return b"".join(json.dumps(kept | body).encode() + b"\n" for body in bodies)


LINES = f"""\
I0102 12:00:00.000000 1 session.go:1] Open Session d3b07384-d113 with <1> Job and <1> Queues
I0102 12:00:00.100000 1 allocate.go:1] Binding Task <d/{KEPT}> to node <n1>
E0102 12:00:01.000000 1 job_controller.go:9] {HIDDEN}
panic: {KEPT}
"""


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "list.json").write_text(json.dumps(objects()))
    (folder / "audit.log").write_bytes(audit())
    (folder / "scheduler.log").write_text(LINES)
    return folder


def events(place: Path) -> Iterator[Event]:
    with open_log(place) as store:
        for recorded in store.read(Query()):
            yield recorded.event


def test_every_rule_is_kept(inputs: Path, tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    ingest_at(place, [str(inputs)], IngestOptions(year=2026, redact=True))
    held = secrets.searched(str(place), tmp_path)
    assert HIDDEN.encode() not in held
    told = [event for event in events(place) if event.kind == "input.redacted"]
    assert {event.source.rpartition("/")[2] for event in told} == {
        "list.json",
        "audit.log",
        "scheduler.log",
    }
    assert all(tuple(json.loads(event.payload)["rules"]) == tuple(RULES) for event in told)


def test_without_it_all_of_that_is_kept(inputs: Path, tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    ingest_at(place, [str(inputs)], IngestOptions(year=2026))
    held = [event.payload for event in events(place)]
    assert sum(HIDDEN.encode() in payload for payload in held) == 8
    assert MARK.encode() not in b"".join(held)


def test_what_a_session_needs_stays(inputs: Path, tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    ingest_at(place, [str(inputs)], IngestOptions(year=2026, redact=True))
    by_kind: dict[str, list[Any]] = {}
    for event in events(place):
        by_kind.setdefault(event.kind, []).append(msgspec.json.decode(event.payload))
    pod = by_kind["pod.observed"][0]
    container = pod["spec"]["containers"][0]
    assert container["env"][0] == {"name": KEPT, "value": MARK}
    assert container["env"][1]["valueFrom"] == {"fieldRef": {"fieldPath": KEPT}}
    assert container["command"] == container["args"] == [MARK]
    assert pod["metadata"]["annotations"] == {APPLIED: MARK, "other": KEPT}
    assert by_kind["job.observed"][0]["spec"]["plugins"] == {"env": [], "svc": [KEPT]}
    config_map = by_kind["object.observed"][0]
    assert config_map["data"] == {
        "volcano-scheduler.conf": CONF,
        "device-config.yaml": KEPT,
        "password": MARK,
    }
    assert by_kind["config.applied"][0]["text"] == CONF
    assert by_kind["decision.logged"][0]["task"] == f"d/{KEPT}"
    assert by_kind["message.logged"][0]["message"] == MARK
    assert by_kind["process.panicked"][0]["message"] == KEPT
    assert by_kind["request.refused"][0]["message"] == "spec: Invalid value: [left out]"


def test_the_same_input_gives_the_same_events(inputs: Path, tmp_path: Path) -> None:
    held = []
    for name in ("a.db", "b.db"):
        ingest_at(tmp_path / name, [str(inputs)], IngestOptions(year=2026, redact=True))
        held.append([(event.kind, event.payload) for event in events(tmp_path / name)])
    assert held[0] == held[1]
    again = ingest_at(tmp_path / "a.db", [str(inputs)], IngestOptions(year=2026, redact=True))
    assert again.appended == 0


def test_the_status_of_a_log_says_which_inputs_were_redacted(inputs: Path, tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    options = IngestOptions(year=2026, redact=True)
    ingest_at(place, [str(inputs / "list.json")], options)
    ingest_at(place, [str(inputs / "audit.log")], IngestOptions(year=2026))
    with opened(str(place)) as log:
        told = {one.source.rpartition("/")[2]: one.redacted for one in status_of(log).inputs}
    assert told == {"list.json": True, "audit.log": False}
