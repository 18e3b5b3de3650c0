"""Sessions on trial: what they bind and evict is done to copies, and the cache stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .cache import SchedulerCache

Value = TypeVar("Value")


class CopiedOnUse(dict[str, Value]):
    """A map with copies of the values of another, each made when it is first asked for."""

    def __init__(self, source: Mapping[str, Value], copy: Callable[[Value], Value]) -> None:
        super().__init__()
        self._source, self._copy = source, copy

    def __missing__(self, key: str) -> Value:
        """Copy a value."""
        made = self[key] = self._copy(self._source[key])
        return made

    def get(self, key: str, default: Value | None = None) -> Value | None:  # type: ignore[override]
        """Return the copy of a value, or the default if the other map has none."""
        return self[key] if key in self._source else default


class CacheTrial:
    """Binds and evicts for one session as a cache would at this moment, and spares the cache.

    What the session is told is what the cache would have told it. The cache may be changed again
    when the session is over.
    """

    def __init__(self, cache: SchedulerCache) -> None:
        self._jobs = cache.job_cache.on_trial()

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Begin to bind the task of a job; see :meth:`.JobCache.add_bind_task`."""
        return self._jobs.add_bind_task(job, uid, node)

    def evict(self, job: str, uid: str, reason: str) -> str | None:  # noqa: ARG002 -- for the API
        """Begin to evict the task of a job; see :meth:`.JobCache.evict`."""
        return self._jobs.evict(job, uid)
