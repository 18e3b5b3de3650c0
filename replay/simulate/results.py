"""Results in the long form of ``NAME.RELEASE.json``: what each session did, and the state after."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ...engine.kubernetes.object_store import Document, Store
from ...engine.session.framework.session_outcome import SessionResult
from .feedback import group_status

StepResult = dict[str, Any]


def step_result(
    result: SessionResult,
    store: Store,
    *,
    gauges: Mapping[str, Mapping[str, float]],
    out_of_sync: tuple[list[str], list[str]],
    errors: list[str],
    restarted: bool,
) -> StepResult:
    """Return one session's part of a result.

    :param store: the objects before the session's writes; its writes are added in the result.
    :param out_of_sync: nodes that sessions do not see or skip, before and after the session.
    """
    step: StepResult = {
        "panic": None if result.panic is None else result.panic.message,
        "binds": [list(bind) for bind in result.binds],
        "evictions": [key for key, _ in result.evictions],
        "evict_reasons": dict(sorted(result.evictions)),
        "pipelined": [list(planned) for planned in sorted(result.pipelined)],
        "podgroups": _pod_groups(result, store),
        "queues": _queues(result, store),
        "metrics": {queue: _numbers(of) for queue, of in sorted(gauges.items())},
        "node_scores": {
            key: _numbers(scores) for key, scores in sorted(result.node_scores.items())
        },
        "pod_conditions": {
            key: f"{condition.reason}: {condition.message}"
            for key, condition in sorted(result.pod_conditions.items())
        },
        "fit_errors": dict(sorted(result.fit_errors.items())),
        "nominated": _nominated(result, store),
        "out_of_sync_nodes": out_of_sync[0],
        "out_of_sync_nodes_after": out_of_sync[1],
        "session_jobs": [] if result.panic is not None else sorted(result.jobs),
        "errors": errors,
    }
    if result.panic is not None:
        step["panic_at"] = " < ".join(result.panic.place)
        if result.panic.during:
            step["panic_during"] = result.panic.during
    if restarted:
        step["restarted"] = True
    return step


def _numbers(numbers: Mapping[str, float]) -> dict[str, float | str]:
    """Return numbers by name; infinities and NaN, which JSON lacks, as Prometheus's text."""
    return {
        name: number if math.isfinite(number) else _NOT_FINITE[str(number)]
        for name, number in sorted(numbers.items())
    }


_NOT_FINITE = MappingProxyType({"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"})


def case_result(name: str, release: str, steps: list[StepResult]) -> Document:
    """Return the whole result of a scenario."""
    return {"name": name, "version": release, "stable": True, "steps": steps}


def _pod_groups(result: SessionResult, store: Store) -> dict[str, Document]:
    """Return every PodGroup, with its status after the session."""
    shown = {}
    for key, document in store.of("PodGroup"):
        status = document.get("status") or {}
        written = False
        group = result.pod_groups.get(key)
        if group is not None:
            status, written = group_status(group), group.written
        shown[key] = {
            "phase": status.get("phase") or "",
            "conditions": [_condition(each) for each in status.get("conditions") or []],
            "running": status.get("running") or 0,
            "succeeded": status.get("succeeded") or 0,
            "failed": status.get("failed") or 0,
            "written": written,
        }
    return shown


def _condition(condition: Mapping[str, Any]) -> dict[str, str]:
    fields = ("type", "status", "reason", "message")
    return {field: condition[field] for field in fields if condition.get(field)}


def _queues(result: SessionResult, store: Store) -> dict[str, Document]:
    """Return every queue, with its state after the session."""
    shown = {}
    for name, document in store.of("Queue"):
        spec, status = document.get("spec") or {}, document.get("status") or {}
        allocated, deserved = status.get("allocated"), spec.get("deserved")
        guarantee = (spec.get("guarantee") or {}).get("resource")
        queue = result.queues.get(name)
        # What the session computed and did not write is not on the API server.
        if queue is not None and queue.written:
            allocated = queue.allocated
            deserved = deserved if queue.deserved is None else queue.deserved
            guarantee = guarantee if queue.guarantee is None else queue.guarantee
        parts = {"allocated": allocated, "spec_deserved": deserved, "spec_guarantee": guarantee}
        shown[name] = {
            "state": status.get("state") or "",
            **{field: amounts for field, amounts in parts.items() if amounts},
            **{
                field: status.get(field) or 0
                for field in ("running", "pending", "inqueue", "unknown")
            },
            "written": queue is not None and queue.written,
        }
    return shown


def _nominated(result: SessionResult, store: Store) -> dict[str, str]:
    """Return the nominated nodes of the pods whose status the session writes."""
    shown = {}
    for key, condition in sorted(result.pod_conditions.items()):
        namespace, _, name = key.partition("/")
        pod = store.get("Pod", namespace, name) or {}
        # A condition without a node keeps the one that was nominated before.
        before = None if condition.drops_node else pod.get("status")
        node = condition.nominated_node or (before or {}).get("nominatedNodeName")
        if node:
            shown[key] = node
    return shown
