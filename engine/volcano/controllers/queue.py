"""The queue controller: states and statuses of queues."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


class QueueStateWrite(StrEnum):
    """How the controller writes a queue's state."""

    UPDATE = "update"
    """The whole status, as an update that fails if the queue has changed."""
    APPLY_ALLOCATED = "apply with allocated"
    """The state, and ``status.allocated`` as it was read, by server-side apply."""
    APPLY = "apply"
    """Only the state, by server-side apply."""


@subject
class QueueControllerBehaviours:
    """The queue controller: what differs between releases."""

    queue_status_counts_podgroups: bool = behaviour(
        "A queue's status counts its PodGroups by phase.",
        since(FIRST, True).means(
            "A queue's status counts its PodGroups, and is written whenever one changes."
        ),
        since("v1.11.0", False, pull=3751).means("Only gauges count a queue's PodGroups."),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
    )

    queue_state_write: QueueStateWrite = behaviour(
        "How the controller writes a queue's state.",
        since(FIRST, QueueStateWrite.UPDATE).means(
            "A write fails if the scheduler wrote in between, and is retried."
        ),
        since("v1.11.0", QueueStateWrite.APPLY_ALLOCATED, pull=3751).means(
            "A queue that opens or closes gets an old status.allocated until the next session."
        ),
        since(landed("v1.11.1", "v1.12.0"), QueueStateWrite.APPLY, pull=4141).means(
            "Opening or closing a queue does not change its status.allocated."
        ),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
    )

    queue_allocated_filled_in: bool = behaviour(
        "A queue without ``status.allocated`` gets an empty one with its state.",
        since(FIRST, False).means(
            "The status of a new queue is refused until the scheduler writes what is allocated."
        ),
        since("v1.8.2", True, pull=3206).means("A new queue has a state at once."),
        since(landed("v1.11.1", "v1.12.0"), False, pull=4141).means(
            "The controller does not write status.allocated."
        ),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
    )

    unchanged_queues_written: bool = behaviour(
        "The status of an idle queue is written with each sync.",
        since(FIRST, False).means("A queue's status is written when it has changed."),
        since("v1.8.2", True, pull=3206).means(
            "An idle queue is written with each sync: empty and missing allocated differ."
        ),
        since("v1.10.0", False, pull=3493).means(
            "A queue's status is written when it has changed."
        ),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
    )

    missing_podgroups_stop_queue_sync: bool = behaviour(
        "If a PodGroup is missing, its queue's status is not updated.",
        since(FIRST, True).means(
            "A queue stays Closing, or has old counts, until the controllers restart."
        ),
        since("v1.11.0", False, pull=3742).means("A missing PodGroup is skipped."),
        source="pkg/controllers/queue/queue_controller_action.go syncQueue",
    )

    queue_tree: bool = behaviour(
        "Queues have parents: closing one closes its children, opening it opens those again.",
        since(FIRST, False).means("Each queue is opened and closed by itself."),
        since("v1.11.0", True, pull=3743).means(
            "A queue without a parent is given root; children are closed with their parent."
        ),
        source="pkg/controllers/queue/queue_controller_action.go updateQueueParent, "
        "closeHierarchicalQueue, openHierarchicalQueue",
    )

    child_annotation_added: bool = behaviour(
        "The patch for a queue that its parent closed adds an annotation; else it replaces.",
        since(FIRST, False).means(
            "The patch replaces an annotation that may not exist: strict JSON Patch refuses that."
        ),
        since("v1.15.0", True, pull=5303).means(
            "The patch adds the annotation, even if it exists."
        ),
        source="pkg/controllers/queue/queue_controller_action.go updateQueueAnnotation",
    )

    queue_workers: int = behaviour(
        "How many requests for queues are handled in parallel, even of the same queue.",
        since(FIRST, 1).means("Requests about queues are handled one by one."),
        since("v1.11.0", 5, pull=3772).means(
            "Requests about one queue may overtake each other (--worker-threads-for-queue)."
        ),
        source="pkg/controllers/queue/queue_controller.go Run, "
        "cmd/controller-manager/app/options/options.go",
    )
