"""Volcano's own objects, as far as its scheduler looks at them."""

from __future__ import annotations

import msgspec

from .metadata import Int32, Int64, LabelSelector, Object, ObjectPart, ResourceList

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NetworkTopology(ObjectPart, frozen=True, gc=False):
    """How far apart a job's pods may run."""

    mode: str = ""
    highest_tier_allowed: Int64 | None = None
    highest_tier_name: str = ""


class SubGroupPolicy(ObjectPart, frozen=True, gc=False):
    """How a group is divided into smaller ones."""

    name: str = ""
    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    sub_group_size: Int32 | None = None
    min_sub_groups: Int32 | None = None
    network_topology: NetworkTopology | None = None


class PodGroupSpec(ObjectPart, frozen=True, gc=False):
    """What a group needs before any of it starts."""

    min_member: Int32 = 0
    min_task_member: dict[str, Int32] = msgspec.field(default_factory=dict)
    queue: str = ""
    priority_class_name: str = ""
    min_resources: ResourceList | None = None
    network_topology: NetworkTopology | None = None
    sub_group_policy: tuple[SubGroupPolicy, ...] = ()


class PodGroupCondition(ObjectPart, frozen=True, gc=False):
    """A condition of a group; ``transition_id`` is the session that wrote it."""

    type: str = ""
    status: str = ""
    transition_id: str = msgspec.field(default="", name="transitionID")
    last_transition_time: str | None = None
    reason: str = ""
    message: str = ""


class PodGroupStatus(ObjectPart, frozen=True, gc=False):
    """What is known of a group."""

    phase: str = ""
    conditions: tuple[PodGroupCondition, ...] = ()
    running: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0


class PodGroup(Object, frozen=True, gc=False):
    """Pods that are scheduled together."""

    spec: PodGroupSpec = msgspec.field(default_factory=PodGroupSpec)
    status: PodGroupStatus = msgspec.field(default_factory=PodGroupStatus)


class Guarantee(ObjectPart, frozen=True, gc=False):
    """What is kept for a queue."""

    resource: ResourceList = msgspec.field(default_factory=dict)


class NodeGroupRules(ObjectPart, frozen=True, gc=False):
    """Groups of nodes that a queue's pods must or should run on, or not."""

    required: tuple[str, ...] = msgspec.field(default=(), name=_REQUIRED)
    preferred: tuple[str, ...] = msgspec.field(default=(), name=_PREFERRED)


class QueueAffinity(ObjectPart, frozen=True, gc=False):
    """A queue's affinities to groups of nodes."""

    node_group_affinity: NodeGroupRules | None = None
    node_group_anti_affinity: NodeGroupRules | None = None


class QueueSpec(ObjectPart, frozen=True, gc=False):
    """A queue's share, bounds and place among the queues."""

    weight: Int32 = 0
    capability: ResourceList = msgspec.field(default_factory=dict)
    reclaimable: bool | None = None
    guarantee: Guarantee = msgspec.field(default_factory=Guarantee)
    affinity: QueueAffinity | None = None
    type: str = ""
    parent: str = ""
    deserved: ResourceList = msgspec.field(default_factory=dict)
    priority: Int32 = 0
    dequeue_strategy: str = ""


class Reservation(ObjectPart, frozen=True, gc=False):
    """What is reserved for a queue."""

    nodes: tuple[str, ...] = ()
    resource: ResourceList = msgspec.field(default_factory=dict)


class QueueStatus(ObjectPart, frozen=True, gc=False):
    """A queue's state, the number of its groups by phase, and what they have."""

    state: str = ""
    unknown: Int32 = 0
    pending: Int32 = 0
    running: Int32 = 0
    inqueue: Int32 = 0
    completed: Int32 = 0
    reservation: Reservation = msgspec.field(default_factory=Reservation)
    allocated: ResourceList | None = None


class Queue(Object, frozen=True, gc=False):
    """A queue."""

    spec: QueueSpec = msgspec.field(default_factory=QueueSpec)
    status: QueueStatus = msgspec.field(default_factory=QueueStatus)
