"""Queues that have parents: the root queue, and what the queues of a tree deserve and may use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


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


@dataclass(frozen=True, init=False, repr=False, eq=False)
class QueueTreeBehaviours:
    """Queues that have parents: what differs between releases."""

    root_queue: bool
    """The scheduler creates a queue ``root`` when it starts, and queues have parents."""

    root_queue_spec: RootQueueSpec
    """What is written into the root queue's spec."""

    root_queue_bounds: RootQueueBounds
    """What all queues of a tree may use together."""

    missing_root_queue_crashes: bool
    """A tree of queues without a root crashes the scheduler."""

    tree_deserved: TreeDeserved
    """What a queue in a tree deserves."""

    children_inherit_scalars: bool
    """In a tree, a queue without a capability for a scalar inherits its parent's."""

    children_may_exceed_parent: bool
    """In a tree, a guarantee that exceeds the parent is kept from the queues beside, and what
    children deserve together may exceed what their parent does."""

    excess_child_guarantees_crash: bool
    """Guarantees of children above what their parent may use crash the scheduler."""

    invalid_tree_stops_scheduling: bool
    """A tree in which children have more than their parent stops all scheduling."""

    tree_errors_show_amounts: bool
    """Errors of a tree of queues are logged with the amounts."""

    unchecked_queues_have_zero_limit: bool
    """A queue that the check of the tree does not reach has limit 0; else no limit."""

    unbuilt_queues_skipped: bool
    """A pod placed in a queue without account counts nowhere; else the scheduler crashes."""


