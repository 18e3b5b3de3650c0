"""Network topologies: in which hypernodes a job is tried."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class TopologyBehaviours:
    """Network topologies: what differs between releases."""

    network_topology: bool
    """Jobs may request to be placed within hypernodes."""

    hypernodes_in_cache: bool
    """The scheduler's cache holds the tree of HyperNodes."""

    topology_gradients: bool
    """Hypernodes are tried by gradients below a virtual root; other pods fill them."""

    hard_topology_scores_nearby_nodes: bool
    """Within its hypernode, a job with a hard topology prefers nodes that are near its tasks."""

    soft_topologies_tried_as_hard: bool
    """A soft topology is tried like a hard one that allows all tiers."""

    narrower_hypernodes_tried: bool
    """Within the hypernode that is tried for a job, smaller ones are tried as well."""

    nominated_node_within_hypernode: bool
    """A nominated node is tried first only if it is in the hypernode that is tried."""

    lowest_hypernode_found: bool
    """After a restart, the hypernode of a job's running pods is the lowest that has
    them all; else any of those with the fewest nodes."""


ROWS: tuple[Row, ...] = (
    Row(
        "network_topology",
        False,
        FIRST,
        source="actions/allocate/allocate.go",
        why="spec.networkTopology of a PodGroup is ignored.",
        fault="spec.networkTopology of a PodGroup is ignored.",
    ),
    Row(
        "network_topology",
        True,
        landed("v1.12.0"),
        source="actions/allocate/allocate.go allocateResourceForTasksWithTopology",
        why="spec.networkTopology of a PodGroup is respected.",
        pull=4310,
    ),
    Row(
        "hypernodes_in_cache",
        False,
        FIRST,
        source="cache/cache.go addEventHandler",
        why="HyperNodes are ignored, also those with mistakes.",
    ),
    Row(
        "hypernodes_in_cache",
        True,
        landed("v1.12.0"),
        source="api/hyper_node_info.go findLeafNodesWithCycleCheck",
        why="A HyperNode whose tree could not be built crashes the scheduler when it is mended, if"
        " it names HyperNodes by pattern or label.",
        pull=4310,
    ),
    Row(
        "topology_gradients",
        False,
        FIRST,
        source="plugins/network-topology-aware/network_topology_aware.go",
        why="A soft topology prefers nodes; hypernodes are tried tier by tier.",
    ),
    Row(
        "topology_gradients",
        True,
        landed("v1.14.0"),
        source="plugins/network-topology-aware/network_topology_aware.go",
        why="Jobs are packed into hypernodes; pods without a topology fill used hypernodes.",
        pull=4721,
    ),
    Row(
        "hard_topology_scores_nearby_nodes",
        False,
        FIRST,
        source="plugins/network-topology-aware/network_topology_aware.go",
        why="A hard topology scores hypernodes; within one, all nodes score the same.",
    ),
    Row(
        "hard_topology_scores_nearby_nodes",
        True,
        landed("v1.13.0"),
        source="plugins/network-topology-aware/network_topology_aware.go",
        why="Tasks of a hard topology prefer nodes near each other; hypernodes have no score.",
        pull=4345,
    ),
    Row(
        "soft_topologies_tried_as_hard",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="With a soft topology, each pod prefers nodes near the job's other pods.",
    ),
    Row(
        "soft_topologies_tried_as_hard",
        True,
        landed("v1.14.3"),
        source="framework/session.go convertSoftToHardTopology",
        why="A job with a soft topology is placed whole in the smallest hypernode with room.",
        pull=5206,
    ),
    Row(
        "narrower_hypernodes_tried",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateForSubJob",
        why="A job without groups is placed anywhere in its hypernode.",
    ),
    Row(
        "narrower_hypernodes_tried",
        True,
        landed("v1.15.0"),
        source="actions/allocate/allocate.go allocateForSubJob",
        why="A job is placed in the smallest hypernode with room.",
        pull=5250,
    ),
    Row(
        "nominated_node_within_hypernode",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A pod may be placed outside its gang's hypernode, on its nominated node.",
        fault="A pod may be placed outside its gang's hypernode.",
    ),
    Row(
        "nominated_node_within_hypernode",
        True,
        landed("v1.15.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A nominated node outside the gang's hypernode is not used.",
        pull=5250,
    ),
    Row(
        "lowest_hypernode_found",
        False,
        FIRST,
        source="framework/session.go getMinimumHyperNode",
        why="After a restart, a job may seem to span more of the network than it does.",
    ),
    Row(
        "lowest_hypernode_found",
        True,
        landed("v1.14.1"),
        source="framework/session.go getLowestTierHyperNode",
        why="After a restart, a job's hypernode is the smallest with all its pods.",
        pull=5008,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
