"""Dry runs: what a session binds and evicts is done to copies, and the cache stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cache import SchedulerCache


class DryRun:
    """Binds and evicts for one session as a cache would now, and leaves the cache unchanged.

    The session gets the answers that the cache would have given. The cache may be changed again
    when the session is over.
    """

    def __init__(self, cache: SchedulerCache) -> None:
        self._jobs = cache.job_cache.dry_run()

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Begin to bind the task of a job; see :meth:`.JobCache.add_bind_task`."""
        return self._jobs.add_bind_task(job, uid, node)

    def evict(self, job: str, uid: str, reason: str) -> str | None:  # noqa: ARG002 -- for the API
        """Begin to evict the task of a job; see :meth:`.JobCache.evict`."""
        return self._jobs.evict(job, uid)
