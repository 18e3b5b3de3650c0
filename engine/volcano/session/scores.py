"""Scores of nodes: which exist, and what they count.

Most scores of ``nodeorder`` are kube-scheduler's own, of the version of Kubernetes in a release's
``go.mod``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ScoreBehaviours:
    """Scores of nodes: what differs between releases."""

    nodeorder_needs_predicates: bool
    """``nodeorder`` crashes the scheduler unless ``predicates`` runs as well."""

    placed_pod_sidecars_scored: bool
    """Scores of nodes count sidecars of the pod that is placed."""

    existing_pod_sidecars_scored: bool
    """Scores of nodes count sidecars of the pods on the nodes."""

    overhead_scored_in_cores: bool
    """Scores read a pod's cpu overhead in whole cores, and count these as thousandths."""

    balanced_allocation_scores_best_effort: bool
    """Pods without requests for cpu, memory or GPU get the score BalancedAllocation too."""

    images_scored: bool
    """Nodes score for images of the pod that they have."""

    init_container_images_scored: bool
    """Where images count, images of init containers count too."""

    node_affinity_normalised: bool
    """The score of a pod's preference of nodes is 100 at most, as for other scores; ``nodeorder``
    adds up all of its scores before those of other plugins."""

    hosts_spread_scored: bool
    """A soft constraint to spread over hosts weighs how many of a pod's like a node has."""

    unconstrained_pods_get_spread_score: bool
    """Pods without topologySpreadConstraints get the full score on every node."""

    nodegroup_preferred_order: bool
    """``nodegroup`` has the argument ``enablePreferredOrder``: earlier groups score more."""


ROWS: tuple[Row, ...] = (
    Row(
        "nodeorder_needs_predicates",
        False,
        FIRST,
        source="plugins/nodeorder/nodeorder.go (metrics of Kubernetes until 1.31)",
        why="A configuration may score nodes without filtering them.",
    ),
    Row(
        "nodeorder_needs_predicates",
        True,
        landed("v1.12.0"),
        source="plugins/predicates/predicates.go PrePredicate (metrics.Register)",
        why="A configuration with nodeorder and without predicates crashes at the first score.",
        pull=4099,
    ),
    Row(
        "nodeorder_needs_predicates",
        False,
        landed("v1.12.2", "v1.13.0"),
        source="cmd/scheduler/app/server.go Run (InitKubeSchedulerRelatedMetrics)",
        why="With --enable-metrics, as the chart has it, nodes are scored without predicates too.",
        pull=4422,
    ),
    Row(
        "placed_pod_sidecars_scored",
        False,
        FIRST,
        source="plugins/nodeorder/nodeorder.go",
        why="Nodes with many sidecars look emptier to scores than they are.",
    ),
    Row(
        "placed_pod_sidecars_scored",
        True,
        landed("v1.9.0"),
        source="plugins/nodeorder/nodeorder.go",
        why="Sidecars count when nodes are scored.",
        pull=3295,
    ),
    Row(
        "existing_pod_sidecars_scored",
        False,
        FIRST,
        source="plugins/nodeorder/nodeorder.go",
        why="Nodes with many sidecars look emptier to scores than they are.",
    ),
    Row(
        "existing_pod_sidecars_scored",
        True,
        landed("v1.12.0"),
        source="plugins/nodeorder/nodeorder.go",
        why="Sidecars of running pods count too: Kubernetes 1.32 sums requests differently.",
        pull=4099,
    ),
    Row(
        "overhead_scored_in_cores",
        True,
        FIRST,
        source="plugins/nodeorder/nodeorder.go (noderesources of Kubernetes 1.25)",
        why="A pod's overhead of cpu hardly counts in scores: cores are counted as thousandths.",
    ),
    Row(
        "overhead_scored_in_cores",
        False,
        landed("v1.8.1"),
        source="plugins/nodeorder/nodeorder.go (noderesources of Kubernetes 1.27)",
        why="A pod's overhead of cpu counts in scores like its requests.",
        pull=3083,
    ),
    Row(
        "balanced_allocation_scores_best_effort",
        True,
        FIRST,
        source="plugins/nodeorder/nodeorder.go",
        why="Pods without requests prefer nodes with balanced use.",
    ),
    Row(
        "balanced_allocation_scores_best_effort",
        False,
        landed("v1.13.0"),
        source="plugins/nodeorder/nodeorder.go",
        why="Balance of nodes does not count for pods without requests.",
        pull=4430,
    ),
    Row(
        "images_scored",
        True,
        FIRST,
        source="framework/util.go GenerateNodeMapAndSlice",
        why="Pods prefer nodes that already have their images.",
    ),
    Row(
        "images_scored",
        False,
        landed("v1.14.0"),
        source="framework/util.go GenerateNodeMapAndSlice",
        why="Images of nodes do not count, even with imagelocality.weight.",
        pull=4704,
    ),
    Row(
        "images_scored",
        True,
        landed("v1.14.3"),
        source="framework/util.go GenerateNodeMapAndSlice",
        why="Again, pods prefer nodes that already have their images.",
        pull=5343,
    ),
    Row(
        "init_container_images_scored",
        False,
        FIRST,
        source="plugins/nodeorder/nodeorder.go (ImageLocality of Kubernetes until 1.29)",
        why="Images of init containers do not count.",
    ),
    Row(
        "init_container_images_scored",
        True,
        landed("v1.10.0"),
        source="plugins/nodeorder/nodeorder.go (ImageLocality of Kubernetes since 1.30)",
        why="Images of init containers count.",
        pull=3556,
    ),
    Row(
        "node_affinity_normalised",
        False,
        FIRST,
        source="plugins/nodeorder/nodeorder.go",
        why="Weights of preferred node affinity count as they are written.",
    ),
    Row(
        "node_affinity_normalised",
        True,
        landed("v1.15.1"),
        source="plugins/nodeorder/nodeorder.go BatchNodeOrderFn",
        why="Preferred node affinity weighs as much as other scores.",
        pull=5497,
    ),
    Row(
        "hosts_spread_scored",
        True,
        FIRST,
        source="plugins/util/nodescore/score_helper.go CalculatePluginScore",
        why="Pods are spread over hosts; by default, those of a Service or workload too.",
    ),
    Row(
        "hosts_spread_scored",
        False,
        landed("v1.13.0"),
        source="plugins/util/nodescore/score_helper.go CalculatePluginScore",
        why="Nodes are scored as if empty: spreading over hosts has no effect on scores.",
        pull=4430,
    ),
    Row(
        "hosts_spread_scored",
        True,
        landed("v1.15.1"),
        source="plugins/nodeorder/nodeorder.go BatchNodeOrderFn",
        why="Pods are spread over hosts again.",
        pull=5497,
    ),
    Row(
        "unconstrained_pods_get_spread_score",
        True,
        FIRST,
        source="plugins/nodeorder/nodeorder.go podTopologySpreadScore",
        why="All scores are higher by the same amount.",
    ),
    Row(
        "unconstrained_pods_get_spread_score",
        False,
        landed("v1.9.0"),
        source="plugins/nodeorder/nodeorder.go podTopologySpreadScore",
        why="Only pods with constraints get a score for spreading.",
        pull=3295,
    ),
    Row(
        "nodegroup_preferred_order",
        False,
        FIRST,
        source="plugins/nodegroup/nodegroup.go score",
        why="All preferred node groups have the same score.",
    ),
    Row(
        "nodegroup_preferred_order",
        True,
        landed("v1.15.0"),
        source="plugins/nodegroup/nodegroup.go score",
        why="Preferred node groups can be ranked.",
        pull=5110,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
