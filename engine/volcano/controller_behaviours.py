"""What a release's controllers do (vc-controller-manager): one record, complete, as of sessions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RestartUnit(StrEnum):
    """What a policy of a Volcano Job may restart."""

    JOB = "job"
    """Whole jobs; what else is asked for only syncs the job."""
    POD = "pod"
    """Also a task, or a pod."""
    PARTITION = "partition"
    """Also a task, one of its partitions, or a pod."""


class JobConditions(StrEnum):
    """When a condition is added to a Volcano Job's status."""

    PHASE_CHANGE = "phase change"
    """When its phase changes."""
    ANY_CHANGE = "any change"
    """When anything in its status changes, with the phase that it has."""
    LATEST_OF_PHASE = "latest of phase"
    """When anything in its status changes, in place of the one of the same phase."""


class QueueStateWrite(StrEnum):
    """How the controller writes a queue's state."""

    UPDATE = "update"
    """The whole status, if the queue is as it was read."""
    APPLY_ALLOCATED = "apply with allocated"
    """The state, and what is allocated as it was read, by server-side apply."""
    APPLY = "apply"
    """Only the state, by server-side apply."""


class FlowJobs(StrEnum):
    """Which Volcano Jobs a JobFlow takes for its own: they make its status, and go with it."""

    OWNED = "owned"
    """Those whose owner is a JobFlow of its name."""
    OF_TEMPLATES = "of its templates"
    """All in its namespace that were made from the templates that it names."""
    LABELLED = "labelled"
    """Those with a label that names it."""


