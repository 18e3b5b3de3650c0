"""The history of the controllers of queues, flows and finished jobs, and of which there are.

See :mod:`.parts`.
"""

from __future__ import annotations

from .controller_behaviours import FlowJobs, QueueStateWrite
from .releases import FIRST, Row, landed

_ACTIONS = "pkg/controllers/queue/queue_controller_action.go"
_QUEUE = "pkg/controllers/queue/queue_controller.go"
_COLLECTOR = "pkg/controllers/garbagecollector/garbagecollector.go"
_FLOWS = "pkg/controllers/jobflow/jobflow_controller_action.go"

_FIRST = frozenset(
    {
        "gc-controller",
        "job-controller",
        "jobflow-controller",
        "jobtemplate-controller",
        "pg-controller",
        "queue-controller",
    }
)

ROWS_QUEUE_CONTROLLER: tuple[Row, ...] = (
    Row(
        "queue_status_counts_podgroups",
        True,
        FIRST,
        source=f"{_ACTIONS} syncQueue",
        why="A queue's status counts its PodGroups, and is written whenever one changes.",
    ),
    Row(
        "queue_status_counts_podgroups",
        False,
        landed("v1.11.0"),
        source=f"{_ACTIONS} syncQueue",
        why="Only gauges count a queue's PodGroups.",
        pull=3751,
    ),
    Row(
        "queue_state_write",
        QueueStateWrite.UPDATE,
        FIRST,
        source=f"{_ACTIONS} syncQueue",
        why="A write fails if the scheduler has written meanwhile, and is tried again.",
    ),
    Row(
        "queue_state_write",
        QueueStateWrite.APPLY_ALLOCATED,
        landed("v1.11.0"),
        source=f"{_ACTIONS} syncQueue",
        why="A queue that opens or closes has the allocated of before, till the next session.",
        pull=3751,
    ),
    Row(
        "queue_state_write",
        QueueStateWrite.APPLY,
        landed("v1.11.1", "v1.12.0"),
        source=f"{_ACTIONS} syncQueue",
        why="Opening or closing a queue leaves its allocated alone.",
        pull=4141,
    ),
    Row(
        "queue_allocated_filled_in",
        False,
        FIRST,
        source=f"{_ACTIONS} syncQueue",
        why="The status of a new queue is refused until the scheduler has told what is allocated.",
    ),
    Row(
        "queue_allocated_filled_in",
        True,
        landed("v1.8.2"),
        source=f"{_ACTIONS} syncQueue",
        why="A new queue has a state at once.",
        pull=3206,
    ),
    Row(
        "queue_allocated_filled_in",
        False,
        landed("v1.11.1", "v1.12.0"),
        source=f"{_ACTIONS} syncQueue",
        why="The controller writes no allocated.",
        pull=4141,
    ),
    Row(
        "unchanged_queues_written",
        False,
        FIRST,
        source=f"{_ACTIONS} syncQueue",
        why="A queue's status is written when it has changed.",
    ),
    Row(
        "unchanged_queues_written",
        True,
        landed("v1.8.2"),
        source=f"{_ACTIONS} syncQueue",
        why="An idle queue is written with each sync: nothing allocated and no allocated differ.",
        pull=3206,
    ),
    Row(
        "unchanged_queues_written",
        False,
        landed("v1.10.0"),
        source=f"{_ACTIONS} syncQueue",
        why="A queue's status is written when it has changed.",
        pull=3493,
    ),
    Row(
        "missing_podgroups_stop_queue_sync",
        True,
        FIRST,
        source=f"{_ACTIONS} syncQueue",
        why="A queue stays Closing, or tells old counts, until the controllers restart.",
    ),
    Row(
        "missing_podgroups_stop_queue_sync",
        False,
        landed("v1.11.0"),
        source=f"{_ACTIONS} syncQueue",
        why="A PodGroup that is gone is struck off.",
        pull=3742,
    ),
    Row(
        "queue_tree",
        False,
        FIRST,
        source=f"{_ACTIONS} updateQueueParent, closeHierarchicalQueue, openHierarchicalQueue",
        why="Each queue is opened and closed by itself.",
    ),
    Row(
        "queue_tree",
        True,
        landed("v1.11.0"),
        source=f"{_ACTIONS} updateQueueParent, closeHierarchicalQueue, openHierarchicalQueue",
        why="A queue without a parent is given root; children are closed with their parent.",
        pull=3743,
    ),
    Row(
        "child_annotation_added",
        False,
        FIRST,
        source=f"{_ACTIONS} updateQueueAnnotation",
        why="The patch replaces what may not be there, which JSON Patch, to the letter, refuses.",
    ),
    Row(
        "child_annotation_added",
        True,
        landed("v1.15.0"),
        source=f"{_ACTIONS} updateQueueAnnotation",
        why="The patch adds the annotation, whether there was one or not.",
        pull=5303,
    ),
    Row(
        "queue_workers",
        1,
        FIRST,
        source=f"{_QUEUE} Run, cmd/controller-manager/app/options/options.go",
        why="Requests about queues are handled one by one.",
    ),
    Row(
        "queue_workers",
        5,
        landed("v1.11.0"),
        source=f"{_QUEUE} Run, cmd/controller-manager/app/options/options.go",
        why="Requests about one queue may overtake each other (--worker-threads-for-queue).",
        pull=3772,
    ),
    Row(
        "collection_of_deleted_job_retried",
        True,
        FIRST,
        source=f"{_COLLECTOR} processJob",
        why="A job that its user deletes just then is tried again, in vain.",
    ),
    Row(
        "collection_of_deleted_job_retried",
        False,
        landed("v1.10.0"),
        source=f"{_COLLECTOR} processJob",
        why="A job that is gone is done with.",
        pull=3599,
    ),
    Row(
        "flow_jobs",
        FlowJobs.OWNED,
        FIRST,
        source=f"{_FLOWS} getAllJobStatus, deleteAllJobsCreatedByJobFlow",
        why="A JobFlow knows its jobs by their owner.",
    ),
    Row(
        "flow_jobs",
        FlowJobs.OF_TEMPLATES,
        landed("v1.9.0"),
        source=f"{_FLOWS} getAllJobsCreatedByJobFlow",
        why="Flows of the same templates count each other's jobs, and delete them.",
        pull=3090,
    ),
    Row(
        "flow_jobs",
        FlowJobs.LABELLED,
        landed("v1.10.1", "v1.11.1", "v1.12.0"),
        source=f"{_FLOWS} getAllJobsCreatedByJobFlow",
        why="A JobFlow knows its jobs by their label.",
        pull=4090,
    ),
    Row(
        "failed_jobs_fail_flows",
        False,
        FIRST,
        source="pkg/controllers/jobflow/state/running.go Execute",
        why="A JobFlow is Running for ever when one of its jobs has failed.",
    ),
    Row(
        "failed_jobs_fail_flows",
        True,
        landed("v1.12.0"),
        source="pkg/controllers/jobflow/state/running.go Execute",
        why="A JobFlow is Failed when one of its jobs is.",
        pull=4135,
    ),
    Row(
        "informers_shared",
        False,
        FIRST,
        source="pkg/controllers/framework/interface.go ControllerOption",
        why="One controller may know of a PodGroup long before another; each lists them all.",
    ),
    Row(
        "informers_shared",
        True,
        landed("v1.10.0"),
        source="pkg/controllers/framework/interface.go ControllerOption",
        why="What one controller can look up the others can.",
        pull=3497,
    ),
    Row(
        "controllers",
        _FIRST,
        FIRST,
        source="pkg/controllers/framework/factory.go RegisterController",
        why="Jobs, flows, queues, PodGroups of other pods, and the end of finished jobs.",
    ),
    Row(
        "controllers",
        _FIRST | {"hyperNode-controller"},
        landed("v1.12.0"),
        source="pkg/controllers/framework/factory.go RegisterController",
        why="HyperNodes can be discovered, and are kept up to date.",
        pull=4322,
    ),
    Row(
        "controllers",
        _FIRST | {"hyperNode-controller", "cronjob-controller"},
        landed("v1.13.0"),
        source="pkg/controllers/framework/factory.go RegisterController",
        why="Jobs can be made by schedule.",
        pull=4560,
    ),
    Row(
        "controllers",
        _FIRST
        | {
            "hyperNode-controller",
            "cronjob-controller",
            "colocation-config-controller",
            "sharding-controller",
        },
        landed("v1.14.0"),
        source="pkg/controllers/framework/factory.go RegisterController",
        why="Nodes can be divided among schedulers, and configured for colocation.",
        pull=4777,
    ),
)
