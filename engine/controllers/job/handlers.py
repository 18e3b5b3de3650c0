"""What informers of the job controller do with a change: the cache, then a request.

Source: pkg/controllers/job/job_controller_handler.go.
"""

from __future__ import annotations

from contextlib import suppress

from ...kubernetes.api_server import Document, controller_of
from ...volcano.controllers.job import RestartUnit
from . import job_names as names
from .controller_job_cache import annotations_of, namespace_of, phase_of
from .held import ControllerListers
from .job_errors import Failed
from .job_names import JOB_API, JobEvent
from .job_request import JobRequest
from .kill import partition_of


def job_changed(
    listers: ControllerListers, old: Document | None, job: Document
) -> JobRequest | None:
    """Know a job, and sync it if it is new, or if its spec or phase changed.

    Source: addJob, updateJob.
    """
    request = JobRequest(namespace_of(job), job["metadata"]["name"], JobEvent.OUT_OF_SYNC)
    if old is None:
        listers.cache.add(job)
        return request
    # A resync of the informer, or a new list, delivers what is known.
    if _version(old) == _version(job):
        return None
    # A refused update is only logged: the request is queued all the same.
    with suppress(Failed):
        listers.cache.update(job)
    # All else in the status is the controller's writing; to react to it would never end.
    same = old["spec"] == job["spec"] and _job_phase(old) == _job_phase(job)
    return None if same else request


def group_changed(old: Document | None, group: Document) -> JobRequest | None:
    """Sync the job of a PodGroup whose phase changed; Unknown is an event to its policies.

    Source: updatePodGroup.
    """
    phase = phase_of(group)
    # Only UpdateFunc is registered: a new PodGroup requests nothing.
    if old is None or phase_of(old) == phase:
        return None
    owners = group["metadata"].get("ownerReferences") or ()
    owned = [owner["name"] for owner in owners if owner["kind"] == "Job"]
    # The loop of updatePodGroup keeps the last owner of kind Job, of any API group.
    name = owned[-1] if owned else group["metadata"]["name"]
    # An empty event matches no policy, so the request is a sync; yet unlike OutOfSync it is
    # compared with exit codes.
    event = JobEvent.JOB_UNKNOWN if phase == "Unknown" else JobEvent.NONE
    return JobRequest(namespace_of(group), name, event)


def pod_changed(
    listers: ControllerListers, old: Document | None, pod: Document
) -> JobRequest | None:
    """Know a pod, and say what happened to it.

    Source: addPod, updatePod.
    """
    if not _is_of_job(pod) or (old is not None and _version(old) == _version(pod)):
        return None
    if not listers.own.terminating_pods_kept and "deletionTimestamp" in pod["metadata"]:
        return pod_deleted(listers, pod)
    # Without a task only policies of the job apply (applyPolicies).
    names_task = old is not None or listers.own.pod_additions_name_task
    request = _request(listers, pod, names_task=names_task)
    if request is None:
        return None
    if old is None:
        listers.cache.add_pod(pod)
        event = JobEvent.POD_PENDING if listers.own.pod_starts_are_events else JobEvent.OUT_OF_SYNC
    else:
        with suppress(Failed):
            listers.cache.update_pod(pod)
        event = _event(listers, old, pod, request)
    return request._replace(
        event=_unless_killed(listers, pod, event),
        exit_code=_exit_code(pod) if event == JobEvent.POD_FAILED else 0,
    )


def pod_deleted(listers: ControllerListers, pod: Document) -> JobRequest | None:
    """Forget a pod, and say that it was evicted.

    Source: deletePod.
    """
    request = _request(listers, pod, names_task=True) if _is_of_job(pod) else None
    if request is None:
        return None
    unknown = listers.own.unknown_deletions_only_sync and not listers.cache.has_pod(pod)
    event = JobEvent.OUT_OF_SYNC if unknown else _unless_killed(listers, pod, JobEvent.POD_EVICTED)
    # After the look at what is known, before the request: a worker must not find the pod.
    listers.cache.delete_pod(pod)
    return request._replace(event=event)


def is_command_for_jobs(command: Document) -> bool:
    """Say whether a command is about a job.

    Source: pkg/controllers/job/job_controller.go Initialize.
    """
    target = command.get("target") or {}
    return bool(target.get("apiVersion") == JOB_API and target.get("kind") == "Job")


def _request(listers: ControllerListers, pod: Document, *, names_task: bool) -> JobRequest | None:
    """Return what every request about a pod has; None without annotations that it needs."""
    own, annotations = listers.own, annotations_of(pod)
    job, task = annotations.get(names.JOB_NAME), annotations.get(names.TASK)
    version = _number(annotations.get(names.JOB_VERSION))
    if job is None or version is None or (names_task and task is None):
        return None
    controller = controller_of(pod) or {}
    metadata = pod["metadata"]
    parts = own.restart_unit is RestartUnit.PARTITION
    return JobRequest(
        namespace_of(pod),
        job,
        job_uid=controller.get("uid", "") if own.requests_of_other_jobs_only_sync else "",
        task=task or "" if names_task else "",
        pod=metadata["name"] if own.policies_have_timeouts else "",
        pod_uid=metadata.get("uid", "") if own.policies_have_timeouts else "",
        partition=partition_of(pod) if parts else "",
        version=version,
    )


def _event(
    listers: ControllerListers, old: Document, pod: Document, request: JobRequest
) -> JobEvent:
    """Return what an update of a pod is to policies."""
    phase, before, cache = phase_of(pod), phase_of(old), listers.cache
    if phase == "Failed" and before != phase:
        return JobEvent.POD_FAILED
    if phase == "Succeeded" and before != phase:
        done = cache.task_completed(request.key, request.task)
        return JobEvent.TASK_COMPLETED if done else JobEvent.OUT_OF_SYNC
    if phase in {"Running", "Pending"}:
        # updatePod sets TaskFailed first, and overwrites it when the phase is new.
        if listers.own.pod_starts_are_events and before != phase:
            return JobEvent.POD_RUNNING if phase == "Running" else JobEvent.POD_PENDING
        if cache.task_failed(request.key, request.task):
            return JobEvent.TASK_FAILED
    return JobEvent.OUT_OF_SYNC


def _unless_killed(listers: ControllerListers, pod: Document, event: JobEvent) -> JobEvent:
    """Return an event, or that something changed if the controller kills the pod."""
    killed = listers.own.killed_pods_marked and names.KILLED in annotations_of(pod)
    return JobEvent.OUT_OF_SYNC if killed else event


def _exit_code(pod: Document) -> int:
    """Return the exit code of a pod's first container; 0 if it is not known."""
    containers = pod.get("status", {}).get("containerStatuses") or [{}]
    ended = (containers[0].get("state") or {}).get("terminated") or {}
    code: int = ended.get("exitCode", 0)
    return code


def _is_of_job(pod: Document) -> bool:
    owner = controller_of(pod)
    return owner is not None and (owner.get("apiVersion"), owner["kind"]) == (JOB_API, "Job")


def _job_phase(job: Document) -> str:
    phase: str = job.get("status", {}).get("state", {}).get("phase", "")
    return phase


def _version(document: Document) -> str:
    version: str = document["metadata"].get("resourceVersion", "")
    return version


def _number(text: str | None) -> int | None:
    """Return a whole number; None of what is not one."""
    digits = (text or "").removeprefix("+").removeprefix("-")
    return int(text or "") if digits.isascii() and digits.isdigit() else None
