"""The cache's work queues: jobs to forget, tasks that failed, nodes that changed."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, since, subject


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


@subject
class WorkQueueBehaviours:
    """The cache's work queues: what differs between releases."""

    cleanup_delayed: bool = behaviour(
        "A job whose PodGroup is gone waits before the first check whether it can be forgotten.",
        since(FIRST, True).means("A job is forgotten after all earlier ones: 10 per second."),
        since("v1.9.0", False, pull=3144).means(
            "A job without pods is forgotten as soon as its PodGroup is."
        ),
        source="cache/cache.go deleteJob",
    )

    cleanup_delay_resets: bool = behaviour(
        "After a job is forgotten, the next of its name starts with the shortest delay.",
        since(FIRST, False).means(
            "The delay grows each time that a job of the same name is forgotten."
        ),
        since("v1.9.0", True, pull=3144).means(
            "The next delay is the shortest again; no memory is kept for forgotten jobs."
        ),
        source="cache/cache.go processCleanupJob",
    )

    cleanup_key: CleanupKey = behaviour(
        "What is queued for cleanup when a PodGroup is gone.",
        since(FIRST, CleanupKey.OBJECT).means(
            "The old job is checked, though a new one may have replaced it."
        ),
        since("v1.14.0", CleanupKey.NAME_AND_UID, pull=4753).means(
            "The current job of the name is checked; a late retry repeats until that job ends."
        ),
        source="cache/cache.go deleteJob, processCleanupJob",
    )

    cleanup_rate: int = behaviour(
        "How many queued cleanups of jobs may be retried per second.",
        since(FIRST, 10).means(
            "If many jobs are deleted at once: the first 100 at once, then ten per second."
        ),
        since("v1.14.0", 100, pull=4753).means(
            "If many jobs are deleted at once: the first 1000 at once, then a hundred per second."
        ),
        source="cache/cache.go newSchedulerCache",
    )

    failed_tasks_key: FailedTasksKey = behaviour(
        "What is queued for resync when a pod could not be bound or evicted.",
        since(FIRST, FailedTasksKey.OBJECT).means(
            "A pod is looked up even if the cache has forgotten it; its memory is not freed."
        ),
        since("v1.9.0", FailedTasksKey.JOB_AND_UID, pull=3435).means(
            "A pod that the cache has forgotten meanwhile is not looked up."
        ),
        source="cache/cache.go resyncTask, processResyncTask",
    )

    failed_tasks_delayed: bool = behaviour(
        "A pod that could not be bound or evicted waits before it is looked up.",
        since(FIRST, True).means(
            "A failed pod stays in its wrong state at least for the first delay of 5 ms."
        ),
        since("v1.14.0", False, pull=4938).means(
            "A failed pod is looked up at once; only failed lookups are delayed."
        ),
        source="cache/cache.go resyncTask",
    )

    failed_tasks_rate: int = behaviour(
        "How many failed pods may be looked up per second.",
        since(FIRST, 10).means(
            "If more than 100 pods fail at once, ten per second can be scheduled again."
        ),
        since("v1.9.0", 100, pull=3435).means(
            "If more than 1000 pods fail at once, a hundred per second can be scheduled again."
        ),
        source="cache/cache.go newSchedulerCache",
    )

    failed_tasks_delay_resets: bool = behaviour(
        "After a successful lookup, a pod's next delay is the shortest again.",
        since(FIRST, False).means("Each failure of a pod doubles its delay, even after successes."),
        since("v1.9.0", True, pull=3435).means(
            "A pod that fails again later is delayed as if for the first time."
        ),
        source="cache/cache.go processResyncTask",
    )

    missing_pods_removed_without_lock: bool = behaviour(
        "A failed pod that no longer exists is removed from the cache without the lock.",
        since(FIRST, True).means(
            "Two goroutines may write the cache at once, which crashes the scheduler."
        ),
        since("v1.10.0", False, pull=3479).means(
            "A vanished pod is removed under the cache's lock, like everything else."
        ),
        source="cache/event_handlers.go syncTask",
    )

    nodes_through_work_queue: bool = behaviour(
        "Nodes enter the cache through a work queue, whose worker reads their latest state.",
        since(FIRST, False).means(
            "A node is in the cache as soon as its event arrives; every state is seen in order."
        ),
        since("v1.8.2", True, pull=3211).means(
            "Pods may arrive before their node is known; states of a node may be skipped."
        ),
        source="cache/event_handlers.go AddNode, SyncNode",
    )
