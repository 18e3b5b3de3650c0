"""The history of what the patch releases of v1.8 changed.

Each behaviour's first row says what was so before. What they got by cherry-pick while the main line
was on its way to v1.9 is in all later releases too, if no further row says otherwise.
"""

from __future__ import annotations

from .behaviours import BackfillFailure, Filtering, QueueStatusCounts
from .releases import FIRST, Row, landed

ROWS_V1_8: tuple[Row, ...] = (
    Row(
        "filtering",
        Filtering.ALL,
        FIRST,
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod is told of each node that its status is not success, and not why.",
    ),
    Row(
        "filtering",
        Filtering.FIRST_FAULT,
        landed("v1.8.1"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod is told why; nobody is preempted for it where a filter objects.",
        pull=3051,
    ),
    Row(
        "filtering",
        Filtering.FIRST_ERROR,
        landed("v1.8.2"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="Nodes are preempted on that have all the pods, or volumes, that they may have.",
        pull=3188,
    ),
    Row(
        "spread_refined",
        False,
        FIRST,
        source="plugins/predicates/predicates.go (feature gates of Kubernetes 1.25)",
        why="Of topologySpreadConstraints, only skew, key and selector have an effect.",
    ),
    Row(
        "spread_refined",
        True,
        landed("v1.8.1"),
        source="plugins/predicates/predicates.go (feature gates of Kubernetes 1.27)",
        why="minDomains, matchLabelKeys and policies of topologySpreadConstraints have an effect.",
        pull=3083,
    ),
    Row(
        "queue_status_counts",
        QueueStatusCounts.RUNNING,
        FIRST,
        source="framework/session.go updateQueueStatus",
        why="A queue's status.allocated leaves out pods that do not run yet.",
    ),
    Row(
        "queue_status_counts",
        QueueStatusCounts.HOLDING,
        landed("v1.8.2"),
        source="framework/session.go updateQueueStatus",
        why="A queue's status.allocated counts pods as soon as they are placed.",
        pull=3221,
    ),
    Row(
        "backfill_scores",
        False,
        FIRST,
        source="actions/backfill/backfill.go Execute",
        why="Pods without requests may all go to one node.",
    ),
    Row(
        "backfill_scores",
        True,
        landed("v1.8.2"),
        source="actions/backfill/backfill.go Execute",
        why="Pods without requests go to the node that scores best.",
        pull=2955,
    ),
    Row(
        "backfill_failure",
        BackfillFailure.UNPREPARED_ENDS_JOB,
        FIRST,
        source="actions/backfill/backfill.go Execute",
        why="A pod without requests that fits nowhere stops nobody.",
    ),
    Row(
        "backfill_failure",
        BackfillFailure.ENDS_JOB,
        landed("v1.8.2"),
        source="actions/backfill/backfill.go Execute",
        why="One pod without requests that fits nowhere stops those of its job.",
        pull=2955,
    ),
    Row(
        "pods_counted",
        False,
        FIRST,
        source="api/resource_info.go NewResource",
        why="What a queue has of pods is not compared with anything.",
    ),
    Row(
        "pods_counted",
        True,
        landed("v1.8.2"),
        source="api/resource_info.go NewResource, api/pod_info.go GetPodResourceRequest",
        why="Pods are evicted so that a node has room for one more.",
        pull=3188,
    ),
    Row(
        "volumes_counted",
        False,
        FIRST,
        source="cache/event_handlers.go addPod",
        why="How many volumes a node takes is only asked by a filter.",
    ),
    Row(
        "volumes_counted",
        True,
        landed("v1.8.2"),
        source="cache/event_handlers.go addPodCSIVolumesToTask, setCSIResourceOnNode",
        why="Pods are evicted so that a node has room for another's volumes.",
        pull=3211,
    ),
    Row(
        "bound_victims",
        False,
        FIRST,
        source="actions/preempt/preempt.go Execute",
        why="Pods whose images are still pulled are not preempted.",
    ),
    Row(
        "bound_victims",
        True,
        landed("v1.8.2"),
        source="api/helpers.go PreemptableStatus",
        why="Pods whose images are still pulled are preempted like others.",
        pull=3208,
    ),
    Row(
        "unnamed_capability_endless",
        False,
        FIRST,
        source="plugins/proportion/proportion.go OnSessionOpen",
        why="A queue with a capability of one kind of GPU gets no other kind.",
    ),
    Row(
        "unnamed_capability_endless",
        True,
        landed("v1.8.2"),
        source="plugins/proportion/proportion.go OnSessionOpen",
        why="A queue's capability bounds only what it names.",
        pull=3448,
    ),
)
"""Rows by landing; see :data:`.history.HISTORY` for the rest."""