ROWS: tuple[Row, ...] = (
    Row(
        "root_queue",
        False,
        FIRST,
        source="cache/cache.go newDefaultQueue",
        why="Queues have no parents.",
        fault="The parents of queues are ignored, and so are their limits.",
    ),
    Row(
        "root_queue",
        True,
        landed("v1.11.0"),
        source="cache/cache.go newDefaultAndRootQueue",
        why="Queues form a tree; its root exists from the start.",
        pull=3743,
    ),
    Row(
        "root_queue_spec",
        RootQueueSpec.KEPT,
        FIRST,
        source="framework/session.go updateQueueStatus",
        why="A queue named root is like any other.",
    ),
    Row(
        "root_queue_spec",
        RootQueueSpec.TOTAL,
        landed("v1.11.0"),
        source="framework/session.go updateRootQueueResources",
        why="The scheduler overwrites the root queue's spec.deserved with the sum of the nodes.",
        pull=3743,
    ),
    Row(
        "root_queue_spec",
        RootQueueSpec.DESERVED,
        landed("v1.13.0"),
        source="framework/session.go updateRootQueueResources",
        why="What an operator writes into the root queue's spec.deserved stays.",
        pull=4354,
    ),
    Row(
        "root_queue_spec",
        RootQueueSpec.KEPT,
        landed("v1.14.2"),
        source="framework/session.go updateRootQueueResources",
        why="The scheduler no longer writes the root queue's spec.deserved.",
        pull=4973,
    ),
    Row(
        "root_queue_bounds",
        RootQueueBounds.CLUSTER,
        FIRST,
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        why="The root queue's capability is the sum of the nodes; the spec is ignored.",
    ),
    Row(
        "root_queue_bounds",
        RootQueueBounds.CLUSTER_UNLESS_SET,
        landed("v1.13.0"),
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        why="The root queue's capability can be set above what the cluster has now.",
        pull=4354,
    ),
    Row(
        "root_queue_bounds",
        RootQueueBounds.UNLIMITED_UNLESS_SET,
        landed("v1.14.2"),
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        why="Jobs larger than the cluster are enqueued, so that an autoscaler sees them.",
        pull=4973,
    ),
    Row(
        "root_queue_bounds",
        RootQueueBounds.UNLIMITED_WHERE_UNSET,
        landed("hardened"),
        source="engine/session/plugins/capacity/soundness.py; "
        "tests/session/plugins/test_hardened_queues.py",
        why="A capability of the root that names only cpu bounds only cpu.",
    ),
    Row(
        "missing_root_queue_crashes",
        True,
        FIRST,
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        why="The scheduler crashes in each session until a queue named root exists.",
    ),
    Row(
        "missing_root_queue_crashes",
        False,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        why="Without a queue named root, nothing is scheduled, and the log says so.",
        pull=5091,
    ),
    Row(
        "tree_deserved",
        TreeDeserved.WITHIN_LIMITS,
        FIRST,
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="A deserved above what the queue may use is reduced.",
    ),
    Row(
        "tree_deserved",
        TreeDeserved.AS_WRITTEN,
        landed("v1.13.0"),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="Children that deserve more than their parent make the tree invalid.",
        pull=4354,
    ),
    Row(
        "tree_deserved",
        TreeDeserved.AT_LEAST_GUARANTEED,
        landed("v1.14.2"),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="Again, a queue deserves at least its guarantee.",
        pull=4973,
    ),
    Row(
        "children_inherit_scalars",
        False,
        FIRST,
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="A scalar that a child does not name is bounded by what its parent may use.",
    ),
    Row(
        "children_inherit_scalars",
        True,
        landed("v1.13.0"),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="What a parent may use of a GPU bounds children that do not name it.",
        pull=4504,
    ),
    Row(
        "children_may_exceed_parent",
        True,
        FIRST,
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="A queue guaranteed more than its parent has leaves its siblings nothing.",
    ),
    Row(
        "children_may_exceed_parent",
        False,
        landed("hardened"),
        source="engine/session/plugins/capacity/granting.py; "
        "tests/session/plugins/test_hardened_queues.py",
        why="A queue configured above its parent affects only its own children.",
    ),
    Row(
        "excess_child_guarantees_crash",
        True,
        FIRST,
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="Children guaranteed more than their parent has crash the scheduler.",
    ),
    Row(
        "excess_child_guarantees_crash",
        False,
        landed("v1.12.0"),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="Children guaranteed more than their parent has cause an error in the log.",
        pull=4179,
    ),
    Row(
        "invalid_tree_stops_scheduling",
        True,
        FIRST,
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="One invalid queue, or the loss of a node, stops scheduling in every queue.",
    ),
    Row(
        "invalid_tree_stops_scheduling",
        False,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="An invalid tree is logged, and scheduling continues.",
        pull=4864,
    ),
    Row(
        "tree_errors_show_amounts",
        False,
        FIRST,
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="The log names the queues only.",
    ),
    Row(
        "tree_errors_show_amounts",
        True,
        landed("v1.12.3", "v1.13.0"),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="The log says by how much a queue exceeds another.",
        pull=4347,
    ),
    Row(
        "unchecked_queues_have_zero_limit",
        False,
        FIRST,
        source="plugins/capacity/capacity.go newQueueAttr",
        why="A queue that is its own ancestor has no limit; v1.13.0 crashes when a session opens.",
    ),
    Row(
        "unchecked_queues_have_zero_limit",
        True,
        landed("v1.13.1"),
        source="plugins/capacity/capacity.go newQueueAttr",
        why="A queue below itself may use nothing; the scheduler still crashes as it prepares for a"
        " pod, as it copies the queue without end.",
        pull=4611,
    ),
    Row(
        "unbuilt_queues_skipped",
        False,
        FIRST,
        source="plugins/capacity/capacity.go OnSessionOpen, AllocateFunc",
        why="An invalid tree can leave queues without account; placing a pod of such a queue"
        " crashes the scheduler. Only backfill still places pods then.",
    ),
    Row(
        "unbuilt_queues_skipped",
        True,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go OnSessionOpen, AllocateFunc",
        why="A pod of a queue without account is placed, and the log has a warning.",
        pull=4982,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
