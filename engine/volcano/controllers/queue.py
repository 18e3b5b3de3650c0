"""The queue controller: states and statuses of queues."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class QueueStateWrite(StrEnum):
    """How the controller writes a queue's state."""

    UPDATE = "update"
    """The whole status, as an update that fails if the queue has changed."""
    APPLY_ALLOCATED = "apply with allocated"
    """The state, and ``status.allocated`` as it was read, by server-side apply."""
    APPLY = "apply"
    """Only the state, by server-side apply."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class QueueBehaviours:
    """The queue controller: what differs between releases."""

    queue_status_counts_podgroups: bool
    """A queue's status counts its PodGroups by phase."""

    queue_state_write: QueueStateWrite
    """How the controller writes a queue's state."""

    queue_allocated_filled_in: bool
    """A queue without ``status.allocated`` gets an empty one with its state."""

    unchanged_queues_written: bool
    """The status of an idle queue is written with each sync."""

    missing_podgroups_stop_queue_sync: bool
    """If a PodGroup is missing, its queue's status is not updated."""

    queue_tree: bool
    """Queues have parents: closing one closes its children, opening it opens those again."""

    child_annotation_added: bool
    """The patch for a queue that its parent closed adds an annotation; else it replaces."""

    queue_workers: int
    """How many requests for queues are handled in parallel, even of the same queue."""


ROWS: tuple[Row, ...] = (
    Row(
        "queue_status_counts_podgroups",
        True,
        FIRST,
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="A queue's status counts its PodGroups, and is written whenever one changes.",
    ),
    Row(
        "queue_status_counts_podgroups",
        False,
        landed("v1.11.0"),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="Only gauges count a queue's PodGroups.",
        pull=3751,
    ),
    Row(
        "queue_state_write",
        QueueStateWrite.UPDATE,
        FIRST,
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="A write fails if the scheduler wrote in between, and is retried.",
    ),
    Row(
        "queue_state_write",
        QueueStateWrite.APPLY_ALLOCATED,
        landed("v1.11.0"),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="A queue that opens or closes gets an old status.allocated until the next session.",
        pull=3751,
    ),
    Row(
        "queue_state_write",
        QueueStateWrite.APPLY,
        landed("v1.11.1", "v1.12.0"),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="Opening or closing a queue does not change its status.allocated.",
        pull=4141,
    ),
    Row(
        "queue_allocated_filled_in",
        False,
        FIRST,
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="The status of a new queue is refused until the scheduler writes what is allocated.",
    ),
    Row(
        "queue_allocated_filled_in",
        True,
        landed("v1.8.2"),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="A new queue has a state at once.",
        pull=3206,
    ),
    Row(
        "queue_allocated_filled_in",
        False,
        landed("v1.11.1", "v1.12.0"),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="The controller does not write status.allocated.",
        pull=4141,
    ),
    Row(
        "unchanged_queues_written",
        False,
        FIRST,
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="A queue's status is written when it has changed.",
    ),
    Row(
        "unchanged_queues_written",
        True,
        landed("v1.8.2"),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="An idle queue is written with each sync: empty and missing allocated differ.",
        pull=3206,
    ),
    Row(
        "unchanged_queues_written",
        False,
        landed("v1.10.0"),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="A queue's status is written when it has changed.",
        pull=3493,
    ),
    Row(
        "missing_podgroups_stop_queue_sync",
        True,
        FIRST,
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="A queue stays Closing, or has old counts, until the controllers restart.",
    ),
    Row(
        "missing_podgroups_stop_queue_sync",
        False,
        landed("v1.11.0"),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
        why="A missing PodGroup is skipped.",
        pull=3742,
    ),
    Row(
        "queue_tree",
        False,
        FIRST,
        source="pkg/controllers/queue/queue_controller_action.go updateQueueParent, "
        "closeHierarchicalQueue, openHierarchicalQueue",
        why="Each queue is opened and closed by itself.",
    ),
    Row(
        "queue_tree",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/queue/queue_controller_action.go updateQueueParent, "
        "closeHierarchicalQueue, openHierarchicalQueue",
        why="A queue without a parent is given root; children are closed with their parent.",
        pull=3743,
    ),
    Row(
        "child_annotation_added",
        False,
        FIRST,
        source="pkg/controllers/queue/queue_controller_action.go updateQueueAnnotation",
        why="The patch replaces an annotation that may not exist: strict JSON Patch refuses that.",
    ),
    Row(
        "child_annotation_added",
        True,
        landed("v1.15.0"),
        source="pkg/controllers/queue/queue_controller_action.go updateQueueAnnotation",
        why="The patch adds the annotation, even if it exists.",
        pull=5303,
    ),
    Row(
        "queue_workers",
        1,
        FIRST,
        source="pkg/controllers/queue/queue_controller.go Run, "
        "cmd/controller-manager/app/options/options.go",
        why="Requests about queues are handled one by one.",
    ),
    Row(
        "queue_workers",
        5,
        landed("v1.11.0"),
        source="pkg/controllers/queue/queue_controller.go Run, "
        "cmd/controller-manager/app/options/options.go",
        why="Requests about one queue may overtake each other (--worker-threads-for-queue).",
        pull=3772,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
