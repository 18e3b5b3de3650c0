"""The Job controller: which jobs and pods it knows, its requests, policies and kills."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


class RestartUnit(StrEnum):
    """What a policy of a Volcano Job may restart."""

    JOB = "job"
    """Whole jobs; any other request only syncs the job."""
    POD = "pod"
    """Also a task, or a pod."""
    PARTITION = "partition"
    """Also a task, one of its partitions, or a pod."""


@subject
class JobBehaviours:
    """The Job controller: what differs between releases."""

    job_cleanup_delayed: bool = behaviour(
        "A Volcano Job that is deleted waits before the first check whether to forget it.",
        since(FIRST, True).means("A job is forgotten after all earlier ones."),
        since("v1.9.0", False, pull=3144).means(
            "A job without pods is forgotten at once; a retry may affect a new job of its name."
        ),
        source="pkg/controllers/cache/cache.go deleteJob",
    )

    job_cleanup_by_any_pod: bool = behaviour(
        "Each ended pod triggers the check to forget its deleted job; else only the last.",
        since(FIRST, True).means("A job with many pods is checked, and delayed, for each of them."),
        since("v1.9.0", False, pull=3144).means("A job is checked when its last pod is gone."),
        source="pkg/controllers/cache/cache.go DeletePod",
    )

    job_cleanup_checked: bool = behaviour(
        "A job is forgotten only if its uid is that of the deleted job.",
        since(FIRST, False).means(
            "Forgetting a deleted job may forget a new one of its name, which then gets no pods.",
            source="pkg/controllers/cache/cache.go processCleanupJob",
        ),
        since("hardened", True).means(
            "A new job of the same name stays known.",
            source="engine/volcano/controllers/job.py; tests/volcano/test_table.py",
        ),
    )

    job_updates_name_entries: bool = behaviour(
        "A job known by an update is forgotten by its own name, also if a pod was known first.",
        since(FIRST, False).means(
            "A job that was forgotten too early, and known again by its pods, stays for ever.",
            source="pkg/controllers/cache/cache.go Update",
        ),
        since("v1.14.0", True, pull=4675).means(
            "A job that is known again by an update is forgotten when it is deleted.",
            source="pkg/controllers/cache/cache.go Update; pkg/controllers/apis/job_info.go SetJob",
        ),
    )

    deleted_pods_create_empty_jobs: bool = behaviour(
        "A deleted pod of a job that is not known leaves an empty job behind.",
        since(FIRST, True).means("Jobs without a name pile up in the controller's memory."),
        since("v1.12.0", False, pull=4088).means(
            "The deletion of a pod of an unknown job does nothing."
        ),
        source="pkg/controllers/cache/cache.go DeletePod",
    )

    terminating_pods_kept: bool = behaviour(
        "A pod that is being deleted stays known until it is gone.",
        since(FIRST, False).means(
            "A pod is recreated without success while the old one of its name still terminates."
        ),
        since(landed("v1.12.3", "v1.13.2", "v1.14.0"), True, pull=4829).means(
            "A job is not forgotten, and its pods not recreated, until the old ones are gone."
        ),
        source="pkg/controllers/job/job_controller_handler.go addPod, updatePod",
    )

    requests_of_other_jobs_only_sync: bool = behaviour(
        "Events of a deleted job's pods do not act on a new job of its name.",
        since(FIRST, False).means(
            "A recreated job may be restarted or ended by events of the old one's pods."
        ),
        since("v1.11.0", True, pull=3771).means(
            "Events of an old job's pods only sync the new job."
        ),
        source="pkg/controllers/job/job_controller_util.go applyPolicies",
    )

    policies_have_timeouts: bool = behaviour(
        "A policy may have a timeout before its action.",
        since(FIRST, False).means("Policies act at once."),
        since("v1.11.0", True, pull=3813).means(
            "A policy's action is cancelled if the pod recovers in time."
        ),
        source="pkg/controllers/job/job_controller_util.go applyPolicies",
    )

    pod_starts_are_events: bool = behaviour(
        "Policies have events for pods that become pending or running.",
        since(FIRST, False).means("No policy can act on pods that stay Pending."),
        since("v1.11.0", True, pull=3813).means(
            "A policy with a timeout may act on pods that stay Pending."
        ),
        source="pkg/controllers/job/job_controller_handler.go addPod, updatePod",
    )

    pod_additions_name_task: bool = behaviour(
        "Task policies apply to new pods; else only job policies do.",
        since(FIRST, False).means(
            "A task's policy for pods that stay Pending does not apply to new pods."
        ),
        since("v1.14.0", True, pull=4675).means("A task's policies apply to its new pods."),
        source="pkg/controllers/job/job_controller_handler.go addPod",
    )

    unknown_deletions_only_sync: bool = behaviour(
        "The deletion of an unknown pod triggers no policy.",
        since(FIRST, False).means("For policies, each deletion of a pod is PodEvicted."),
        since("v1.14.0", True, pull=4815).means(
            "A pod whose deletion is reported twice evicts its job once."
        ),
        source="pkg/controllers/job/job_controller_handler.go deletePod",
    )

    failed_requests_retried_forever: bool = behaviour(
        "A failed request is retried forever, as if it were new.",
        since(FIRST, False).means(
            "A request that failed --max-requeue-num times (15) terminates its job."
        ),
        since("v1.11.0", True, pull=3813).means(
            "A job that cannot be synced is retried at short intervals, forever."
        ),
        since(landed("v1.11.1", "v1.12.0"), False, pull=4142).means(
            "A request that failed --max-requeue-num times terminates its job again."
        ),
        source="pkg/controllers/job/job_controller.go processNextReq",
    )

    given_up_requests_forgotten: bool = behaviour(
        "A request that terminated its job may fail as often again; else its next failure does.",
        since(FIRST, True).means(
            "A request that terminated its job is tried again when it comes again."
        ),
        since(landed("v1.11.1", "v1.12.0"), False, pull=4142).means(
            "A request that terminated its job does so again with its next failure."
        ),
        source="pkg/controllers/job/job_controller.go processNextReq",
    )

    restart_unit: RestartUnit = behaviour(
        "What a policy may restart.",
        since(FIRST, RestartUnit.JOB).means("RestartTask, where a job names it, restarts nothing."),
        since("v1.11.0", RestartUnit.POD, pull=3813).means(
            "RestartTask and RestartPod kill only their pods, but the PodGroup is deleted."
        ),
        since("v1.14.0", RestartUnit.PARTITION, pull=4675).means(
            "RestartPartition kills the pods of a task's partition."
        ),
        source="pkg/controllers/job/state/running.go Execute",
    )

    restarting_jobs_sync: bool = behaviour(
        "A sync of a Restarting job recreates its pods.",
        since(FIRST, False).means("Every event of a Restarting job kills all its pods again."),
        since("v1.11.0", True, pull=3813).means("Pods that a partial restart did not kill stay."),
        source="pkg/controllers/job/state/restarting.go Execute",
    )

    restart_of_unknown_pod_crashes: bool = behaviour(
        "RestartPod of an unknown pod crashes the controller.",
        since(FIRST, False).means("Only whole jobs are restarted."),
        since("v1.11.0", True, pull=3813).means(
            "A pod that is gone before its restart is handled crashes the controllers."
        ),
        since("v1.13.0", False, pull=4569).means(
            "A pod that is gone before its restart is skipped."
        ),
        source="pkg/controllers/job/job_controller_actions.go killPods",
    )

    failed_kills_raise_version: bool = behaviour(
        "A job's version is increased before its pods are killed, even if the kill fails.",
        since(FIRST, False).means("A failed kill is retried."),
        since("v1.11.0", True, pull=3813).means(
            "A failed kill makes its request outdated: the retry only syncs the job."
        ),
        source="pkg/controllers/job/job_controller_actions.go killPods",
    )

    killed_pods_marked: bool = behaviour(
        "A pod is marked before it is killed; after that, its events trigger no policy.",
        since(FIRST, False).means(
            "Pods that a restart kills count as PodEvicted, and may restart their job again."
        ),
        since("v1.14.0", True, pull=4815).means(
            "Pods that a restart kills restart nothing; a pod that cannot be marked is not killed."
        ),
        source="pkg/controllers/job/job_controller_actions.go killPods, "
        "pkg/controllers/job/job_controller_handler.go updatePod",
    )

    given_up_pods_never_retried: bool = behaviour(
        "A pod that could not be looked up ten times is never looked up again.",
        since(FIRST, True).means(
            "After a long failure, the controller may have an old state of a pod until it changes."
        ),
        since("v1.12.0", False, pull=4082).means(
            "A pod that was given up is looked up again when it fails again."
        ),
        source="pkg/controllers/job/job_controller_resync.go processResyncTask",
    )

    old_podgroup_names_known: bool = behaviour(
        "A PodGroup with only its job's name, as before v1.5, counts as the job's.",
        since(FIRST, False).means(
            "A job from before an upgrade from v1.5 stays Pending, and leaves its PodGroup behind.",
            source="pkg/controllers/job/job_controller_actions.go syncJob, killJob",
        ),
        since("v1.11.0", True, pull=3786).means(
            "A job from before an upgrade from v1.5 continues; its PodGroup is deleted with it.",
            source="pkg/controllers/job/job_controller_actions.go getPodGroupByJob",
        ),
    )

    kill_of_deleted_job_fails: bool = behaviour(
        "Killing the pods of a just deleted job is an error, and retried.",
        since(FIRST, True).means(
            "The kill of a deleted job is retried up to 15 times; then it is terminated, in vain."
        ),
        since("v1.10.0", False, pull=3514).means(
            "A deleted job is not retried; its PodGroup is deleted with its owner."
        ),
        source="pkg/controllers/job/job_controller_actions.go killJob",
    )
