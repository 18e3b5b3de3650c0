"""What a session writes: phases, conditions, messages, nominations and metrics."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


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


@subject
class StatusBehaviours:
    """What a session writes: what differs between releases."""

    running_when: RunningWhen = behaviour(
        "Which tasks make a PodGroup Running.",
        since(FIRST, RunningWhen.PLACED_OR_SUCCEEDED).means(
            "A group with failed pods is not Completed.",
            source="framework/session.go jobStatus",
        ),
        since("v1.11.0", RunningWhen.PLACED, pull=3807).means(
            "A group whose pods all ended is Completed, also if some failed.",
            source="framework/session.go jobStatus",
        ),
        since("v1.13.0", RunningWhen.BOUND, pull=4384).means(
            "A PodGroup bound in a session is Inqueue, and reserves its minimum, until the next.",
            source="framework/session.go getPodGroupPhase",
        ),
    )

    queue_status_counts: QueueStatusCounts = behaviour(
        "Which tasks a queue's ``status.allocated`` counts.",
        since(FIRST, QueueStatusCounts.RUNNING).means(
            "A queue's status.allocated leaves out pods that do not run yet."
        ),
        since("v1.8.2", QueueStatusCounts.HOLDING, pull=3221).means(
            "A queue's status.allocated counts pods as soon as they are placed."
        ),
        since("v1.9.0", QueueStatusCounts.RUNNING, pull=2592).means(
            "A queue's status.allocated leaves out pods that do not run yet."
        ),
        since("v1.12.0", QueueStatusCounts.HOLDING, pull=4183).means(
            "A queue's status.allocated counts pods as soon as they are placed again."
        ),
        source="framework/session.go updateQueueStatus",
    )

    nomination: Nomination = behaviour(
        "Which pods are nominated for a node.",
        since(FIRST, Nomination.NEVER).means(
            "A cluster autoscaler adds nodes for pods that already have a node.",
            source="cache/cache.go taskUnschedulable",
        ),
        since("v1.9.1", Nomination.PIPELINED, pull=3498).means(
            "Pods that wait for others to end are nominated.",
            source="api/job_info.go TaskSchedulingReason",
        ),
        since("v1.10.0", Nomination.EVICTED, pull=3680).means(
            "Pods for which others are evicted are nominated.",
            source="api/job_info.go TaskSchedulingReason",
        ),
    )

    pod_message_shows_min_available: bool = behaviour(
        "The message of a placed pod in an incomplete gang says that it waits for minAvailable.",
        since(FIRST, False).means(
            "The message of a pod that waits for its gang only names its possible node."
        ),
        since("v1.12.0", True, pull=4117).means(
            "The message of a pod that waits for its gang says so."
        ),
        source="api/job_info.go TaskSchedulingReason",
    )

    gang_message_includes_pod_reason: bool = behaviour(
        "An unready gang's message quotes one pod's reason; else each pod gets the gang's.",
        since(FIRST, False).means(
            "The gang's message replaces the messages of its pods.",
            source="plugins/gang/gang.go OnSessionClose",
        ),
        since("v1.10.0", True, pull=3538).means(
            "The PodGroup's message says why one of its pods fits nowhere.",
            source="api/job_info.go FitError",
        ),
    )

    gang_message_says_ready: bool = behaviour(
        "A PodGroup that is ready says so in its condition though some of its pods wait.",
        since(FIRST, False).means("Every condition begins with: pod group is not ready."),
        since("v1.14.0", True, pull=4978).means(
            "A condition about pods beyond the minimum begins with: pod group is ready."
        ),
        source="api/job_info.go FitError",
    )

    empty_podgroups_get_conditions: bool = behaviour(
        "A PodGroup without pods gets the condition that its gang is not ready.",
        since(FIRST, True).means("A PodGroup whose pods are not there yet is Unschedulable."),
        since("v1.12.0", False, pull=4012).means("A PodGroup gets no condition until it has pods."),
        source="plugins/gang/gang.go OnSessionClose",
    )

    queue_metrics_include_scalars: bool = behaviour(
        "Metrics of queues include scalars, and the capability; else only cpu and memory.",
        since(FIRST, False).means("Metrics of queues include cpu and memory only."),
        since("v1.12.0", True, pull=3937).means(
            "Metrics of queues include GPUs, and the capability."
        ),
        source="metrics/queue.go",
    )

    tree_metrics_show_capability: bool = behaviour(
        "Metrics of queues in a tree include what each may use.",
        since(FIRST, False).means("Only flat queues export their capability."),
        since("v1.12.2", True, pull=4487).means(
            "Metrics include the capability of queues in a tree."
        ),
        source="plugins/capacity/capacity.go buildHierarchicalQueueAttrs",
    )

    absent_scalar_metrics_reset: bool = behaviour(
        "The metric of a scalar that a queue no longer has is set to 0.",
        since(FIRST, False).means(
            "Metrics of scalars keep the last value.",
            source="metrics/queue.go",
        ),
        since(landed("v1.12.3", "v1.13.0"), True, pull=4599).means(
            "Metrics of scalars become 0 when the queue has none left.",
            source="metrics/queue.go updateScalarResourceMetrics",
        ),
    )
