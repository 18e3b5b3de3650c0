"""Volcano's garbage collector: it deletes finished jobs whose time to live is over.

There is no clock here: a job has finished when the collector first sees it finished, and not at the
time that its status names. The real collector requests foreground deletion, for which no request
here has a field: what the job owned is left to other components.

Source: pkg/controllers/garbagecollector/garbagecollector.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..kubernetes import work_queue
from ..kubernetes.api_errors import NotFound, Refused
from ..kubernetes.api_server import DELETED, Document
from ..kubernetes.object_table import ObjectTable
from ..kubernetes.units import SECOND_US
from ..kubernetes.work_queue import WorkQueue
from ..volcano.controllers.garbage_collector import GarbageCollectorBehaviours
from .component import Client
from .lister import Listed, Lister
from .pointer_requests import next_due

WORK = "gc"
"""The only step: a worker takes the first job."""

FINISHED = frozenset({"Completed", "Failed", "Terminated"})
"""Phases of jobs that are collected; an aborted job may be resumed."""


class GarbageCollectorState(NamedTuple):
    """All that the collector holds.

    :param jobs: what the lister holds. :param queue: keys of jobs that wait for a worker.
    :param ages: uids of finished jobs, with how long they are seen finished, in microseconds; at
        most their time to live, as more makes no difference.
    """

    jobs: Listed
    queue: work_queue.WorkQueueState[str]
    ages: tuple[tuple[str, int], ...]


class GarbageCollector:
    """Deletes finished jobs.

    :ivar queue: keys of jobs that wait for a worker.
    """

    kinds: tuple[str, ...] = ("Job",)

    def __init__(self, behaviours: GarbageCollectorBehaviours, objects: ObjectTable) -> None:
        self._own = behaviours
        self._jobs = Lister(objects)
        self._finished: dict[str, int] = {}
        """When jobs were first seen finished, in the queue's time, by uid."""
        self.queue = WorkQueue[str]()

    def deliver(
        self,
        verb: str,
        kind: str,
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- the handlers send nothing
    ) -> None:
        """Let an informer deliver a change: finished jobs that are to be collected are queued."""
        assert kind == "Job"
        self._jobs.deliver(verb, key, document)
        if verb == DELETED or not _to_collect(document):
            self._finished.pop(document["metadata"]["uid"], None)
        else:
            # For what it notes: the job's time to live begins when it is first seen finished.
            self._left(document)
            self.queue.add(key)

    def steps(self) -> Sequence[str]:
        """Return whether a worker has something to do."""
        return (WORK,) if len(self.queue) else ()

    def step(self, name: str, client: Client) -> None:
        """Let a worker take the first job, and delete it if its time is over."""
        assert name == WORK
        key = self.queue.take()
        try:
            self._collect(key, client)
        except Refused:
            self.queue.add_rate_limited(key)
        else:
            self.queue.forget(key)
        self.queue.done(key)

    def due(self) -> int | None:
        """Return in how many microseconds the first job is due; None if none waits."""
        return next_due(self.queue)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self.queue.advance(self.queue.now + by)

    def kept(self) -> GarbageCollectorState:
        """Return all that the collector holds."""
        lives = {
            job["metadata"]["uid"]: _life(job) for job in self._jobs.list() if _to_collect(job)
        }
        ages = {uid: self.queue.now - since for uid, since in sorted(self._finished.items())}
        limited = tuple((uid, min(age, lives.get(uid, age))) for uid, age in ages.items())
        return GarbageCollectorState(self._jobs.kept(), self.queue.kept(), limited)

    def restore(self, kept: GarbageCollectorState) -> None:
        """Hold what another collector held, and nothing else."""
        self._jobs.restore(kept.jobs)
        self.queue.restore(kept.queue)
        # A restored queue begins at time 0, so what happened before has a negative time.
        self._finished = {uid: -age for uid, age in kept.ages}

    def _collect(self, key: str, client: Client) -> None:
        """Delete a job whose time is over, by what the lister has and by what the server has.

        Source: pkg/controllers/garbagecollector/garbagecollector.go processJob.

        :raises Refused: a request fails.
        """
        listed = self._jobs.get(key)
        if listed is None or not self._over(key, listed):
            return
        # processJob looks twice: the lister may have an older ttlSecondsAfterFinished.
        fresh = client.find("Job", key)
        if fresh is None or not self._over(key, fresh):
            return
        try:
            client.delete("Job", key, uid=fresh["metadata"]["uid"])
        except NotFound:
            if self._own.collection_of_deleted_job_retried:
                raise

    def _over(self, key: str, job: Document) -> bool:
        """Say whether a job's time is over; if it will be, queue the job for then.

        Source: pkg/controllers/garbagecollector/garbagecollector.go processTTL.
        """
        if not _to_collect(job):
            return False
        left = self._left(job)
        if left > 0:
            self.queue.add_after(key, left)
        return left <= 0

    def _left(self, job: Document) -> int:
        """Return how long a finished job is to stay, and know when it was first seen so."""
        now = self.queue.now
        return self._finished.setdefault(job["metadata"]["uid"], now) + _life(job) - now


def _to_collect(job: Document) -> bool:
    finished = job.get("status", {}).get("state", {}).get("phase") in FINISHED
    ending = "deletionTimestamp" in job["metadata"]
    return finished and not ending and job["spec"].get("ttlSecondsAfterFinished") is not None


def _life(job: Document) -> int:
    """Return how long a job stays after it has finished, in microseconds."""
    return int(job["spec"]["ttlSecondsAfterFinished"]) * SECOND_US
