"""Fields that an API server or a webhook sets are filled in where an input lacks them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from clusters import compact, listed, pod, watched
from plinian.engine.events import Event
from plinian.engine.events.payloads import AssumedField, InputAssumed
from plinian.engine.ingest.lists import json_objects, yaml_objects
from plinian.engine.ingest.reading.formats import Context, Format
from plinian.engine.ingest.watch import stream
from plinian.replay.cli.main import app
from plinian.replay.logs.assumptions import assumed_sentences

CAPACITY = {"cpu": "16", "memory": "64Gi", "pods": "110"}


def made(kind: str, api_version: str = "v1", *, namespace: str = "", **fields: Any) -> Any:
    place = {"namespace": namespace} if namespace else {}
    metadata = {"name": "a", "uid": "u", "resourceVersion": "7", **place}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "main", "image": "busybox", **fields}


def pod_of(*containers: dict[str, Any], **spec: Any) -> Any:
    fields = {"spec": {"containers": list(containers), **spec}, "status": {"phase": "Running"}}
    return made("Pod", namespace="ml", **fields)


VOLCANO = "scheduling.volcano.sh/v1beta1"
JOB = made(
    "Job",
    "batch.volcano.sh/v1alpha1",
    namespace="ml",
    spec={"tasks": [{"replicas": 2}, {"name": "ps", "replicas": 3, "minAvailable": 1}]},
)

LACKING: dict[str, tuple[Any, list[str], Any]] = {
    "a node without allocatable": (
        made("Node", status={"capacity": CAPACITY}),
        ["status", "allocatable"],
        CAPACITY,
    ),
    "a container with limits only": (
        pod_of(container(resources={"limits": {"cpu": "2"}})),
        ["spec", "containers", "0", "resources", "requests"],
        {"cpu": "2"},
    ),
    "a container that requests less than it limits": (
        pod_of(container(resources={"limits": {"cpu": "2", "g/h": 1}, "requests": {"cpu": "1"}})),
        ["spec", "containers", "0", "resources", "requests"],
        {"cpu": "1", "g/h": 1},
    ),
    "an init container with limits only": (
        pod_of(initContainers=[container(resources={"limits": {"cpu": "2"}})]),
        ["spec", "initContainers", "0", "resources", "requests"],
        {"cpu": "2"},
    ),
    "a port in the node's network": (
        pod_of(container(ports=[{"containerPort": 80}]), hostNetwork=True),
        ["spec", "containers", "0", "ports", "0", "hostPort"],
        80,
    ),
    "a pod without status": (made("Pod", namespace="ml"), ["status", "phase"], "Pending"),
    "a pod without namespace": (made("Pod"), ["metadata", "namespace"], "default"),
    "a PodGroup without namespace": (
        made("PodGroup", VOLCANO, spec={"minMember": 1}),
        ["metadata", "namespace"],
        "default",
    ),
    "a namespace without its label": (
        made("Namespace"),
        ["metadata", "labels"],
        {"kubernetes.io/metadata.name": "a"},
    ),
    "a storage class without binding mode": (
        made("StorageClass", "storage.k8s.io/v1"),
        ["volumeBindingMode"],
        "Immediate",
    ),
    "a queue without weight": (made("Queue", VOLCANO, spec={}), ["spec", "weight"], 1),
    "a job without minAvailable": (JOB, ["spec", "minAvailable"], 3),
    "a job without queue": (JOB, ["spec", "queue"], "default"),
    "a job without maxRetry": (JOB, ["spec", "maxRetry"], 3),
    "a task without minAvailable": (JOB, ["spec", "tasks", "0", "minAvailable"], 2),
    "a task without name": (JOB, ["spec", "tasks", "0", "name"], "default0"),
}

WHOLE: dict[str, Any] = {
    "a node with less than its capacity": made(
        "Node", status={"capacity": CAPACITY, "allocatable": {"cpu": "15"}}
    ),
    "a node without capacity": made("Node", status={}),
    "a container without limits": pod_of(container()),
    "a container that requests all that it limits": pod_of(
        container(resources={"limits": {"cpu": "2"}, "requests": {"cpu": "1"}})
    ),
    "a port of a pod with its own network": pod_of(container(ports=[{"containerPort": 80}])),
    "a job of a cluster without webhooks": {
        **JOB,
        "metadata": {
            **JOB["metadata"],
            "creationTimestamp": "2026-11-20T09:00:00Z",
            "generation": 1,
        },
    },
    "a queue of weight 0": made("Queue", VOLCANO, spec={"weight": 0}),
    "fields of a wrong type": pod_of(container(resources={"limits": ["cpu"]}), hostNetwork="yes"),
}


def events_of(data: bytes, form: Format) -> tuple[list[Event], Context]:
    context = Context(source="input")
    return list(form.events(io.BytesIO(data), context)), context


def inputs(document: Any) -> list[tuple[bytes, Format]]:
    text = json.dumps(document)
    return [
        (compact(listed(document, kind="List")), json_objects.FORMAT),
        (f"apiVersion: v1\nkind: List\nitems:\n- {text}\n".encode(), yaml_objects.FORMAT),
        (watched(("ADDED", document)), stream.FORMAT),
    ]


@pytest.mark.parametrize("case", LACKING)
def test_what_an_api_server_sets_is_filled_in_from_every_format(case: str) -> None:
    document, path, expected = LACKING[case]
    payloads = set()
    for data, form in inputs(document):
        events, context = events_of(data, form)
        found = json.loads(events[0].payload)
        payloads.add(events[0].payload)
        for part in path:
            found = found[int(part) if part.isdecimal() else part]
        assert found == expected
        assert context.assumed, "what was filled in is counted"
    assert len(payloads) == 1, "a version has the same bytes from every format"


@pytest.mark.parametrize("case", WHOLE)
def test_what_an_object_has_or_no_server_would_set_is_left_as_it_is(case: str) -> None:
    for data, form in inputs(WHOLE[case]):
        events, context = events_of(data, form)
        assert json.loads(events[0].payload) == WHOLE[case]
        assert context.assumed == {}
        assert context.assumptions() is None


def test_what_was_filled_in_is_an_event_with_counts() -> None:
    nodes = [made("Node", status={"capacity": CAPACITY}) for _ in range(3)]
    for node, name in zip(nodes, "abb", strict=True):  # Two versions of one node are one node.
        node["metadata"]["name"] = name
    _, context = events_of(compact(listed(*nodes, kind="List")), json_objects.FORMAT)
    event = context.assumptions()
    assert event is not None
    (field,) = msgspec.json.decode(event.payload, type=InputAssumed).fields
    assert (field.listed, field.field, field.count, field.first) == (
        *("Node", "status.allocatable"),
        *(2, "a"),
    )


@pytest.mark.parametrize(
    ("kind", "inputs", "says"),
    [
        ("Node", [(1, "a"), (1, "a")], "1 node (a)"),
        ("Node", [(1, "a"), (1, "b")], "2 nodes (a and others)"),
        ("Node", [(1, "a"), (3, "a")], "at least 3 nodes (a and others)"),
        ("Node", [(1, "b"), (1, "a"), (3, "c")], "at least 3 nodes (b and others)"),
        ("Pod", [(1, "a"), (1, "a")], "at least 1 pod (a)"),
        ("Pod", [(1, "a"), (1, "b")], "2 pods (a and others)"),
        ("Pod", [(4, "a")], "4 pods (a and others)"),
    ],
)
def test_an_object_that_is_in_two_inputs_is_counted_once(
    kind: str, inputs: list[tuple[int, str]], says: str
) -> None:
    fields = [
        AssumedField(group="", listed=kind, field="x", value="y", count=count, first=first)
        for count, first in inputs
    ]
    (sentence,) = assumed_sentences(fields)
    assert sentence.startswith(f"{says} had no x: taken to be y")


def test_an_answer_says_what_was_filled_in_where_it_rests_on_it(tmp_path: Path) -> None:
    node = made("Node", status={"capacity": CAPACITY})
    (tmp_path / "all.json").write_bytes(compact(listed(node, pod("b", 8), kind="List")))
    place = str(tmp_path / "a.db")
    run = CliRunner().invoke
    ingested = run(app, ["ingest", str(tmp_path / "all.json"), "--log", place])
    said = "1 node (a) had no status.allocatable: taken to be the capacity"
    assert said in ingested.output
    nodes = run(app, ["get", "nodes", "--log", place])
    assert nodes.stderr.count(said) == 1
    assert said not in run(app, ["get", "pods", "--log", place]).stderr
    assert run(app, ["session", "--log", place]).stderr.count(said) == 1
