"""The controller's cache: jobs with their pods, as its informers delivered them.

Source: pkg/controllers/cache/cache.go, pkg/controllers/apis/job_info.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...kubernetes import work_queue
from ...kubernetes.api_server import Document
from ...kubernetes.object_table import ObjectTable
from ...kubernetes.units import SECOND_US
from ...kubernetes.work_queue import WorkQueue
from ...volcano.admission import task_minimum
from ...volcano.controllers.behaviours import ControllerBehaviours
from . import job_names as names
from .job_errors import Failed

LONGEST_DELAY_US = 180 * SECOND_US
"""Retries of deleted jobs, and of pods that could not be deleted, wait no longer than this."""

RETRIES_WITHOUT_LIMIT = 3
"""How often a task's containers may restart if it does not say (``maxRetry``)."""

Pods = dict[str, dict[str, Document]]
"""Pods by task, then by name."""


class ControllerJobInfo:
    """A job and its pods. A job that is deleted leaves its pods behind until they are gone.

    :ivar name, namespace: empty for an entry that only a pod led to.
    :ivar job: the job, None until it is known and after it is deleted.
    """

    def __init__(
        self, namespace: str, name: str, job: Document | None = None, pods: Pods | None = None
    ) -> None:
        self.namespace = namespace
        self.name = name
        self.job = job
        self.pods: Pods = {} if pods is None else pods

    @property
    def over(self) -> bool:
        """Whether the job is deleted, and all its pods are gone."""
        return self.job is None and not self.pods

    def copy(self) -> ControllerJobInfo:
        """Return the same with separate dictionaries."""
        pods = {task: {**pods} for task, pods in self.pods.items()}
        # Clone copies the maps, not the job and the pods: see ControllerListers.spoil_job.
        return ControllerJobInfo(self.namespace, self.name, self.job, pods)

    def set_job(self, job: Document) -> None:
        """Know the job, and be named like it."""
        self.namespace, self.name = namespace_of(job), job["metadata"]["name"]
        self.job = job

    def remove(self, pod: Document) -> None:
        """Forget a pod by its name, whether it was known or not."""
        task = annotations_of(pod).get(names.TASK, "")
        pods = self.pods.get(task)
        if pods is not None:
            pods.pop(pod["metadata"]["name"], None)
            if not pods:
                del self.pods[task]

    def has(self, pod: Document) -> bool:
        """Say whether a pod of that name is known."""
        task = annotations_of(pod).get(names.TASK, "")
        return pod["metadata"]["name"] in self.pods.get(task, {})


class JobEntry(NamedTuple):
    """All that is known of one job, with numbers for documents; pods by task and name."""

    namespace: str
    name: str
    job: int | None
    pods: tuple[tuple[str, str, int], ...]


class JobCacheState(NamedTuple):
    """All that the cache holds.

    :param keys: the entries by key. :param entries: also those that only the queue holds.
    :param deleted: the queue of deleted jobs, by their entries.
    """

    keys: tuple[tuple[str, int], ...]
    entries: tuple[JobEntry, ...]
    deleted: work_queue.WorkQueueState[int]


