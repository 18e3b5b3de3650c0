"""Statuses of a task, and the sets of them that Volcano has names for.

Source: pkg/scheduler/api/types.go TaskStatus; pkg/scheduler/api/helpers.go.
"""

from __future__ import annotations

from enum import IntEnum

from ..kubernetes.objects import Pod


class Status(IntEnum):
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


STATUS_NAMES = tuple(status.name.capitalize() for status in Status)
"""What Volcano prints, by status."""

ALLOCATED_STATUS = frozenset({Status.BOUND, Status.BINDING, Status.RUNNING, Status.ALLOCATED})
"""Statuses that hold the resources of a node (``AllocatedStatus``)."""

READY_STATUS = ALLOCATED_STATUS | {Status.SUCCEEDED}
"""Statuses that count towards ``minMember``."""

COMPLETED_STATUS = frozenset({Status.SUCCEEDED, Status.FAILED})
PREEMPTABLE_STATUS = frozenset({Status.BOUND, Status.RUNNING})
VALID_STATUS = READY_STATUS | {Status.PIPELINED, Status.PENDING}


def status_of(pod: Pod) -> Status:
    """Return the status of a task from its pod on the API server.

    Source: pkg/scheduler/api/helpers.go getTaskStatus.
    """
    phase = pod.status.phase
    if phase == "Succeeded":
        return Status.SUCCEEDED
    if phase == "Failed":
        return Status.FAILED
    if phase not in ("Running", "Pending"):
        return Status.UNKNOWN
    if pod.metadata.deletion_timestamp is not None:
        return Status.RELEASING
    if phase == "Running":
        return Status.RUNNING
    return Status.BOUND if pod.spec.node_name else Status.PENDING
