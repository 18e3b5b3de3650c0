"""Decoded objects share what many of them have alike, and are the same as without that."""

from __future__ import annotations

from pathlib import Path

import msgspec

import plinian
from plinian.engine.kubernetes.objects import KINDS, Node, Pod, decode_known


def test_objects_are_what_was_decoded(tmp_path: Path) -> None:
    with plinian.demo(tmp_path / "demo.db") as log:
        for recorded in log.events(kinds=["pod.*", "node.*", "podgroup.*"]):
            event = recorded.event
            kind = KINDS.get(event.reference.kind)
            if kind is not None and b'"metadata"' in event.payload:
                assert decode_known(kind, event.payload) == msgspec.json.decode(
                    event.payload, type=kind
                )


POD = {
    "metadata": {"name": "w-0", "namespace": "ml", "labels": {"job": "train of the day"}},
    "spec": {
        "containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}],
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
    },
    "status": {"conditions": [{"type": "PodScheduled", "status": "True"}]},
}


def test_pods_share_equal_parts() -> None:
    one, other = (decode_known(Pod, msgspec.json.encode(POD)) for _ in range(2))
    assert one is not other
    assert one.spec.containers is other.spec.containers
    assert one.spec.tolerations is other.spec.tolerations
    assert one.status.conditions is other.status.conditions
    assert one.labels["job"] is other.labels["job"]
    assert one.labels is not other.labels


def test_nodes_share_equal_amounts() -> None:
    document = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "64"}}}
    one, other = (decode_known(Node, msgspec.json.encode(document)) for _ in range(2))
    assert one.status.allocatable is other.status.allocatable


def test_what_was_given_as_values_is_not_changed() -> None:
    labels = POD["metadata"]["labels"]  # type: ignore[index]
    found = decode_known(Pod, POD)
    assert found.labels == labels
    assert found.labels is not labels
