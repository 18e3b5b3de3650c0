"""What is to be seen in recorded outcomes of a behaviour of scheduler caches or controllers.

A view gives the value that a behaviour has, judging by an outcome alone; None where the outcome
does not depend on it, as when a release lacks what the behaviour is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

from recorded_components import Action, Outcome, outcome

from plinian.engine.volcano.cache.binding import EvictionWithoutPodGroup
from plinian.engine.volcano.cache.nodes import UnselectedNodes
from plinian.engine.volcano.cache.status import QueueStatusWrite
from plinian.engine.volcano.cache.work_queues import CleanupKey, FailedTasksKey
from plinian.engine.volcano.controllers.job import RestartUnit
from plinian.engine.volcano.controllers.job_writes import JobConditions
from plinian.engine.volcano.controllers.jobflow import FlowJobs
from plinian.engine.volcano.controllers.queue import QueueStateWrite

CLEANUP = "cache deletedJobs"
FAILED = "cache errTasks"
JOB_CLEANUP = "job deletedJobs"
GROUP = "podgroup-rs-a"


class View(NamedTuple):
    """A case, and how to tell a behaviour's value from its outcome."""

    case: str
    value: Callable[[Outcome], Any]


def _later(queue: str, step: int = -1) -> Callable[[Outcome], bool]:
    """Whether what a step put into a queue has to wait there."""
    return lambda seen: "later" in seen.queue(queue, step)


def _no_failures(queue: str) -> Callable[[Outcome], bool]:
    return lambda seen: "failures" not in seen.queue(queue)


def _does(what: str, since: int = 0) -> Callable[[Outcome], bool]:
    return lambda seen: bool(seen.actions(what, since))


def _spoils(kind: str) -> Callable[[Outcome], bool]:
    """Whether an object of a kind that the informers hold was changed."""
    return lambda seen: any(
        key.split()[0] == kind for step in seen.steps for key in step.get("spoilt", ())
    )


def _made(seen: Outcome, what: str) -> dict[str, Any]:
    """Return the first object of a kind that was created."""
    created: dict[str, Any] = seen.actions(f"create {what}")[0]["object"]
    return created


def _answers(text: str) -> Callable[[Outcome], bool]:
    return lambda seen: any(step.get("answer") == text for step in seen.steps)


def _rate(queue: str) -> Callable[[Outcome], int]:
    return lambda seen: int(seen.last["answer"][queue]["a second"])


def _condition(of: Action) -> list[str]:
    conditions = of.get("change", {}).get("status", {}).get("conditions", [])
    return [condition["type"] for condition in conditions]


def _worked(seen: Outcome, step: int = -1) -> str:
    return " ".join(seen.steps[step].get("worked", ()))


def _cleanup_key(seen: Outcome) -> CleanupKey:
    by_object = "default/g (1)" in _worked(seen, 3) + _worked(seen)
    return CleanupKey.OBJECT if by_object else CleanupKey.NAME_AND_UID


def _failed_tasks_key(seen: Outcome) -> FailedTasksKey:
    asked = seen.actions("get pods")
    return FailedTasksKey.OBJECT if asked else FailedTasksKey.JOB_AND_UID


def _eviction_without_podgroup(seen: Outcome) -> EvictionWithoutPodGroup:
    if seen.crashed:
        return EvictionWithoutPodGroup.CRASHES
    evicted = seen.actions("delete pods")
    return EvictionWithoutPodGroup.HALF_DONE if evicted else EvictionWithoutPodGroup.REFUSED


def _queue_status_write(seen: Outcome) -> QueueStatusWrite:
    applied = seen.actions("patch queues/status")
    return QueueStatusWrite.APPLY if applied else QueueStatusWrite.UPDATE


def _unselected_nodes(seen: Outcome) -> UnselectedNodes:
    nodes = seen.seen("cache").get("nodes", {})
    if "n2" in nodes:
        return UnselectedNodes.COME_WITH_DRIVERS
    return UnselectedNodes.KEPT if "n1" in nodes else UnselectedNodes.FORGOTTEN


