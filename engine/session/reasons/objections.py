"""What filters say against nodes: a code, what was compared, and the words of the scheduler.

The words differ between releases, and the scheduler writes them into conditions of pods. Everything
else about an objection is read from its code and its data, never from its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec


class NodeCode(StrEnum):
    """Why a filter refuses a node."""

    OTHER = "other"
    """It is no refusal of a filter here, as an extender's, or an error."""
    INSUFFICIENT = "insufficient"
    """The node has too little of a resource, the subject."""
    TOO_MANY_PODS = "too-many-pods"
    """The node has as many pods as it may have."""
    CORDONED = "cordoned"
    """The node is cordoned."""
    UNTOLERATED_TAINT = "untolerated-taint"
    """The pod does not tolerate a taint: the subject, with its ``value``, where it is named."""
    NODE_AFFINITY = "node-affinity"
    """The pod's node selector or node affinity excludes the node."""
    POD_AFFINITY = "pod-affinity"
    """The pod's affinity to other pods is not satisfied."""
    POD_ANTI_AFFINITY = "pod-anti-affinity"
    """The pod's anti-affinity is not satisfied."""
    ANTI_AFFINITY_OF_OTHERS = "anti-affinity-of-others"
    """The anti-affinity of a pod on the node is not satisfied."""
    TOPOLOGY_SPREAD = "topology-spread"
    """The pod's topology spread would be too uneven."""
    TOPOLOGY_SPREAD_LABEL = "topology-spread-label"
    """The node lacks a label of the pod's topology spread."""
    HOST_PORTS = "host-ports"
    """A host port of the pod is taken."""
    OUT_OF_SYNC = "out-of-sync"
    """The node uses more than it has."""
    VOLUME_UNREACHABLE = "volume-unreachable"
    """The node does not reach a volume of the pod."""
    NO_VOLUME = "no-volume"
    """There is no volume for a claim of the pod."""
    VOLUME_MISSING = "volume-missing"
    """The volume of a claim of the pod does not exist."""
    VOLUME_ZONE = "volume-zone"
    """The node is not in the zone of a volume of the pod."""
    TOO_MANY_VOLUMES = "too-many-volumes"
    """The node may have no more volumes of a driver."""
    CLAIM_ELSEWHERE = "claim-elsewhere"
    """A claim of the pod has devices of another node."""
    TOO_FEW_DEVICES = "too-few-devices"
    """The node has too few devices for the claims of the pod."""
    NODE_GROUP = "node-group"
    """The affinity of the queue does not allow the group of the node."""
    NODE_GROUP_LABEL = "node-group-label"
    """The node is in no group."""
    NODE_GROUP_AFFINITY = "node-group-affinity"
    """The node is in a group, and the queue has no affinity."""
    CACHED = "cached"
    """A pod of the same template was refused before."""
    NUMA_UNREPORTED = "numa-unreported"
    """The node has no Numatopology."""
    CPU_MANAGER = "cpu-manager"
    """The CPU manager policy of the node's kubelet is not ``static``."""
    NUMA_POLICY = "numa-policy"
    """The topology policy of the node is not the pod's: ``has`` and ``wanted``."""
    NUMA_NO_CPU = "numa-no-cpu"
    """The node has no CPU left to assign."""
    NUMA_CONTAINER = "numa-container"
    """The topology policy does not admit a ``container``: its CPUs are not free together."""
    CPU_USE = "cpu-use"
    """More CPU is used on average than ``limit``, in percent."""
    MEMORY_USE = "memory-use"
    """More memory is used on average than ``limit``, in percent."""
    CARDS_FULL = "cards-full"
    """The node's cards do not have room for the virtual GPUs of the pod."""
    NO_VIRTUAL_GPUS = "no-virtual-gpus"
    """The scheduler reads no cards of the kind, the subject, of the node."""
    ZONE_CLOSED = "zone-closed"
    """The revocable ``zone`` of the node is open in its ``window`` of the day, and not ``now``."""
    ZONE_WITHOUT_WINDOW = "zone-without-window"
    """No argument says when the revocable ``zone`` of the node is open."""
    ZONE_UNREADABLE = "zone-unreadable"
    """The ``window`` of the node's revocable zone cannot be read."""
    ZONE_NOT_REVOCABLE = "zone-not-revocable"
    """The node is in an open revocable zone, and the pod is not revocable."""


class Objection(msgspec.Struct, frozen=True, eq=False):
    """What a filter says against a node; two are equal if the scheduler writes the same of them.

    :ivar message: the scheduler's words. :ivar subject: what the code is about.
    :ivar by: the plugin. :ivar data: what was compared, by the names that the code says.
    :ivar at: by node, what was measured there; in percent.
    :ivar inner: the filters' own objections, if a release puts words around them.
    """

    message: str
    code: NodeCode = NodeCode.OTHER
    subject: str = ""
    by: str = ""
    data: Mapping[str, str | float] = MappingProxyType({})
    at: Mapping[str, float] = MappingProxyType({})
    inner: tuple[Objection, ...] = ()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Objection)
            and self.message == other.message
            and self.inner == other.inner
        )

    def __hash__(self) -> int:
        return hash(self.message)

    @property
    def plain(self) -> tuple[Objection, ...]:
        """The filters' own objections, without what a release puts around them."""
        return self.inner or (self,)

    @property
    def resource(self) -> str:
        """The resource of which there is too little; empty if the objection is another one."""
        short = self.code in {NodeCode.INSUFFICIENT, NodeCode.TOO_MANY_PODS}
        return self.subject if short else ""

    @property
    def full_code(self) -> str:
        """The code as documents have it: of a resource that nodes lack, with its name."""
        lacks = self.code is NodeCode.INSUFFICIENT
        return f"{self.code}-{self.subject}" if lacks else str(self.code)


def around(message: str, *inner: Objection) -> Objection:
    """Return what a release writes for objections of filters, in other words than theirs."""
    plain = tuple(objection for given in inner for objection in given.plain)
    return (
        plain[0]
        if [objection.message for objection in plain] == [message]
        else Objection(message, inner=plain)
    )


def too_little(resource: str) -> Objection:
    """Return the objection that a node has too little of a resource."""
    code = NodeCode.TOO_MANY_PODS if resource == "pods" else NodeCode.INSUFFICIENT
    return Objection(f"Insufficient {resource}", code, resource)
