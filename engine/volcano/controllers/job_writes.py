"""What the Job controller writes: status, PodGroups and pods of Volcano Jobs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class JobConditions(StrEnum):
    """When a condition is added to a Volcano Job's status."""

    PHASE_CHANGE = "phase change"
    """When its phase changes."""
    ANY_CHANGE = "any change"
    """When anything in its status changes, with the current phase."""
    LATEST_OF_PHASE = "latest of phase"
    """When anything in its status changes; it replaces the condition of the same phase."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class JobWriteBehaviours:
    """What the Job controller writes: what differs between releases."""

    kept_pods_counted: bool
    """A job's status counts the completed pods that a kill leaves."""

    unchanged_jobs_written: bool
    """A job's status is written with each sync, changed or not."""

    unchanged_podgroups_written: bool
    """A job's PodGroup is written with each sync, changed or not."""

    unseen_podgroups_deleted: bool
    """A kill deletes the job's PodGroup by name; else only if the controller knows it."""

    new_pods_counted_unknown: bool
    """``status.taskStatusCount`` counts a newly created pod as Unknown."""

    job_conditions: JobConditions
    """When a condition is added to a job's status."""

    existing_pods_counted_unknown: bool
    """A pod that already exists when it is to be created counts as Unknown."""

    succeeded_pods_satisfy_dependencies: bool
    """A task may start when pods of the task that it depends on have succeeded."""

    min_resources_by_task: bool
    """minResources sum what the tasks' minima need; else what the first pods need."""

    task_min_available_follows_replicas: bool
    """A task without a minimum gets its replicas as the minimum, also when scaled."""

    shared_podgroups_changed: bool
    """A PodGroup is changed in the shared informer cache before it is written."""

    jobs_pass_topology: bool
    """The network topology of a job is written into its PodGroup."""

    jobs_pass_sub_groups: bool
    """The partitions of a job's tasks are groups within its PodGroup."""

    pods_inherit_job_priority: bool
    """A pod without a priority class in its template gets its job's class."""

    pods_have_index_label: bool
    """A job's pods have their index in their task, as label and annotation."""

    pods_have_retry_count: bool
    """A job's pods record how often the job had been restarted when they were created."""

    targeted_restarts_keep_podgroup: bool
    """The restart of a task, a partition or a pod leaves the job's PodGroup alone."""

    job_podgroups_read_live: bool
    """A job's PodGroup is read from the API server; else it is as the informer delivered it."""


