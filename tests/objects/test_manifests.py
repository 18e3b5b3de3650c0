"""Manifests have nothing that only their own cluster has, and keep everything else."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from plinian.replay.objects.manifests import manifest

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "namespace": "ml",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "ownerReferences": [{"kind": "Job", "name": "j", "uid": "ju"}],
        "labels": {"app": "web", "controller-uid": "x"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    },
    "spec": {
        "nodeName": "n1",
        "priority": 7,
        "priorityClassName": "high",
        "containers": [
            {
                "name": "c",
                "volumeMounts": [{"name": "kube-api-access-x"}, {"name": "data"}],
            }
        ],
        "volumes": [{"name": "kube-api-access-x"}, {"name": "data"}],
    },
    "status": {"phase": "Running"},
}


def test_a_pod_keeps_what_its_owner_wrote_and_nothing_of_its_cluster() -> None:
    given = copy.deepcopy(POD)
    assert manifest(given) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ml", "labels": {"app": "web"}},
        "spec": {
            "priorityClassName": "high",
            "containers": [{"name": "c", "volumeMounts": [{"name": "data"}]}],
            "volumes": [{"name": "data"}],
        },
    }
    assert given == POD, "the object itself is not changed"


def test_the_node_of_a_pod_is_kept_only_on_request() -> None:
    assert "nodeName" not in manifest(POD)["spec"]
    assert manifest(POD, node_names=True)["spec"]["nodeName"] == "n1"


@pytest.mark.parametrize(
    ("kind", "api", "spec", "left"),
    [
        ("PersistentVolumeClaim", "v1", {"volumeName": "v", "a": 1}, {"a": 1}),
        (
            "PersistentVolume",
            "v1",
            {"claimRef": {"name": "c", "uid": "u"}},
            {"claimRef": {"name": "c"}},
        ),
        ("Service", "v1", {"clusterIP": "10.0.0.1", "ports": []}, {"ports": []}),
        ("Namespace", "v1", {"finalizers": ["kubernetes"]}, None),
        ("Job", "batch/v1", {"selector": {}, "completions": 1}, {"completions": 1}),
        ("Job", "batch.volcano.sh/v1alpha1", {"selector": {}}, {"selector": {}}),
    ],
)
def test_fields_that_mean_something_in_one_cluster_only_are_left_out(
    kind: str, api: str, spec: dict[str, Any], left: dict[str, Any] | None
) -> None:
    made = {"apiVersion": api, "kind": kind, "metadata": {"name": "x"}, "spec": spec, "status": {}}
    assert manifest(made).get("spec") == left
