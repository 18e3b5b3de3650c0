"""Network topologies: in which hypernodes a job is tried."""

from __future__ import annotations

from ..releases import FIRST, behaviour, since, subject


@subject
class TopologyBehaviours:
    """Network topologies: what differs between releases."""

    network_topology: bool = behaviour(
        "Jobs may request to be placed within hypernodes.",
        since(FIRST, False).means(
            "spec.networkTopology of a PodGroup is ignored.",
            source="actions/allocate/allocate.go",
            fault="spec.networkTopology of a PodGroup is ignored.",
        ),
        since("v1.12.0", True, pull=4310).means(
            "spec.networkTopology of a PodGroup is respected.",
            source="actions/allocate/allocate.go allocateResourceForTasksWithTopology",
        ),
    )

    hypernodes_in_cache: bool = behaviour(
        "The scheduler's cache holds the tree of HyperNodes.",
        since(FIRST, False).means(
            "HyperNodes are ignored, also those with mistakes.",
            source="cache/cache.go addEventHandler",
        ),
        since("v1.12.0", True, pull=4310).means(
            "A HyperNode whose tree could not be built crashes the scheduler when it is mended, if "
            "it names HyperNodes by pattern or label.",
            source="api/hyper_node_info.go findLeafNodesWithCycleCheck",
        ),
    )

    topology_gradients: bool = behaviour(
        "Hypernodes are tried by gradients below a virtual root; other pods fill them.",
        since(FIRST, False).means(
            "A soft topology prefers nodes; hypernodes are tried tier by tier."
        ),
        since("v1.14.0", True, pull=4721).means(
            "Jobs are packed into hypernodes; pods without a topology fill used hypernodes."
        ),
        source="plugins/network-topology-aware/network_topology_aware.go",
    )

    hard_topology_scores_nearby_nodes: bool = behaviour(
        "Within its hypernode, a job with a hard topology prefers nodes that are near its tasks.",
        since(FIRST, False).means(
            "A hard topology scores hypernodes; within one, all nodes score the same."
        ),
        since("v1.13.0", True, pull=4345).means(
            "Tasks of a hard topology prefer nodes near each other; hypernodes have no score."
        ),
        source="plugins/network-topology-aware/network_topology_aware.go",
    )

    soft_topologies_tried_as_hard: bool = behaviour(
        "A soft topology is tried like a hard one that allows all tiers.",
        since(FIRST, False).means(
            "With a soft topology, each pod prefers nodes near the job's other pods.",
            source="actions/allocate/allocate.go allocateResourcesForTasks",
        ),
        since("v1.14.3", True, pull=5206).means(
            "A job with a soft topology is placed whole in the smallest hypernode with room.",
            source="framework/session.go convertSoftToHardTopology",
        ),
    )

    narrower_hypernodes_tried: bool = behaviour(
        "Within the hypernode that is tried for a job, smaller ones are tried as well.",
        since(FIRST, False).means("A job without groups is placed anywhere in its hypernode."),
        since("v1.15.0", True, pull=5250).means(
            "A job is placed in the smallest hypernode with room."
        ),
        source="actions/allocate/allocate.go allocateForSubJob",
    )

    nominated_node_within_hypernode: bool = behaviour(
        "A nominated node is tried first only if it is in the hypernode that is tried.",
        since(FIRST, False).means(
            "A pod may be placed outside its gang's hypernode, on its nominated node.",
            fault="A pod may be placed outside its gang's hypernode.",
        ),
        since("v1.15.0", True, pull=5250).means(
            "A nominated node outside the gang's hypernode is not used."
        ),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
    )

    lowest_hypernode_found: bool = behaviour(
        "After a restart, the hypernode of a job's running pods is the lowest that has them all; "
        "else any of those with the fewest nodes.",
        since(FIRST, False).means(
            "After a restart, a job may seem to span more of the network than it does.",
            source="framework/session.go getMinimumHyperNode",
        ),
        since("v1.14.1", True, pull=5008).means(
            "After a restart, a job's hypernode is the smallest with all its pods.",
            source="framework/session.go getLowestTierHyperNode",
        ),
    )
