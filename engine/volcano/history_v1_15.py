"""The history of what v1.15 changed first, and of fixes that older lines got at the time.

Each behaviour's first row says what was so before.
"""

from __future__ import annotations

from .behaviours import (
    FailedPipelining,
)
from .releases import FIRST, Row, landed

ROWS_V1_15: tuple[Row, ...] = (
    Row(
        "nodegroup_preferred_order",
        False,
        FIRST,
        source="plugins/nodegroup/nodegroup.go score",
        why="All preferred node groups score alike.",
    ),
    Row(
        "nodegroup_preferred_order",
        True,
        landed("v1.15.0"),
        source="plugins/nodegroup/nodegroup.go score",
        why="Preferred node groups can be ranked.",
    ),
    Row(
        "unused_nodes_spared",
        False,
        FIRST,
        source="actions/reclaim/reclaim.go",
        why="Pods may be evicted on a node that is not used in the end.",
    ),
    Row(
        "unused_nodes_spared",
        True,
        landed("v1.15.0"),
        source="actions/reclaim/reclaim.go reclaimForTask",
        why="Evictions on a node that does not suffice are taken back.",
    ),
    Row(
        "taints_named",
        True,
        FIRST,
        source="plugins/predicates/predicates.go",
        why="Nodes with different taints are counted apart.",
    ),
    Row(
        "taints_named",
        False,
        landed("v1.15.0"),
        source="plugins/predicates/predicates.go",
        why="Nodes with untolerated taints are counted together.",
    ),
    Row(
        "enqueued_jobs_reserve_lack",
        False,
        FIRST,
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="A gang bound in a session counts twice until the next.",
    ),
    Row(
        "enqueued_jobs_reserve_lack",
        True,
        landed("v1.15.0"),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="What an enqueued job holds is not reserved once more.",
    ),
    Row(
        "reserved_scalars_in_milli",
        False,
        FIRST,
        source="plugins/util/util.go GetInqueueResource",
        why="A job that lacks GPUs of its minimum reserves a thousandth of them.",
    ),
    Row(
        "reserved_scalars_in_milli",
        True,
        landed("v1.14.3", "v1.15.1"),
        source="plugins/util/util.go GetInqueueResource",
        why="A job that lacks GPUs of its minimum reserves them, and the pods too.",
    ),
    Row(
        "equal_victims_by_task",
        False,
        FIRST,
        source="framework/session_plugins.go BuildVictimsPriorityQueue",
        why="The pods of the youngest job go first.",
    ),
    Row(
        "equal_victims_by_task",
        True,
        landed("v1.15.0"),
        source="framework/session_plugins.go BuildVictimsPriorityQueue",
        why="The youngest pods of equal jobs go first.",
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
    ),
    Row(
        "hosts_spread_scored",
        True,
        landed("v1.15.1"),
        source="plugins/nodeorder/nodeorder.go BatchNodeOrderFn",
        why="Pods are spread over hosts again.",
    ),
    Row(
        "failed_pipelining",
        FailedPipelining.UNDONE,
        landed("v1.15.0"),
        source="framework/statement.go Pipeline",
        why="A pod that a plugin objects to is taken back at once.",
    ),
    Row(
        "groups_search_inside",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateForSubJob",
        why="A job without groups is placed anywhere in its hypernode.",
    ),
    Row(
        "groups_search_inside",
        True,
        landed("v1.15.0"),
        source="actions/allocate/allocate.go allocateForSubJob",
        why="A job is placed in the narrowest hypernode with room.",
    ),
    Row(
        "unprepared_tasks_skipped",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="One pod that cannot be prepared keeps its whole gang waiting.",
    ),
    Row(
        "unprepared_tasks_skipped",
        True,
        landed("v1.14.4", "v1.15.1"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A gang goes on without a pod that cannot be prepared, if it can be met.",
    ),
    Row(
        "missing_root_crashes",
        True,
        FIRST,
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        why="The scheduler crashes in each session until a queue named root exists.",
    ),
    Row(
        "missing_root_crashes",
        False,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        why="Without a queue named root, nothing is scheduled, and the log says so.",
    ),
    Row(
        "pod_requests_count",
        False,
        FIRST,
        source="api/pod_info.go GetPodResourceRequest",
        why="Only the containers' requests count.",
    ),
    Row(
        "pod_requests_count",
        True,
        landed("v1.15.0"),
        source="api/pod_info.go amendResourceAccordingToPodFeatures",
        why="Pods can request cpu and memory for all containers together.",
    ),
)
