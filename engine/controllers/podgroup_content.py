"""The PodGroup that Volcano makes for a pod without one: its name and all that is in it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..kubernetes.api_errors import Refused
from ..kubernetes.api_server import Document, controller_of
from ..kubernetes.go.text import parse_int
from ..kubernetes.pod_quota import quota_usage
from ..kubernetes.quantity_lists import times, written
from ..volcano.controllers.podgroup import PodGroupBehaviours
from .component import Client

GROUP_NAME = "scheduling.k8s.io/group-name"
"""The annotation of a pod that names its PodGroup."""

PREFIX = "podgroup-"
"""How the names of PodGroups begin that are made for pods; a UID follows."""

_MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
_QUEUE_NAME = "scheduling.volcano.sh/queue-name"
_INHERITED = "volcano.sh/"
"""How the names of annotations begin that a PodGroup takes over from the pod's owner."""

_FROM_ANNOTATIONS = ("preemptable", "cooldown-time", "revocable-zone")
_FROM_LABELS = ("preemptable", "cooldown-time")
_BUDGETS = ("volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable")
_TOPOLOGY_MODE = "volcano.sh/network-topology-mode"
_TOPOLOGY_TIER = "volcano.sh/network-topology-highest-tier"
_MODES = ("hard", "soft")

_OWNERS: Mapping[str, str] = MappingProxyType(
    {
        "ReplicaSet": "apps/v1",
        "DaemonSet": "apps/v1",
        "StatefulSet": "apps/v1",
        "Job": "batch/v1",
    }
)
"""Kinds of owners whose annotations are looked up, and their versions."""


def group_name(pod: Document) -> str:
    """Return the name of a pod's PodGroup: it is that of all pods with the same controller.

    Source: staging/src/volcano.sh/apis/pkg/apis/helpers/helpers.go GeneratePodgroupName.
    """
    owner = controller_of(pod) or pod["metadata"]
    return f"{PREFIX}{owner['uid']}"


def named_group(pod: Document) -> str:
    """Return the PodGroup that a pod names; empty if it names none."""
    return str(_annotations(pod).get(GROUP_NAME) or "")


def group_of(pod: Document, behaviours: PodGroupBehaviours, client: Client) -> Document:
    """Return the PodGroup that would be made for a pod; its owners are looked up.

    It has annotations and labels even if they are empty, as it has in Go's memory.

    :raises ValueError: the pod asks for an amount that is no quantity.

    Source: pkg/controllers/podgroup/pg_controller_handler.go createNormalPodPGIfNotExist, since
    v1.12.2 buildPodGroupFromPod.
    """
    inherited = _owners_annotations(pod, behaviours, client)
    minimum = 1
    if behaviours.podgroup_min_member_from_annotation:
        minimum = _min_member(inherited)
    metadata = {
        "name": group_name(pod),
        "namespace": pod["metadata"].get("namespace") or "default",
        "ownerReferences": _owner_references(pod),
        "annotations": {
            **{name: text for name, text in inherited.items() if name.startswith(_INHERITED)},
            **_own_annotations(pod),
        },
        "labels": _of_volcano(pod["metadata"].get("labels") or {}, _FROM_LABELS),
    }
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": _spec(pod, minimum, behaviours),
        "status": {"phase": "Pending"},
    }


def sent(group: Document) -> Document:
    """Return a PodGroup as it is sent: JSON leaves out annotations and labels that are empty."""
    metadata = {name: value for name, value in group["metadata"].items() if value}
    return {**group, "metadata": metadata}


def _spec(pod: Document, minimum: int, behaviours: PodGroupBehaviours) -> Document:
    """Return a PodGroup's spec; what is empty is left out, but for minResources."""
    spec = {
        "minMember": minimum,
        "queue": _annotations(pod).get(_QUEUE_NAME),
        "priorityClassName": pod["spec"].get("priorityClassName"),
    }
    if behaviours.podgroup_topology_from_annotation:
        spec["networkTopology"] = _topology(_annotations(pod))
    # An annotation may say 0 pods: Go's omitempty leaves that out, too.
    given = {name: value for name, value in spec.items() if value}
    return {**given, "minResources": written(times(quota_usage(pod), minimum))}


def _topology(annotations: Mapping[str, str]) -> Document | None:
    """Return the topology that a pod asks for; what cannot be read is left out.

    Source: pkg/controllers/podgroup/pg_controller_handler.go parseNetworkTopologyFromPod.
    """
    mode, tier = annotations.get(_TOPOLOGY_MODE), annotations.get(_TOPOLOGY_TIER)
    if mode is None and tier is None:
        return None
    topology: Document = {"mode": _MODES[0]}
    if mode is not None and mode.lower() in _MODES:
        topology["mode"] = mode.lower()
    highest = None if tier is None else parse_int(tier)
    return topology if highest is None else {**topology, "highestTierAllowed": highest}


def _own_annotations(pod: Document) -> dict[str, str]:
    """Return what a PodGroup takes over from the pod itself, with one budget of disruptions."""
    given = _annotations(pod)
    budget = next((name for name in _BUDGETS if name in given), None)
    own = _of_volcano(given, _FROM_ANNOTATIONS)
    return own if budget is None else {**own, budget: given[budget]}


def _of_volcano(given: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    full = (f"{_INHERITED}{name}" for name in names)
    return {name: given[name] for name in full if name in given}


def _owner_references(pod: Document) -> list[Document]:
    """Return the pod's own references if a controller is among them, else one to the pod.

    Source: pkg/controllers/podgroup/pg_controller_handler.go newPGOwnerReferences.
    """
    metadata = pod["metadata"]
    if controller_of(pod) is not None:
        references: list[Document] = metadata["ownerReferences"]
        return references
    return [
        {
            "apiVersion": "v1",
            "blockOwnerDeletion": True,
            "controller": True,
            "kind": "Pod",
            "name": metadata["name"],
            "uid": metadata["uid"],
        }
    ]


def _owners_annotations(
    pod: Document, behaviours: PodGroupBehaviours, client: Client
) -> dict[str, str]:
    """Return the annotations of a pod's owners; one that cannot be read has none.

    Of two owners the first has its way since pull request 4000, and had not before.

    Source: pkg/controllers/podgroup/pg_controller_handler.go getAnnotationsFromUpperRes.
    """
    namespace = pod["metadata"].get("namespace") or "default"
    together: dict[str, str] = {}
    for owner in pod["metadata"].get("ownerReferences") or ():
        owners_annotations = _owners(owner, namespace, client)
        # The same pull request turned the order, so one behaviour says both.
        first = behaviours.podgroup_min_member_from_annotation
        together = (
            {**owners_annotations, **together} if first else {**together, **owners_annotations}
        )
    return together


def _owners(owner: Mapping[str, Any], namespace: str, client: Client) -> Mapping[str, str]:
    version = _OWNERS.get(owner["kind"])
    if version is None:
        return {}
    try:
        document = client.get(owner["kind"], f"{namespace}/{owner['name']}")
    except Refused:
        return {}
    return _annotations(document) if document["apiVersion"] == version else {}


def _min_member(annotations: Mapping[str, str]) -> int:
    """Return how many pods an owner says are needed; 1 if it does not say so in a number.

    Source: pkg/controllers/podgroup/pg_controller_handler.go getMinMemberFromUpperRes.
    """
    number = parse_int(annotations.get(_MIN_MEMBER, ""), 32)
    return 1 if number is None or number < 0 else number


def _annotations(of: Mapping[str, Any]) -> Mapping[str, str]:
    given: Mapping[str, str] | None = of["metadata"].get("annotations")
    return given or {}
