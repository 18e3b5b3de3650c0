"""Documents as recordings of controllers have them: without times, as differences, in short."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from plinian.engine.kubernetes.api_server import ApiServer, Document, controller_of
from plinian.engine.kubernetes.resources import kind_plural

RESOURCES: Mapping[str, str] = MappingProxyType(
    {
        "Job": "jobs.batch.volcano.sh",
        "PodGroup": "podgroups.scheduling.volcano.sh",
        "Queue": "queues.scheduling.volcano.sh",
        "Command": "commands.bus.volcano.sh",
        "JobFlow": "jobflows.flow.volcano.sh",
        "JobTemplate": "jobtemplates.flow.volcano.sh",
        "PriorityClass": "priorityclasses.scheduling.k8s.io",
        "ReplicaSet": "replicasets.apps",
        "StatefulSet": "statefulsets.apps",
    }
)
"""Kinds as errors name them; others by their plural alone."""

TIMES = frozenset(
    {"resourceVersion", "creationTimestamp", "deletionTimestamp", "runningDuration"}
    | {"lastTransitionTime", "startTimestamp", "endTimestamp"}
)
"""What recordings leave out."""

CREATED = "2026-01-01T00:00:00Z"
"""When everything was created, in recordings."""

COUNTS = "taskStatusCount"
EMPTY = frozenset({COUNTS, "allocated"})
"""What is as if it were missing, where it is empty."""

GROUP_NAME = "scheduling.k8s.io/group-name"


def plain(value: Any) -> Any:
    """Return a document without times and versions."""
    if isinstance(value, dict):
        inner = {name: plain(one) for name, one in value.items() if name not in TIMES}
        if "createTime" in inner:
            inner["createTime"] = CREATED
        return {name: one for name, one in inner.items() if one or name not in EMPTY}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


def pruned(value: Any) -> Any:
    """Return a document without what is empty."""
    if isinstance(value, dict):
        kept = {name: pruned(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part not in ({}, [], "", None)}
    if isinstance(value, list):
        return [pruned(part) for part in value]
    return value


def without(document: Document, names: Container[str]) -> Document:
    """Return a document without some fields."""
    return {name: value for name, value in document.items() if name not in names}


def difference(before: Document | None, after: Document) -> Document:
    """Return a merge patch that makes one document of another, without times and versions."""
    held = before or {}
    same = {name for name, value in after.items() if name in held and held[name] == value}
    return _difference(plain(without(held, same)), plain(without(after, same)))


def _difference(before: Document, after: Document) -> Document:
    found: Document = dict.fromkeys((name for name in before if name not in after), None)
    for name, value in after.items():
        held = before.get(name)
        if isinstance(held, dict) and isinstance(value, dict):
            inner = _difference(held, value)
            if inner:
                found[name] = inner
        elif held != value:
            found[name] = value
    return found


def stored(api: ApiServer) -> dict[str, Any]:
    """Return what the API holds of some kinds, in short."""
    return dict(sorted(_stored(api)))


def _stored(api: ApiServer) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, document in api.kept().objects:
        if place.kind in _SHOWN:
            uid = document["metadata"]["uid"]
            name = f"{kind_plural(place.kind)} {place.key}"
            yield name, {"uid": uid, **_SHOWN[place.kind](document)}


def _pod(pod: Document) -> dict[str, Any]:
    return _present(
        phase=pod["status"].get("phase"),
        group=(pod["metadata"].get("annotations") or {}).get(GROUP_NAME),
        terminating="deletionTimestamp" in pod["metadata"],
    )


def _group(group: Document) -> dict[str, Any]:
    return _present(
        owner=(controller_of(group) or {}).get("uid"),
        phase=(group.get("status") or {}).get("phase"),
        spec=_present(**group["spec"]),
    )


def _queue(queue: Document) -> dict[str, Any]:
    annotations = queue["metadata"].get("annotations")
    shown = _present(parent=queue["spec"].get("parent"), status=plain(queue.get("status")))
    return {"annotations": annotations, **shown}


def _status(document: Document) -> dict[str, Any]:
    return _present(status=plain(document.get("status")))


def _present(**told: Any) -> dict[str, Any]:
    return {name: what for name, what in told.items() if what}


_SHOWN: Mapping[str, Callable[[Document], dict[str, Any]]] = MappingProxyType(
    {"Pod": _pod, "PodGroup": _group, "Queue": _queue, "Job": _status, "JobFlow": _status}
)
