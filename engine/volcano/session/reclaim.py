"""The action ``reclaim``: who may evict pods of other queues, and which."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, since, subject


class ReclaimingJobs(StrEnum):
    """For which jobs ``reclaim`` evicts pods."""

    PENDING = "pending"
    """Those of any job that has pending tasks."""
    STARVING = "starving"
    """Those of jobs that have less than their minimum."""


class ReclaimUnit(StrEnum):
    """For what ``reclaim`` evicts at once."""

    TASK = "task"
    """For one task after the other."""
    JOB = "job"
    """For a job, if it is pipelined then."""


class ReclaimsFor(StrEnum):
    """For which tasks a queue may reclaim."""

    ALL = "all"
    """Tasks whose requests are all within what it deserves."""
    SOME = "some"
    """Tasks of which any request is within what it deserves."""
    SOME_WITHIN_CAPABILITY = "some within capability"
    """The same within its capability; or within what a checked ancestor deserves."""


class CapacityVictims(StrEnum):
    """Which tasks a task may reclaim."""

    OVER_DESERVED = "over deserved"
    """Tasks of queues that hold more of any resource than they deserve."""
    BY_DIMENSION = "by dimension"
    """Tasks with a resource that the reclaimer requests and their queue has too much of."""
    IN_ORDER_BY_DIMENSION = "in order by dimension"
    """The same, least important first; also tasks whose queue's ancestors hold too much."""


@subject
class ReclaimBehaviours:
    """The action ``reclaim``: what differs between releases."""

    reclaiming_jobs: ReclaimingJobs = behaviour(
        "For which jobs ``reclaim`` evicts pods.",
        since(FIRST, ReclaimingJobs.PENDING).means("Elastic jobs above their minimum reclaim too."),
        since("v1.11.0", ReclaimingJobs.STARVING, pull=3951).means(
            "Only jobs below their minimum reclaim from other queues."
        ),
        source="actions/reclaim/reclaim.go Execute",
    )

    reclaim_unit: ReclaimUnit = behaviour(
        "For what ``reclaim`` evicts at once.",
        since(FIRST, ReclaimUnit.TASK).means(
            "Pods are evicted even if the gang cannot be placed; idle resources do not count.",
            source="actions/reclaim/reclaim.go",
        ),
        since("v1.14.0", ReclaimUnit.JOB, pull=4794).means(
            "No pod is evicted for a gang that cannot be placed; idle resources count.",
            source="actions/reclaim/reclaim.go reclaimForTask",
        ),
    )

    reclaim_checks_allocatable: bool = behaviour(
        "``reclaim`` evicts only for pods that their queue may allocate.",
        since(FIRST, True).means("A queue at its capability reclaims nothing."),
        since("v1.11.0", False, pull=3940).means(
            "A queue below its deserved reclaims, even at its capability."
        ),
        source="actions/reclaim/reclaim.go Execute",
    )

    reclaim_orders_victims: bool = behaviour(
        "``reclaim`` evicts the least important first; else in the order of the plugins.",
        since(FIRST, False).means("Any pod may be reclaimed first."),
        since("v1.9.0", True, pull=3389).means("The least important are reclaimed first."),
        source="actions/reclaim/reclaim.go Execute",
    )

    preemptive_ignores_task: bool = behaviour(
        "A queue may reclaim for any pod while it is below its deserved.",
        since(FIRST, True).means(
            "With capacity, a queue reclaims as long as it is below its deserved.",
            source="framework/session_plugins.go Preemptive",
        ),
        since("v1.10.0", False, pull=3664).means(
            "With capacity, a queue reclaims only up to its deserved.",
            source="plugins/capacity/capacity.go OnSessionOpen",
        ),
    )

    reclaim_skips_small_queues: bool = behaviour(
        "``reclaim`` skips queues that hold less of any resource than the reclaimer requests.",
        since(FIRST, True).means(
            "A queue without GPUs loses no pod to a task that requests GPUs and cpu."
        ),
        since("v1.11.1", False, pull=4160).means(
            "A queue above its deserved can lose any of its pods."
        ),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
    )

    cooldown_protects_from_reclaim: bool = behaviour(
        "With ``cdp``, a pod that has just started is safe from ``reclaim`` too.",
        since(FIRST, False).means("A pod that has just started may be reclaimed."),
        since("v1.12.0", True, pull=4123).means("A pod that has just started is not reclaimed."),
        source="plugins/cdp/cdp.go OnSessionOpen",
    )

    capacity_reclaims_for: ReclaimsFor = behaviour(
        "With ``capacity``, for which tasks a queue may reclaim.",
        since(FIRST, ReclaimsFor.ALL).means("A queue that deserves no more cpu reclaims no GPU."),
        since("v1.13.1", ReclaimsFor.SOME, pull=4659).means(
            "A queue reclaims if it deserves more of anything that the task needs."
        ),
        since("v1.15.0", ReclaimsFor.SOME_WITHIN_CAPABILITY, pull=5115).means(
            "A queue reclaims only within its capability; an ancestor's deserved counts too."
        ),
        source="plugins/capacity/capacity.go OnSessionOpen (AddPreemptiveFn)",
    )

    capacity_victims: CapacityVictims = behaviour(
        "With ``capacity``, which tasks a task may reclaim.",
        since(FIRST, CapacityVictims.OVER_DESERVED).means(
            "Pods of a queue are victims if it holds more of any resource than it deserves."
        ),
        since("v1.14.0", CapacityVictims.BY_DIMENSION, pull=4919).means(
            "A task is a victim only for a resource of which its queue holds too much."
        ),
        since("v1.15.0", CapacityVictims.IN_ORDER_BY_DIMENSION, pull=5115).means(
            "Of several victims, the least important are evicted first."
        ),
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
    )
