"""What a session writes: phases, conditions, messages, nominations and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class RunningWhen(StrEnum):
    """Which tasks make a PodGroup Running, if there are as many as its minMember."""

    PLACED_OR_SUCCEEDED = "placed or succeeded"
    """Those that hold resources, and those that succeeded; failed ones do not count."""
    PLACED = "placed"
    """Those with resources, also from this session, and completed ones."""
    BOUND = "bound"
    """Bound, running or completed ones: a group bound now is Running a session later."""


class QueueStatusCounts(StrEnum):
    """Which tasks a queue's ``status.allocated`` counts."""

    HOLDING = "holding"
    """All with resources, also those that are about to be bound."""
    RUNNING = "running"
    """Those that run."""


class Nomination(StrEnum):
    """Which pods are nominated for a node."""

    NEVER = "never"
    """None."""
    PIPELINED = "pipelined"
    """Pipelined ones; others lose their nomination."""
    EVICTED = "evicted"
    """Pipelined ones for which others were evicted."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class StatusBehaviours:
    """What a session writes: what differs between releases."""

    running_when: RunningWhen
    """Which tasks make a PodGroup Running."""

    queue_status_counts: QueueStatusCounts
    """Which tasks a queue's ``status.allocated`` counts."""

    nomination: Nomination
    """Which pods are nominated for a node."""

    pod_message_shows_min_available: bool
    """The message of a placed pod in an incomplete gang says that it waits for minAvailable."""

    gang_message_includes_pod_reason: bool
    """An unready gang's message quotes one pod's reason; else each pod gets the gang's."""

    gang_message_says_ready: bool
    """A PodGroup that is ready says so in its condition though some of its pods wait."""

    empty_podgroups_get_conditions: bool
    """A PodGroup without pods gets the condition that its gang is not ready."""

    queue_metrics_include_scalars: bool
    """Metrics of queues include scalars, and the capability; else only cpu and memory."""

    tree_metrics_show_capability: bool
    """Metrics of queues in a tree include what each may use."""

    absent_scalar_metrics_reset: bool
    """The metric of a scalar that a queue no longer has is set to 0."""


ROWS: tuple[Row, ...] = (
    Row(
        "running_when",
        RunningWhen.PLACED_OR_SUCCEEDED,
        FIRST,
        source="framework/session.go jobStatus",
        why="A group with failed pods is not Completed.",
    ),
    Row(
        "running_when",
        RunningWhen.PLACED,
        landed("v1.11.0"),
        source="framework/session.go jobStatus",
        why="A group whose pods all ended is Completed, also if some failed.",
        pull=3807,
    ),
    Row(
        "running_when",
        RunningWhen.BOUND,
        landed("v1.13.0"),
        source="framework/session.go getPodGroupPhase",
        why="A PodGroup bound in a session is Inqueue, and reserves its minimum, until the next.",
        pull=4384,
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
        "queue_status_counts",
        QueueStatusCounts.RUNNING,
        landed("v1.9.0"),
        source="framework/session.go updateQueueStatus",
        why="A queue's status.allocated leaves out pods that do not run yet.",
        pull=2592,
    ),
    Row(
        "queue_status_counts",
        QueueStatusCounts.HOLDING,
        landed("v1.12.0"),
        source="framework/session.go updateQueueStatus",
        why="A queue's status.allocated counts pods as soon as they are placed again.",
        pull=4183,
    ),
    Row(
        "nomination",
        Nomination.NEVER,
        FIRST,
        source="cache/cache.go taskUnschedulable",
        why="A cluster autoscaler adds nodes for pods that already have a node.",
    ),
    Row(
        "nomination",
        Nomination.PIPELINED,
        landed("v1.9.1"),
        source="api/job_info.go TaskSchedulingReason",
        why="Pods that wait for others to end are nominated.",
        pull=3498,
    ),
    Row(
        "nomination",
        Nomination.EVICTED,
        landed("v1.10.0"),
        source="api/job_info.go TaskSchedulingReason",
        why="Pods for which others are evicted are nominated.",
        pull=3680,
    ),
    Row(
        "pod_message_shows_min_available",
        False,
        FIRST,
        source="api/job_info.go TaskSchedulingReason",
        why="The message of a pod that waits for its gang only names its possible node.",
    ),
    Row(
        "pod_message_shows_min_available",
        True,
        landed("v1.12.0"),
        source="api/job_info.go TaskSchedulingReason",
        why="The message of a pod that waits for its gang says so.",
        pull=4117,
    ),
    Row(
        "gang_message_includes_pod_reason",
        False,
        FIRST,
        source="plugins/gang/gang.go OnSessionClose",
        why="The gang's message replaces the messages of its pods.",
    ),
    Row(
        "gang_message_includes_pod_reason",
        True,
        landed("v1.10.0"),
        source="api/job_info.go FitError",
        why="The PodGroup's message says why one of its pods fits nowhere.",
        pull=3538,
    ),
    Row(
        "gang_message_says_ready",
        False,
        FIRST,
        source="api/job_info.go FitError",
        why="Every condition begins with: pod group is not ready.",
    ),
    Row(
        "gang_message_says_ready",
        True,
        landed("v1.14.0"),
        source="api/job_info.go FitError",
        why="A condition about pods beyond the minimum begins with: pod group is ready.",
        pull=4978,
    ),
    Row(
        "empty_podgroups_get_conditions",
        True,
        FIRST,
        source="plugins/gang/gang.go OnSessionClose",
        why="A PodGroup whose pods are not there yet is Unschedulable.",
    ),
    Row(
        "empty_podgroups_get_conditions",
        False,
        landed("v1.12.0"),
        source="plugins/gang/gang.go OnSessionClose",
        why="A PodGroup gets no condition until it has pods.",
        pull=4012,
    ),
    Row(
        "queue_metrics_include_scalars",
        False,
        FIRST,
        source="metrics/queue.go",
        why="Metrics of queues include cpu and memory only.",
    ),
    Row(
        "queue_metrics_include_scalars",
        True,
        landed("v1.12.0"),
        source="metrics/queue.go",
        why="Metrics of queues include GPUs, and the capability.",
        pull=3937,
    ),
    Row(
        "tree_metrics_show_capability",
        False,
        FIRST,
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        why="Only flat queues export their capability.",
    ),
    Row(
        "tree_metrics_show_capability",
        True,
        landed("v1.12.2"),
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
        why="Metrics include the capability of queues in a tree.",
        pull=4487,
    ),
    Row(
        "absent_scalar_metrics_reset",
        False,
        FIRST,
        source="metrics/queue.go",
        why="Metrics of scalars keep the last value.",
    ),
    Row(
        "absent_scalar_metrics_reset",
        True,
        landed("v1.12.3", "v1.13.0"),
        source="metrics/queue.go updateScalarResourceMetrics",
        why="Metrics of scalars become 0 when the queue has none left.",
        pull=4599,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
