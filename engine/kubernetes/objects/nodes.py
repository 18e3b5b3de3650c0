"""Nodes, their volumes' drivers, their sockets, and the network between them."""

from __future__ import annotations

import msgspec

from .metadata import Int32, Int64, LabelSelector, Object, ObjectPart, ResourceList


class Taint(ObjectPart, frozen=True, gc=False):
    """What pods must bear on a node."""

    key: str = ""
    value: str = ""
    effect: str = ""

    @property
    def text(self) -> str:
        """The taint as kubectl writes it."""
        value = f"={self.value}" if self.value else ""
        return f"{self.key}{value}:{self.effect}"


class NodeSpec(ObjectPart, frozen=True, gc=False):
    """How a node may be used."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeCondition(ObjectPart, frozen=True, gc=False):
    """A condition of a node."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class ContainerImage(ObjectPart, frozen=True, gc=False):
    """An image that a node has, in bytes."""

    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeStatus(ObjectPart, frozen=True, gc=False):
    """What a node has."""

    allocatable: ResourceList = msgspec.field(default_factory=dict)
    capacity: ResourceList = msgspec.field(default_factory=dict)
    conditions: tuple[NodeCondition, ...] = ()
    images: tuple[ContainerImage, ...] = ()


class Node(Object, frozen=True, gc=False):
    """A node."""

    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class VolumeNodeResources(ObjectPart, frozen=True, gc=False):
    """How many volumes of a driver a node can attach; without a count, any number."""

    count: Int32 | None = None


class CSINodeDriver(ObjectPart, frozen=True, gc=False):
    """A driver of volumes on a node."""

    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(ObjectPart, frozen=True, gc=False):
    """The drivers of a node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(Object, frozen=True, gc=False):
    """The drivers of volumes on the node of the same name."""

    spec: CSINodeSpec = msgspec.field(default_factory=CSINodeSpec)


class ExactMatch(ObjectPart, frozen=True, gc=False):
    """A member by its name."""

    name: str = ""


class RegexMatch(ObjectPart, frozen=True, gc=False):
    """Members by a pattern of their names."""

    pattern: str = ""


class MemberSelector(ObjectPart, frozen=True, gc=False):
    """Which nodes or hypernodes are meant."""

    exact_match: ExactMatch | None = None
    regex_match: RegexMatch | None = None
    label_match: LabelSelector | None = None


class HypernodeMember(ObjectPart, frozen=True, gc=False):
    """Members of a hypernode; ``type`` is ``Node`` or ``HyperNode``."""

    type: str = ""
    selector: MemberSelector = msgspec.field(default_factory=MemberSelector)


class HyperNodeSpec(ObjectPart, frozen=True, gc=False):
    """A hypernode's tier and members."""

    tier: Int64 = 0
    tier_name: str = ""
    members: tuple[HypernodeMember, ...] = ()


class HyperNode(Object, frozen=True, gc=False):
    """A domain of the network: nodes, or hypernodes of lower tiers."""

    spec: HyperNodeSpec = msgspec.field(default_factory=HyperNodeSpec)


class NumaResource(ObjectPart, frozen=True, gc=False):
    """How much of a resource the sockets of a node have, and which parts (a CPU set)."""

    allocatable: str = ""
    capacity: Int64 = 0


class CpuDetail(ObjectPart, frozen=True, gc=False):
    """Where a CPU sits."""

    numa: Int64 = 0
    socket: Int64 = 0
    core: Int64 = 0


class NumatopologySpec(ObjectPart, frozen=True, gc=False):
    """The sockets of a node."""

    policies: dict[str, str] = msgspec.field(default_factory=dict)
    res_reserved: dict[str, str] = msgspec.field(default_factory=dict)
    numares: dict[str, NumaResource] = msgspec.field(default_factory=dict)
    cpu_detail: dict[str, CpuDetail] = msgspec.field(default_factory=dict)


class Numatopology(Object, frozen=True, gc=False):
    """The sockets of the node of the same name."""

    spec: NumatopologySpec = msgspec.field(default_factory=NumatopologySpec)
