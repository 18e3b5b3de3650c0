"""Killing a job, or some of its pods: pods are deleted, then the status is written.

Source: pkg/controllers/job/job_controller_actions.go killJob, killTarget, killPods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...kubernetes.api_errors import NotFound, Refused
from ...kubernetes.api_server import Document
from ...kubernetes.json_patch import JSON_PATCH, added
from ...model.panic import NIL_POINTER, Panic
from ..component import Client
from . import job_names as names
from .controller_job_cache import ControllerJobInfo, key_of, phase_of, task_of
from .held import ControllerListers
from .job_errors import Failed
from .job_status import PodCounts, Status, add_condition, status_of, with_status
from .pod_group import delete_group

UpdateStatus = Callable[[Status], bool]
"""Changes a status, and says whether the phase changed."""

NONE: frozenset[str] = frozenset()
ENDED = frozenset({"Succeeded", "Failed"})
"""Phases of pods that a kill may leave."""


class KillTarget(NamedTuple):
    """Which pods of a task are to be killed.

    :param restarts: the action; it says whether all are meant, one, or those of a partition.
    """

    restarts: str
    task: str
    pod: str
    partition: str


class _Kill:
    """One kill: which pods are to go, and what is counted of the others."""

    def __init__(self, listers: ControllerListers, client: Client, info: ControllerJobInfo) -> None:
        assert info.job is not None
        self.held = listers
        self.client = client
        self.info = info
        self.job = info.job
        self.counts = PodCounts()
        self.doomed: list[Document] = []
        self.failed = False

    def choose_all(self, retain: frozenset[str]) -> None:
        """Choose all pods but those that have ended and may stay, as they all do in the end."""
        status, spec = self.job.get("status", {}), self.job["spec"]
        # The count from before this kill: a restart raises it only when the status is written.
        if status.get("retryCount", 0) >= spec.get("maxRetry", 0) - 1:
            retain = ENDED
        for pod in _by_name(self.info):
            if "deletionTimestamp" in pod["metadata"]:
                self.counts.terminating()
            elif phase_of(pod) not in retain:
                self.doomed.append(pod)
            elif self.held.own.kept_pods_counted:
                # Counted until v1.11.0; killPods counts only pods that could not be deleted.
                self.counts.add(pod)

    def choose(self, target: KillTarget) -> bool:
        """Choose the pods of a target, and say whether the kill goes on.

        :raises Panic: the pod is not known, and the release does not expect that.
        """
        pods = self.info.pods.get(target.task, {})
        if target.restarts == names.JobAction.RESTART_POD:
            if target.pod not in pods and self.held.own.restart_of_unknown_pod_crashes:
                raise Panic(NIL_POINTER, ("job.(*jobcontroller).killPods",))
            pods = {name: pod for name, pod in pods.items() if name == target.pod}
        elif target.restarts == names.JobAction.RESTART_PARTITION:
            divided = (task_of(self.job, target.task) or {}).get("partitionPolicy") is not None
            here = target.partition if divided else ""
            pods = {name: pod for name, pod in pods.items() if here and partition_of(pod) == here}
            if not pods:
                return False
        self.doomed = [pod for _, pod in sorted(pods.items())]
        return True

    def mark(self) -> None:
        """Mark the pods that are to go; what cannot be marked stays."""
        marked = []
        for pod in self.doomed:
            part = [added(("metadata", "annotations", names.KILLED), "true")]
            try:
                self.client.patch("Pod", key_of(pod), part, how=JSON_PATCH)
            except NotFound:
                # No error to killPods: the deletion finds the same, and counts it as ending.
                marked.append(pod)
            except Refused:
                self.failed = True
            else:
                marked.append(pod)
        self.doomed = marked

    def delete(self) -> None:
        """Delete the pods.

        :raises Failed: some could not be deleted, or marked.
        """
        for pod in self.doomed:
            ending = "deletionTimestamp" in pod["metadata"]
            if ending or delete_pod(self.held, self.client, pod):
                self.counts.terminating()
            else:
                self.failed = True
        if self.failed:
            self.client.emit(self.job, "FailedDelete", "Error deleting pods")
            raise Failed("failed to kill pods")

    def write(self, status: Status, update: UpdateStatus | None) -> bool:
        """Write the status, and say whether the kill goes on.

        :raises Refused: the request failed. :raises Failed: the cache does not have the job.
        """
        self.counts.fill(status)
        # Unlike a sync, a kill adds a condition only with a new phase, in every release.
        if update is not None and update(status):
            add_condition(status, self.held.own.job_conditions)
        status["runningDuration"] = "0s"
        try:
            written = self.client.update(with_status(self.job, status), status=True)
        except NotFound:
            if self.held.own.kill_of_deleted_job_fails:
                raise
            return False
        self.held.cache.update(written)
        return True


def kill_job(
    listers: ControllerListers,
    client: Client,
    info: ControllerJobInfo,
    retain: frozenset[str],
    update: UpdateStatus | None,
) -> None:
    """Delete the pods of a job and its PodGroup, and raise its version.

    :param retain: phases of pods that stay.
    :raises Refused, Failed: a request failed.
    """
    kill = _Kill(listers, client, info)
    if "deletionTimestamp" in kill.job["metadata"]:
        return
    status = status_of(kill.job)
    # Pods made for a lower version are of the past: their events only sync (applyPolicies).
    status["version"] = status.get("version", 0) + 1
    # `job.Status.Version++` stands before DeepCopy since v1.11.0: cache and informer share it.
    if listers.own.failed_kills_raise_version:
        kill.job = with_status(kill.job, status)
        listers.spoil_job(info, kill.job)
    kill.choose_all(retain)
    # The PodGroup goes last: a kill that fails before that finds it again when it is retried.
    if _carried_out(kill, status, update):
        delete_group(listers, client, kill.job)


def kill_target(
    listers: ControllerListers,
    client: Client,
    info: ControllerJobInfo,
    target: KillTarget,
    update: UpdateStatus | None,
) -> None:
    """Delete some pods of a job, and its PodGroup unless the release spares it.

    The version stays.

    :raises Refused, Failed: a request failed.
    :raises Panic: the pod is not known, and the release does not expect that.
    """
    kill = _Kill(listers, client, info)
    if "deletionTimestamp" in kill.job["metadata"] or not kill.choose(target):
        return
    done = _carried_out(kill, status_of(kill.job), update)
    if done and not listers.own.targeted_restarts_keep_podgroup:
        delete_group(listers, client, kill.job)


def _carried_out(kill: _Kill, status: Status, update: UpdateStatus | None) -> bool:
    """Delete pods and write the status, and say whether the kill goes on."""
    if kill.held.own.killed_pods_marked:
        kill.mark()
    kill.delete()
    return kill.write(status, update)


def delete_pod(listers: ControllerListers, client: Client, pod: Document) -> bool:
    """Delete a pod, and say whether it is; one that could not be deleted is looked up later."""
    try:
        client.delete("Pod", key_of(pod))
    except NotFound:
        return True
    except Refused:
        # Into errTasks: syncTask reads the pod from the API server and corrects the cache.
        listers.look_up(pod)
        return False
    return True


def partition_of(pod: Document) -> str:
    """Return the number of a pod's partition; empty if it has none."""
    partition: str = (pod["metadata"].get("labels") or {}).get(names.PARTITION, "")
    return partition


def _by_name(info: ControllerJobInfo) -> Iterator[Document]:
    """Yield all pods by name, where Go has no order."""
    by_name = {name: pod for pods in info.pods.values() for name, pod in pods.items()}
    return (pod for _, pod in sorted(by_name.items()))
