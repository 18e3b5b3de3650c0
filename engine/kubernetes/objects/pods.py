"""Pods, as far as a scheduler looks at them."""

from __future__ import annotations

import msgspec

from .metadata import (
    Int32,
    Int64,
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    Object,
    ObjectPart,
    ResourceList,
)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class DeviceClaim(ObjectPart, frozen=True, gc=False):
    """A claim of the pod that a container uses."""

    name: str = ""
    request: str = ""


class Requirements(ObjectPart, frozen=True, gc=False):
    """What a container asks for."""

    requests: ResourceList = msgspec.field(default_factory=dict)
    limits: ResourceList = msgspec.field(default_factory=dict)
    claims: tuple[DeviceClaim, ...] = ()


class ContainerPort(ObjectPart, frozen=True, gc=False):
    """A port of a container, perhaps one of the node (``host_port`` above 0)."""

    host_port: Int32 = 0
    container_port: Int32 = 0
    protocol: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")


class Container(ObjectPart, frozen=True, gc=False):
    """A container, or an init container (a sidecar if ``restart_policy`` is ``Always``)."""

    name: str = ""
    image: str = ""
    resources: Requirements = msgspec.field(default_factory=Requirements)
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""


class PreferredNodes(ObjectPart, frozen=True, gc=False):
    """A preference of nodes (``PreferredSchedulingTerm``)."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = msgspec.field(default_factory=NodeSelectorTerm)


class NodeAffinity(ObjectPart, frozen=True, gc=False):
    """Where a pod must or should run, by properties of nodes."""

    required: NodeSelector | None = msgspec.field(default=None, name=_REQUIRED)
    preferred: tuple[PreferredNodes, ...] = msgspec.field(default=(), name=_PREFERRED)


class PodAffinityTerm(ObjectPart, frozen=True, gc=False):
    """The selected pods, and the topology domain that counts as near."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(ObjectPart, frozen=True, gc=False):
    """A term with how much it counts."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = msgspec.field(default_factory=PodAffinityTerm)


class PodAffinity(ObjectPart, frozen=True, gc=False):
    """Near which pods, or away from which, a pod must or should run."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(default=(), name=_REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(default=(), name=_PREFERRED)


class Affinity(ObjectPart, frozen=True, gc=False):
    """A pod's affinities."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(ObjectPart, frozen=True, gc=False):
    """Taints that a pod bears."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(ObjectPart, frozen=True, gc=False):
    """How evenly pods are to be spread over domains."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class ClaimVolume(ObjectPart, frozen=True, gc=False):
    """A claim that a pod mounts."""

    claim_name: str = ""
    read_only: bool = False


class ClaimTemplateSpec(ObjectPart, frozen=True, gc=False):
    """The specification of a claim that is made for one pod."""

    storage_class_name: str | None = None
    access_modes: tuple[str, ...] = ()


class ClaimTemplate(ObjectPart, frozen=True, gc=False):
    """A claim that is made for one pod."""

    spec: ClaimTemplateSpec = msgspec.field(default_factory=ClaimTemplateSpec)


class EphemeralVolume(ObjectPart, frozen=True, gc=False):
    """A volume whose claim is made for one pod."""

    volume_claim_template: ClaimTemplate | None = None


class InlineDriver(ObjectPart, frozen=True, gc=False):
    """A volume of a CSI driver without a claim."""

    driver: str = ""


class Disk(ObjectPart, frozen=True, gc=False):
    """A disk; which one it is decides nothing."""


class Volume(ObjectPart, frozen=True, gc=False):
    """A volume, as far as it binds a pod to nodes; all other sources are left out."""

    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None
    ephemeral: EphemeralVolume | None = None
    csi: InlineDriver | None = None
    gce_persistent_disk: Disk | None = None
    aws_elastic_block_store: Disk | None = None
    rbd: Disk | None = None
    iscsi: Disk | None = None

    @property
    def claims(self) -> bool:
        """Whether the volume has a claim, named or made for the pod."""
        return self.persistent_volume_claim is not None or self.ephemeral is not None

    @property
    def binds(self) -> bool:
        """Whether the volume has a source with a limit per node, or for one pod at a time."""
        disks = (self.gce_persistent_disk, self.aws_elastic_block_store, self.rbd, self.iscsi)
        return self.csi is not None or any(disk is not None for disk in disks)


class SchedulingGate(ObjectPart, frozen=True, gc=False):
    """A gate that must be removed before a pod is scheduled."""

    name: str = ""


class PodResourceClaim(ObjectPart, frozen=True, gc=False):
    """A device claim of a pod."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSpec(ObjectPart, frozen=True, gc=False):
    """The fields of a pod's spec that scheduling reads."""

    node_name: str = ""
    scheduler_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: ResourceList = msgspec.field(default_factory=dict)
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    node_selector: dict[str, str] = msgspec.field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    host_network: bool = False
    resource_claims: tuple[PodResourceClaim, ...] = ()
    resources: Requirements | None = None


class PodCondition(ObjectPart, frozen=True, gc=False):
    """A condition of a pod."""

    type: str = ""
    status: str = ""
    last_transition_time: str | None = None
    reason: str = ""
    message: str = ""


class PodResourceClaimStatus(ObjectPart, frozen=True, gc=False):
    """The claim of devices that was made for a pod from a template."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerStatus(ObjectPart, frozen=True, gc=False):
    """The resources of a running container, and those allocated to it by its node."""

    name: str = ""
    resources: Requirements | None = None
    allocated_resources: ResourceList = msgspec.field(default_factory=dict)


class PodStatus(ObjectPart, frozen=True, gc=False):
    """What is known of a pod."""

    phase: str = ""
    conditions: tuple[PodCondition, ...] = ()
    nominated_node_name: str = ""
    start_time: str | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(Object, frozen=True, gc=False):
    """A pod."""

    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)
