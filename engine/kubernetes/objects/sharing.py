"""Let decoded objects share what many of them have alike, so that large clusters take less memory.

A decoder makes each text and each part again, although the pods of a job differ in few of them. All
parts are immutable, so nothing shows whether they are shared.
"""

from __future__ import annotations

from functools import cache, lru_cache
from sys import intern
from typing import Any

import msgspec

from .metadata import Metadata, Object, OwnerReference, ResourceList
from .nodes import Node
from .pods import Container, ContainerStatus, Pod, PodCondition, Toleration, Volume

_KEPT = 4096
"""Encoded parts of each sort whose decoded form is kept."""

_encoded = msgspec.msgpack.Encoder().encode
_set = msgspec.structs.force_setattr

_TEXTS = ("scheduler_name", "priority_class_name", "preemption_policy", "node_name")
_OF_CONDITIONS = ("type", "status", "reason", "message", "last_transition_time")


def share(item: Object) -> None:
    """Replace parts of an object that was just decoded by equal ones of others."""
    _share_metadata(item.metadata)
    if isinstance(item, Pod):
        _share_pod(item)
    elif isinstance(item, Node):
        _set(item.status, "allocatable", _amounts(_encoded(item.status.allocatable)))
        _set(item.status, "capacity", _amounts(_encoded(item.status.capacity)))


def _share_metadata(metadata: Metadata) -> None:
    _set(metadata, "namespace", intern(metadata.namespace))
    if metadata.creation_timestamp is not None:
        _set(metadata, "creation_timestamp", intern(metadata.creation_timestamp))
    for texts in (metadata.labels, metadata.annotations):
        for name, text in texts.items():
            texts[name] = intern(text)  # No other object has it yet.
    if metadata.owner_references:
        _set(metadata, "owner_references", _owners(_encoded(metadata.owner_references)))


def _share_pod(pod: Pod) -> None:
    spec, status = pod.spec, pod.status
    for name in _TEXTS:
        text = getattr(spec, name)
        if text:
            _set(spec, name, intern(text))
    _set(spec, "containers", _containers(_encoded(spec.containers)))
    if spec.init_containers:
        _set(spec, "init_containers", _containers(_encoded(spec.init_containers)))
    if spec.tolerations:
        _set(spec, "tolerations", _tolerations(_encoded(spec.tolerations)))
    if spec.volumes:
        _set(spec, "volumes", _volumes(_encoded(spec.volumes)))
    _set(status, "phase", intern(status.phase))
    if status.start_time is not None:
        _set(status, "start_time", intern(status.start_time))
    if status.container_statuses:
        _set(status, "container_statuses", _statuses(_encoded(status.container_statuses)))
    if status.conditions:
        _set(status, "conditions", _conditions(_encoded(status.conditions)))


@cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)


@lru_cache(_KEPT)
def _containers(data: bytes) -> tuple[Container, ...]:
    found: tuple[Container, ...] = _decoder(tuple[Container, ...]).decode(data)
    return found


@lru_cache(_KEPT)
def _tolerations(data: bytes) -> tuple[Toleration, ...]:
    found: tuple[Toleration, ...] = _decoder(tuple[Toleration, ...]).decode(data)
    return found


@lru_cache(_KEPT)
def _volumes(data: bytes) -> tuple[Volume, ...]:
    found: tuple[Volume, ...] = _decoder(tuple[Volume, ...]).decode(data)
    return found


@lru_cache(_KEPT)
def _statuses(data: bytes) -> tuple[ContainerStatus, ...]:
    found: tuple[ContainerStatus, ...] = _decoder(tuple[ContainerStatus, ...]).decode(data)
    return found


@lru_cache(_KEPT)
def _owners(data: bytes) -> tuple[OwnerReference, ...]:
    found: tuple[OwnerReference, ...] = _decoder(tuple[OwnerReference, ...]).decode(data)
    return found


@lru_cache(_KEPT)
def _amounts(data: bytes) -> ResourceList:
    found: ResourceList = _decoder(ResourceList).decode(data)
    return found


@lru_cache(_KEPT)
def _conditions(data: bytes) -> tuple[PodCondition, ...]:
    found: tuple[PodCondition, ...] = _decoder(tuple[PodCondition, ...]).decode(data)
    for condition in found:
        for name in _OF_CONDITIONS:
            text = getattr(condition, name)
            if text:
                _set(condition, name, intern(text))
    return found
