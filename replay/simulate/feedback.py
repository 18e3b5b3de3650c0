"""What a session writes, as changes of objects on an API server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...engine.kubernetes.api_server import merged
from ...engine.kubernetes.object_store import Document, Store
from ...engine.session.framework.session_outcome import (
    ClosedPodGroupStatus,
    ClosedQueueStatus,
    SessionResult,
    UnscheduledCondition,
)

VOLCANO = "scheduling.volcano.sh"
JOB_HYPERNODE = "volcano.sh/job-allocated-hypernode"


def changes(result: SessionResult, store: Store) -> Iterator[tuple[str, Document]]:
    """Yield (change, object) for everything that a session wrote, in the order of the writes.

    Annotations of pods by name, PodGroups and queues by name, conditions of pods by name, bindings
    in the order of decisions, then evicted pods. The cluster reacts at once: bound pods run,
    evicted pods are gone.
    """
    for key, written in sorted(result.pod_annotations.items()):
        known = store.get("Pod", *_split(key))
        if known is not None:
            yield "MODIFIED", _annotated(known, written)
    for key, group in sorted(result.pod_groups.items()):
        known = store.get("PodGroup", *_split(key), group=VOLCANO)
        if group.written and known is not None:
            yield "MODIFIED", _with_group(known, group)
    for name, queue in sorted(result.queues.items()):
        known = store.get("Queue", "", name, group=VOLCANO)
        if queue.written and known is not None:
            yield "MODIFIED", _with_queue(known, queue)
    yield from _pod_changes(result, store)


def _pod_changes(result: SessionResult, store: Store) -> Iterator[tuple[str, Document]]:
    for key, condition in sorted(result.pod_conditions.items()):
        known = store.get("Pod", *_split(key))
        if known is not None:
            yield "MODIFIED", _with_condition(known, condition)
    for key, node in result.binds:
        known = store.get("Pod", *_split(key))
        if known is not None:
            yield "MODIFIED", _bound(known, node)
    for key, _ in result.evictions:
        known = store.get("Pod", *_split(key))
        if known is not None:
            yield "DELETED", _copy(known)


def _split(key: str) -> tuple[str, str]:
    namespace, _, name = key.partition("/")
    return namespace, name


def _copy(document: Document, **parts: Any) -> Document:
    """Return a copy of an object, which may be changed without changing the stored one."""
    return {**document, "metadata": dict(document["metadata"]), **parts}


def _annotated(known: Document, changes: Mapping[str, str | None]) -> Document:
    return merged(known, {"metadata": {"annotations": changes}})


def _with_group(known: Document, group: ClosedPodGroupStatus) -> Document:
    written = _copy(known, status=group_status(group))
    if group.hypernode is not None:
        written = _annotated(written, {JOB_HYPERNODE: group.hypernode})
    return written


def group_status(group: ClosedPodGroupStatus) -> Document:
    """Return the status of a PodGroup as JSON has it."""
    return {
        "phase": group.phase,
        "conditions": [
            {
                "type": each.type,
                "status": each.status,
                "reason": each.reason,
                "message": each.message,
            }
            for each in group.conditions
        ],
        "running": group.running,
        "succeeded": group.succeeded,
        "failed": group.failed,
    }


def _with_queue(known: Document, queue: ClosedQueueStatus) -> Document:
    spec = dict(known.get("spec") or {})
    if queue.deserved is not None:
        spec["deserved"] = queue.deserved
    if queue.guarantee is not None:
        # Only the resources are the scheduler's to write.
        spec["guarantee"] = {**(spec.get("guarantee") or {}), "resource": queue.guarantee}
    status = {**(known.get("status") or {}), "allocated": queue.allocated}
    return _copy(known, spec=spec, status=status)


def _with_condition(known: Document, condition: UnscheduledCondition) -> Document:
    status = dict(known.get("status") or {})
    written = {
        "type": "PodScheduled",
        "status": "False",
        "reason": condition.reason,
        "message": condition.message,
    }
    # A pod has one condition of a type: the new one replaces it.
    others = [c for c in status.get("conditions") or [] if c.get("type") != "PodScheduled"]
    status["conditions"] = [*others, written]
    # Dropped first: the same condition may name another node.
    if condition.drops_node:
        status.pop("nominatedNodeName", None)
    if condition.nominated_node:
        status["nominatedNodeName"] = condition.nominated_node
    return _copy(known, status=status)


def _bound(known: Document, node: str) -> Document:
    status = {**(known.get("status") or {}), "phase": "Running"}
    status.pop("nominatedNodeName", None)
    return _copy(known, spec={**(known.get("spec") or {}), "nodeName": node}, status=status)
