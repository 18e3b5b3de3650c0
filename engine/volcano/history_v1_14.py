"""The history of what v1.14 changed first, and of fixes that older lines got at the time.

Each behaviour's first row says what was so before.
"""

from __future__ import annotations

from .behaviours import (
    CapacityVictims,
    JobReturn,
    ReclaimUnit,
)
from .releases import FIRST, Row, landed

ROWS_V1_14: tuple[Row, ...] = (
    Row(
        "unsound_tree_stops",
        True,
        FIRST,
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="One wrong queue, or a node less, stops every queue.",
    ),
    Row(
        "unsound_tree_stops",
        False,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="A wrong tree is a line in the log, and scheduling goes on.",
    ),
    Row(
        "capacity_victims",
        CapacityVictims.OVER_DESERVED,
        FIRST,
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="A queue gives if it holds more of anything than it deserves.",
    ),
    Row(
        "capacity_victims",
        CapacityVictims.BY_DIMENSION,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="A queue gives a task only for what that task holds too much of.",
    ),
    Row(
        "capacity_victims",
        CapacityVictims.IN_ORDER_BY_DIMENSION,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="Of several victims the least important go first.",
    ),
    Row(
        "deserving_queues_first",
        False,
        FIRST,
        source="plugins/capacity/capacity.go updateShare",
        why="Queues without anything deserved come first.",
    ),
    Row(
        "deserving_queues_first",
        True,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go updateQueueAttrShare",
        why="Queues without anything deserved come after those that still lack theirs.",
    ),
    Row(
        "reclaim_unit",
        ReclaimUnit.TASK,
        FIRST,
        source="actions/reclaim/reclaim.go",
        why="Pods are evicted for a task, also where its gang cannot be met; what is idle does not count.",
    ),
    Row(
        "reclaim_unit",
        ReclaimUnit.JOB,
        landed("v1.14.0"),
        source="actions/reclaim/reclaim.go reclaimForTask",
        why="Nobody is evicted for a gang that cannot be met; what is idle counts.",
    ),
    Row(
        "idle_queues_asked",
        True,
        FIRST,
        source="actions/allocate/allocate.go pickUpQueuesAndJobs",
        why="The gauge of overuse is set for every queue with a job.",
    ),
    Row(
        "idle_queues_asked",
        False,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go buildAllocateContext",
        why="The gauge of overuse is only set for queues with tasks to place.",
    ),
    Row(
        "skipped_tasks_told",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A pod of a role that fits nowhere has no reason of its own.",
    ),
    Row(
        "skipped_tasks_told",
        True,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A pod of a role that fits nowhere says that it was skipped.",
    ),
    Row(
        "failed_placements_skipped",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A ready job's turn ends when a plugin objects to a pod.",
    ),
    Row(
        "failed_placements_skipped",
        True,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A ready job goes on when a plugin objects to a pod.",
    ),
    Row(
        "oversized_gangs_stop",
        False,
        FIRST,
        source="api/job_info.go NeedContinueAllocating",
        why="Only a gang of exactly its minimum is given up at once.",
    ),
    Row(
        "oversized_gangs_stop",
        True,
        landed("v1.14.0"),
        source="api/job_info.go NeedContinueAllocating",
        why="A gang that cannot have its minimum is given up at once.",
    ),
    Row(
        "ready_gangs_told",
        False,
        FIRST,
        source="api/job_info.go FitError",
        why="Every condition begins with: pod group is not ready.",
    ),
    Row(
        "ready_gangs_told",
        True,
        landed("v1.14.0"),
        source="api/job_info.go FitError",
        why="A condition about pods beyond the minimum begins with: pod group is ready.",
    ),
    Row(
        "job_return",
        JobReturn.IF_COMMITTED,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go allocateResources",
        why="A gang that could not be met is not looked at twice in a session again.",
    ),
    Row(
        "preempt_in_queue_order",
        False,
        FIRST,
        source="actions/preempt/preempt.go",
        why="Queues preempt in any order; jobs of other queues lose their turn.",
    ),
    Row(
        "preempt_in_queue_order",
        True,
        landed("v1.12.4", "v1.13.3", "v1.14.2"),
        source="actions/preempt/preempt.go",
        why="Queues that lack more preempt first.",
    ),
    Row(
        "topologies_never_preempt",
        False,
        FIRST,
        source="actions/preempt/preempt.go",
        why="A job may preempt where its topology does not allow it.",
    ),
    Row(
        "topologies_never_preempt",
        True,
        landed("v1.14.0"),
        source="actions/preempt/preempt.go",
        why="A job with a network topology waits for room.",
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
        why="Jobs go where they pack best, and pods without a topology fill up used hypernodes.",
    ),
)
