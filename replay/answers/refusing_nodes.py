"""The groups of nodes that a pod's queue allows, with plugin ``nodegroup``."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.objects import Pod
from ...engine.session.plugins.nodegroup import (
    AFFINITY_NOT_FOUND,
    LABEL_NOT_FOUND,
    NOT_SATISFIED,
    UNSATISFIED,
    QueueGroupAffinity,
    pod_queue,
)
from ...engine.session.reasons.objections import Objection
from .amounts import joined

OF_NODE_GROUPS = frozenset(
    objection.message
    for objection in (AFFINITY_NOT_FOUND, LABEL_NOT_FOUND, NOT_SATISFIED, UNSATISFIED)
)
"""What the scheduler writes when the plugin refuses nodes."""


def queue_of(cache: SchedulerCache, pod: Pod, reason: str) -> str:
    """Return the queue whose affinity decides: that of the pod's job, or that which the pod names.

    :param reason: for which a node is refused: which of both a release uses differs.
    """
    job = cache.jobs.get(job_of(pod))
    return pod_queue(pod) if reason == NOT_SATISFIED.message else "" if job is None else job.queue


def affinity_of(cache: SchedulerCache, queue: str) -> QueueGroupAffinity:
    """Return the affinity of a queue by itself, without what it inherits."""
    info = cache.queues.get(queue)
    return QueueGroupAffinity() if info is None else QueueGroupAffinity.of(info.queue.spec.affinity)


def group_phrases(cache: SchedulerCache, pod: Pod) -> Iterator[tuple[Objection, tuple[str, str]]]:
    """Yield what is said of nodes that the affinity of a pod's queue refuses."""
    for reason in (NOT_SATISFIED, UNSATISFIED):
        queue = queue_of(cache, pod, reason.message)
        affinity = affinity_of(cache, queue)
        named = sorted(
            group
            for group in affinity.required | affinity.preferred | affinity.anti_preferred
            if affinity.takes(group)
        )
        if not affinity.rules and reason == UNSATISFIED:
            continue  # It inherits its rules from a queue above.
        says = (
            f"closed to queue {queue}, whose spec.affinity allows no node group (plugin nodegroup)"
        )
        if named:
            allowed = joined(named[:_MOST], "or")
            says = f"in no node group that queue {queue} allows ({allowed}; plugin nodegroup)"
        yield reason, (f"is {says}", f"are {says}")


_MOST = 4
