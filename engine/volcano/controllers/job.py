"""The Job controller: which jobs and pods it knows, its requests, policies and kills."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class RestartUnit(StrEnum):
    """What a policy of a Volcano Job may restart."""

    JOB = "job"
    """Whole jobs; any other request only syncs the job."""
    POD = "pod"
    """Also a task, or a pod."""
    PARTITION = "partition"
    """Also a task, one of its partitions, or a pod."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class JobBehaviours:
    """The Job controller: what differs between releases."""

    job_cleanup_delayed: bool
    """A Volcano Job that is deleted waits before the first check whether to forget it."""

    job_cleanup_by_any_pod: bool
    """Each ended pod triggers the check to forget its deleted job; else only the last."""

    job_cleanup_checked: bool
    """A job is forgotten only if its uid is that of the deleted job."""

    job_updates_name_entries: bool
    """A job known by an update is forgotten by its own name, also if a pod was known first."""

    deleted_pods_create_empty_jobs: bool
    """A deleted pod of a job that is not known leaves an empty job behind."""

    terminating_pods_kept: bool
    """A pod that is being deleted stays known until it is gone."""

    requests_of_other_jobs_only_sync: bool
    """Events of a deleted job's pods do not act on a new job of its name."""

    policies_have_timeouts: bool
    """A policy may have a timeout before its action."""

    pod_starts_are_events: bool
    """Policies have events for pods that become pending or running."""

    pod_additions_name_task: bool
    """Task policies apply to new pods; else only job policies do."""

    unknown_deletions_only_sync: bool
    """The deletion of an unknown pod triggers no policy."""

    failed_requests_retried_forever: bool
    """A failed request is retried forever, as if it were new."""

    given_up_requests_forgotten: bool
    """A request that terminated its job may fail as often again; else its next failure does."""

    restart_unit: RestartUnit
    """What a policy may restart."""

    restarting_jobs_sync: bool
    """A sync of a Restarting job recreates its pods."""

    restart_of_unknown_pod_crashes: bool
    """RestartPod of an unknown pod crashes the controller."""

    failed_kills_raise_version: bool
    """A job's version is increased before its pods are killed, even if the kill fails."""

    killed_pods_marked: bool
    """A pod is marked before it is killed; after that, its events trigger no policy."""

    given_up_pods_never_retried: bool
    """A pod that could not be looked up ten times is never looked up again."""

    old_podgroup_names_known: bool
    """A PodGroup with only its job's name, as before v1.5, counts as the job's."""

    kill_of_deleted_job_fails: bool
    """Killing the pods of a just deleted job is an error, and retried."""


