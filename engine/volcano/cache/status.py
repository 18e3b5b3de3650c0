"""What the cache writes about PodGroups and queues when a session ends."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


class QueueStatusWrite(StrEnum):
    """How the scheduler writes a queue's ``status.allocated``."""

    UPDATE = "update"
    """The whole status, as an update that fails if the queue has changed."""
    APPLY = "apply"
    """Only ``status.allocated``, by server-side apply, which cannot conflict."""


@subject
class CacheStatusBehaviours:
    """PodGroups and queues when a session ends: what differs between releases."""

    queue_status_write: QueueStatusWrite = behaviour(
        "How the scheduler writes a queue's status.allocated.",
        since(FIRST, QueueStatusWrite.UPDATE).means(
            "A write fails if the controller wrote in between; the next session repeats it."
        ),
        since(landed("v1.11.1", "v1.12.0"), QueueStatusWrite.APPLY, pull=4141).means(
            "Scheduler and controller own separate fields, and never conflict."
        ),
        since(landed("v1.12.1", "v1.13.0"), QueueStatusWrite.UPDATE, pull=4339).means(
            "Queues that older schedulers wrote can be written again; writes may conflict again."
        ),
        source="cache/cache.go defaultStatusUpdater.UpdateQueueStatus",
    )

    ready_podgroup_events_repeated: bool = behaviour(
        "A PodGroup that is ready gets an event in each session.",
        since(FIRST, True).means("Repeated events of running PodGroups displace other events."),
        since("v1.8.1", False, pull=3115).means("An event is written only with a new status."),
        source="cache/cache.go RecordJobStatusEvent",
    )

    deleted_podgroup_crashes_close: bool = behaviour(
        "Deleting a PodGroup that was placed in a topology, during a session, crashes.",
        since(FIRST, False).means("The cache does not write hypernodes of jobs into PodGroups."),
        since("v1.12.0", True, pull=4310).means(
            "Deleting a job with a network topology while it is placed may crash the scheduler."
        ),
        since(landed("v1.14.4", "v1.15.1"), False, pull=5569).means(
            "A deleted PodGroup is skipped."
        ),
        source="cache/cache.go updateJobAnnotations",
    )
