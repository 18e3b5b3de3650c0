"""The action ``reclaim``: who may evict pods of other queues, and which."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


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


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ReclaimBehaviours:
    """The action ``reclaim``: what differs between releases."""

    reclaiming_jobs: ReclaimingJobs
    """For which jobs ``reclaim`` evicts pods."""

    reclaim_unit: ReclaimUnit
    """For what ``reclaim`` evicts at once."""

    reclaim_checks_allocatable: bool
    """``reclaim`` evicts only for pods that their queue may allocate."""

    reclaim_orders_victims: bool
    """``reclaim`` evicts the least important first; else in the order of the plugins."""

    preemptive_ignores_task: bool
    """A queue may reclaim for any pod while it is below its deserved."""

    reclaim_skips_small_queues: bool
    """``reclaim`` skips queues that hold less of any resource than the reclaimer requests."""

    cooldown_protects_from_reclaim: bool
    """With ``cdp``, a pod that has just started is safe from ``reclaim`` too."""


ROWS: tuple[Row, ...] = (
    Row(
        "reclaiming_jobs",
        ReclaimingJobs.PENDING,
        FIRST,
        source="actions/reclaim/reclaim.go Execute",
        why="Elastic jobs above their minimum reclaim too.",
    ),
    Row(
        "reclaiming_jobs",
        ReclaimingJobs.STARVING,
        landed("v1.11.0"),
        source="actions/reclaim/reclaim.go Execute",
        why="Only jobs below their minimum reclaim from other queues.",
        pull=3951,
    ),
    Row(
        "reclaim_unit",
        ReclaimUnit.TASK,
        FIRST,
        source="actions/reclaim/reclaim.go",
        why="Pods are evicted even if the gang cannot be placed; idle resources do not count.",
    ),
    Row(
        "reclaim_unit",
        ReclaimUnit.JOB,
        landed("v1.14.0"),
        source="actions/reclaim/reclaim.go reclaimForTask",
        why="No pod is evicted for a gang that cannot be placed; idle resources count.",
        pull=4794,
    ),
    Row(
        "reclaim_checks_allocatable",
        True,
        FIRST,
        source="actions/reclaim/reclaim.go Execute",
        why="A queue at its capability reclaims nothing.",
    ),
    Row(
        "reclaim_checks_allocatable",
        False,
        landed("v1.11.0"),
        source="actions/reclaim/reclaim.go Execute",
        why="A queue below its deserved reclaims, even at its capability.",
        pull=3940,
    ),
    Row(
        "reclaim_orders_victims",
        False,
        FIRST,
        source="actions/reclaim/reclaim.go Execute",
        why="Any pod may be reclaimed first.",
    ),
    Row(
        "reclaim_orders_victims",
        True,
        landed("v1.9.0"),
        source="actions/reclaim/reclaim.go Execute",
        why="The least important are reclaimed first.",
        pull=3389,
    ),
    Row(
        "preemptive_ignores_task",
        True,
        FIRST,
        source="framework/session_plugins.go Preemptive",
        why="With capacity, a queue reclaims as long as it is below its deserved.",
    ),
    Row(
        "preemptive_ignores_task",
        False,
        landed("v1.10.0"),
        source="plugins/capacity/capacity.go OnSessionOpen",
        why="With capacity, a queue reclaims only up to its deserved.",
        pull=3664,
    ),
    Row(
        "reclaim_skips_small_queues",
        True,
        FIRST,
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="A queue without GPUs loses no pod to a task that requests GPUs and cpu.",
    ),
    Row(
        "reclaim_skips_small_queues",
        False,
        landed("v1.11.1"),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="A queue above its deserved can lose any of its pods.",
        pull=4160,
    ),
    Row(
        "cooldown_protects_from_reclaim",
        False,
        FIRST,
        source="plugins/cdp/cdp.go OnSessionOpen",
        why="A pod that has just started may be reclaimed.",
    ),
    Row(
        "cooldown_protects_from_reclaim",
        True,
        landed("v1.12.0"),
        source="plugins/cdp/cdp.go OnSessionOpen",
        why="A pod that has just started is not reclaimed.",
        pull=4123,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
