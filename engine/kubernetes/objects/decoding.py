"""Objects decoded from an API server's JSON, exactly as leniently and strictly as in Go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar, cast

import msgspec

from ...errors import EventMalformed
from ..quantity import parse
from .cluster import (
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    Service,
    StatefulSet,
    StorageClass,
)
from .decoding_faults import Misfit, field_words, misfit_of, places_of
from .devices import Device, DeviceClass, ResourceClaim, ResourceSlice
from .metadata import Object, ResourceList, seconds
from .nodes import CSINode, HyperNode, Node, Numatopology
from .pods import Pod
from .sharing import share
from .volcano import PodGroup, Queue

O = TypeVar("O", bound=Object)  # noqa: E741 - the field's letter for an object

KINDS: MappingProxyType[str, type[Object]] = MappingProxyType(
    {
        kind.__name__: kind
        for kind in (
            *(Pod, Node, PodGroup, Queue, PriorityClass, Namespace, ResourceQuota),
            *(PodDisruptionBudget, Service, ReplicaSet, ReplicationController, StatefulSet),
            *(PersistentVolume, PersistentVolumeClaim, StorageClass, CSINode),
            *(ResourceClaim, DeviceClass, ResourceSlice, HyperNode, Numatopology),
        )
    }
)
"""What a scheduler watches, by kind."""

_MAPS_OF_TEXT = frozenset({"labels", "annotations", "matchLabels", "nodeSelector"})
_TIMES = frozenset({"creationTimestamp", "deletionTimestamp", "lastTransitionTime", "startTime"})


class Undecodable(EventMalformed):
    """An object that Go cannot decode.

    :param misfit: the value of the wrong type; None if that is not known.
    :param fault: the field, its value, and what the value is not.
    """

    def __init__(self, kind: type[Object], found: Misfit | str, where: str) -> None:
        self.misfit = None if isinstance(found, str) else found
        self.fault = found if isinstance(found, str) else field_words(*found)
        super().__init__(f"a {kind.__name__} that Go cannot decode: {self.fault}", where=where)


@cache
def _decoder(kind: type[Object]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def decode(kind: type[O], payload: bytes | dict[str, Any]) -> O:
    """Decode an object of a kind from JSON, or from JSON values.

    Unknown fields are ignored, and ``null`` counts as missing.

    :raises Undecodable: a field that is read has another type than the API's, or an amount or a
        time is malformed.
    """
    item = decode_known(kind, payload)
    for listed in _resource_lists(item):
        for name, quantity in listed.items():
            try:
                parse(quantity)
            except ValueError as fault:
                # Where the value stands is looked for only now: nearly all objects are fine.
                misfit = _malformed_amount(_document(payload), listed, name)
                raise Undecodable(kind, misfit, item.key) from fault
    for moment in _times(item):
        try:
            if moment is not None:
                seconds(moment)
        except ValueError as fault:
            raise Undecodable(
                kind, _malformed_time(_document(payload), moment), item.key
            ) from fault
    return item


def decode_known(kind: type[O], payload: bytes | dict[str, Any]) -> O:
    """Decode an object that :func:`decode` has accepted before: amounts are not checked again.

    :raises Undecodable: a field that is read has another type than the API's.
    """
    try:
        if isinstance(payload, bytes):
            item = cast("O", _decoder(kind).decode(payload))
        else:
            item = msgspec.convert(payload, kind)
    except msgspec.ValidationError:
        # Nulls are rare, so only an object that does not decode with them is copied without.
        item = _decode_without_nulls(kind, payload)
    share(item)
    return item


def _resource_lists(item: Object) -> Iterable[ResourceList]:
    """Return the resource lists of an object."""
    if isinstance(item, Pod):
        spec = item.spec
        lists = [spec.overhead]
        for container in (*spec.containers, *spec.init_containers):
            lists += (container.resources.requests, container.resources.limits)
        if spec.resources is not None:
            lists += (spec.resources.requests, spec.resources.limits)
        return lists
    return _other_lists(item)


def _other_lists(item: Object) -> Iterator[ResourceList]:
    if isinstance(item, Node):
        yield item.status.allocatable
        yield item.status.capacity
    elif isinstance(item, PodGroup):
        yield item.spec.min_resources or {}
    elif isinstance(item, Queue):
        yield from (item.spec.capability, item.spec.deserved, item.spec.guarantee.resource)
        yield item.status.allocated or {}
    elif isinstance(item, ResourceQuota):
        yield from (item.status.hard, item.status.used)
    elif isinstance(item, PersistentVolumeClaim):
        yield item.spec.resources.requests
    elif isinstance(item, PersistentVolume):
        yield item.spec.capacity
    elif isinstance(item, ResourceSlice):
        yield from map(_amounts_of, item.spec.devices)


def _amounts_of(device: Device) -> ResourceList:
    return {name: each.value for name, each in device.traits.capacity.items()}


def _times(item: Object) -> list[str | None]:
    """Return the times of an object."""
    metadata = item.metadata
    times = [metadata.creation_timestamp, metadata.deletion_timestamp]
    if isinstance(item, Pod):
        times += [condition.last_transition_time for condition in item.status.conditions]
        times.append(item.status.start_time)
    elif isinstance(item, PodGroup):
        times += [condition.last_transition_time for condition in item.status.conditions]
    return times


def _document(payload: bytes | dict[str, Any]) -> Any:
    document = msgspec.json.decode(payload) if isinstance(payload, bytes) else payload
    return _without_nulls(document)


def _malformed_amount(document: Any, listed: ResourceList, name: str) -> Misfit:
    place = next(places_of(document, dict(listed)), ())
    return Misfit((*place, name), listed[name], "not a quantity")


def _malformed_time(document: Any, moment: str | None) -> Misfit:
    place = next(places_of(document, moment, _TIMES), ("time",))
    return Misfit(place, moment, "not an RFC 3339 time")


def _decode_without_nulls(kind: type[O], payload: bytes | dict[str, Any]) -> O:
    document = _document(payload)
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as fault:
        metadata = document.get("metadata") if isinstance(document, dict) else None
        named = metadata if isinstance(metadata, dict) else {}
        name = "/".join(str(named[key]) for key in ("namespace", "name") if named.get(key))
        raise Undecodable(kind, misfit_of(fault, document) or str(fault), name) from fault


def _without_nulls(value: Any, *, text: bool = False) -> Any:
    """Leave out nulls, which Go reads as zero values; in a map of strings, as empty strings."""
    if isinstance(value, dict):
        return {
            key: "" if item is None else _without_nulls(item, text=key in _MAPS_OF_TEXT)
            for key, item in value.items()
            if item is not None or text
        }
    if isinstance(value, list):
        return [_without_nulls(item) for item in value if item is not None]
    return value
