"""The subresource ``scale``: how many replicas a workload has, read and written alone.

Source: k8s.io/api/autoscaling/v1; k8s.io/kubernetes pkg/registry/apps/deployment/storage ScaleREST.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..wire.api_resources import resource_of
from ..wire.api_status import invalid

RESOURCE = resource_of("autoscaling", "Scale", namespaced=True)
_MOST = 2**31 - 1


def scale_of(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return what it shows of an object."""
    metadata, spec, status = held["metadata"], held.get("spec") or {}, held.get("status") or {}
    named = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale",
        "apiVersion": RESOURCE.group_version,
        "metadata": {field: metadata[field] for field in named if field in metadata},
        "spec": {"replicas": spec.get("replicas", 1)},
        "status": {"replicas": status.get("replicas", 0), "selector": _selector(spec)},
    }


def _selector(spec: Mapping[str, Any]) -> str:
    selector = spec.get("selector")
    labels = selector.get("matchLabels", selector) if isinstance(selector, dict) else {}
    return ",".join(f"{name}={value}" for name, value in sorted(labels.items()))


def scaled(held: Mapping[str, Any], scale: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the replicas of a scale.

    :raises StatusError: they are no number from 0 on.
    """
    spec, metadata = scale.get("spec", {}), scale.get("metadata", {})
    replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if type(replicas) is not int or not 0 <= replicas <= _MOST or not isinstance(metadata, dict):
        raise invalid("spec.replicas: Invalid value: it must be a number from 0 on")
    version = metadata.get("resourceVersion") or held["metadata"]["resourceVersion"]
    return {
        **held,
        "spec": {**(held.get("spec") or {}), "replicas": replicas},
        "metadata": {**held["metadata"], "resourceVersion": version},
    }