ROWS: tuple[Row, ...] = (
    Row(
        "job_cleanup_delayed",
        True,
        FIRST,
        source="pkg/controllers/cache/cache.go deleteJob",
        why="A job is forgotten after all earlier ones.",
    ),
    Row(
        "job_cleanup_delayed",
        False,
        landed("v1.9.0"),
        source="pkg/controllers/cache/cache.go deleteJob",
        why="A job without pods is forgotten at once; a retry may affect a new job of its name.",
        pull=3144,
    ),
    Row(
        "job_cleanup_by_any_pod",
        True,
        FIRST,
        source="pkg/controllers/cache/cache.go DeletePod",
        why="A job with many pods is checked, and delayed, for each of them.",
    ),
    Row(
        "job_cleanup_by_any_pod",
        False,
        landed("v1.9.0"),
        source="pkg/controllers/cache/cache.go DeletePod",
        why="A job is checked when its last pod is gone.",
        pull=3144,
    ),
    Row(
        "job_cleanup_checked",
        False,
        FIRST,
        source="pkg/controllers/cache/cache.go processCleanupJob",
        why="Forgetting a deleted job may forget a new one of its name, which then gets no pods.",
    ),
    Row(
        "job_cleanup_checked",
        True,
        landed("hardened"),
        source="engine/volcano/controllers/job.py; tests/volcano/test_table.py",
        why="A new job of the same name stays known.",
    ),
    Row(
        "job_updates_name_entries",
        False,
        FIRST,
        source="pkg/controllers/cache/cache.go Update",
        why="A job that was forgotten too early, and known again by its pods, stays for ever.",
    ),
    Row(
        "job_updates_name_entries",
        True,
        landed("v1.14.0"),
        source="pkg/controllers/cache/cache.go Update; pkg/controllers/apis/job_info.go SetJob",
        why="A job that is known again by an update is forgotten when it is deleted.",
        pull=4675,
    ),
    Row(
        "deleted_pods_create_empty_jobs",
        True,
        FIRST,
        source="pkg/controllers/cache/cache.go DeletePod",
        why="Jobs without a name pile up in the controller's memory.",
    ),
    Row(
        "deleted_pods_create_empty_jobs",
        False,
        landed("v1.12.0"),
        source="pkg/controllers/cache/cache.go DeletePod",
        why="The deletion of a pod of an unknown job does nothing.",
        pull=4088,
    ),
    Row(
        "terminating_pods_kept",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_handler.go addPod, updatePod",
        why="A pod is recreated without success while the old one of its name still terminates.",
    ),
    Row(
        "terminating_pods_kept",
        True,
        landed("v1.12.3", "v1.13.2", "v1.14.0"),
        source="pkg/controllers/job/job_controller_handler.go addPod, updatePod",
        why="A job is not forgotten, and its pods not recreated, until the old ones are gone.",
        pull=4829,
    ),
    Row(
        "requests_of_other_jobs_only_sync",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_util.go applyPolicies",
        why="A recreated job may be restarted or ended by events of the old one's pods.",
    ),
    Row(
        "requests_of_other_jobs_only_sync",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller_util.go applyPolicies",
        why="Events of an old job's pods only sync the new job.",
        pull=3771,
    ),
    Row(
        "policies_have_timeouts",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_util.go applyPolicies",
        why="Policies act at once.",
    ),
    Row(
        "policies_have_timeouts",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller_util.go applyPolicies",
        why="A policy's action is cancelled if the pod recovers in time.",
        pull=3813,
    ),
    Row(
        "pod_starts_are_events",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_handler.go addPod, updatePod",
        why="No policy can act on pods that stay Pending.",
    ),
    Row(
        "pod_starts_are_events",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller_handler.go addPod, updatePod",
        why="A policy with a timeout may act on pods that stay Pending.",
        pull=3813,
    ),
    Row(
        "pod_additions_name_task",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_handler.go addPod",
        why="A task's policy for pods that stay Pending does not apply to new pods.",
    ),
    Row(
        "pod_additions_name_task",
        True,
        landed("v1.14.0"),
        source="pkg/controllers/job/job_controller_handler.go addPod",
        why="A task's policies apply to its new pods.",
        pull=4675,
    ),
    Row(
        "unknown_deletions_only_sync",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_handler.go deletePod",
        why="For policies, each deletion of a pod is PodEvicted.",
    ),
    Row(
        "unknown_deletions_only_sync",
        True,
        landed("v1.14.0"),
        source="pkg/controllers/job/job_controller_handler.go deletePod",
        why="A pod whose deletion is reported twice evicts its job once.",
        pull=4815,
    ),
    Row(
        "failed_requests_retried_forever",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller.go processNextReq",
        why="A request that failed --max-requeue-num times (15) terminates its job.",
    ),
    Row(
        "failed_requests_retried_forever",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller.go processNextReq",
        why="A job that cannot be synced is retried at short intervals, forever.",
        pull=3813,
    ),
    Row(
        "failed_requests_retried_forever",
        False,
        landed("v1.11.1", "v1.12.0"),
        source="pkg/controllers/job/job_controller.go processNextReq",
        why="A request that failed --max-requeue-num times terminates its job again.",
        pull=4142,
    ),
    Row(
        "given_up_requests_forgotten",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller.go processNextReq",
        why="A request that terminated its job is tried again when it comes again.",
    ),
    Row(
        "given_up_requests_forgotten",
        False,
        landed("v1.11.1", "v1.12.0"),
        source="pkg/controllers/job/job_controller.go processNextReq",
        why="A request that terminated its job does so again with its next failure.",
        pull=4142,
    ),
    Row(
        "restart_unit",
        RestartUnit.JOB,
        FIRST,
        source="pkg/controllers/job/state/running.go Execute",
        why="RestartTask, where a job names it, restarts nothing.",
    ),
    Row(
        "restart_unit",
        RestartUnit.POD,
        landed("v1.11.0"),
        source="pkg/controllers/job/state/running.go Execute",
        why="RestartTask and RestartPod kill only their pods, but the PodGroup is deleted.",
        pull=3813,
    ),
    Row(
        "restart_unit",
        RestartUnit.PARTITION,
        landed("v1.14.0"),
        source="pkg/controllers/job/state/running.go Execute",
        why="RestartPartition kills the pods of a task's partition.",
        pull=4675,
    ),
    Row(
        "restarting_jobs_sync",
        False,
        FIRST,
        source="pkg/controllers/job/state/restarting.go Execute",
        why="Every event of a Restarting job kills all its pods again.",
    ),
    Row(
        "restarting_jobs_sync",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/job/state/restarting.go Execute",
        why="Pods that a partial restart did not kill stay.",
        pull=3813,
    ),
    Row(
        "restart_of_unknown_pod_crashes",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go killPods",
        why="Only whole jobs are restarted.",
    ),
    Row(
        "restart_of_unknown_pod_crashes",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller_actions.go killPods",
        why="A pod that is gone before its restart is handled crashes the controllers.",
        pull=3813,
    ),
    Row(
        "restart_of_unknown_pod_crashes",
        False,
        landed("v1.13.0"),
        source="pkg/controllers/job/job_controller_actions.go killPods",
        why="A pod that is gone before its restart is skipped.",
        pull=4569,
    ),
    Row(
        "failed_kills_raise_version",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go killPods",
        why="A failed kill is retried.",
    ),
    Row(
        "failed_kills_raise_version",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller_actions.go killPods",
        why="A failed kill makes its request outdated: the retry only syncs the job.",
        pull=3813,
    ),
    Row(
        "killed_pods_marked",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go killPods, "
        "pkg/controllers/job/job_controller_handler.go updatePod",
        why="Pods that a restart kills count as PodEvicted, and may restart their job again.",
    ),
    Row(
        "killed_pods_marked",
        True,
        landed("v1.14.0"),
        source="pkg/controllers/job/job_controller_actions.go killPods, "
        "pkg/controllers/job/job_controller_handler.go updatePod",
        why="Pods that a restart kills restart nothing; a pod that cannot be marked is not killed.",
        pull=4815,
    ),
    Row(
        "given_up_pods_never_retried",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller_resync.go processResyncTask",
        why="After a long failure, the controller may have an old state of a pod until it changes.",
    ),
    Row(
        "given_up_pods_never_retried",
        False,
        landed("v1.12.0"),
        source="pkg/controllers/job/job_controller_resync.go processResyncTask",
        why="A pod that was given up is looked up again when it fails again.",
        pull=4082,
    ),
    Row(
        "old_podgroup_names_known",
        False,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go syncJob, killJob",
        why="A job from before an upgrade from v1.5 stays Pending, and leaves its PodGroup behind.",
    ),
    Row(
        "old_podgroup_names_known",
        True,
        landed("v1.11.0"),
        source="pkg/controllers/job/job_controller_actions.go getPodGroupByJob",
        why="A job from before an upgrade from v1.5 continues; its PodGroup is deleted with it.",
        pull=3786,
    ),
    Row(
        "kill_of_deleted_job_fails",
        True,
        FIRST,
        source="pkg/controllers/job/job_controller_actions.go killJob",
        why="The kill of a deleted job is retried up to 15 times; then it is terminated, in vain.",
    ),
    Row(
        "kill_of_deleted_job_fails",
        False,
        landed("v1.10.0"),
        source="pkg/controllers/job/job_controller_actions.go killJob",
        why="A deleted job is not retried; its PodGroup is deleted with its owner.",
        pull=3514,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