def _ready_told_again(seen: Outcome) -> bool:
    unwritten = seen.steps[seen.step("op", "record status")]
    return any("Scheduled" in event for event in unwritten.get("events", ()))


CACHE_VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "cleanup_delayed": View("cache-group-deleted-empty", _later(CLEANUP, 2)),
        "cleanup_delay_resets": View("cache-group-deleted-empty", _no_failures(CLEANUP)),
        "cleanup_key": View("cache-group-deleted-pod-stays", _cleanup_key),
        "cleanup_rate": View("cache-rates", _rate("deletedJobs")),
        "failed_tasks_key": View("cache-resync-forgotten", _failed_tasks_key),
        "failed_tasks_delayed": View("cache-resync", _later(FAILED, -2)),
        "failed_tasks_rate": View("cache-rates", _rate("errTasks")),
        "failed_tasks_delay_resets": View("cache-resync-fails", _no_failures(FAILED)),
        "missing_pods_removed_without_lock": View("cache-sync-while-locked", _answers("returns")),
        "bind_failures_in_condition": View("cache-bind-refused", _does("update pods/status")),
        "pre_bind_failures_in_condition": View("cache-volumes-fail", _does("update pods/status")),
        "pre_bind_blocks_sessions": View("cache-register-while-binding-hangs", _answers("waits")),
        "evicted_pods_get_disruption_target": View(
            "cache-evict",
            lambda seen: "DisruptionTarget" in _condition(seen.actions("update pods/status")[0]),
        ),
        "eviction_without_podgroup": View("cache-evict-without-group", _eviction_without_podgroup),
        "queue_status_write": View("cache-queue-status", _queue_status_write),
        "first_session_waits_for_handlers": View(
            "cache-run-with-late-handlers", _answers("waits until they have")
        ),
        "nodes_through_work_queue": View(
            "cache-node-queued", lambda seen: "n1" not in seen.steps[0]["cache"].get("nodes", {})
        ),
        "unselected_nodes": View("cache-nodes-by-selector", _unselected_nodes),
        "volume_limits_written_to_shared_nodes": View("cache-volume-limits", _spoils("Node")),
        "scheduled_events_by_pod": View(
            "cache-bind-two-one-refused", lambda seen: seen.told("Pod p2: Scheduled")
        ),
        "removed_images_forgotten": View(
            "cache-node-images", lambda seen: seen.steps[1].get("cache", {}).get("images") == ["a"]
        ),
        "startup_queues_checked_first": View(
            "cache-start",
            lambda seen: any(
                one["do"].startswith("get queues") for one in seen.whole["start"]["api"]
            ),
        ),
        "ready_podgroup_events_repeated": View("cache-record-ready", _ready_told_again),
        "deleted_podgroup_crashes_close": View(
            "cache-update-annotations-group-lost", lambda seen: seen.crashed
        ),
    }
)
"""How behaviours of the scheduler's cache are seen."""


def _spared(has: View) -> Callable[[Outcome], bool | None]:
    """Whether no PodGroup is made, of releases that do make them where ``has`` says so."""

    def spared(seen: Outcome) -> bool | None:
        if not has.value(outcome(has.case, seen.release)):
            return None
        return not seen.actions("create podgroups", len(seen.given) - 1)

    return spared


def _restored(seen: Outcome) -> bool | None:
    """Whether a PodGroup is made for a pod that names it, of releases that spare others."""
    if not _spared(RESTORES)(seen):
        return None
    return bool(seen.actions("create podgroups", len(seen.given) - 1))


def _stays(seen: Outcome) -> bool:
    deleted = seen.steps[seen.step("delete")]
    pods = deleted.get("jobs", {}).get("default/train", {}).get("pods", [])
    return any(pod.endswith(" terminating") for pod in pods)


def _asked_by_any_pod(seen: Outcome) -> bool:
    first = seen.step("gone", "train-work-0")
    after, before = (seen.queue(JOB_CLEANUP, first - late) for late in (0, 1))
    return after != before


