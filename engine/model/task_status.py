"""Statuses of a task, and the sets of them that Volcano has names for.

Source: pkg/scheduler/api/types.go TaskStatus; pkg/scheduler/api/helpers.go.
"""

from __future__ import annotations

from enum import IntEnum

from ..kubernetes.objects import Pod


class TaskStatus(IntEnum):
    """Status of a task."""

    PENDING = 0
    ALLOCATED = 1
    PIPELINED = 2
    BINDING = 3
    BOUND = 4
    RUNNING = 5
    RELEASING = 6
    SUCCEEDED = 7
    FAILED = 8
    UNKNOWN = 9


STATUS_NAMES = tuple(status.name.capitalize() for status in TaskStatus)
"""What Volcano prints, by status."""

ALLOCATED_STATUS = frozenset(
    {TaskStatus.BOUND, TaskStatus.BINDING, TaskStatus.RUNNING, TaskStatus.ALLOCATED}
)
"""Statuses that hold the resources of a node (``AllocatedStatus``)."""

READY_STATUS = ALLOCATED_STATUS | {TaskStatus.SUCCEEDED}
"""Statuses that count towards ``minMember``."""

COMPLETED_STATUS = frozenset({TaskStatus.SUCCEEDED, TaskStatus.FAILED})
PREEMPTABLE_STATUS = frozenset({TaskStatus.BOUND, TaskStatus.RUNNING})
VALID_STATUS = READY_STATUS | {TaskStatus.PIPELINED, TaskStatus.PENDING}


def status_of(pod: Pod) -> TaskStatus:
    """Return the status of a task from its pod on the API server.

    Source: pkg/scheduler/api/helpers.go getTaskStatus.
    """
    phase = pod.status.phase
    if phase == "Succeeded":
        return TaskStatus.SUCCEEDED
    if phase == "Failed":
        return TaskStatus.FAILED
    if phase not in ("Running", "Pending"):
        return TaskStatus.UNKNOWN
    if pod.metadata.deletion_timestamp is not None:
        return TaskStatus.RELEASING
    if phase == "Running":
        return TaskStatus.RUNNING
    return TaskStatus.BOUND if pod.spec.node_name else TaskStatus.PENDING