class ControllerJobCache:
    """Jobs by key. Each entry has a number, as the queue of deleted jobs holds entries, not keys.

    :ivar deleted: numbers of entries that a worker is to forget when they are over.
    """

    def __init__(self, own: ControllerBehaviours, objects: ObjectTable) -> None:
        self._own = own
        self._objects = objects
        self._keys: dict[str, int] = {}
        self._entries: dict[int, ControllerJobInfo] = {}
        self._next = 0
        self.deleted = WorkQueue[int](longest=LONGEST_DELAY_US)

    def jobs(self) -> Mapping[str, ControllerJobInfo]:
        """Return all that the cache finds by a key, by key."""
        return {key: self._entries[number] for key, number in sorted(self._keys.items())}

    def entry(self, number: int) -> ControllerJobInfo:
        """Return an entry, which the cache may not find by a key any more."""
        return self._entries[number]

    def get(self, key: str) -> ControllerJobInfo | None:
        """Return a copy of a job that is known and not deleted, or None."""
        info = self._find(key)
        return info.copy() if info is not None and info.job is not None else None

    def add(self, job: Document) -> None:
        """Know a new job; one that is known already stays as it is."""
        key = key_of(job)
        info = self._find(key)
        if info is None:
            info = self._new(key)
        if info.job is None:
            info.set_job(job)

    def update(self, job: Document) -> None:
        """Know a newer version of a job.

        :raises Failed: there is no such job, or a newer version is known.
        """
        info = self._find(key_of(job))
        if info is None:
            raise Failed(f"failed to find job <{key_of(job)}>")
        # An equal version passes: the informer delivers what the controller has stored already.
        if info.job is not None and _version(job) < _version(info.job):
            raise Failed(f"job <{key_of(job)}> has too old resource version")
        if self._own.job_updates_name_entries:
            info.set_job(job)
        else:
            info.job = job

    def spoil(self, old: Document, new: Document) -> None:
        """Put a document in place of one: the controller has written to what it shares."""
        info = self._find(key_of(old))
        if info is not None and info.job is old:
            info.job = new

    def delete(self, job: Document) -> None:
        """Know that a job is deleted, whichever of that name it was."""
        number = self._keys.get(key_of(job))
        if number is not None:
            self._entries[number].job = None
            # Also while pods are left: the worker retries until the last one is gone.
            self._queue(number)

    def add_pod(self, pod: Document) -> None:
        """Know a new pod; one that is known already stays as it is."""
        key, task = _job_of(pod), annotations_of(pod).get(names.TASK)
        info = self._find(key) or self._new(key)
        # A pod without the task's annotation leaves an empty entry behind, as AddPod does.
        if task is not None:
            info.pods.setdefault(task, {}).setdefault(pod["metadata"]["name"], pod)

    def update_pod(self, pod: Document) -> None:
        """Know a newer version of a pod.

        :raises Failed: no pod of that name is known.
        """
        key = _job_of(pod)
        info = self._find(key) or self._new(key)
        # An entry that was just made stays, although UpdatePod fails.
        if not info.has(pod):
            raise Failed(f"can not find pod <{key_of(pod)}> in cache")
        info.pods[annotations_of(pod)[names.TASK]][pod["metadata"]["name"]] = pod

    def delete_pod(self, pod: Document) -> None:
        """Forget a pod by its name, and look whether its job is over."""
        key = _job_of(pod)
        if key not in self._keys:
            if not self._own.deleted_pods_create_empty_jobs:
                return
            self._new(key)
        number = self._keys[key]
        info = self._entries[number]
        info.remove(pod)
        if info.over or (self._own.job_cleanup_by_any_pod and info.job is None):
            self._queue(number)

    def has_pod(self, pod: Document) -> bool:
        """Say whether a pod of that name is known."""
        info = self._find(_job_of(pod))
        return info is not None and info.has(pod)

    def task_completed(self, key: str, task: str) -> bool:
        """Say whether as many pods of a task have succeeded as it has replicas."""
        spec, pods = self._task(key, task)
        # The handler has stored the new pod before it asks this, so the last pod completes a task.
        replicas = spec.get("replicas", 0)
        done = sum(phase_of(pod) == "Succeeded" for pod in pods)
        return 0 < int(replicas) <= done

    def task_failed(self, key: str, task: str) -> bool:
        """Say whether containers of a task have restarted as often as they may."""
        spec, pods = self._task(key, task)
        most = spec.get("maxRetry", 0) or RETRIES_WITHOUT_LIMIT
        if not spec.get("replicas") or most == -1:
            return False
        alive = (pod for pod in pods if phase_of(pod) in {"Running", "Pending"})
        # All live pods of the task add up, though maxRetry reads like a limit of each (TaskFailed).
        return sum(map(_restarts, alive)) >= int(most)

    def forget(self, number: int) -> None:
        """Forget an entry if it is over; else try again later.

        Which entry is found by its key by then is not looked at, unless the release does so.

        Source: pkg/controllers/cache/cache.go processCleanupJob.
        """
        info = self._entries[number]
        if not info.over:
            self.deleted.add_rate_limited(number)
            return
        self.deleted.forget(number)
        # A nameless entry gives the key "/": nothing is removed, and the entry stays for ever.
        key = f"{info.namespace}/{info.name}"
        if not self._own.job_cleanup_checked or self._keys.get(key) == number:
            self._keys.pop(key, None)

    def kept(self) -> JobCacheState:
        """Return all that the cache holds; entries are numbered from 0 in a fixed order."""
        waiting = self.deleted.kept()
        referred = (
            *(number for _, number in sorted(self._keys.items())),
            *waiting.ready,
            *(number for number, _ in (*waiting.delayed, *waiting.taken, *waiting.failures)),
        )
        # Numbers depend on history. Without it two equal situations would count as different ones;
        # entries that nothing refers to are left out, as Go's garbage collector frees them.
        numbers = {number: place for place, number in enumerate(dict.fromkeys(referred))}
        return JobCacheState(
            tuple((key, numbers[number]) for key, number in sorted(self._keys.items())),
            tuple(self._kept_entry(self._entries[number]) for number in numbers),
            waiting.of(numbers.__getitem__),
        )

    def restore(self, kept: JobCacheState) -> None:
        """Hold what another cache held, and nothing else."""
        self._keys = dict(kept.keys)
        self._entries = {number: self._restored(entry) for number, entry in enumerate(kept.entries)}
        self._next = len(self._entries)
        self.deleted.restore(kept.deleted)

    def _kept_entry(self, info: ControllerJobInfo) -> JobEntry:
        number = self._objects.number
        pods = (
            (task, name, number(pod))
            for task, pods in sorted(info.pods.items())
            for name, pod in sorted(pods.items())
        )
        job = None if info.job is None else number(info.job)
        return JobEntry(info.namespace, info.name, job, tuple(pods))

    def _restored(self, entry: JobEntry) -> ControllerJobInfo:
        document = self._objects.document
        job = None if entry.job is None else document(entry.job)
        info = ControllerJobInfo(entry.namespace, entry.name, job)
        for task, name, number in entry.pods:
            info.pods.setdefault(task, {})[name] = document(number)
        return info

    def _find(self, key: str) -> ControllerJobInfo | None:
        number = self._keys.get(key)
        return None if number is None else self._entries[number]

    def _new(self, key: str) -> ControllerJobInfo:
        # AddPod and UpdatePod create entries without names; add() fills them in when the job comes.
        info = self._entries[self._next] = ControllerJobInfo("", "")
        self._keys[key] = self._next
        self._next += 1
        return info

    def _queue(self, number: int) -> None:
        if self._own.job_cleanup_delayed:
            self.deleted.add_rate_limited(number)
        else:
            self.deleted.add(number)

    def _task(self, key: str, task: str) -> tuple[Mapping[str, Any], list[Document]]:
        """Return the spec and the pods of a task; nothing of one without pods."""
        info = self._find(key)
        if info is None or info.job is None or task not in info.pods:
            return {}, []
        return task_of(info.job, task) or {}, [*info.pods[task].values()]


