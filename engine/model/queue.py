"""Queues as the scheduler's cache holds them.

Source: pkg/scheduler/api/queue_info.go.
"""

from __future__ import annotations

from ..kubernetes.objects import Queue, QueueAffinity
from .resource import Resource

HIERARCHY = "volcano.sh/hierarchy"
HIERARCHY_WEIGHTS = "volcano.sh/hierarchy-weights"


class QueueInfo:
    """One queue; resources are parsed once for each version of the object.

    :ivar queue: the object as it was last delivered, or as a session wrote its status.
    :ivar hierarchy: path of names from the root, and :ivar weights: of their weights (hdrf).
    :ivar state: ``status.state``; empty until the queue controller sets it.
    :ivar created: in seconds since 1970.
    """

    __slots__ = (
        "affinity",
        "allocated",
        "capability",
        "created",
        "deserved",
        "guarantee",
        "hierarchy",
        "name",
        "parent",
        "priority",
        "queue",
        "reclaimable",
        "state",
        "weight",
        "weights",
    )

    def __init__(self, queue: Queue, ignored: frozenset[str] = frozenset()) -> None:
        spec = queue.spec
        self.queue = queue
        self.name = queue.name
        self.weight = spec.weight
        self.hierarchy = queue.annotations.get(HIERARCHY, "")
        self.weights = queue.annotations.get(HIERARCHY_WEIGHTS, "")
        self.capability = Resource.of(spec.capability, ignored)
        self.deserved = Resource.of(spec.deserved, ignored)
        self.guarantee = Resource.of(spec.guarantee.resource, ignored)
        self.allocated = Resource.of(queue.status.allocated, ignored)
        self.reclaimable = spec.reclaimable is None or spec.reclaimable
        self.parent = spec.parent
        self.priority = spec.priority
        self.affinity: QueueAffinity | None = spec.affinity
        self.state = queue.status.state
        self.created = queue.metadata.created
