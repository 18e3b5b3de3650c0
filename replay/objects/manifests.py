"""Objects of a log as manifests that can be applied to another cluster."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

Document = dict[str, Any]
_Path = tuple[str, ...]

_OF_ALL: tuple[_Path, ...] = (
    ("status",),
    *(
        ("metadata", field)
        for field in (
            *("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"),
            *("deletionGracePeriodSeconds", "managedFields", "selfLink", "generateName"),
            # Owners and finalizers of another cluster: its controllers would delete the object,
            # or would never finish its deletion.
            *("ownerReferences", "finalizers"),
        )
    ),
)
"""What an API server or a controller sets on every object."""

_OF_KIND: Mapping[str, tuple[_Path, ...]] = MappingProxyType(
    {
        "Pod": (("spec", "priority"), ("spec", "preemptionPolicy"), ("spec", "serviceAccount")),
        "Node": (("spec", "podCIDR"), ("spec", "podCIDRs"), ("spec", "providerID")),
        "Namespace": (("spec", "finalizers"),),
        "Service": (("spec", "clusterIP"), ("spec", "clusterIPs")),
        "PersistentVolumeClaim": (("spec", "volumeName"),),
        "PersistentVolume": (
            ("spec", "claimRef", "uid"),
            ("spec", "claimRef", "resourceVersion"),
        ),
    }
)
"""What is set on objects of a kind, where it cannot be applied or means something there only."""

_JOB_OF_KUBERNETES = (("spec", "selector"),)
_NODE_NAME = ("spec", "nodeName")

_ANNOTATIONS = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deployment.kubernetes.io/revision",
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "volume.kubernetes.io/selected-node",
    }
)
_LABELS = frozenset({"controller-uid", "batch.kubernetes.io/controller-uid"})
_TOKEN = "kube-api-access-"  # noqa: S105 -- the beginning of a volume's name
"""How the volume begins that every pod gets for its service account."""


def manifest(document: Document, *, node_names: bool = False) -> Document:
    """Return an object without what only its own cluster has, so that it applies elsewhere.

    :param node_names: keep the nodes of pods.
    """
    kind = document.get("kind", "")
    bare: Document = _copy(document)
    paths = [*_OF_ALL, *_OF_KIND.get(kind, ())]
    if kind == "Job" and str(document.get("apiVersion", "")).startswith("batch/"):
        # Kubernetes makes them from the uid of the Job, and refuses a selector that is given.
        paths += _JOB_OF_KUBERNETES
        _without_labels(bare.get("spec", {}).get("template", {}))
    if not node_names:
        paths.append(_NODE_NAME)
    for path in paths:
        _remove(bare, path)
    _without_labels(bare)
    if kind == "Pod":
        _without_token(bare.get("spec", {}))
    return bare


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(element) for element in value] if isinstance(value, list) else value


def _remove(document: Document, path: _Path) -> None:
    """Remove a field, and what holds it if nothing else is in it."""
    holder = document.get(path[0])
    if len(path) == 1:
        document.pop(path[0], None)
    elif isinstance(holder, dict) and path[1] in holder:
        _remove(holder, path[1:])
        if not holder:
            del document[path[0]]


def _without_labels(document: Document) -> None:
    """Remove labels and annotations that controllers set."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return
    for field, keys in (("annotations", _ANNOTATIONS), ("labels", _LABELS)):
        values = metadata.get(field)
        if isinstance(values, dict) and not keys.isdisjoint(values):
            left = {key: value for key, value in values.items() if key not in keys}
            metadata[field] = left
            if not left:
                del metadata[field]


def _without_token(spec: Document) -> None:
    """Remove the volume for the token of the service account: each cluster adds one."""
    _filter(spec, "volumes")
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            _filter(container, "volumeMounts")


def _filter(holder: Document, field: str) -> None:
    listed = holder.get(field)
    if isinstance(listed, list):
        holder[field] = [item for item in listed if not str(item.get("name")).startswith(_TOKEN)]
        if not holder[field]:
            del holder[field]