def _job_cleanup_checked(seen: Outcome) -> bool | None:
    """Whether the new job is known in the end; None if it was given the old one's place."""
    entries = [step["jobs"]["default/train"] for step in seen.steps if step.get("jobs")]
    if entries[-1]["entry"] == 1:
        return None
    return "default/train" in seen.seen("jobs")


def _restart_unit(seen: Outcome) -> RestartUnit:
    by_task = outcome("job-restart-task-of-one", seen.release)
    if not by_task.actions("delete pods"):
        return RestartUnit.JOB
    of_partition = seen.actions("delete pods")
    return RestartUnit.PARTITION if of_partition else RestartUnit.POD


def _group_kept(seen: Outcome) -> bool | None:
    """Whether the group is not deleted when a task restarts; None if none ever does."""
    return not seen.actions("delete podgroups") if seen.actions("delete pods") else None


def _restarting_syncs(seen: Outcome) -> bool:
    """Whether the group is deleted once, and not again while the job restarts."""
    return len(seen.actions("delete podgroups")) == 1


def _conditions(seen: Outcome) -> JobConditions:
    status = seen.whole["stored"]["jobs default/train"]["status"]
    phases = [condition["status"] for condition in status["conditions"]]
    if len(set(phases)) == len(phases):
        return JobConditions.LATEST_OF_PHASE
    again = any(one == following for one, following in pairwise(phases))
    return JobConditions.ANY_CHANGE if again else JobConditions.PHASE_CHANGE


def _status(seen: Outcome, job: str = "train") -> dict[str, Any]:
    status: dict[str, Any] = seen.whole["stored"][f"jobs default/{job}"]["status"]
    return status


def _queue_state_write(seen: Outcome) -> QueueStateWrite:
    applied = seen.actions("patch queues/status flat")
    if not applied:
        return QueueStateWrite.UPDATE
    with_allocated = "allocated" in applied[0]["patch"]["status"]
    return QueueStateWrite.APPLY_ALLOCATED if with_allocated else QueueStateWrite.APPLY


def _allocated_filled_in(seen: Outcome) -> bool:
    updated = seen.actions("update queues/status flat")
    if updated:
        return bool(updated[0]["allocated"] == "{}")
    return "allocated" in seen.actions("patch queues/status flat")[0]["patch"]["status"]


def _annotation_added(seen: Outcome) -> bool | None:
    patches = [patch for one in seen.actions("patch queues") for patch in one["patch"]]
    ops = {patch["op"] for patch in patches if "annotations" in patch["path"]}
    return ops == {"add"} if ops else None


def _flow_jobs(seen: Outcome) -> FlowJobs:
    if seen.actions("delete jobs default/f2-a"):
        return FlowJobs.OF_TEMPLATES
    labelled = seen.actions("delete jobs default/stray")
    return FlowJobs.LABELLED if labelled else FlowJobs.OWNED


def _counts_new_as_unknown(seen: Outcome) -> bool:
    since = seen.step("update")
    counts = seen.actions("update jobs/status", since)[0]["change"]["status"]["taskStatusCount"]
    return bool(counts["work"]["phase"].get("Unknown"))


RESTORES = View("replicaset-group-deleted-pod-bare", _does("create podgroups", 4))
STATEFULSETS = View("statefulset-0", _does("delete podgroups"))

