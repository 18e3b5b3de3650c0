"""Kinds that are looked at less often have the columns that a real server prints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plinian.engine.events import Reference
from plinian.engine.state.clock import span_at
from plinian.engine.state.facts import OtherFact
from plinian.engine.state.truth_fold import Entry
from plinian.replay.server.kubernetes.tables.columns import TableObject
from plinian.replay.server.kubernetes.tables.table_columns import columns_of
from plinian.replay.server.kubernetes.wire.api_resources import ApiResource

SUBJECTS = [
    {"kind": "User", "name": "ann"},
    {"kind": "ServiceAccount", "name": "robot", "namespace": "ml"},
    {"kind": "User", "name": "bob"},
]


def endpoints(*addresses: str, ports: Any = ()) -> dict[str, Any]:
    """Return the addresses of a service."""
    return {"subsets": [{"addresses": [{"ip": one} for one in addresses], "ports": list(ports)}]}


def metric(kind: str, target: Any, **more: Any) -> dict[str, Any]:
    """Return a metric that scales."""
    return {"type": kind, kind.lower(): {"target": target, **more}}


@pytest.mark.parametrize(
    ("group", "kind", "body", "cells"),
    [
        ("coordination.k8s.io", "Lease", {"spec": {"holderIdentity": "a_1"}}, ["x", "a_1", "0s"]),
        ("coordination.k8s.io", "Lease", {"spec": {}}, ["x", "", "0s"]),
        (
            "networking.k8s.io",
            "NetworkPolicy",
            {"spec": {"podSelector": {}}},
            ["x", "<none>", "0s"],
        ),
        (
            *("networking.k8s.io", "NetworkPolicy"),
            {"spec": {"podSelector": {"matchLabels": {"b": "2", "a": "1"}}}},
            ["x", "a=1,b=2", "0s"],
        ),
        ("", "Endpoints", {}, ["x", "<none>", "0s"]),
        ("", "Endpoints", endpoints("10.0.0.1"), ["x", "10.0.0.1", "0s"]),
        (
            *("", "Endpoints"),
            endpoints("1.1.1.1", "2.2.2.2", "::3", "4.4.4.4", "5.5.5.5", ports=[{"port": 80}]),
            ["x", "1.1.1.1:80,2.2.2.2:80,[::3]:80 + 2 more...", "0s"],
        ),
        (
            *("discovery.k8s.io", "EndpointSlice"),
            {
                "addressType": "IPv4",
                "ports": [{"port": 80}, {"name": "web"}, {}],
                "endpoints": [{"addresses": ["1.1.1.1"]}],
            },
            ["x", "IPv4", "80,web,*", "1.1.1.1", "0s"],
        ),
        (
            *("discovery.k8s.io", "EndpointSlice"),
            {"addressType": "IPv4", "ports": None, "endpoints": []},
            ["x", "IPv4", "<unset>", "<unset>", "0s"],
        ),
        (
            *("", "ResourceQuota"),
            {
                "status": {
                    "hard": {"pods": "9", "limits.cpu": "4", "cpu": "2"},
                    "used": {"cpu": "1"},
                }
            },
            ["x", "cpu: 1/2, pods: 0/9", "limits.cpu: 0/4", "0s"],
        ),
        (
            *("rbac.authorization.k8s.io", "RoleBinding"),
            {"roleRef": {"kind": "Role", "name": "r"}, "subjects": SUBJECTS},
            ["x", "Role/r", "0s", "ann, bob", "", "ml/robot"],
        ),
        ("rbac.authorization.k8s.io", "Role", {}, ["x", "1970-01-01T00:00:00Z"]),
        (
            *("apps", "ControllerRevision"),
            {
                "revision": 2,
                "metadata": {
                    "ownerReferences": [
                        {
                            "apiVersion": "apps/v1",
                            "kind": "StatefulSet",
                            "name": "db",
                            "controller": True,
                        }
                    ]
                },
            },
            ["x", "statefulset.apps/db", 2, "0s"],
        ),
        (
            *("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
            {"webhooks": [{}, {}]},
            ["x", 2, "0s"],
        ),
        ("storage.k8s.io", "CSINode", {"spec": {"drivers": None}}, ["x", 0, "0s"]),
        ("networking.k8s.io", "Ingress", {"spec": {}}, ["x", "<none>", "*", "", "80", "0s"]),
        (
            *("networking.k8s.io", "Ingress"),
            {
                "spec": {
                    "ingressClassName": "nginx",
                    "rules": [{"host": one} for one in ("a.b", "c.d", "e.f", "g.h", "i.j")],
                    "tls": [{}],
                },
                "status": {"loadBalancer": {"ingress": [{"hostname": "z"}, {"ip": "1.1.1.1"}]}},
            },
            ["x", "nginx", "a.b,c.d,e.f + 2 more...", "1.1.1.1,z", "80, 443", "0s"],
        ),
        (
            *("networking.k8s.io", "IngressClass"),
            {"spec": {"controller": "c", "parameters": {"kind": "K", "name": "n"}}},
            ["x", "c", "K/n", "0s"],
        ),
        (
            *("autoscaling", "HorizontalPodAutoscaler"),
            {
                "spec": {
                    "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                    "maxReplicas": 9,
                    "metrics": [
                        metric("Resource", {"averageUtilization": 80}, name="cpu"),
                        metric("Pods", {"averageValue": "5"}),
                        metric("External", {"value": "7"}),
                    ],
                },
                "status": {
                    "currentReplicas": 3,
                    "currentMetrics": [{"resource": {"current": {"averageUtilization": 35}}}],
                },
            },
            ["x", "Deployment/web", "cpu: 35%/80%, <unknown>/5 + 1 more...", "<unset>", 9, 3, "0s"],
        ),
        (
            *("autoscaling", "HorizontalPodAutoscaler"),
            {
                "spec": {
                    "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                    "minReplicas": 2,
                    "maxReplicas": 9,
                    "targetCPUUtilizationPercentage": 50,
                },
            },
            ["x", "Deployment/web", "cpu: <unknown>/50%", "2", 9, 0, "0s"],
        ),
        (
            *("storage.k8s.io", "CSIDriver"),
            {"spec": {}},
            ["x", True, False, False, "<unset>", False, "<none>", "0s"],
        ),
        (
            *("storage.k8s.io", "CSIDriver"),
            {
                "spec": {
                    "attachRequired": False,
                    "tokenRequests": [{"audience": "a"}, {"audience": "b"}],
                    "volumeLifecycleModes": ["Persistent", "Ephemeral"],
                }
            },
            ["x", False, False, False, "a,b", False, "Persistent,Ephemeral", "0s"],
        ),
        (
            *("storage.k8s.io", "CSIStorageCapacity"),
            {"storageClassName": "fast", "capacity": "10Gi"},
            ["x", "fast", "10Gi"],
        ),
        ("storage.k8s.io", "CSIStorageCapacity", {}, ["x", "", "<unset>"]),
        ("resource.k8s.io", "ResourceClaim", {}, ["x", "pending", "0s"]),
        (
            *("resource.k8s.io", "ResourceClaim"),
            {
                "metadata": {"deletionTimestamp": "1970-01-01T00:00:00Z"},
                "status": {"allocation": {}, "reservedFor": [{}]},
            },
            ["x", "deleted,allocated,reserved", "0s"],
        ),
        (
            *("resource.k8s.io", "ResourceSlice"),
            {"spec": {"driver": "gpu.example", "pool": {"name": "p"}, "allNodes": True}},
            ["x", "", "gpu.example", "p", "0s"],
        ),
    ],
)
def test_cells_are_those_of_a_real_server(
    group: str, kind: str, body: dict[str, Any], cells: list[Any]
) -> None:
    metadata = {**body.get("metadata", {}), "creationTimestamp": "1970-01-01T00:00:00Z"}
    text = json.dumps({**body, "metadata": metadata}).encode()
    fact = OtherFact(created_at=0)
    reference = Reference(group, kind, "", "x", "u")
    row = TableObject(
        Entry(reference=reference, position=1, revision=1, fact=fact), text, span_at(0)
    )
    resource = ApiResource(
        group=group, version="v1", kind=kind, plural="xs", singular="x", namespaced=False
    )
    assert [column.cell(row) for column in columns_of(resource)] == cells
