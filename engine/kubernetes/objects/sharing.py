"""Let decoded objects share what many of them have alike, so that large clusters take less memory.

A decoder makes each text and each part again, although the pods of a job differ in few of them. All
parts are immutable, so nothing shows whether they are shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from sys import intern
from typing import Any, TypeVar, cast

import msgspec

from .metadata import Metadata, Object, OwnerReference, ResourceList
from .nodes import Node, NodeCondition, NodeStatus
from .pods import (
    Container,
    ContainerStatus,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    Toleration,
    Volume,
)
from .volcano import PodGroup, PodGroupSpec, PodGroupStatus

P = TypeVar("P")

_KEPT = 4096
"""Encoded parts of each sort whose decoded form is kept."""

_encoded = msgspec.msgpack.Encoder().encode
_set = msgspec.structs.force_setattr

_OF_METADATA = ("namespace", "creation_timestamp")
_OF_PODS = ("scheduler_name", "priority_class_name", "preemption_policy", "node_name")
_OF_POD_CONDITIONS = ("type", "status", "reason", "message", "last_transition_time")
_OF_CONDITIONS = ("type", "status", "reason", "message")
_OF_STATUSES = ("phase", "start_time")
_OF_OWNERS = ("kind", "name", "uid", "api_version")


def forget_shared() -> None:
    """Let go of the parts that are kept for further objects; those decoded so far keep theirs."""
    for cached in (
        *(_containers, _tolerations, _volumes, _container_statuses, _pod_conditions, _status),
        *(_node_conditions, _owners, _amounts, _texts),
    ):
        cached.cache_clear()


def share(item: Object) -> None:
    """Replace parts of an object that was just decoded by equal ones of others."""
    _share_metadata(item.metadata)
    if isinstance(item, Pod | Node | PodGroup):
        shared(item.spec)
        _set(item, "status", shared(item.status))


def shared(part: P) -> P:
    """Return the spec or the status of an object, with parts that equal those of others."""
    if isinstance(part, PodSpec):
        _share_pod_spec(part)
    elif isinstance(part, PodStatus):
        return cast("P", _status(_encoded(part)))
    elif isinstance(part, NodeStatus):
        _set(part, "allocatable", _amounts(_encoded(part.allocatable)))
        _set(part, "capacity", _amounts(_encoded(part.capacity)))
        _set(part, "conditions", _node_conditions(_encoded(part.conditions)))
    elif isinstance(part, PodGroupSpec):
        if part.min_resources is not None:
            _set(part, "min_resources", _amounts(_encoded(part.min_resources)))
    elif isinstance(part, PodGroupStatus):
        _intern(part.conditions, _OF_CONDITIONS)
    return part


def _share_metadata(metadata: Metadata) -> None:
    _intern((metadata,), _OF_METADATA)
    for name in ("labels", "annotations"):
        texts = getattr(metadata, name)
        _set(metadata, name, {intern(key): intern(text) for key, text in texts.items()})
    if metadata.owner_references:
        _set(metadata, "owner_references", _owners(_encoded(metadata.owner_references)))


def _share_pod_spec(spec: PodSpec) -> None:
    _intern((spec,), _OF_PODS)
    _set(spec, "containers", _containers(_encoded(spec.containers)))
    if spec.init_containers:
        _set(spec, "init_containers", _containers(_encoded(spec.init_containers)))
    if spec.tolerations:
        _set(spec, "tolerations", _tolerations(_encoded(spec.tolerations)))
    if spec.volumes:
        _set(spec, "volumes", _volumes(_encoded(spec.volumes)))
    _set(spec, "overhead", _amounts(_encoded(spec.overhead)))
    _set(spec, "node_selector", _texts(_encoded(spec.node_selector)))


def _intern(parts: Iterable[msgspec.Struct], fields: Sequence[str]) -> None:
    for part in parts:
        for name in fields:
            text = getattr(part, name)
            if text:
                _set(part, name, intern(text))


@cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)


@lru_cache(_KEPT)
def _containers(data: bytes) -> tuple[Container, ...]:
    containers: tuple[Container, ...] = _decoder(tuple[Container, ...]).decode(data)
    return containers


@lru_cache(_KEPT)
def _tolerations(data: bytes) -> tuple[Toleration, ...]:
    tolerations: tuple[Toleration, ...] = _decoder(tuple[Toleration, ...]).decode(data)
    return tolerations


@lru_cache(_KEPT)
def _volumes(data: bytes) -> tuple[Volume, ...]:
    volumes: tuple[Volume, ...] = _decoder(tuple[Volume, ...]).decode(data)
    return volumes


@lru_cache(_KEPT)
def _container_statuses(data: bytes) -> tuple[ContainerStatus, ...]:
    statuses: tuple[ContainerStatus, ...] = _decoder(tuple[ContainerStatus, ...]).decode(data)
    return statuses


@lru_cache(_KEPT)
def _pod_conditions(data: bytes) -> tuple[PodCondition, ...]:
    conditions: tuple[PodCondition, ...] = _decoder(tuple[PodCondition, ...]).decode(data)
    _intern(conditions, _OF_POD_CONDITIONS)
    return conditions


@lru_cache(_KEPT)
def _status(data: bytes) -> PodStatus:
    """Return a status; those that differ as a whole have equal parts."""
    status: PodStatus = _decoder(PodStatus).decode(data)
    _intern((status,), _OF_STATUSES)
    if status.container_statuses:
        shared = _container_statuses(_encoded(status.container_statuses))
        _set(status, "container_statuses", shared)
    if status.conditions:
        _set(status, "conditions", _pod_conditions(_encoded(status.conditions)))
    return status


@lru_cache(_KEPT)
def _node_conditions(data: bytes) -> tuple[NodeCondition, ...]:
    conditions: tuple[NodeCondition, ...] = _decoder(tuple[NodeCondition, ...]).decode(data)
    _intern(conditions, _OF_CONDITIONS)
    return conditions


@lru_cache(_KEPT)
def _owners(data: bytes) -> tuple[OwnerReference, ...]:
    references: tuple[OwnerReference, ...] = _decoder(tuple[OwnerReference, ...]).decode(data)
    _intern(references, _OF_OWNERS)
    return references


@lru_cache(_KEPT)
def _amounts(data: bytes) -> ResourceList:
    amounts: ResourceList = _decoder(ResourceList).decode(data)
    return {
        intern(name): intern(amount) if isinstance(amount, str) else amount
        for name, amount in amounts.items()
    }


@lru_cache(_KEPT)
def _texts(data: bytes) -> dict[str, str]:
    texts: dict[str, str] = _decoder(dict[str, str]).decode(data)
    return texts
