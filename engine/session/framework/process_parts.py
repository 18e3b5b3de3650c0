"""What a scheduler process keeps between its sessions, outside its cache.

It has three kinds of parts. The *memory* is what the process of the release remembers: it changes
decisions, and a restart loses it. *Caches* only save time: without them all decisions
are the same. *External values* are inputs that are not Kubernetes objects; a restart keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any, TypeVar, cast

import msgspec

Part = TypeVar("Part")


class ProcessParts:
    """Records of several types, at most one of each type.

    A plugin or action keeps its own record here; other code need not know the record's type.
    """

    def __init__(self) -> None:
        self._by_type: dict[type[Any], object] = {}

    def of(self, kind: type[Part], make: Callable[[], Part] | None = None) -> Part:
        """Return the record of a type; it is created at the first use.

        :param make: makes the record; the type without arguments if not given.
        """
        known = self._by_type.get(kind)
        if known is None:
            known = self._by_type[kind] = kind() if make is None else make()
        return cast("Part", known)

    def find(self, kind: type[Part]) -> Part | None:
        """Return the record of a type, ``None`` if there is none."""
        return cast("Part | None", self._by_type.get(kind))

    def copied(self) -> dict[type[Any], object]:
        """Return a copy of all records by type, to compare with later."""
        return deepcopy(self._by_type)

    def equal(self, copied: dict[type[Any], object]) -> bool:
        """Return whether all records are as when they were copied."""
        return self._by_type == copied

    def put(self, part: object) -> None:
        """Replace the record of its type."""
        self._by_type[type(part)] = part


class NodeUsage(msgspec.Struct, frozen=True):
    """One node's average use in percent, by period.

    :param time: when it was measured, in microseconds since 1970.

    Source: pkg/scheduler/api/node_info.go NodeUsage.
    """

    time: int
    cpu: Mapping[str, float] = MappingProxyType({})
    memory: Mapping[str, float] = MappingProxyType({})


class ExternalValues(msgspec.Struct):
    """Inputs of sessions that are not Kubernetes objects.

    :ivar node_usage: the last measurement of each node, by name.
    :ivar extender_answers: recorded answers of an extender, by verb and subject of the request:
        ``ns/pod node`` for predicates, ``ns/pod`` for priorities and for victims,
        ``ns/podgroup`` or a queue's name, and empty for the opening and the close. An answer is
        the JSON object that the service sent; victims are named by ``ns/pod``.
    :ivar device_config: the configuration of shared devices, ``None`` until it is read.
    """

    node_usage: Mapping[str, NodeUsage] = msgspec.field(default_factory=dict)
    extender_answers: Mapping[tuple[str, str], Mapping[str, Any]] = msgspec.field(
        default_factory=dict
    )
    device_config: Mapping[str, Any] | None = None


class ProcessState(msgspec.Struct):
    """What a scheduler process keeps from session to session outside its cache.

    :ivar gauges: the exported metrics by queue.
    :ivar memory: what the release's process remembers, a record of each plugin and action.
    :ivar caches: cached results, a record of each owner; they never change a decision.
    :ivar external: inputs that are not Kubernetes objects.
    :ivar from_start: whether the process is known since its start; else it ran long before its
        first session here.
    """

    gauges: dict[str, dict[str, float]] = msgspec.field(default_factory=dict)
    memory: ProcessParts = msgspec.field(default_factory=ProcessParts)
    caches: ProcessParts = msgspec.field(default_factory=ProcessParts)
    external: ExternalValues = msgspec.field(default_factory=ExternalValues)
    from_start: bool = False
