"""What a cache holds after code has read the list of ignored devices while it was empty.

Up to v1.8.2 a session, and the worker that reads pods again, do not wait for the code that writes
the list (see :mod:`plinian.engine.machine.device_race`). These functions make what they then see,
with the same code that reads objects otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING

from .node_cache import VGPU_RESOURCES

if TYPE_CHECKING:
    from .cache import SchedulerCache


class Misreading(StrEnum):
    """What is read while the list of ignored devices is empty."""

    MINIMUM = "minimum"
    """A session reads minResources of jobs; the next session reads them again.

    Source: api/job_info.go GetMinResources, plugins/overcommit/overcommit.go.
    """
    POD = "pod"
    """A worker reads pods again after a failed bind; nothing reads them until they change.

    Source: cache/event_handlers.go syncTask, which calls NewTaskInfo before it locks the cache.
    """


@contextmanager
def list_empty(cache: SchedulerCache) -> Iterator[None]:
    """Let all that is read meanwhile be read as if the list had no devices."""
    whole = cache.node_cache.ignored
    cache.node_cache.ignore(whole - VGPU_RESOURCES)
    try:
        yield
    finally:
        cache.node_cache.ignore(whole)


def read_minima(cache: SchedulerCache) -> None:
    """Read minResources of all jobs again."""
    for job in list(cache.jobs.values()):
        if job.pod_group is not None:
            cache.job_cache.pod_group_set(job.pod_group)


def read_pods(cache: SchedulerCache) -> None:
    """Let the worker read all pods again that have no node."""
    pods = cache.stores.of("Pod")
    waiting = [task for job in cache.jobs.values() for task in job.tasks.values()]
    for task in waiting:
        if not task.node_name:
            cache.job_cache.sync_task(task, lambda namespace, name: pods.get(f"{namespace}/{name}"))