def task_of(job: Document, name: str) -> Document | None:
    """Return the spec of a task, or None."""
    return next((task for task in tasks_of(job) if task.get("name", "") == name), None)


def minimum_of(job: Document) -> int:
    """Return what the minima of a job's tasks add up to; one that names none needs all pods."""
    return sum(
        task_minimum(task.get("minAvailable"), task.get("replicas", 0)) for task in tasks_of(job)
    )


def tasks_of(job: Document) -> list[Document]:
    """Return the specs of a job's tasks."""
    return job["spec"].get("tasks") or []


def annotations_of(document: Document) -> Mapping[str, str]:
    """Return an object's annotations."""
    return document["metadata"].get("annotations") or {}


def namespace_of(document: Document) -> str:
    """Return an object's namespace."""
    return document["metadata"].get("namespace") or "default"


def key_of(document: Document) -> str:
    """Return an object's key: ``namespace/name``."""
    return f"{namespace_of(document)}/{document['metadata']['name']}"


def phase_of(pod: Document) -> str:
    """Return a pod's phase, empty if it has none."""
    phase: str = pod.get("status", {}).get("phase", "")
    return phase


def _job_of(pod: Document) -> str:
    return f"{namespace_of(pod)}/{annotations_of(pod).get(names.JOB_NAME, '')}"


def _version(document: Document) -> int:
    return int(document["metadata"]["resourceVersion"])


def _restarts(pod: Document) -> int:
    status = pod.get("status", {})
    lists = (status.get(name) or () for name in ("initContainerStatuses", "containerStatuses"))
    return sum(
        status_of_container.get("restartCount", 0)
        for statuses in lists
        for status_of_container in statuses
    )