PODGROUP_VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "replicasets_restore_podgroups": RESTORES,
        "replicasets_update_podgroups": View("replicaset-updates-group", _does("update podgroups")),
        "replicasets_skip_annotated_pods": View("replicaset-group-deleted", _spared(RESTORES)),
        "statefulsets_have_podgroups": STATEFULSETS,
        "statefulset_pods_by_revision": View(
            "statefulset-two-revisions",
            lambda seen: _made(seen, "podgroups")["spec"]["minResources"]["cpu"] == "3",
        ),
        "statefulsets_update_podgroups": View(
            "statefulset-updates-group", _does("update podgroups")
        ),
        "statefulsets_skip_annotated_pods": View(
            "statefulset-group-deleted", _spared(STATEFULSETS)
        ),
        "podgroup_min_member_from_annotation": View(
            "replicaset-minimum", lambda seen: _made(seen, "podgroups")["spec"]["minMember"] == 3
        ),
        "podgroup_topology_from_annotation": View(
            "pod-topology", lambda seen: "networkTopology" in _made(seen, "podgroups")["spec"]
        ),
        "podgroup_deletions_checked": View(
            "replicaset-1-0-1",
            lambda seen: all("uid" in one for one in seen.actions("delete podgroups")),
        ),
        "named_podgroups_restored": View("replicaset-group-deleted", _restored),
        "pods_annotated_by_uid": View(
            "pod-topology",
            lambda seen: "uid" in seen.actions("patch pods")[0]["patch"]["metadata"],
        ),
    }
)
"""How behaviours of the controller of PodGroups are seen."""

JOB_VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "job_cleanup_delayed": View("job-deleted-empty", _later(JOB_CLEANUP, -2)),
        "job_cleanup_by_any_pod": View("job-deleted-pods-at-once", _asked_by_any_pod),
        "job_cleanup_checked": View("job-recreated-after-pods-at-once", _job_cleanup_checked),
        "deleted_pods_create_empty_jobs": View(
            "job-stray-pod-deleted", lambda seen: "default/none" in seen.seen("jobs")
        ),
        "terminating_pods_kept": View("job-pod-deleted-by-user", _stays),
        "requests_of_other_jobs_only_sync": View(
            "job-recreated-with-policy",
            lambda seen: not seen.told("Start to execute action TerminateJob"),
        ),
        "policies_have_timeouts": View(
            "job-policy-with-timeout", lambda seen: seen.told("Execute action RestartJob after")
        ),
        "pod_starts_are_events": View(
            "job-starts",
            lambda seen: any(
                "Event=PodPending" in _worked(seen, place) for place in range(len(seen.steps))
            ),
        ),
        "unknown_deletions_only_sync": View(
            "job-stray-pod-of-known-job-deleted",
            lambda seen: "Event=OutOfSync" in _worked(seen, seen.step("see")),
        ),
        "failed_requests_retried_forever": View(
            "job-create-podgroups-timeout",
            lambda seen: "failures" not in seen.queue("job", seen.step("create", "train")),
        ),
        "given_up_requests_forgotten": View(
            "job-deletions-fail-always", lambda seen: "failures" not in seen.queue("job")
        ),
        "restart_unit": View("job-restart-partition", _restart_unit),
        "restarting_jobs_sync": View("job-of-one-restarts", _restarting_syncs),
        "restart_of_unknown_pod_crashes": View(
            "job-restart-vanished-pod", lambda seen: seen.crashed
        ),
        "failed_kills_raise_version": View("job-deletions-fail-always", _spoils("Job")),
        "killed_pods_marked": View("job-abort-resume", _does("patch pods")),
        "kill_of_deleted_job_fails": View(
            "job-kill-after-job-deleted",
            lambda seen: "Action=AbortJob" in str(seen.queue("job", seen.step("create", "c1"))),
        ),
        "kept_pods_counted": View(
            "job-abort-with-succeeded", lambda seen: _status(seen).get("succeeded") == 1
        ),
        "unchanged_jobs_written": View(
            "job-synced-again", lambda seen: bool(seen.actions("update jobs/status", -1))
        ),
        "job_conditions": View("job-back-to-running", _conditions),
        "existing_pods_counted_unknown": View(
            "job-pod-exists", lambda seen: _status(seen).get("unknown") == 1
        ),
        "succeeded_pods_satisfy_dependencies": View(
            "job-depends-with-minimum-on-succeeded", _does("create pods default/train-ps-0")
        ),
        "min_resources_by_task": View(
            "job-minimum-by-task",
            lambda seen: _made(seen, "podgroups")["spec"]["minResources"]["cpu"] == "5",
        ),
        "task_min_available_follows_replicas": View(
            "job-scales-minimum",
            lambda seen: any(
                one["change"].get("spec", {}).get("minTaskMember") == {"work": 5}
                for one in seen.actions("update podgroups")
            ),
        ),
        "targeted_restarts_keep_podgroup": View("job-restart-task-of-one", _group_kept),
        "job_podgroups_read_live": View("job-of-one-restarts", _does("get podgroups")),
        "shared_podgroups_changed": View("job-group-update-fails", _spoils("PodGroup")),
        "given_up_pods_never_retried": View(
            "job-deletions-fail-always",
            lambda seen: "never done" in seen.queue("job errTasks"),
        ),
        "old_podgroup_names_known": View(
            "job-old-group-name", _does("delete podgroups default/train")
        ),
        "unchanged_podgroups_written": View("job-starts", _does("update podgroups")),
        "unseen_podgroups_deleted": View("job-killed-before-group-seen", _does("delete podgroups")),
        "new_pods_counted_unknown": View("job-starts", _counts_new_as_unknown),
        "pod_additions_name_task": View(
            "job-starts", lambda seen: "TaskName=work" in _worked(seen, seen.step("update"))
        ),
        "jobs_pass_topology": View(
            "job-topology", lambda seen: "networkTopology" in _made(seen, "podgroups")["spec"]
        ),
        "jobs_pass_sub_groups": View(
            "job-partitions", lambda seen: "subGroupPolicy" in _made(seen, "podgroups")["spec"]
        ),
        "pods_inherit_job_priority": View(
            "job-priority", lambda seen: "priorityClassName" in _made(seen, "pods")["spec"]
        ),
        "pods_have_index_label": View(
            "job-starts",
            lambda seen: "volcano.sh/task-index" in _made(seen, "pods")["metadata"]["annotations"],
        ),
        "pods_have_retry_count": View(
            "job-starts",
            lambda seen: (
                "volcano.sh/job-retry-count" in _made(seen, "pods")["metadata"]["annotations"]
            ),
        ),
    }
)
"""How behaviours of the controller of Volcano Jobs are seen."""

