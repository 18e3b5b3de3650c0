"""What a pod requests, and of which containers that is: init containers, sidecars, overhead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.objects import Pod
from ...engine.kubernetes.objects.pods import Container
from ...engine.model.resource import Resource
from .amounts import in_order, joined, word
from .answering_session import Run

_EPSILON = 0.5
"""Amounts that differ by less are equal: less than a byte, and than a thousandth of a cpu."""


def of_which(run: Run, key: str, names: Sequence[str]) -> str:
    """Return why a pod requests more than its containers together: words after a semicolon.

    The scheduler counts what the init containers request, one after the other with the sidecars
    that run by then, if that is more than all containers and sidecars together.

    :param names: the resources that matter. :returns: empty if containers alone request as much.
    """
    pod, task = run.pod(key), None
    job = None if pod is None else run.job(job_of(pod))
    if pod is not None and job is not None:
        task = job.tasks.get(pod.uid)
    if pod is None or task is None:
        return ""
    parts = []
    for name in in_order(names):
        whole, alone = task.request.get(name), _sum(pod.spec.containers, name)
        if whole <= alone + _EPSILON:
            continue
        makers = list(_makers(pod, name, whole))
        if not makers:
            continue  # The scheduler adds it, as it adds places for volumes.
        who = joined(makers)
        parts.append(
            f"it requests {word(whole, name)} {name} because of {who} "
            f"(its containers alone: {word(alone, name)})"
        )
    return f"; {joined(parts)}" if parts else ""


def _makers(pod: Pod, name: str, whole: float) -> Iterator[str]:
    """Yield what makes a pod request more of a resource than its containers."""
    init = pod.spec.init_containers
    sidecars = [container for container in init if container.restart_policy == "Always"]
    overhead = Resource.of(pod.spec.overhead or {}, frozenset()).get(name)
    running = _sum((*pod.spec.containers, *sidecars), name) + overhead
    if abs(running - whole) > _EPSILON:
        largest = _largest(init, name, whole)
        if largest:
            yield f"init container {largest}"
            return
    named = [sidecar.name for sidecar in sidecars if _sum((sidecar,), name)]
    if named:
        yield f"{'sidecar' if len(named) == 1 else 'sidecars'} {joined(named)}"
    if overhead:
        yield "its overhead"


def _largest(init: Sequence[Container], name: str, whole: float) -> str:
    """Return the init container that makes up a request, alone or with the sidecars before it."""
    before = 0.0
    for container in init:
        own = _sum((container,), name)
        if own and min(abs(own - whole), abs(own + before - whole)) < _EPSILON:
            return container.name
        if container.restart_policy == "Always":
            before += own
    return ""


def _sum(containers: Sequence[Container], name: str) -> float:
    total = Resource()
    for container in containers:
        total.add(Resource.of(container.resources.requests, frozenset()))
    return total.get(name)
