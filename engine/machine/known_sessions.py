"""Sessions of a search, each decided once: a session is a function of what it sees of the cache.

Most states of a machine differ in what waits somewhere, and not in what a session would see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from operator import methodcaller
from typing import NamedTuple

from ..model.panic import Panic
from ..session.framework.session import CacheActions
from ..session.framework.session_outcome import (
    ClosedPodGroupStatus,
    ClosedQueueStatus,
    SessionResult,
    UnscheduledCondition,
)

Request = Callable[[CacheActions], object]
"""A binding or an eviction."""


class DecidedSession(NamedTuple):
    """What a session decided, as far as it is written.

    :param requests: bindings and evictions, in their order. The cache answers them by what the
        session sees of it, so the same session asks for the same.
    """

    requests: tuple[Request, ...]
    pod_groups: Mapping[str, ClosedPodGroupStatus]
    pod_conditions: Mapping[str, UnscheduledCondition]
    queues: Mapping[str, ClosedQueueStatus]
    panic: Panic | None

    def request_of(self, cache: CacheActions) -> None:
        """Request of a cache again what the session requested."""
        for request in self.requests:
            with suppress(Panic):  # It is the session's own, or the session went on after it.
                request(cache)


class Noting:
    """Passes what a session requests on to its cache, and notes it."""

    def __init__(self, cache: CacheActions) -> None:
        self._cache = cache
        self._requests: list[Request] = []

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Bind a task of a job; return the error, or ``None``."""
        self._requests.append(methodcaller("add_bind_task", job, uid, node))
        return self._cache.add_bind_task(job, uid, node)

    def evict(self, job: str, uid: str, reason: str) -> str | None:
        """Evict a task of a job; return the error, or ``None``."""
        self._requests.append(methodcaller("evict", job, uid, reason))
        return self._cache.evict(job, uid, reason)

    def decided(self, result: SessionResult) -> DecidedSession:
        """Return what the session decided that had this result."""
        panic = result.panic
        return DecidedSession(
            tuple(self._requests),
            result.pod_groups,
            result.pod_conditions,
            result.queues,
            None if panic is None else panic.through(),
        )