QUEUE_VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "queue_status_counts_podgroups": View(
            "queue-counts",
            lambda seen: "running" in seen.whole["stored"]["queues flat"]["status"],
        ),
        "queue_state_write": View("queue-new-with-root", _queue_state_write),
        "queue_allocated_filled_in": View("queue-new-with-root", _allocated_filled_in),
        "missing_podgroups_stop_queue_sync": View(
            "queue-group-unseen",
            lambda seen: "later" in seen.queue("queue", seen.step("create", "g2")),
        ),
        "queue_tree": View("queue-new-with-root", _does("patch queues flat")),
        "child_annotation_added": View("queue-close-parent-annotated", _annotation_added),
        "unchanged_queues_written": View("queue-new", _does("update queues/status flat")),
    }
)
"""How behaviours of the controller of queues are seen."""

OTHER_VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "collection_of_deleted_job_retried": View("gc-delete-notfound", _later("gc", 1)),
        "flow_jobs": View("flow-two-of-one-template", _flow_jobs),
        "flow_jobs_labelled": View(
            "flow-of-two",
            lambda seen: "volcano.sh/createdByJobFlow" in _made(seen, "jobs")["metadata"]["labels"],
        ),
        "failed_jobs_fail_flows": View(
            "flow-job-fails",
            lambda seen: (
                seen.whole["stored"]["jobflows default/f1"]["status"]["state"]["phase"] == "Failed"
            ),
        ),
        "informers_shared": View("job-all-controllers", lambda seen: seen.whole["informers"] == 1),
        "queue_workers": View(
            "flags",
            lambda seen: int(seen.whole["controller flags"].get("worker-threads-for-queue", 1)),
        ),
        "controllers": View("flags", lambda seen: frozenset(seen.whole["controllers"])),
    }
)
"""How behaviours are seen of what else there is of controllers."""

VIEWS: Mapping[str, View] = MappingProxyType(
    {**CACHE_VIEWS, **PODGROUP_VIEWS, **JOB_VIEWS, **QUEUE_VIEWS, **OTHER_VIEWS}
)
"""How each behaviour that can be seen from outside is seen."""
