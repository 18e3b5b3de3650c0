"""The scheduler's worker that drops jobs without PodGroup and tasks from its cache."""

from __future__ import annotations

from ..kubernetes.work_queue import TokenRate, WorkQueue
from ..model.job import JobInfo
from ..volcano.cache.work_queues import CleanupKey
from .cache_context import CacheContext
from .queue_items import DeletedJob, JobName

BURST_SECONDS = 10
"""A queue's token bucket holds the tokens of this many seconds."""


class JobCleanup:
    """Looks at the jobs of deleted PodGroups and pods again and again until they can be dropped.

    A log lets the worker process its queue after every event. Mostly all items fail then, so such
    rounds are only counted, and made when somebody asks for the queue.

    :param infos: the jobs of the cache, from which the worker drops some.
    :ivar changed: the jobs that changed since the worker last looked.

    Source: pkg/scheduler/cache/cache.go deleteJob, processCleanupJob.
    """

    def __init__(self, context: CacheContext, infos: dict[str, JobInfo]) -> None:
        self._own = own = context.rules.own
        self._rules = context.rules.jobs
        self._changes = context.changes
        self._infos = infos
        self._queue: WorkQueue[DeletedJob] = WorkQueue(
            TokenRate(own.cleanup_rate, own.cleanup_rate * BURST_SECONDS)
        )
        self._rounds = 0
        """How often all items failed that is not counted in the queue yet."""
        self._staying: frozenset[str] | None = None
        """The jobs whose items fail as long as none of them changes; None if that is not known."""
        self.changed: set[str] = set()

    @property
    def queue(self) -> WorkQueue[DeletedJob]:
        """The queue, up to date; it may be changed."""
        if self._rounds:
            rounds, self._rounds = self._rounds, 0
            self._queue.fail_all(rounds)
        self._staying = None
        return self._queue

    def add(self, job: JobInfo) -> None:
        """Queue a job: the worker checks whether it can be dropped.

        Source: cache.go deleteJob.
        """
        by_name = self._own.cleanup_key is CleanupKey.NAME_AND_UID
        item = JobName(job.key, job.uid) if by_name else job
        if self._own.cleanup_delayed:
            self.queue.add_rate_limited(item)
        else:
            self.queue.add(item)

    def work(self) -> None:
        """End all delays, and process the queue once."""
        changed, self.changed = self.changed, set()
        if self._staying is not None and self._staying.isdisjoint(changed):
            assert self._queue.all_delayed, "rounds are counted only while all items fail"
            self._rounds += 1
            return
        waiting = self.queue
        if waiting.all_delayed and all(map(self._stays, waiting.due())):
            self._staying = frozenset(item.key for item in waiting.due())
            self._rounds += 1
            return
        waiting.fire_all()
        for _ in range(len(waiting)):
            self.finish(waiting.take())

    def finish(self, item: DeletedJob) -> None:
        """Finish an item that was taken, with the state of now: its job is dropped if it is empty.

        Source: cache.go processCleanupJob.
        """
        current = self._infos.get(item.key)
        if isinstance(item, JobName):
            self._finish_name(item, current)
        else:
            self._finish_object(item, current)
        self.queue.done(item)

    def _finish_name(self, item: JobName, current: JobInfo | None) -> None:
        """Drop the current job of the name, if it ended and its PodGroup is still the same."""
        replaced = current is None or current.uid != item.uid
        if current is None or (self._rules.ignores_stale and replaced):
            self._forget(item)
        elif not current.terminated:
            self.queue.add_rate_limited(item)
        else:
            if not replaced:
                self._drop(item.key)
            self._forget(item)

    def _finish_object(self, job: JobInfo, current: JobInfo | None) -> None:
        """Drop the current job of the name, if the queued one ended."""
        if self._rules.ignores_stale and (
            current is None or (current.uid, current.revision) != (job.uid, job.revision)
        ):
            self._forget(job)
        elif not job.terminated:
            self.queue.add_rate_limited(job)
        else:
            # The job that ended is the queued one. What is dropped is the job that has its name
            # now, in some releases also a new one with a PodGroup and tasks.
            if current is not None and (
                self._rules.job_cleanup_removes_recreated_job or current.uid == job.uid
            ):
                self._drop(job.key)
            self._forget(job)

    def _drop(self, key: str) -> None:
        del self._infos[key]
        self._changes.job(key)

    def _forget(self, item: DeletedJob) -> None:
        """Reset the delay of an item, if the release does that."""
        if self._own.cleanup_delay_resets:
            self.queue.forget(item)

    def _stays(self, item: DeletedJob) -> bool:
        """Return whether the worker would only queue an item again."""
        current, stale = self._infos.get(item.key), self._rules.ignores_stale
        if isinstance(item, JobName):
            replaced = current is None or current.uid != item.uid
            return current is not None and not (stale and replaced) and not current.terminated
        same = current is not None and (current.uid, current.revision) == (item.uid, item.revision)
        return (same or not stale) and not item.terminated
