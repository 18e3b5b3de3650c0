"""Syncing a job: its PodGroup, then its pods, then its status.

Queues that forward their jobs to other clusters (``extendClusters``) play no part here.

Source: pkg/controllers/job/job_controller_actions.go syncJob, initiateJob, initJobStatus.
"""

from __future__ import annotations

from ...kubernetes.api_errors import AlreadyExists, Refused
from ...kubernetes.api_server import Document
from ...volcano.controllers.job_writes import JobConditions
from ..component import Client
from .controller_job_cache import ControllerJobInfo, annotations_of, tasks_of
from .depends import may_start
from .held import ControllerListers
from .job_errors import Failed
from .job_names import KILLED, JobPhase
from .job_status import (
    PodCounts,
    Status,
    add_condition,
    phase,
    set_phase,
    status_of,
    with_status,
    without_zeros,
)
from .kill import UpdateStatus, delete_pod
from .new_pod import new_pod, pod_name
from .pod_group import ensure_group, known_group

NOT_ADMITTED = frozenset({"", "Pending"})
"""Phases of PodGroups whose pods are not made yet."""

_CARRIED = ("state", "version", "controlledResources", "conditions", "retryCount")
"""What a sync takes over of the status; the rest is counted."""


def sync_job(
    listers: ControllerListers, client: Client, info: ControllerJobInfo, update: UpdateStatus
) -> None:
    """Make what a job lacks, delete the pods that it has too many, and write its status.

    Pods are made when the PodGroup is known, and is not Pending any more.

    :raises Refused, Failed: a request failed, or the job's queue is not known.
    """
    job = info.job
    assert job is not None
    if "deletionTimestamp" in job["metadata"]:
        return
    # Upstream needs the queue only for extendClusters, but looks it up first: a job of an unknown
    # queue gets neither a status nor a PodGroup.
    if listers.find("Queue", job["spec"].get("queue", "")) is None:
        raise Failed("queue not found")
    job = _prepared(listers, client, job)
    # Looked up again, as syncJob does: a PodGroup that was just created is not in the lister yet,
    # so its pods wait for another request.
    group = known_group(listers, client, job, old=listers.own.old_podgroup_names_known)
    if group is None or group.get("status", {}).get("phase", "") in NOT_ADMITTED:
        _write_waiting(listers, client, job, update)
    else:
        _Sync(listers, client, info, job).carry_out(update)


def _prepared(listers: ControllerListers, client: Client, job: Document) -> Document:
    """Return a job with a phase, after making or changing its PodGroup."""
    # initiateJob (phase empty or Pending) and initOnJobUpdate differ only in this first status, and
    # in plugins and volumes, which play no part here.
    if not phase(status_of(job)):
        try:
            job = _write_first(listers, client, job)
        except (Refused, Failed) as error:
            message = f"Failed to initialize job status, err: {error}"
            client.emit(job, "JobStatusError", message)
            raise
    try:
        ensure_group(listers, client, job)
    except Refused as refused:
        client.emit(job, "PodGroupError", f"Failed to create PodGroup, err: {refused}")
        raise
    return job


def _write_first(listers: ControllerListers, client: Client, job: Document) -> Document:
    status = status_of(job)
    set_phase(status, JobPhase.PENDING)
    status["minAvailable"] = job["spec"].get("minAvailable", 0)
    add_condition(status, listers.own.job_conditions)
    return _write(listers, client, job, status)


def _write_waiting(
    listers: ControllerListers, client: Client, job: Document, update: UpdateStatus
) -> None:
    """Write the status of a job whose pods are not to be made."""
    status = status_of(job)
    # No pod is counted here: the phase is decided by the counts of the last write.
    changed = update(status)
    if listers.own.unchanged_jobs_written or not _same(job, status):
        _write_next(listers, client, job, status, changed=changed)


def _write_next(
    listers: ControllerListers, client: Client, job: Document, status: Status, *, changed: bool
) -> None:
    """Write a status with the condition that the release adds.

    :param changed: the phase changed.
    """
    if changed or listers.own.job_conditions is not JobConditions.PHASE_CHANGE:
        add_condition(status, listers.own.job_conditions)
    _write(listers, client, job, status)


def _same(job: Document, status: Status) -> bool:
    return without_zeros(status_of(job)) == without_zeros(status)


