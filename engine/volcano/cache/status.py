"""What the cache writes about PodGroups and queues when a session ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class QueueStatusWrite(StrEnum):
    """How the scheduler writes a queue's ``status.allocated``."""

    UPDATE = "update"
    """The whole status, as an update that fails if the queue has changed."""
    APPLY = "apply"
    """Only ``status.allocated``, by server-side apply, which cannot conflict."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class StatusBehaviours:
    """PodGroups and queues when a session ends: what differs between releases."""

    queue_status_write: QueueStatusWrite
    """How the scheduler writes a queue's status.allocated."""

    ready_podgroup_events_repeated: bool
    """A PodGroup that is ready gets an event in each session."""

    deleted_podgroup_crashes_close: bool
    """Deleting a PodGroup that was placed in a topology, during a session, crashes."""


ROWS: tuple[Row, ...] = (
    Row(
        "queue_status_write",
        QueueStatusWrite.UPDATE,
        FIRST,
        source="cache/cache.go defaultStatusUpdater.UpdateQueueStatus",
        why="A write fails if the controller wrote in between; the next session repeats it.",
    ),
    Row(
        "queue_status_write",
        QueueStatusWrite.APPLY,
        landed("v1.11.1", "v1.12.0"),
        source="cache/cache.go defaultStatusUpdater.UpdateQueueStatus",
        why="Scheduler and controller own separate fields, and never conflict.",
        pull=4141,
    ),
    Row(
        "queue_status_write",
        QueueStatusWrite.UPDATE,
        landed("v1.12.1", "v1.13.0"),
        source="cache/cache.go defaultStatusUpdater.UpdateQueueStatus",
        why="Queues that older schedulers wrote can be written again; writes may conflict again.",
        pull=4339,
    ),
    Row(
        "ready_podgroup_events_repeated",
        True,
        FIRST,
        source="cache/cache.go RecordJobStatusEvent",
        why="Repeated events of running PodGroups displace other events.",
    ),
    Row(
        "ready_podgroup_events_repeated",
        False,
        landed("v1.8.1"),
        source="cache/cache.go RecordJobStatusEvent",
        why="An event is written only with a new status.",
        pull=3115,
    ),
    Row(
        "deleted_podgroup_crashes_close",
        False,
        FIRST,
        source="cache/cache.go updateJobAnnotations",
        why="The cache does not write hypernodes of jobs into PodGroups.",
    ),
    Row(
        "deleted_podgroup_crashes_close",
        True,
        landed("v1.12.0"),
        source="cache/cache.go updateJobAnnotations",
        why="Deleting a job with a network topology while it is placed may crash the scheduler.",
        pull=4310,
    ),
    Row(
        "deleted_podgroup_crashes_close",
        False,
        landed("v1.14.4", "v1.15.1"),
        source="cache/cache.go updateJobAnnotations",
        why="A deleted PodGroup is skipped.",
        pull=5569,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
