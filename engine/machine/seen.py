"""What components use of the objects that their informers deliver.

A machine does not deliver a change that a component makes no use of, and leaves such fields out of
what it delivers. So orders that differ in such changes alone lead to the same state. A component
that writes whole objects back sees them whole, because it sends their resourceVersion.
"""

from __future__ import annotations

from ..controllers.kubelet import ENDS_AS
from ..kubernetes.api_server import Document

TIME_TO_LIVE = "ttlSecondsAfterFinished"
_OF_A_POD = (
    *("name", "namespace", "uid", "labels", "ownerReferences"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
_OF_A_JOB = ("name", "namespace", "uid", "deletionTimestamp")


def of_workloads(kind: str, document: Document) -> Document:
    """Return what controllers of workloads and kubelets use: of pods, how far they are."""
    if kind != "Pod":
        return document
    return {
        **_head(document),
        "metadata": _only(document["metadata"], _OF_A_POD),
        "spec": _only(document["spec"], ("nodeName",)),
        "status": _only(document["status"], ("phase",)),
    }


def of_kubelets(kind: str, document: Document) -> Document:
    """Return what kubelets use: as the controllers of workloads, and how a pod is to end."""
    annotations = document["metadata"].get("annotations") or {}
    seen = of_workloads(kind, document)
    if ENDS_AS not in annotations:
        return seen
    own = {**seen["metadata"], "annotations": {ENDS_AS: annotations[ENDS_AS]}}
    return {**seen, "metadata": own}


def of_statefulsets(kind: str, document: Document) -> Document:
    """Return what the controller of StatefulSets uses: of pods, all but their versions."""
    if kind != "Pod":
        return document
    return {**document, "metadata": _without(document["metadata"], ("resourceVersion",))}


def of_podgroups(kind: str, document: Document) -> Document:
    """Return what the PodGroup controller uses: of pods, what they are created with."""
    if kind != "Pod":
        return document
    metadata = _without(
        document["metadata"],
        ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"),
    )
    spec = _without(document["spec"], ("nodeName",))
    return {**_head(document), "metadata": metadata, "spec": spec}


def of_scheduler(kind: str, document: Document) -> Document:
    """Return what a scheduler uses: of ReplicaSets and StatefulSets, which pods they select."""
    if kind in {"ReplicaSet", "StatefulSet"}:
        metadata = _only(document["metadata"], ("name", "namespace", "uid"))
        spec = _only(document["spec"], ("selector",))
        return {**_head(document), "metadata": metadata, "spec": spec}
    return document


def of_owners(kind: str, document: Document) -> Document:  # noqa: ARG001 -- of any kind
    """Return what Kubernetes' garbage collector uses: who an object is, and who owns it."""
    own = ("name", "namespace", "uid", "ownerReferences")
    return {**_head(document), "metadata": _only(document["metadata"], own)}


def of_collector(kind: str, document: Document) -> Document:  # noqa: ARG001 -- there is only one
    """Return what Volcano's garbage collector uses of jobs: when they have finished."""
    status = {"state": _only(document.get("status", {}).get("state", {}), ("phase",))}
    return {
        **_head(document),
        "metadata": _only(document["metadata"], _OF_A_JOB),
        "spec": _only(document["spec"], (TIME_TO_LIVE,)),
        "status": status,
    }


def _head(document: Document) -> Document:
    return _only(document, ("apiVersion", "kind"))


def _only(given: Document, names: tuple[str, ...]) -> Document:
    return {name: given[name] for name in names if name in given}


def _without(given: Document, names: tuple[str, ...]) -> Document:
    return {name: value for name, value in given.items() if name not in names}