def _write(listers: ControllerListers, client: Client, job: Document, status: Status) -> Document:
    written = client.update(with_status(job, status), status=True)
    # At once, as syncJob does: the next request may come before the informer delivers this write.
    listers.cache.update(written)
    return written


class _Sync:
    """One sync of the pods of a job: what is there is counted, the rest made or deleted.

    Pods are made and deleted by name, where Go does so all at once.
    """

    def __init__(
        self, listers: ControllerListers, client: Client, info: ControllerJobInfo, job: Document
    ) -> None:
        self.held = listers
        self.client = client
        self.info = info
        self.job = job
        self.counts = PodCounts()
        self.missing: list[tuple[Document, Document]] = []
        self.surplus: list[Document] = []

    def carry_out(self, update: UpdateStatus) -> None:
        """Make, delete, and write the status.

        :raises Refused, Failed: a request failed.
        """
        for task in tasks_of(self.job):
            self._sort_out(task)
        # In this order: if a pod cannot be created, none is deleted and no status is written.
        self._create()
        self._delete()
        old = status_of(self.job)
        # syncJob starts from an empty status: `runningDuration`, which a kill wrote, is lost.
        status = {name: old[name] for name in _CARRIED if name in old}
        status["minAvailable"] = self.job["spec"].get("minAvailable", 0)
        self.counts.fill(status)
        changed = update(status)
        # To Go, no counts at all, as they are read, are not the same as counts of no task.
        same = _same(self.job, status) and (bool(self.counts) or "taskStatusCount" in old)
        if self.held.own.unchanged_jobs_written or not same:
            _write_next(self.held, self.client, self.job, status, changed=changed)

    def _sort_out(self, task: Document) -> None:
        """Count the pods of a task that it is to have; note those that it lacks or has too many.

        They are struck off the worker's copy of the entry, which is used again if the sync fails.
        """
        # Only tasks of the spec are visited: pods of a task that was removed from it stay. Task
        # names are never empty behind the admission webhook (mutate_job.go).
        pods = self.info.pods.get(task.get("name", ""), {})
        for index in range(task.get("replicas", 0)):
            pod = pods.pop(pod_name(self.job, task, index), None)
            if pod is None:
                self.missing.append((task, new_pod(self.held.own, self.job, task, index)))
            elif "deletionTimestamp" in pod["metadata"]:
                # Its name is still in use: the next pod is created when this one is gone.
                self.counts.terminating()
            else:
                self.counts.add(pod)
                if self.held.own.killed_pods_marked and KILLED in annotations_of(pod):
                    self.surplus.append(pod)
        self.surplus += pods.values()

    def _create(self) -> None:
        """Make the pods that are missing, but for those of tasks that wait for others.

        :raises Failed: some could not be made.
        """
        failed = False
        for task, pod in sorted(self.missing, key=lambda task_and_pod: _name(task_and_pod[1])):
            # Per pod here, per task in Go: no lister changes meanwhile.
            if may_start(self.held, self.job, task):
                failed = not self._create_one(pod) or failed
        if failed:
            self.client.emit(self.job, "FailedCreate", "Error creating pods")
            raise Failed("failed to create pods")

    def _create_one(self, pod: Document) -> bool:
        own = self.held.own
        try:
            created = self.client.create(pod)
        except AlreadyExists:
            # The lister is behind, or the pod is not the job's; either way syncJob goes on.
            if own.existing_pods_counted_unknown:
                # A client returns an empty pod with an error.
                self.counts.add({"metadata": {}}, pod if own.new_pods_counted_unknown else None)
            return True
        except Refused:
            return False
        self.counts.add(created, pod if own.new_pods_counted_unknown else None)
        return True

    def _delete(self) -> None:
        """Delete the pods that are too many.

        :raises Failed: some could not be deleted.
        """
        surplus = sorted(self.surplus, key=_name)
        deleted = [delete_pod(self.held, self.client, pod) for pod in surplus]
        for _ in filter(None, deleted):
            self.counts.terminating()
        if not all(deleted):
            self.client.emit(self.job, "FailedDelete", "Error deleting pods")
            raise Failed("failed to delete pods")


def _name(pod: Document) -> str:
    name: str = pod["metadata"]["name"]
    return name
