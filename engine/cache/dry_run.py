"""Dry runs: a session binds and evicts on copies, and the cache does not change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cache import SchedulerCache


class DryRun:
    """Binds and evicts for one session like the cache, without changing the cache.

    The session gets the same answers as from the cache. The cache may be changed again
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
