"""Scores of nodes: which exist, and what they count.

Most scores of ``nodeorder`` are kube-scheduler's own, of the version of Kubernetes in a release's
``go.mod``.
"""

from __future__ import annotations

from ..releases import FIRST, behaviour, landed, since, subject


@subject
class ScoreBehaviours:
    """Scores of nodes: what differs between releases."""

    nodeorder_needs_predicates: bool = behaviour(
        "``nodeorder`` crashes the scheduler unless ``predicates`` runs as well.",
        since(FIRST, False).means(
            "A configuration may score nodes without filtering them.",
            source="plugins/nodeorder/nodeorder.go (metrics of Kubernetes until 1.31)",
        ),
        since("v1.12.0", True, pull=4099).means(
            "A configuration with nodeorder and without predicates crashes at the first score.",
            source="plugins/predicates/predicates.go PrePredicate (metrics.Register)",
        ),
        since(landed("v1.12.2", "v1.13.0"), False, pull=4422).means(
            "With --enable-metrics, as the chart has it, nodes are scored without predicates too.",
            source="cmd/scheduler/app/server.go Run (InitKubeSchedulerRelatedMetrics)",
        ),
    )

    placed_pod_sidecars_scored: bool = behaviour(
        "Scores of nodes count sidecars of the pod that is placed.",
        since(FIRST, False).means("Nodes with many sidecars look emptier to scores than they are."),
        since("v1.9.0", True, pull=3295).means("Sidecars count when nodes are scored."),
        source="plugins/nodeorder/nodeorder.go",
    )

    existing_pod_sidecars_scored: bool = behaviour(
        "Scores of nodes count sidecars of the pods on the nodes.",
        since(FIRST, False).means("Nodes with many sidecars look emptier to scores than they are."),
        since("v1.12.0", True, pull=4099).means(
            "Sidecars of running pods count too: Kubernetes 1.32 sums requests differently."
        ),
        source="plugins/nodeorder/nodeorder.go",
    )

    overhead_scored_in_cores: bool = behaviour(
        "Scores read a pod's cpu overhead in whole cores, and count these as thousandths.",
        since(FIRST, True).means(
            "A pod's overhead of cpu hardly counts in scores: cores are counted as thousandths.",
            source="plugins/nodeorder/nodeorder.go (noderesources of Kubernetes 1.25)",
        ),
        since("v1.8.1", False, pull=3083).means(
            "A pod's overhead of cpu counts in scores like its requests.",
            source="plugins/nodeorder/nodeorder.go (noderesources of Kubernetes 1.27)",
        ),
    )

    balanced_allocation_scores_best_effort: bool = behaviour(
        "Pods without requests for cpu, memory or GPU get the score BalancedAllocation too.",
        since(FIRST, True).means("Pods without requests prefer nodes with balanced use."),
        since("v1.13.0", False, pull=4430).means(
            "Balance of nodes does not count for pods without requests."
        ),
        source="plugins/nodeorder/nodeorder.go",
    )

    images_scored: bool = behaviour(
        "Nodes score for images of the pod that they have.",
        since(FIRST, True).means("Pods prefer nodes that already have their images."),
        since("v1.14.0", False, pull=4704).means(
            "Images of nodes do not count, even with imagelocality.weight."
        ),
        since("v1.14.3", True, pull=5343).means(
            "Again, pods prefer nodes that already have their images."
        ),
        source="framework/util.go GenerateNodeMapAndSlice",
    )

    init_container_images_scored: bool = behaviour(
        "Where images count, images of init containers count too.",
        since(FIRST, False).means(
            "Images of init containers do not count.",
            source="plugins/nodeorder/nodeorder.go (ImageLocality of Kubernetes until 1.29)",
        ),
        since("v1.10.0", True, pull=3556).means(
            "Images of init containers count.",
            source="plugins/nodeorder/nodeorder.go (ImageLocality of Kubernetes since 1.30)",
        ),
    )

    node_affinity_normalised: bool = behaviour(
        "The score of a pod's preference of nodes is 100 at most, as for other scores; "
        "``nodeorder`` adds up all of its scores before those of other plugins.",
        since(FIRST, False).means(
            "Weights of preferred node affinity count as they are written.",
            source="plugins/nodeorder/nodeorder.go",
        ),
        since("v1.15.1", True, pull=5497).means(
            "Preferred node affinity weighs as much as other scores.",
            source="plugins/nodeorder/nodeorder.go BatchNodeOrderFn",
        ),
    )

    hosts_spread_scored: bool = behaviour(
        "A soft constraint to spread over hosts weighs how many of a pod's like a node has.",
        since(FIRST, True).means(
            "Pods are spread over hosts; by default, those of a Service or workload too.",
            source="plugins/util/nodescore/score_helper.go CalculatePluginScore",
        ),
        since("v1.13.0", False, pull=4430).means(
            "Nodes are scored as if empty: spreading over hosts has no effect on scores.",
            source="plugins/util/nodescore/score_helper.go CalculatePluginScore",
        ),
        since("v1.15.1", True, pull=5497).means(
            "Pods are spread over hosts again.",
            source="plugins/nodeorder/nodeorder.go BatchNodeOrderFn",
        ),
    )

    unconstrained_pods_get_spread_score: bool = behaviour(
        "Pods without topologySpreadConstraints get the full score on every node.",
        since(FIRST, True).means("All scores are higher by the same amount."),
        since("v1.9.0", False, pull=3295).means(
            "Only pods with constraints get a score for spreading."
        ),
        source="plugins/nodeorder/nodeorder.go podTopologySpreadScore",
    )

    nodegroup_preferred_order: bool = behaviour(
        "``nodegroup`` has the argument ``enablePreferredOrder``: earlier groups score more.",
        since(FIRST, False).means("All preferred node groups have the same score."),
        since("v1.15.0", True, pull=5110).means("Preferred node groups can be ranked."),
        source="plugins/nodegroup/nodegroup.go score",
    )
