"""The sessions after one, if nothing happens in the cluster but what sessions decide.

A session may keep a node for a pod until others are gone. Whether the pod then starts is decided
by the next sessions, so they are run, a few of them, on a copy of the scheduler's cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import Object, Pod, PodGroup
from ...engine.session.framework.session_outcome import ClosedPodGroupStatus, SessionResult
from ...engine.volcano.session.behaviours import Behaviours
from .session_answer import SessionAnswer, SessionInputs, session_in

SESSIONS = 8
"""How many sessions are run at most."""

PODS = 3_000
"""In larger caches no session is run: to copy one takes as long as some sessions."""

Changed = TypeVar("Changed", bound=Object)


class NextSession(NamedTuple):
    """A session after the first one.

    :param number: 1 is the one that follows. :param gone: the pods that are gone since the one
        before: it evicted them, or they were being deleted.
    """

    number: int
    gone: tuple[str, ...]
    answer: SessionAnswer


def next_sessions(
    scene: SessionInputs,
    behaviours: Behaviours,
    cache: SchedulerCache,
    first: SessionResult,
    created: Sequence[Pod] = (),
) -> Iterator[NextSession]:
    """Yield the next sessions until one decides nothing that changes the cluster.

    Pods that a session binds run, pods that it evicts, or that are being deleted, are gone, and
    nothing creates any but those that come after the first. Conditions, phases, and nominated nodes
    are written. None is yielded for a large cache, or after a panic.

    :param cache: before the first session; it does not change. :param first: what that decided.
    :param created: pods that are created after the first session.
    """
    if len(cache.stores.of("Pod")) > PODS or first.panic is not None:
        return
    cache, result = cache.copy(), first
    for number in range(1, SESSIONS + 1):
        gone = tuple(_carry_out(cache, result, created if number == 1 else ()))
        if number > 1 and not gone and not result.binds and not result.enqueued:
            return
        answer = session_in(scene, behaviours, cache)
        yield NextSession(number, gone, answer)
        if answer.result.panic is not None:
            return
        result = answer.result


def _carry_out(
    cache: SchedulerCache, result: SessionResult, created: Sequence[Pod]
) -> Iterator[str]:
    """Let the cluster do what a session decided; yield the pods that are gone."""
    pods: Mapping[str, Pod] = cache.stores.of("Pod")
    binds = dict(result.binds)
    leaving = [key for key, pod in sorted(pods.items()) if pod.metadata.deletion_timestamp]
    # A pod may be evicted while it is being deleted already; it goes once.
    for key in dict.fromkeys((*(pod for pod, _ in result.evictions), *leaving)):
        pod = pods.get(key)
        if pod is not None:
            cache.deliver_deletion("Pod", pod)
            yield key
    for key in sorted(binds.keys() | result.pod_conditions.keys()):
        pod = pods.get(key)
        if pod is not None:
            cache.deliver("Pod", _newer(_with_decision(pod, result, binds.get(key, ""))))
    groups: Mapping[str, PodGroup] = cache.stores.of("PodGroup")
    for key, status in sorted(result.pod_groups.items()):
        group = groups.get(key)
        if group is not None:
            cache.deliver("PodGroup", _newer(_with_status(group, status)))
    for pod in created:
        cache.deliver("Pod", pod)
    # Handlers leave work in queues. The next session begins after that is done.
    cache.run_workers()


def _with_decision(pod: Pod, result: SessionResult, node: str) -> Pod:
    """Return a pod as a session leaves it: bound, or nominated for a node."""
    if not node:
        condition = result.pod_conditions[pod.key]
        before = "" if condition.drops_node else pod.status.nominated_node_name
        nominated = condition.nominated_node or before
        status = msgspec.structs.replace(pod.status, nominated_node_name=nominated)
        return msgspec.structs.replace(pod, status=status)
    written = result.pod_annotations.get(pod.key, {})
    annotations = {
        name: value for name, value in {**pod.annotations, **written}.items() if value is not None
    }
    return msgspec.structs.replace(
        pod,
        metadata=msgspec.structs.replace(pod.metadata, annotations=annotations),
        spec=msgspec.structs.replace(pod.spec, node_name=node),
        status=msgspec.structs.replace(pod.status, phase="Running", nominated_node_name=""),
    )


def _with_status(group: PodGroup, written: ClosedPodGroupStatus) -> PodGroup:
    status = msgspec.structs.replace(
        group.status,
        phase=written.phase,
        running=written.running,
        succeeded=written.succeeded,
        failed=written.failed,
    )
    return msgspec.structs.replace(group, status=status)


def _newer(item: Changed) -> Changed:
    """Return an object with a later version: informers skip one that they have."""
    version = str(item.metadata.revision + 1)
    metadata = msgspec.structs.replace(item.metadata, resource_version=version)
    return msgspec.structs.replace(item, metadata=metadata)
