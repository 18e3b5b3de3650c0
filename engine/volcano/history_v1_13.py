"""The history of what v1.13 changed first, and of fixes that older lines got at the time.

Each behaviour's first row says what was so before.
"""

from __future__ import annotations

from .behaviours import RootQueueSpec, RunningWhen
from .releases import FIRST, Row, landed

ROWS_V1_13: tuple[Row, ...] = (
    Row(
        "proportional_in_predicates",
        True,
        FIRST,
        source="plugins/predicates/predicates.go enablePredicate",
        why="predicates can keep cpu and memory free for cards.",
    ),
    Row(
        "pod_affinity_curable",
        False,
        FIRST,
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="preempt and reclaim pass over nodes where affinity to pods does not hold.",
    ),
    Row(
        "nodegroup_by_job",
        False,
        FIRST,
        source="plugins/nodegroup/nodegroup.go GetPodQueue",
        why="Only pods that name a queue by label or annotation are bound to its node groups.",
    ),
    Row(
        "hard_jobs_keep_near",
        False,
        FIRST,
        source="plugins/network-topology-aware/network_topology_aware.go",
        why="A hard topology chooses among hypernodes, and their nodes are all alike.",
    ),
    Row(
        "nominated_pods_wait",
        False,
        FIRST,
        source="actions/preempt/preempt.go taskEligibleToPreempt",
        why="A preemptor may preempt on further nodes while its victims go.",
    ),
    Row(
        "hosts_spread_scored",
        True,
        FIRST,
        source="plugins/util/nodescore/score_helper.go CalculatePluginScore",
        why="Pods are spread over hosts, by default too if they have a service or an owner.",
    ),
    Row(
        "best_effort_balanced",
        True,
        FIRST,
        source="plugins/nodeorder/nodeorder.go",
        why="Pods that ask for nothing go where use is in balance.",
    ),
    Row(
        "running_when",
        RunningWhen.PLACED,
        FIRST,
        source="framework/session.go jobStatus",
        why="A PodGroup is Running at the end of the session that placed it.",
    ),
    Row(
        "root_queue_spec",
        RootQueueSpec.TOTAL,
        FIRST,
        source="framework/session.go updateRootQueueResources",
        why="What is written into the root queue's spec.deserved is the cluster.",
    ),
    Row(
        "nominated_node_may_free",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A preemptor whose victims still run may be given another node.",
    ),
    Row(
        "negative_scores_win",
        False,
        FIRST,
        source="util/scheduler_helper.go SelectBestNodeAndScore",
        why="A pod whose best node scores -1 or less stays pending without a reason.",
    ),
    Row(
        "maximum_keeps_zeros",
        False,
        FIRST,
        source="api/helpers/helpers.go Max",
        why="A resource that is deserved 0 of is as if it were not named.",
    ),
    Row(
        "negative_scores_win",
        True,
        landed("v1.12.2"),
        source="util/scheduler_helper.go SelectBestNodeAndScore",
        why="The best node is taken, also with a negative score.",
    ),
    Row(
        "maximum_keeps_zeros",
        True,
        landed("v1.12.3"),
        source="api/helpers/helpers.go Max",
        why="A resource that is deserved 0 of is compared.",
    ),
    Row(
        "running_when",
        RunningWhen.BOUND,
        landed("v1.13.0"),
        source="framework/session.go getPodGroupPhase",
        why="A PodGroup bound in a session is Inqueue, and reserves its minimum, until the next.",
    ),
    Row(
        "root_queue_spec",
        RootQueueSpec.DESERVED,
        landed("v1.13.0"),
        source="framework/session.go updateRootQueueResources",
        why="What an operator writes into the root queue's spec.deserved stays.",
    ),
    Row(
        "nominated_node_may_free",
        True,
        landed("v1.13.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A preemptor waits for the node that its victims leave.",
    ),
    Row(
        "plugins",
        frozenset(
            {
                *("capacity", "deviceshare", "network-topology-aware", "nodegroup", "pdb"),
                "resource-strategy-fit",
            }
        ),
        landed("v1.13.0"),
        source="plugins/resource-strategy-fit",
        why="Each resource can be packed or spread by itself.",
    ),
    Row(
        "proportional_in_predicates",
        False,
        landed("v1.13.0"),
        source="plugins/predicates/predicates.go enablePredicate",
        why="That is now a part of resource-strategy-fit; the old arguments do nothing.",
    ),
    Row(
        "pod_affinity_curable",
        True,
        landed("v1.13.0"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="preempt and reclaim also evict on nodes that anti-affinity forbids.",
    ),
    Row(
        "nodegroup_by_job",
        True,
        landed("v1.13.0"),
        source="plugins/nodegroup/nodegroup.go OnSessionOpen",
        why="All pods are bound to their queue's node groups.",
    ),
    Row(
        "hard_jobs_keep_near",
        True,
        landed("v1.13.0"),
        source="plugins/network-topology-aware/network_topology_aware.go",
        why="A hard topology's tasks are near each other too; hypernodes have no score.",
    ),
    Row(
        "nominated_pods_wait",
        True,
        landed("v1.13.0"),
        source="actions/preempt/preempt.go taskEligibleToPreempt",
        why="A preemptor waits for the node that it was nominated.",
    ),
    Row(
        "hosts_spread_scored",
        False,
        landed("v1.13.0"),
        source="plugins/util/nodescore/score_helper.go CalculatePluginScore",
        why="Nodes are scored as if they had no pods: spreading over hosts has no effect on scores.",
    ),
    Row(
        "best_effort_balanced",
        False,
        landed("v1.13.0"),
        source="plugins/nodeorder/nodeorder.go",
        why="How nodes are balanced does not matter to pods that ask for nothing.",
    ),
    Row(
        "root_queue_spec",
        RootQueueSpec.KEPT,
        landed("v1.14.2"),
        source="framework/session.go updateRootQueueResources",
        why="The scheduler no longer writes the root queue's spec.deserved.",
    ),
)
