"""A pack says what its log says of fields that were filled in, and of records that were skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import plinian
from plinian.engine.events.kinds import UID_FIELD, VERSION_FIELD
from plinian.engine.ingest.objects.identity import identify
from plinian.engine.ingest.objects.object_defaults import FILLED, fill_in
from plinian.engine.ingest.reading.formats import Context
from plinian.replay.coverage.coverage import SCHEDULING, unknown_at

AT = "2026-11-28T10:30:00Z"
BY = {"cpu": "8", "memory": "16Gi", "pods": "110"}


def listed(kind: str, api: str, *items: dict[str, Any]) -> str:
    """Return a list of one kind."""
    own = {"resourceVersion": "1000"}
    made = {"apiVersion": api, "kind": f"{kind}List", "metadata": own, "items": list(items)}
    return json.dumps(made)


def item(kind: str, api: str, name: str, **rest: Any) -> dict[str, Any]:
    """Return an object."""
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": "9", "namespace": "ns"}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


@pytest.fixture
def log(tmp_path: Path) -> Any:
    """Return a log of a node without allocatable, and of a list of pods with a broken record."""
    limits = [{"name": "main", "resources": {"limits": {"secret.acme.example/card": "1"}}}]
    nodes, pods = tmp_path / "secret-nodes.json", tmp_path / "secret-pods.json"
    nodes.write_text(
        listed("Node", "v1", item("Node", "v1", "secret-node", status={"capacity": BY}))
    )
    broken = {**item("Pod", "v1", "secret-broken"), "metadata": "secret-text"}
    whole = item("Pod", "v1", "secret-pod", spec={"containers": limits})
    pods.write_text(listed("Pod", "v1", whole, broken))
    place = tmp_path / "log.db"
    with plinian.open(place, create=True) as opened:
        time = 1_795_861_800_000_000
        opened.ingest([nodes, pods], taken_at=(time, time), skip_malformed=True)
        yield opened


def told(log: plinian.Log) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """Return what a log says was assumed, and of what it lacks."""
    gaps = unknown_at(log, log.moment(), SCHEDULING)
    return log.assumptions(), [(one.name, one.reason) for one in gaps]


def test_a_pack_says_what_its_log_says(log: plinian.Log, tmp_path: Path) -> None:
    assumed, lacking = told(log)
    assert any("had no status.allocatable: taken to be the capacity" in one for one in assumed)
    assert any("1 record of it was skipped" in reason for _, reason in lacking)
    log.pack(tmp_path / "one.plinian", at="end")
    with plinian.open(tmp_path / "one.plinian", read_only=True) as pack:
        assert told(pack) == (assumed, lacking)
        pack.pack(tmp_path / "two.plinian", at="end")
    with plinian.open(tmp_path / "two.plinian", read_only=True) as again:
        assert told(again) == (assumed, lacking)


def test_a_pack_with_new_names_says_it_without_the_names(log: plinian.Log, tmp_path: Path) -> None:
    place = tmp_path / "new.plinian"
    log.pack(place, at="end", redact=True)
    with plinian.open(place, read_only=True) as pack:
        assumed, lacking = told(pack)
    assert any("had no status.allocatable: taken to be the capacity" in one for one in assumed)
    assert any(reason.endswith("1 record of it was skipped") for _, reason in lacking)
    assert not any("secret" in one for one in (*assumed, *map(str, lacking)))
    assert b"secret" not in place.read_bytes()


def test_python_says_what_was_assumed_of_some_kinds_at_a_moment(log: plinian.Log) -> None:
    (of_nodes,) = log.assumptions(kinds=["nodes"])
    assert of_nodes.startswith("1 node (secret-node)")
    assert log.assumptions(kinds=["queues"]) == ()


def test_each_field_that_is_filled_in_is_known_to_packs() -> None:
    batch, queues = "batch.volcano.sh/v1alpha1", "scheduling.volcano.sh/v1beta1"
    port = {"ports": [{"containerPort": 1}], "resources": {"limits": {"cpu": "1"}}}
    some: list[dict[str, Any]] = [
        {"kind": "Node", "apiVersion": "v1", "status": {"capacity": BY}},
        {"kind": "Pod", "apiVersion": "v1", "spec": {"hostNetwork": True, "containers": [port]}},
        {"kind": "Namespace", "apiVersion": "v1"},
        {"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1"},
        {"kind": "Queue", "apiVersion": queues},
        {"kind": "Job", "apiVersion": batch, "spec": {"tasks": [{"replicas": 2}]}},
    ]
    context = Context(source="input")
    for each in some:
        each["metadata"] = {"name": "x"}
        identify(each, context)
        fill_in(each, context)
    found = {(one.field, one.value) for one in context.assumed_fields()}
    assert {UID_FIELD, VERSION_FIELD} <= {field for field, _ in found}
    assert found == FILLED
