"""What the Job controller writes: status, PodGroups and pods of Volcano Jobs."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


class JobConditions(StrEnum):
    """When a condition is added to a Volcano Job's status."""

    PHASE_CHANGE = "phase change"
    """When its phase changes."""
    ANY_CHANGE = "any change"
    """When anything in its status changes, with the current phase."""
    LATEST_OF_PHASE = "latest of phase"
    """When anything in its status changes; it replaces the condition of the same phase."""


@subject
class JobWriteBehaviours:
    """What the Job controller writes: what differs between releases."""

    kept_pods_counted: bool = behaviour(
        "A job's status counts the completed pods that a kill leaves.",
        since(FIRST, True).means(
            "The status of an ended job says how many of its pods succeeded and failed."
        ),
        since("v1.11.0", False, pull=3813).means(
            "The status of an ended job counts no pods, until it is synced again."
        ),
        source="pkg/controllers/job/job_controller_actions.go killPods",
    )

    unchanged_jobs_written: bool = behaviour(
        "A job's status is written with each sync, changed or not.",
        since(FIRST, True).means("Each sync of a job writes it, which causes another update."),
        since("v1.10.0", False, pull=3514).means("A sync that changes nothing writes nothing."),
        source="pkg/controllers/job/job_controller_actions.go syncJob",
    )

    unchanged_podgroups_written: bool = behaviour(
        "A job's PodGroup is written with each sync, changed or not.",
        since(FIRST, True).means(
            "Each sync of a job writes its PodGroup, and fails if the scheduler wrote in between."
        ),
        since("v1.10.0", False, pull=3493).means(
            "A PodGroup is written when the job's fields for it have changed."
        ),
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
    )

    unseen_podgroups_deleted: bool = behaviour(
        "A kill deletes the job's PodGroup by name; else only if the controller knows it.",
        since(FIRST, True).means(
            "The kill of a job deletes its PodGroup, even a new one.",
            source="pkg/controllers/job/job_controller_actions.go killJob",
        ),
        since("v1.11.0", False, pull=3786).means(
            "A PodGroup that was created just before its job is killed may stay.",
            source="pkg/controllers/job/job_controller_actions.go killPods, getPodGroupByJob",
        ),
    )

    new_pods_counted_unknown: bool = behaviour(
        "``status.taskStatusCount`` counts a newly created pod as Unknown.",
        since(FIRST, True).means(
            "A job's status counts pods as unknown just after it creates them."
        ),
        since("v1.10.0", False, pull=3598).means("A job's new pods are Pending from the start."),
        source="pkg/controllers/job/job_controller_actions.go syncJob",
    )

    job_conditions: JobConditions = behaviour(
        "When a condition is added to a job's status.",
        since(FIRST, JobConditions.PHASE_CHANGE).means(
            "A job's conditions list its phases in order."
        ),
        since("v1.10.0", JobConditions.ANY_CHANGE, pull=3514).means(
            "A job's conditions grow without limit: one for each change of its counts."
        ),
        since(landed("v1.14.3", "v1.15.1"), JobConditions.LATEST_OF_PHASE, pull=5422).means(
            "A job's conditions say when it was last in each phase."
        ),
        source="pkg/controllers/job/job_controller_actions.go syncJob, appendJobCondition",
    )

    existing_pods_counted_unknown: bool = behaviour(
        "A pod that already exists when it is to be created counts as Unknown.",
        since(FIRST, True).means(
            "After a restart of controllers, a job's status may count pods as unknown for a while."
        ),
        since("v1.14.0", False, pull=4985).means("A pod is counted once it is known."),
        source="pkg/controllers/job/job_controller_actions.go syncJob",
    )

    succeeded_pods_satisfy_dependencies: bool = behaviour(
        "A task may start when pods of the task that it depends on have succeeded.",
        since(FIRST, False).means(
            "A task never starts if its predecessor ended early: no container is ready any more."
        ),
        since(landed("v1.14.4", "v1.15.1"), True, pull=5439).means(
            "A task starts after a predecessor that runs or has succeeded."
        ),
        source="pkg/controllers/job/job_controller_actions.go isDependsOnPodsReady",
    )

    min_resources_by_task: bool = behaviour(
        "minResources sum what the tasks' minima need; else what the first pods need.",
        since(FIRST, False).means(
            "A job may be enqueued though there is no room for tasks that it needs."
        ),
        since("v1.10.0", True, pull=3057).means(
            "Each task's minimum counts first, then the most important ones up to minAvailable."
        ),
        source="pkg/controllers/job/job_controller_actions.go calcPGMinResources, "
        "pkg/controllers/job/job_controller_util.go CalcPGMinResources",
    )

    task_min_available_follows_replicas: bool = behaviour(
        "A task without a minimum gets its replicas as the minimum, also when scaled.",
        since(FIRST, False).means("A job that is scaled keeps the minTaskMember from its start."),
        since("v1.9.0", True, pull=2802).means(
            "A job that is scaled gets the minTaskMember of its new replicas."
        ),
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
    )

    shared_podgroups_changed: bool = behaviour(
        "A PodGroup is changed in the shared informer cache before it is written.",
        since(FIRST, True).means("A refused write looks as if it succeeded, and is not retried."),
        since(landed("v1.12.2", "v1.13.0"), False, pull=4526).means("A refused write is retried."),
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
    )

    jobs_pass_topology: bool = behaviour(
        "The network topology of a job is written into its PodGroup.",
        since(FIRST, False).means("Jobs have no network topology."),
        since("v1.12.0", True, pull=4310).means(
            "A job's network topology at creation is copied into its PodGroup."
        ),
        source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
    )

    jobs_pass_sub_groups: bool = behaviour(
        "The partitions of a job's tasks are groups within its PodGroup.",
        since(FIRST, False).means("Tasks have no partitions."),
        since("v1.14.0", True, pull=4675).means(
            "A task's partitions are labelled, and scheduled as groups."
        ),
        source="pkg/controllers/job/job_controller_actions.go setPgSubGroupPolicy, "
        "pkg/controllers/job/job_controller_util.go createJobPod",
    )

    pods_inherit_job_priority: bool = behaviour(
        "A pod without a priority class in its template gets its job's class.",
        since(FIRST, False).means(
            "A job's priority class orders jobs only: its pods have the default class."
        ),
        since("v1.11.0", True, pull=3739).means("A job's pods have its priority."),
        source="pkg/controllers/job/job_controller_util.go createJobPod",
    )

    pods_have_index_label: bool = behaviour(
        "A job's pods have their index in their task, as label and annotation.",
        since(FIRST, False).means("A pod's index is only in its name."),
        since("v1.9.0", True, pull=3076).means("A pod's index is in volcano.sh/task-index."),
        source="pkg/controllers/job/job_controller_util.go createJobPod",
    )

    pods_have_retry_count: bool = behaviour(
        "A job's pods record how often the job had been restarted when they were created.",
        since(FIRST, False).means("Pods do not show whether their job was restarted."),
        since("v1.10.0", True, pull=3544).means(
            "How often a job was restarted is in volcano.sh/job-retry-count of its pods."
        ),
        source="pkg/controllers/job/job_controller_util.go createJobPod",
    )

    targeted_restarts_keep_podgroup: bool = behaviour(
        "The restart of a task, a partition or a pod leaves the job's PodGroup alone.",
        since(FIRST, False).means(
            "A restart of one pod deletes the PodGroup of all; new pods wait for the next one.",
            source="pkg/controllers/job/job_controller_actions.go killPods",
        ),
        since("hardened", True).means(
            "A pod that is restarted finds its PodGroup as it was.",
            source="engine/volcano/controllers/job_writes.py; tests/machine/test_remedies.py",
        ),
    )

    job_podgroups_read_live: bool = behaviour(
        "A job's PodGroup is read from the API server; else it is as the informer delivered it.",
        since(FIRST, False).means(
            "A PodGroup that a restart has just deleted may not be recreated: its pods wait.",
            source="pkg/controllers/job/job_controller_actions.go createOrUpdatePodGroup",
        ),
        since("hardened", True).means(
            "Each sync of a job asks the API server for its PodGroup, and creates a missing one.",
            source="engine/volcano/controllers/job_writes.py; tests/machine/test_remedies.py",
        ),
    )
