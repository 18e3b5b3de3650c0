"""Decoded objects share what many of them have alike, and are the same as without that."""

from __future__ import annotations

from pathlib import Path

import msgspec

import plinian
from plinian.engine.kubernetes.objects import KINDS, Node, Pod, PodGroup, decode_known
from plinian.engine.kubernetes.objects.sharing import forget_shared


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
    assert one.status is other.status
    assert one.spec.overhead is other.spec.overhead
    assert one.spec.node_selector is other.spec.node_selector
    assert [id(name) for name in one.labels] == [id(name) for name in other.labels]
    assert one.labels["job"] is other.labels["job"]
    assert one.labels is not other.labels


def test_parts_of_different_statuses_are_shared() -> None:
    other = {**POD, "status": {**POD["status"], "phase": "Running"}}  # type: ignore[dict-item]
    first, second = (decode_known(Pod, msgspec.json.encode(one)) for one in (POD, other))
    assert first.status is not second.status
    assert first.status.conditions is second.status.conditions


def test_podgroups_share_equal_amounts_and_words() -> None:
    document = {
        "metadata": {"name": "g", "namespace": "ml"},
        "spec": {"minResources": {"cpu": "12", "memory": 5}},
        "status": {"conditions": [{"type": "Unschedulable", "message": "3/3 tasks unready"}]},
    }
    one, other = (decode_known(PodGroup, msgspec.json.encode(document)) for _ in range(2))
    assert one.spec.min_resources is other.spec.min_resources
    assert one.spec.min_resources == {"cpu": "12", "memory": 5}
    assert one.status.conditions[0].message is other.status.conditions[0].message


def test_what_is_forgotten_is_decoded_again_and_stays_equal() -> None:
    one = decode_known(Pod, msgspec.json.encode(POD))
    forget_shared()
    other = decode_known(Pod, msgspec.json.encode(POD))
    assert one.spec.containers is not other.spec.containers
    assert one == other


def test_nodes_share_equal_amounts() -> None:
    document = {
        "metadata": {"name": "n"},
        "status": {
            "allocatable": {"cpu": "64"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    one, other = (decode_known(Node, msgspec.json.encode(document)) for _ in range(2))
    assert one.status.allocatable is other.status.allocatable
    assert one.status.conditions is other.status.conditions


def test_what_was_given_as_values_is_not_changed() -> None:
    labels = POD["metadata"]["labels"]  # type: ignore[index]
    found = decode_known(Pod, POD)
    assert found.labels == labels
    assert found.labels is not labels
