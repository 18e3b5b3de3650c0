"""Queues that have parents: the root queue, and what the queues of a tree deserve and may use."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


class RootQueueSpec(StrEnum):
    """What a session writes into the root queue's spec."""

    TOTAL = "total"
    """``deserved`` is the sum of the nodes, ``guarantee`` the sum of queues' guarantees."""
    DESERVED = "deserved"
    """Both are the values that the capacity plugin used; nothing without a hierarchy."""
    KEPT = "kept"
    """Nothing is written."""


class RootQueueBounds(StrEnum):
    """What all queues of a tree may use together."""

    CLUSTER = "cluster"
    """What the cluster has."""
    CLUSTER_UNLESS_SET = "cluster unless set"
    """The root queue's spec, else the sum of the nodes."""
    UNLIMITED_UNLESS_SET = "unlimited unless set"
    """The root queue's spec, else unlimited; it deserves what its children deserve."""
    UNLIMITED_WHERE_UNSET = "unlimited where unset"
    """The same per resource: one that the spec does not name is unlimited."""


class TreeDeserved(StrEnum):
    """What a queue in a tree deserves."""

    WITHIN_LIMITS = "within limits"
    """Its spec, within what it may use, and at least its guarantee."""
    AS_WRITTEN = "as written"
    """What its spec says."""
    AT_LEAST_GUARANTEED = "at least guaranteed"
    """Its spec, and at least its guarantee."""


