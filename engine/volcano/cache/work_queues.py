"""The cache's work queues: jobs to forget, tasks that failed, nodes that changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class CleanupKey(StrEnum):
    """What waits to be forgotten when a PodGroup is gone."""

    OBJECT = "the job as it was"
    """The job itself: it is checked for whether it can be forgotten, though it was replaced."""
    NAME_AND_UID = "namespace, name and uid"
    """A name and a uid: the job that has the name at that time is checked."""


class FailedTasksKey(StrEnum):
    """What waits to be looked up again when a pod could not be bound or evicted."""

    OBJECT = "the pod as it was"
    """The task itself, as it was when it failed."""
    JOB_AND_UID = "job and uid"
    """Its job and uid: what the cache does not know any more is let go of."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class WorkQueueBehaviours:
    """The cache's work queues: what differs between releases."""

    cleanup_delayed: bool
    """A job whose PodGroup is gone waits before the first check whether it can be forgotten."""

    cleanup_delay_resets: bool
    """Once a job is forgotten, one of its name starts with a short delay again."""

    cleanup_key: CleanupKey
    """What waits to be forgotten when a PodGroup is gone."""

    cleanup_rate: int
    """How many jobs may be tried again in a second, of all that wait to be forgotten."""

    failed_tasks_key: FailedTasksKey
    """What waits to be looked up again when a pod could not be bound or evicted."""

    failed_tasks_delayed: bool
    """A pod that could not be bound or evicted waits before it is looked up."""

    failed_tasks_rate: int
    """How many failed pods may be looked up in a second."""

    failed_tasks_delay_resets: bool
    """After a pod was looked up, its delays start again from the shortest."""

    missing_pods_removed_without_lock: bool
    """A failed pod that is not there any more is taken out of the cache without its lock."""

    nodes_through_work_queue: bool
    """Nodes enter the cache through a work queue, whose worker reads their latest state."""


ROWS: tuple[Row, ...] = (
    Row(
        "cleanup_delayed",
        True,
        FIRST,
        source="cache/cache.go deleteJob",
        why="Forgetting a job waits its turn behind all that were forgotten before: 10 a second.",
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
        why="The delay goes on growing each time that the same job is to be forgotten.",
    ),
    Row(
        "cleanup_delay_resets",
        True,
        landed("v1.9.0"),
        source="cache/cache.go processCleanupJob",
        why="Delays start again from the shortest, and nothing is kept of what was forgotten.",
        pull=3144,
    ),
    Row(
        "cleanup_key",
        CleanupKey.OBJECT,
        FIRST,
        source="cache/cache.go deleteJob, processCleanupJob",
        why="The job as it was decides whether it is forgotten, though another may have its place.",
    ),
    Row(
        "cleanup_key",
        CleanupKey.NAME_AND_UID,
        landed("v1.14.0"),
        source="cache/cache.go deleteJob, processCleanupJob",
        why="The job that is there decides; a late retry goes on until that one ends.",
        pull=4753,
    ),
    Row(
        "cleanup_rate",
        10,
        FIRST,
        source="cache/cache.go newSchedulerCache",
        why="Beyond the first 100, ten jobs a second are forgotten when many go at once.",
    ),
    Row(
        "cleanup_rate",
        100,
        landed("v1.14.0"),
        source="cache/cache.go newSchedulerCache",
        why="Beyond the first 1000, a hundred jobs a second are forgotten when many go at once.",
        pull=4753,
    ),
    Row(
        "failed_tasks_key",
        FailedTasksKey.OBJECT,
        FIRST,
        source="cache/cache.go resyncTask, processResyncTask",
        why="A pod is looked up though the cache has forgotten it, and memory is kept for it.",
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
        why="A failed pod is looked up at once; only failures of that are delayed.",
        pull=4938,
    ),
    Row(
        "failed_tasks_rate",
        10,
        FIRST,
        source="cache/cache.go newSchedulerCache",
        why="Where more than 100 pods fail at once, ten a second can be scheduled again.",
    ),
    Row(
        "failed_tasks_rate",
        100,
        landed("v1.9.0"),
        source="cache/cache.go newSchedulerCache",
        why="Where more than 1000 pods fail at once, a hundred a second can be scheduled again.",
        pull=3435,
    ),
    Row(
        "failed_tasks_delay_resets",
        False,
        FIRST,
        source="cache/cache.go processResyncTask",
        why="Each failure of a pod doubles its delay, whatever succeeded between.",
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
        why="Two may write the cache at once, which crashes the scheduler.",
    ),
    Row(
        "missing_pods_removed_without_lock",
        False,
        landed("v1.10.0"),
        source="cache/event_handlers.go syncTask",
        why="A vanished pod waits for the cache's lock, as all else does.",
        pull=3479,
    ),
    Row(
        "nodes_through_work_queue",
        False,
        FIRST,
        source="cache/event_handlers.go AddNode, SyncNode",
        why="A node is in the cache as soon as its event arrives, with each of its states in turn.",
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
