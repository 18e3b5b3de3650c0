"""The rest of what a scheduler watches: quotas, budgets, classes, claims, owners of pods."""

from __future__ import annotations

import msgspec

from .metadata import Int32, LabelSelector, NodeSelector, Object, ObjectPart, ResourceList


class Namespace(Object, frozen=True, gc=False):
    """A namespace."""


class ResourceQuotaStatus(ObjectPart, frozen=True, gc=False):
    """What a namespace may use, and uses."""

    hard: ResourceList = msgspec.field(default_factory=dict)
    used: ResourceList = msgspec.field(default_factory=dict)


class ResourceQuota(Object, frozen=True, gc=False):
    """A bound on what a namespace uses."""

    status: ResourceQuotaStatus = msgspec.field(default_factory=ResourceQuotaStatus)


class PriorityClass(Object, frozen=True, gc=False):
    """A named priority."""

    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str | None = None


class PodDisruptionBudgetSpec(ObjectPart, frozen=True, gc=False):
    """How many of which pods must stay."""

    min_available: Int32 | str | None = None
    max_unavailable: Int32 | str | None = None
    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(ObjectPart, frozen=True, gc=False):
    """How many pods may go now."""

    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    disrupted_pods: dict[str, str] = msgspec.field(default_factory=dict)


class PodDisruptionBudget(Object, frozen=True, gc=False):
    """A bound on how many pods are evicted at once."""

    spec: PodDisruptionBudgetSpec = msgspec.field(default_factory=PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = msgspec.field(default_factory=PodDisruptionBudgetStatus)


class ServiceSpec(ObjectPart, frozen=True, gc=False):
    """The pods of a service; no labels mean none."""

    selector: dict[str, str] = msgspec.field(default_factory=dict)


class Service(Object, frozen=True, gc=False):
    """A service."""

    spec: ServiceSpec = msgspec.field(default_factory=ServiceSpec)


class ReplicationController(Object, frozen=True, gc=False):
    """A replication controller."""

    spec: ServiceSpec = msgspec.field(default_factory=ServiceSpec)


class OwnerSpec(ObjectPart, frozen=True, gc=False):
    """The pods of an owner."""

    selector: LabelSelector | None = None


class ReplicaSet(Object, frozen=True, gc=False):
    """A replica set."""

    spec: OwnerSpec = msgspec.field(default_factory=OwnerSpec)


class StatefulSet(Object, frozen=True, gc=False):
    """A stateful set."""

    spec: OwnerSpec = msgspec.field(default_factory=OwnerSpec)


class ObjectReference(ObjectPart, frozen=True, gc=False):
    """A reference to an object."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeDriver(ObjectPart, frozen=True, gc=False):
    """The CSI driver of a volume, and the volume's name there."""

    driver: str = ""
    volume_handle: str = ""


class VolumeNodeAffinity(ObjectPart, frozen=True, gc=False):
    """From where a volume can be reached."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(ObjectPart, frozen=True, gc=False):
    """What a volume is."""

    capacity: ResourceList = msgspec.field(default_factory=dict)
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: VolumeDriver | None = None


class StatusPhase(ObjectPart, frozen=True, gc=False):
    """A status of which only the phase is read."""

    phase: str = ""


class PersistentVolume(Object, frozen=True, gc=False):
    """A volume."""

    spec: PersistentVolumeSpec = msgspec.field(default_factory=PersistentVolumeSpec)
    status: StatusPhase = msgspec.field(default_factory=StatusPhase)


class ClaimRequests(ObjectPart, frozen=True, gc=False):
    """How much a claim asks for."""

    requests: ResourceList = msgspec.field(default_factory=dict)


class PersistentVolumeClaimSpec(ObjectPart, frozen=True, gc=False):
    """What a claim asks for, and the volume it has."""

    volume_name: str = ""
    storage_class_name: str | None = None
    access_modes: tuple[str, ...] = ()
    volume_mode: str | None = None
    selector: LabelSelector | None = None
    resources: ClaimRequests = msgspec.field(default_factory=ClaimRequests)


class PersistentVolumeClaim(Object, frozen=True, gc=False):
    """A claim."""

    spec: PersistentVolumeClaimSpec = msgspec.field(default_factory=PersistentVolumeClaimSpec)
    status: StatusPhase = msgspec.field(default_factory=StatusPhase)


class TopologyRequirement(ObjectPart, frozen=True, gc=False):
    """Values of one label of nodes."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologyTerm(ObjectPart, frozen=True, gc=False):
    """Labels that a node must have all of."""

    match_label_expressions: tuple[TopologyRequirement, ...] = ()


class StorageClass(Object, frozen=True, gc=False):
    """A class of volumes."""

    provisioner: str = ""
    volume_binding_mode: str | None = None
    parameters: dict[str, str] = msgspec.field(default_factory=dict)
    allowed_topologies: tuple[TopologyTerm, ...] = ()