@dataclass(frozen=True, slots=True)
class ControllerBehaviours:
    """What a release's controllers do where releases differ."""

    release: str
    """The release that this is the behaviour of, or was before single fields were changed."""

    replicasets_restore_podgroups: bool
    """A ReplicaSet with replicas gets its PodGroup back if that is missing."""

    replicasets_update_podgroups: bool
    """A ReplicaSet's PodGroup follows changes of what it was made from."""

    replicasets_skip_annotated_pods: bool
    """For a ReplicaSet whose first pod names a PodGroup, nothing is made or changed."""

    statefulsets_have_podgroups: bool
    """PodGroups of StatefulSets are deleted at 0 replicas, and restored above."""

    statefulset_pods_by_revision: bool
    """A StatefulSet's PodGroup is made from a pod of the newest revision."""

    statefulsets_update_podgroups: bool
    """A StatefulSet's PodGroup follows changes of what it was made from."""

    statefulsets_skip_annotated_pods: bool
    """For a StatefulSet whose first pod names a PodGroup, nothing is made or changed."""

    podgroup_min_member_from_annotation: bool
    """The owner of a pod may say by annotation how many pods its PodGroup needs."""

    podgroup_topology_from_annotation: bool
    """A pod may say by annotation which network topology its PodGroup asks for."""

    podgroup_deletions_checked: bool
    """A PodGroup is deleted only if it is the one, and the version, that was seen."""

    job_cleanup_delayed: bool
    """A Volcano Job that is deleted waits before it is first asked whether to forget it."""

    job_cleanup_by_any_pod: bool
    """Each pod that goes asks whether its deleted job can be forgotten; else the last."""

    job_cleanup_checked: bool
    """A job is forgotten only if it is the one that was deleted, by its uid."""

    deleted_pods_create_empty_jobs: bool
    """A deleted pod of a job that is not known leaves an empty job behind."""

    terminating_pods_kept: bool
    """A pod that is being deleted stays known until it is gone."""

    requests_of_other_jobs_only_sync: bool
    """What happens to pods of a deleted job does not act on a new one of its name."""

    policies_have_timeouts: bool
    """A policy may have a timeout, after which its action is taken."""

    pod_starts_are_events: bool
    """Pods that begin to be pending, or to run, are events of their own."""

    pod_additions_name_task: bool
    """A pod that is new is one of its task to policies; else only of its job."""

    unknown_deletions_only_sync: bool
    """The deletion of a pod that is not known acts on nothing."""

    failed_requests_retried_forever: bool
    """A request that fails is tried again for ever, as if it were new."""

    restart_unit: RestartUnit
    """What a policy may restart."""

    restarting_jobs_sync: bool
    """A job that is Restarting makes its pods again as soon as it is synced."""

    restart_of_unknown_pod_crashes: bool
    """RestartPod of a pod that is not known crashes the controller."""

    failed_kills_raise_version: bool
    """A job's version is raised before its pods are killed, also if that fails."""

    killed_pods_marked: bool
    """A pod is marked before it is killed, and its events act on nothing from then on."""

    given_up_pods_never_retried: bool
    """A pod that could not be looked up ten times is never looked up again."""

    old_podgroup_names_known: bool
    """A PodGroup named as its job only, as releases before v1.5 made it, is taken for the job's."""

    kill_of_deleted_job_fails: bool
    """Killing the pods of a job that has just been deleted is an error, and tried again."""

    kept_pods_counted: bool
    """A job's status counts the pods that a kill leaves, as completed ones."""

    unchanged_jobs_written: bool
    """A job's status is written with each sync, changed or not."""

    unchanged_podgroups_written: bool
    """A job's PodGroup is written with each sync, changed or not."""

    unseen_podgroups_deleted: bool
    """A kill deletes the job's PodGroup by name; else only one that the controller knows of."""

    new_pods_counted_unknown: bool
    """``status.taskStatusCount`` counts a pod that has just been made as Unknown."""

    job_conditions: JobConditions
    """When a condition is added to a job's status."""

    existing_pods_counted_unknown: bool
    """A pod that is there already when it is to be made is counted as an unknown one."""

    succeeded_pods_satisfy_dependencies: bool
    """A task may start when pods of the one that it depends on have succeeded."""

    min_resources_by_task: bool
    """A PodGroup's minResources are what the minima of its tasks need; else its first pods."""

    task_min_available_follows_replicas: bool
    """The minimum of a task that names none follows its replicas."""

    shared_podgroups_changed: bool
    """A PodGroup is changed in the cache that controllers share, before it is written."""

    jobs_pass_topology: bool
    """The network topology that a job asks for is written into its PodGroup."""

    jobs_pass_sub_groups: bool
    """The partitions of a job's tasks are groups within its PodGroup."""

    pods_inherit_job_priority: bool
    """A pod whose template names no priority class has its job's."""

    pods_have_index_label: bool
    """A job's pods tell their index in their task, by label and annotation."""

    pods_have_retry_count: bool
    """A job's pods tell how often it had been restarted when they were made."""

    queue_status_counts_podgroups: bool
    """A queue's status tells how many of its PodGroups are in which phase."""

    queue_state_write: QueueStateWrite
    """How the controller writes a queue's state."""

    queue_allocated_filled_in: bool
    """A queue without ``status.allocated`` gets an empty one with its state."""

    unchanged_queues_written: bool
    """The status of a queue that nothing is allocated of is written with each sync."""

    missing_podgroups_stop_queue_sync: bool
    """A PodGroup that went unnoticed keeps its queue's status as it is."""

    queue_tree: bool
    """Queues have parents: closing one closes its children, opening it opens those again."""

    child_annotation_added: bool
    """The annotation of a queue that its parent closed is added, and not put in place of one."""

    queue_workers: int
    """How many requests about queues are handled at once, also of the same queue."""

    collection_of_deleted_job_retried: bool
    """A finished job that goes while it is being collected is an error, and tried again."""

    informers_shared: bool
    """Controllers see objects of Volcano through the same informers."""

    controllers: frozenset[str]
    """Controllers that there are; ``sharding`` runs only if --controllers names it."""

    flow_jobs: FlowJobs
    """Which Volcano Jobs a JobFlow takes for its own."""

    failed_jobs_fail_flows: bool
    """A JobFlow that is running fails with the first of its jobs that does."""
