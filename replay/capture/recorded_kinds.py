"""Which kinds are recorded, and why: what sessions, controllers, checks and answers read."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...engine.errors import UsageError, shortened
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind, plural_of

_VOLCANO = "scheduling.volcano.sh"
_DEVICES = "resource.k8s.io"
_STORAGE = "storage.k8s.io"


class RecordedKind(NamedTuple):
    """One kind that is recorded. :param why: who reads it, and for what."""

    group: str
    kind: str
    why: str

    @property
    def pair(self) -> GroupKind:
        """The group and the kind."""
        return self.group, self.kind

    @property
    def plural(self) -> str:
        """The name in URLs: ``pods``."""
        return plural_of(self.group, self.kind)

    @property
    def resource(self) -> str:
        """The name that kubectl prints: ``pods``, ``queues.scheduling.volcano.sh``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def namespaced(self) -> bool:
        """Whether its objects have a namespace."""
        return self.pair not in CLUSTER_SCOPED


RECORDED = (
    RecordedKind("", "Pod", "sessions: what asks for nodes and what holds them"),
    RecordedKind("", "Node", "sessions: what can be given"),
    RecordedKind(_VOLCANO, "PodGroup", "sessions: gangs, their queue and their phase"),
    RecordedKind(_VOLCANO, "Queue", "sessions: limits and the tree of queues"),
    RecordedKind("batch.volcano.sh", "Job", "controllers: what creates pods and PodGroups"),
    RecordedKind("bus.volcano.sh", "Command", "controllers: what people ask of jobs and queues"),
    RecordedKind("flow.volcano.sh", "JobFlow", "lint: jobs that wait for each other"),
    RecordedKind("flow.volcano.sh", "JobTemplate", "lint: the jobs of a JobFlow"),
    RecordedKind("topology.volcano.sh", "HyperNode", "sessions: network topology"),
    RecordedKind("nodeinfo.volcano.sh", "Numatopology", "sessions: NUMA policies of nodes"),
    RecordedKind("scheduling.k8s.io", "PriorityClass", "sessions: the order of jobs and pods"),
    RecordedKind("", "Namespace", "sessions: selectors of namespaces; who waits where"),
    RecordedKind("", "ResourceQuota", "sessions: quotas that hold back jobs"),
    RecordedKind("policy", "PodDisruptionBudget", "sessions: which pods must not be evicted"),
    RecordedKind("", "Service", "sessions: how pods of a service are spread"),
    RecordedKind("", "ReplicationController", "sessions: how its pods are spread"),
    RecordedKind("apps", "ReplicaSet", "sessions: how its pods are spread; who owns a pod"),
    RecordedKind("apps", "StatefulSet", "sessions: how its pods are spread; who owns a pod"),
    RecordedKind("apps", "Deployment", "answers: who owns a ReplicaSet; the scheduler's own"),
    RecordedKind("", "PersistentVolume", "sessions: volumes and where they are"),
    RecordedKind("", "PersistentVolumeClaim", "sessions: volumes that pods wait for"),
    RecordedKind(_STORAGE, "StorageClass", "sessions: how volumes are bound"),
    RecordedKind(_STORAGE, "CSINode", "sessions: how many volumes a node takes"),
    RecordedKind(_DEVICES, "ResourceClaim", "sessions: devices that pods claim"),
    RecordedKind(_DEVICES, "DeviceClass", "sessions: devices by class"),
    RecordedKind(_DEVICES, "ResourceSlice", "sessions: devices of nodes"),
    RecordedKind("", "ConfigMap", "sessions: the scheduler's configuration"),
    RecordedKind("", "Event", "answers: what components said"),
    RecordedKind("coordination.k8s.io", "Lease", "answers: which scheduler leads"),
)
"""The kinds that ``plinian record`` watches. Secrets are never among them."""

OF_VOLCANO_ALONE: MappingProxyType[GroupKind, str] = MappingProxyType(
    {
        ("", "ConfigMap"): "the namespace of the scheduler",
        ("coordination.k8s.io", "Lease"): "the namespace of the scheduler",
    }
)
"""Kinds that are recorded in one namespace only, as most of their objects are of no use."""


def recorded_kinds(names: Sequence[str]) -> tuple[RecordedKind, ...]:
    """Return the kinds to record; all of them if none is named.

    :param names: as kubectl takes them: ``pods``, ``Queue``, ``jobs.batch.volcano.sh``.
    :raises UsageError: a name is that of no recorded kind.
    """
    if not names:
        return RECORDED
    chosen: dict[RecordedKind, None] = {}
    for name in names:
        fitting = [kind for kind in RECORDED if name.lower() in _names(kind)]
        if not fitting:
            raise UsageError(
                f"{shortened(name)!r} is not a kind that is recorded",
                now="one of " + ", ".join(kind.resource for kind in RECORDED),
            )
        chosen |= dict.fromkeys(fitting)
    return tuple(chosen)


def _names(kind: RecordedKind) -> frozenset[str]:
    plain = {kind.plural, kind.kind.lower()}
    return frozenset(plain | {f"{name}.{kind.group}" for name in plain if kind.group})
