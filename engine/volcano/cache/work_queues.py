"""The cache's work queues: jobs to forget, tasks that failed, nodes that changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class CleanupKey(StrEnum):
    """What is queued for cleanup when a PodGroup is gone."""

    OBJECT = "the job as it was"
    """The job object itself is checked, even if a new job has replaced it."""
    NAME_AND_UID = "namespace, name and uid"
    """A name and a uid: the current job of that name is checked."""


class FailedTasksKey(StrEnum):
    """What is queued for resync when a pod could not be bound or evicted."""

    OBJECT = "the pod as it was"
    """The task itself, as it was when it failed."""
    JOB_AND_UID = "job and uid"
    """Its job and uid: a pod that is no longer in the cache is dropped."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class WorkQueueBehaviours:
    """The cache's work queues: what differs between releases."""

    cleanup_delayed: bool
    """A job whose PodGroup is gone waits before the first check whether it can be forgotten."""

    cleanup_delay_resets: bool
    """After a job is forgotten, the next of its name starts with the shortest delay."""

    cleanup_key: CleanupKey
    """What is queued for cleanup when a PodGroup is gone."""

    cleanup_rate: int
    """How many queued cleanups of jobs may be retried per second."""

    failed_tasks_key: FailedTasksKey
    """What is queued for resync when a pod could not be bound or evicted."""

    failed_tasks_delayed: bool
    """A pod that could not be bound or evicted waits before it is looked up."""

    failed_tasks_rate: int
    """How many failed pods may be looked up per second."""

    failed_tasks_delay_resets: bool
    """After a successful lookup, a pod's next delay is the shortest again."""

    missing_pods_removed_without_lock: bool
    """A failed pod that no longer exists is removed from the cache without the lock."""

    nodes_through_work_queue: bool
    """Nodes enter the cache through a work queue, whose worker reads their latest state."""


ROWS: tuple[Row, ...] = (
    Row(
        "cleanup_delayed",
        True,
        FIRST,
        source="cache/cache.go deleteJob",
        why="A job is forgotten after all earlier ones: 10 per second.",
    ),
    Row(
        "cleanup_delayed",
        False,
        landed("v1.9.0"),
        source="cache/cache.go deleteJob",
        why="A job without pods is forgotten as soon as its PodGroup is.",
        pull=3144,
    ),
    Row(
        "cleanup_delay_resets",
        False,
        FIRST,
        source="cache/cache.go processCleanupJob",
        why="The delay grows each time that a job of the same name is forgotten.",
    ),
    Row(
        "cleanup_delay_resets",
        True,
        landed("v1.9.0"),
        source="cache/cache.go processCleanupJob",
        why="The next delay is the shortest again; no memory is kept for forgotten jobs.",
        pull=3144,
    ),
    Row(
        "cleanup_key",
        CleanupKey.OBJECT,
        FIRST,
        source="cache/cache.go deleteJob, processCleanupJob",
        why="The old job is checked, though a new one may have replaced it.",
    ),
    Row(
        "cleanup_key",
        CleanupKey.NAME_AND_UID,
        landed("v1.14.0"),
        source="cache/cache.go deleteJob, processCleanupJob",
        why="The current job of the name is checked; a late retry repeats until that job ends.",
        pull=4753,
    ),
    Row(
        "cleanup_rate",
        10,
        FIRST,
        source="cache/cache.go newSchedulerCache",
        why="If many jobs are deleted at once: the first 100 at once, then ten per second.",
    ),
    Row(
        "cleanup_rate",
        100,
        landed("v1.14.0"),
        source="cache/cache.go newSchedulerCache",
        why="If many jobs are deleted at once: the first 1000 at once, then a hundred per second.",
        pull=4753,
    ),
    Row(
        "failed_tasks_key",
        FailedTasksKey.OBJECT,
        FIRST,
        source="cache/cache.go resyncTask, processResyncTask",
        why="A pod is looked up even if the cache has forgotten it; its memory is not freed.",
    ),
    Row(
        "failed_tasks_key",
        FailedTasksKey.JOB_AND_UID,
        landed("v1.9.0"),
        source="cache/cache.go resyncTask, processResyncTask",
        why="A pod that the cache has forgotten meanwhile is not looked up.",
        pull=3435,
    ),
    Row(
        "failed_tasks_delayed",
        True,
        FIRST,
        source="cache/cache.go resyncTask",
        why="A failed pod stays in its wrong state at least for the first delay of 5 ms.",
    ),
    Row(
        "failed_tasks_delayed",
        False,
        landed("v1.14.0"),
        source="cache/cache.go resyncTask",
        why="A failed pod is looked up at once; only failed lookups are delayed.",
        pull=4938,
    ),
    Row(
        "failed_tasks_rate",
        10,
        FIRST,
        source="cache/cache.go newSchedulerCache",
        why="If more than 100 pods fail at once, ten per second can be scheduled again.",
    ),
    Row(
        "failed_tasks_rate",
        100,
        landed("v1.9.0"),
        source="cache/cache.go newSchedulerCache",
        why="If more than 1000 pods fail at once, a hundred per second can be scheduled again.",
        pull=3435,
    ),
    Row(
        "failed_tasks_delay_resets",
        False,
        FIRST,
        source="cache/cache.go processResyncTask",
        why="Each failure of a pod doubles its delay, even after successes.",
    ),
    Row(
        "failed_tasks_delay_resets",
        True,
        landed("v1.9.0"),
        source="cache/cache.go processResyncTask",
        why="A pod that fails again later is delayed as if for the first time.",
        pull=3435,
    ),
    Row(
        "missing_pods_removed_without_lock",
        True,
        FIRST,
        source="cache/event_handlers.go syncTask",
        why="Two goroutines may write the cache at once, which crashes the scheduler.",
    ),
    Row(
        "missing_pods_removed_without_lock",
        False,
        landed("v1.10.0"),
        source="cache/event_handlers.go syncTask",
        why="A vanished pod is removed under the cache's lock, like everything else.",
        pull=3479,
    ),
    Row(
        "nodes_through_work_queue",
        False,
        FIRST,
        source="cache/event_handlers.go AddNode, SyncNode",
        why="A node is in the cache as soon as its event arrives; every state is seen in order.",
    ),
    Row(
        "nodes_through_work_queue",
        True,
        landed("v1.8.2"),
        source="cache/event_handlers.go AddNode, SyncNode",
        why="Pods may arrive before their node is known; states of a node may be skipped.",
        pull=3211,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