ROWS: tuple[Row, ...] = (
    Row(
        "kept_pods_counted",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go killPods",
        why="The status of an ended job says how many of its pods succeeded and failed.",
    ),
    Row(
        "kept_pods_counted",
        False,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller_actions.go killPods",
        why="The status of an ended job counts no pods, until it is synced again.",
        pull=3813,
    ),
    Row(
        "unchanged_jobs_written",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go syncJob",
        why="Each sync of a job writes it, which causes another update.",
    ),
    Row(
        "unchanged_jobs_written",
        False,
        landed("v1.10.0"),
        source="pkg/controllers/job/job_controller_actions.go syncJob",
        why="A sync that changes nothing writes nothing.",
        pull=3514,
    ),
    Row(
        "unchanged_podgroups_written",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        why="Each sync of a job writes its PodGroup, and fails if the scheduler wrote in between.",
    ),
    Row(
        "unchanged_podgroups_written",
        False,
        landed("v1.10.0"),
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        why="A PodGroup is written when the job's fields for it have changed.",
        pull=3493,
    ),
    Row(
        "unseen_podgroups_deleted",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go killJob",
        why="The kill of a job deletes its PodGroup, even a new one.",
    ),
    Row(
        "unseen_podgroups_deleted",
        False,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller_actions.go killPods, getPodGroupByJob",
        why="A PodGroup that was created just before its job is killed may stay.",
        pull=3786,
    ),
    Row(
        "new_pods_counted_unknown",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go syncJob",
        why="A job's status counts pods as unknown just after it creates them.",
    ),
    Row(
        "new_pods_counted_unknown",
        False,
        landed("v1.10.0"),
        source="pkg/controllers/job/job_controller_actions.go syncJob",
        why="A job's new pods are Pending from the start.",
        pull=3598,
    ),
    Row(
        "job_conditions",
        JobConditions.PHASE_CHANGE,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go syncJob, appendJobCondition",
        why="A job's conditions list its phases in order.",
    ),
    Row(
        "job_conditions",
        JobConditions.ANY_CHANGE,
        landed("v1.10.0"),
        source="pkg/controllers/job/job_controller_actions.go syncJob, appendJobCondition",
        why="A job's conditions grow without limit: one for each change of its counts.",
        pull=3514,
    ),
    Row(
        "job_conditions",
        JobConditions.LATEST_OF_PHASE,
        landed("v1.14.3", "v1.15.1"),
        source="pkg/controllers/job/job_controller_actions.go syncJob, appendJobCondition",
        why="A job's conditions say when it was last in each phase.",
        pull=5422,
    ),
    Row(
        "existing_pods_counted_unknown",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go syncJob",
        why="After a restart of controllers, a job's status may count pods as unknown for a while.",
    ),
    Row(
        "existing_pods_counted_unknown",
        False,
        landed("v1.14.0"),
        source="pkg/controllers/job/job_controller_actions.go syncJob",
        why="A pod is counted once it is known.",
        pull=4985,
    ),
    Row(
        "succeeded_pods_satisfy_dependencies",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go isDependsOnPodsReady",
        why="A task never starts if its predecessor ended early: no container is ready any more.",
    ),
    Row(
        "succeeded_pods_satisfy_dependencies",
        True,
        landed("v1.14.4", "v1.15.1"),
        source="pkg/controllers/job/job_controller_actions.go isDependsOnPodsReady",
        why="A task starts after a predecessor that runs or has succeeded.",
        pull=5439,
    ),
    Row(
        "min_resources_by_task",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go calcPGMinResources, "
        "pkg/controllers/job/job_controller_util.go CalcPGMinResources",
        why="A job may be enqueued though there is no room for tasks that it needs.",
    ),
    Row(
        "min_resources_by_task",
        True,
        landed("v1.10.0"),
        source="pkg/controllers/job/job_controller_actions.go calcPGMinResources, "
        "pkg/controllers/job/job_controller_util.go CalcPGMinResources",
        why="Each task's minimum counts first, then the most important ones up to minAvailable.",
        pull=3057,
    ),
    Row(
        "task_min_available_follows_replicas",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        why="A job that is scaled keeps the minTaskMember from its start.",
    ),
    Row(
        "task_min_available_follows_replicas",
        True,
        landed("v1.9.0"),
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        why="A job that is scaled gets the minTaskMember of its new replicas.",
        pull=2802,
    ),
    Row(
        "shared_podgroups_changed",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        why="A refused write looks as if it succeeded, and is not retried.",
    ),
    Row(
        "shared_podgroups_changed",
        False,
        landed("v1.12.2", "v1.13.0"),
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        why="A refused write is retried.",
        pull=4526,
    ),
    Row(
        "jobs_pass_topology",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        why="Jobs have no network topology.",
    ),
    Row(
        "jobs_pass_topology",
        True,
        landed("v1.12.0"),
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        why="A job's network topology at creation is copied into its PodGroup.",
        pull=4310,
    ),
    Row(
        "jobs_pass_sub_groups",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go setPgSubGroupPolicy, "
        "pkg/controllers/job/job_controller_util.go createJobPod",
        why="Tasks have no partitions.",
    ),
    Row(
        "jobs_pass_sub_groups",
        True,
        landed("v1.14.0"),
        source="pkg/controllers/job/job_controller_actions.go setPgSubGroupPolicy, "
        "pkg/controllers/job/job_controller_util.go createJobPod",
        why="A task's partitions are labelled, and scheduled as groups.",
        pull=4675,
    ),
    Row(
        "pods_inherit_job_priority",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_util.go createJobPod",
        why="A job's priority class orders jobs only: its pods have the default class.",
    ),
    Row(
        "pods_inherit_job_priority",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller_util.go createJobPod",
        why="A job's pods have its priority.",
        pull=3739,
    ),
    Row(
        "pods_have_index_label",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_util.go createJobPod",
        why="A pod's index is only in its name.",
    ),
    Row(
        "pods_have_index_label",
        True,
        landed("v1.9.0"),
        source="pkg/controllers/job/job_controller_util.go createJobPod",
        why="A pod's index is in volcano.sh/task-index.",
        pull=3076,
    ),
    Row(
        "pods_have_retry_count",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_util.go createJobPod",
        why="Pods do not show whether their job was restarted.",
    ),
    Row(
        "pods_have_retry_count",
        True,
        landed("v1.10.0"),
        source="pkg/controllers/job/job_controller_util.go createJobPod",
        why="How often a job was restarted is in volcano.sh/job-retry-count of its pods.",
        pull=3544,
    ),
    Row(
        "targeted_restarts_keep_podgroup",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go killPods",
        why="A restart of one pod deletes the PodGroup of all; new pods wait for the next one.",
    ),
    Row(
        "targeted_restarts_keep_podgroup",
        True,
        landed("hardened"),
        source="engine/volcano/controllers/job_writes.py; tests/machine/test_remedies.py",
        why="A pod that is restarted finds its PodGroup as it was.",
    ),
    Row(
        "job_podgroups_read_live",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        why="A PodGroup that a restart has just deleted may not be recreated: its pods wait.",
    ),
    Row(
        "job_podgroups_read_live",
        True,
        landed("hardened"),
        source="engine/volcano/controllers/job_writes.py; tests/machine/test_remedies.py",
        why="Each sync of a job asks the API server for its PodGroup, and creates a missing one.",
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
