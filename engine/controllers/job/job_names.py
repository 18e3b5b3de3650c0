"""Names that the job controller reads and writes: phases, events, actions, annotations, labels.

Source: volcano.sh/apis/pkg/apis/batch/v1alpha1/job.go, labels.go; bus/v1alpha1/events.go,
actions.go; scheduling/v1beta1/labels.go; pkg/controllers/job/helpers/helpers.go.
"""

from __future__ import annotations

from enum import StrEnum

JOB_API = "batch.volcano.sh/v1alpha1"

GROUP_NAME = "scheduling.k8s.io/group-name"
TASK = "volcano.sh/task-spec"
TASK_INDEX = "volcano.sh/task-index"
JOB_NAME = "volcano.sh/job-name"
JOB_NAMESPACE = "volcano.sh/job-namespace"
JOB_VERSION = "volcano.sh/job-version"
QUEUE_NAME = "volcano.sh/queue-name"
TEMPLATE = "volcano.sh/template-uid"
RETRY_COUNT = "volcano.sh/job-retry-count"
PARTITION = "volcano.sh/partition-id"
NUMA_POLICY = "volcano.sh/numa-topology-policy"
PREEMPTABLE = "volcano.sh/preemptable"
COOLDOWN_TIME = "volcano.sh/cooldown-time"
REVOCABLE_ZONE = "volcano.sh/revocable-zone"
MIN_AVAILABLE = "volcano.sh/jdb-min-available"
MAX_UNAVAILABLE = "volcano.sh/jdb-max-unavailable"
KILLED = "volcano.sh/controller-out-of-sync"
"""Marks a pod that the controller is about to delete: its events act on nothing."""


class JobPhase(StrEnum):
    """Where a job is; one without a phase is Pending."""

    PENDING = "Pending"
    ABORTING = "Aborting"
    ABORTED = "Aborted"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    COMPLETING = "Completing"
    COMPLETED = "Completed"
    TERMINATING = "Terminating"
    TERMINATED = "Terminated"
    FAILED = "Failed"


class JobEvent(StrEnum):
    """What happened to a job or its pods; a PodGroup that changes its phase is no event."""

    NONE = ""
    ANY = "*"
    POD_PENDING = "PodPending"
    POD_RUNNING = "PodRunning"
    POD_FAILED = "PodFailed"
    POD_EVICTED = "PodEvicted"
    JOB_UNKNOWN = "Unknown"
    TASK_COMPLETED = "TaskCompleted"
    TASK_FAILED = "TaskFailed"
    OUT_OF_SYNC = "OutOfSync"
    COMMAND_ISSUED = "CommandIssued"


class JobAction(StrEnum):
    """Actions that the controller itself tells apart; any other only syncs the job."""

    SYNC = "SyncJob"
    ABORT = "AbortJob"
    RESUME = "ResumeJob"
    RESTART = "RestartJob"
    RESTART_TASK = "RestartTask"
    RESTART_POD = "RestartPod"
    RESTART_PARTITION = "RestartPartition"
    TERMINATE = "TerminateJob"
    COMPLETE = "CompleteJob"