@subject
class QueueTreeBehaviours:
    """Queues that have parents: what differs between releases."""

    root_queue: bool = behaviour(
        "The scheduler creates a queue ``root`` when it starts, and queues have parents.",
        since(FIRST, False).means(
            "Queues have no parents.",
            source="cache/cache.go newDefaultQueue",
            fault="The parents of queues are ignored, and so are their limits.",
        ),
        since("v1.11.0", True, pull=3743).means(
            "Queues form a tree; its root exists from the start.",
            source="cache/cache.go newDefaultAndRootQueue",
        ),
    )

    root_queue_spec: RootQueueSpec = behaviour(
        "What is written into the root queue's spec.",
        since(FIRST, RootQueueSpec.KEPT).means(
            "A queue named root is like any other.",
            source="framework/session.go updateQueueStatus",
        ),
        since("v1.11.0", RootQueueSpec.TOTAL, pull=3743).means(
            "The scheduler overwrites the root queue's spec.deserved with the sum of the nodes.",
            source="framework/session.go updateRootQueueResources",
        ),
        since("v1.13.0", RootQueueSpec.DESERVED, pull=4354).means(
            "What an operator writes into the root queue's spec.deserved stays.",
            source="framework/session.go updateRootQueueResources",
        ),
        since("v1.14.2", RootQueueSpec.KEPT, pull=4973).means(
            "The scheduler no longer writes the root queue's spec.deserved.",
            source="framework/session.go updateRootQueueResources",
        ),
    )

    root_queue_bounds: RootQueueBounds = behaviour(
        "What all queues of a tree may use together.",
        since(FIRST, RootQueueBounds.CLUSTER).means(
            "The root queue's capability is the sum of the nodes; the spec is ignored.",
            source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        ),
        since("v1.13.0", RootQueueBounds.CLUSTER_UNLESS_SET, pull=4354).means(
            "The root queue's capability can be set above what the cluster has now.",
            source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        ),
        since("v1.14.2", RootQueueBounds.UNLIMITED_UNLESS_SET, pull=4973).means(
            "Jobs larger than the cluster are enqueued, so that an autoscaler sees them.",
            source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        ),
        since("hardened", RootQueueBounds.UNLIMITED_WHERE_UNSET).means(
            "A capability of the root that names only cpu bounds only cpu.",
            source="engine/session/plugins/capacity/soundness.py; "
            "tests/session/plugins/test_hardened_queues.py",
        ),
    )

    missing_root_queue_crashes: bool = behaviour(
        "A tree of queues without a root crashes the scheduler.",
        since(FIRST, True).means(
            "The scheduler crashes in each session until a queue named root exists."
        ),
        since("v1.15.0", False, pull=5091).means(
            "Without a queue named root, nothing is scheduled, and the log says so."
        ),
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
    )

    tree_deserved: TreeDeserved = behaviour(
        "What a queue in a tree deserves.",
        since(FIRST, TreeDeserved.WITHIN_LIMITS).means(
            "A deserved above what the queue may use is reduced."
        ),
        since("v1.13.0", TreeDeserved.AS_WRITTEN, pull=4354).means(
            "Children that deserve more than their parent make the tree invalid."
        ),
        since("v1.14.2", TreeDeserved.AT_LEAST_GUARANTEED, pull=4973).means(
            "Again, a queue deserves at least its guarantee."
        ),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
    )

    children_inherit_scalars: bool = behaviour(
        "In a tree, a queue without a capability for a scalar inherits its parent's.",
        since(FIRST, False).means(
            "A scalar that a child does not name is bounded by what its parent may use."
        ),
        since("v1.13.0", True, pull=4504).means(
            "What a parent may use of a GPU bounds children that do not name it."
        ),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
    )

    children_may_exceed_parent: bool = behaviour(
        "In a tree, a guarantee that exceeds the parent is kept from the queues beside, and what "
        "children deserve together may exceed what their parent does.",
        since(FIRST, True).means(
            "A queue guaranteed more than its parent has leaves its siblings nothing.",
            source="plugins/capacity/capacity.go checkHierarchicalQueue",
        ),
        since("hardened", False).means(
            "A queue configured above its parent affects only its own children.",
            source="engine/session/plugins/capacity/granting.py; "
            "tests/session/plugins/test_hardened_queues.py",
        ),
    )

    excess_child_guarantees_crash: bool = behaviour(
        "Guarantees of children above what their parent may use crash the scheduler.",
        since(FIRST, True).means(
            "Children guaranteed more than their parent has crash the scheduler."
        ),
        since("v1.12.0", False, pull=4179).means(
            "Children guaranteed more than their parent has cause an error in the log."
        ),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
    )

    invalid_tree_stops_scheduling: bool = behaviour(
        "A tree in which children have more than their parent stops all scheduling.",
        since(FIRST, True).means(
            "One invalid queue, or the loss of a node, stops scheduling in every queue."
        ),
        since("v1.14.0", False, pull=4864).means(
            "An invalid tree is logged, and scheduling continues."
        ),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
    )

    tree_errors_show_amounts: bool = behaviour(
        "Errors of a tree of queues are logged with the amounts.",
        since(FIRST, False).means("The log names the queues only."),
        since(landed("v1.12.3", "v1.13.0"), True, pull=4347).means(
            "The log says by how much a queue exceeds another."
        ),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
    )

    unchecked_queues_have_zero_limit: bool = behaviour(
        "A queue that the check of the tree does not reach has limit 0; else no limit.",
        since(FIRST, False).means(
            "A queue that is its own ancestor has no limit; v1.13.0 crashes when a session opens."
        ),
        since("v1.13.1", True, pull=4611).means(
            "A queue below itself may use nothing; the scheduler still crashes as it prepares for "
            "a pod, as it copies the queue without end."
        ),
        source="plugins/capacity/capacity.go newQueueAttr",
    )

    unbuilt_queues_skipped: bool = behaviour(
        "A pod placed in a queue without account counts nowhere; else the scheduler crashes.",
        since(FIRST, False).means(
            "An invalid tree can leave queues without account; placing a pod of such a queue "
            "crashes the scheduler. Only backfill still places pods then."
        ),
        since("v1.15.0", True, pull=4982).means(
            "A pod of a queue without account is placed, and the log has a warning."
        ),
        source="plugins/capacity/capacity.go OnSessionOpen, AllocateFunc",
    )
