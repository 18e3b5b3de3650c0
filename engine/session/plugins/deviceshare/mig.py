"""GPUs that are cut into instances of fixed sizes (MIG).

An instance is named ``<card>[<group>-<position>]``; positions count through the instances of a
group in their order.

Source: pkg/scheduler/api/devices/nvidia/vgpu/mig.go, pkg/scheduler/api/devices/config/vgpu.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ....kubernetes.go.text import parse_int
from ..shared.insertion_sort import insertion_sort


class Instance(msgspec.Struct, frozen=True):
    """A kind of instance, and how many of it a card has."""

    name: str
    memory: int
    count: int


class Geometry(msgspec.Struct, frozen=True):
    """One way to cut a card."""

    group: str
    instances: tuple[Instance, ...]


class MigUsage(msgspec.Struct):
    """Which instances of a card are used: the geometry (-1: none yet), and indices by kind."""

    geometry: int = -1
    used: dict[str, list[int]] = msgspec.field(default_factory=dict)

    def clone(self) -> MigUsage:
        """Return an independent copy."""
        return MigUsage(self.geometry, {name: list(used) for name, used in self.used.items()})


def geometries_of(config: Mapping[str, Any], card_type: str) -> tuple[Geometry, ...] | None:
    """Return the MIG geometries of a type of card; None if the device configuration has none.

    Source: utils.go extractGeometryFromType.
    """
    for known in (config.get("nvidia") or {}).get("knownMigGeometries") or ():
        if any(model in card_type for model in known.get("models") or ()):
            return tuple(
                Geometry(
                    geometry.get("group", ""),
                    tuple(
                        Instance(each.get("name", ""), each.get("memory", 0), each.get("count", 0))
                        for each in geometry.get("geometries") or ()
                    ),
                )
                for geometry in known.get("allowedGeometries") or ()
            )
    return None


def find_match(
    card: str, memory: int, usage: MigUsage, geometries: Sequence[Geometry]
) -> tuple[str, int] | None:
    """Return (name, memory) of a free instance that is large enough; the smallest kind first.

    Once a geometry is in use, only its kinds that are in use already are looked at.
    """
    candidates = geometries if usage.geometry < 0 else [geometries[usage.geometry]]
    for geometry in candidates:
        picked = _pick(geometry, {} if usage.geometry < 0 else usage.used, memory)
        if picked is not None:
            position, real_memory = picked
            return f"{card}[{geometry.group}-{position}]", real_memory
    return None


def _pick(geometry: Geometry, used: Mapping[str, list[int]], memory: int) -> tuple[int, int] | None:
    """Source: mig.go pickFromGroup, getPosition."""
    kinds = insertion_sort(
        list(enumerate(geometry.instances)), lambda left, right: left[1].memory < right[1].memory
    )
    for index, kind in kinds:
        before = sum(each.count for each in geometry.instances[:index])
        # Of a card whose last instance was freed any kind is free, but only of the geometry that it
        # has.
        if not used and kind.memory >= memory:
            return before, kind.memory
        taken = used.get(kind.name)
        if taken is not None and kind.count > len(taken) and kind.memory >= memory:
            free = next((i for i in range(kind.count) if i not in taken), 0)
            return before + free, kind.memory
    return None


def decode_instance(name: str) -> tuple[str, int] | None:
    """Return (group, position) of an instance's name; None if it is malformed."""
    inner, bracket, _ = name.partition("[")[2].partition("]")
    group, dash, text = (inner if bracket else "").partition("-")
    position = parse_int(text)
    return (group, position) if dash and position is not None else None


def use(usage: MigUsage, geometries: Sequence[Geometry], group: str, position: int) -> int:
    """Mark an instance as used; return its memory, 0 if there is no such group.

    Source: mig.go addMigUsed.
    """
    place = _find(geometries, group, position)
    if place is None:
        return 0
    usage.geometry, kind, index = place
    taken = usage.used.setdefault(kind.name, [])
    if index not in taken:
        taken.append(index)
        taken.sort()
    return kind.memory


def release_instance(
    usage: MigUsage, geometries: Sequence[Geometry], group: str, position: int
) -> int:
    """Mark an instance as free; return its memory, 0 if none of its kind is in use.

    Source: mig.go subMigUsed.
    """
    place = _find(geometries, group, position)
    if place is None:
        return 0
    usage.geometry, kind, index = place
    taken = usage.used.get(kind.name)
    if taken is None:
        return 0
    if index in taken:
        taken.remove(index)
    # Without the last of them its kind is not in use. The geometry stays: the card is cut.
    if not taken:
        del usage.used[kind.name]
    return kind.memory


def _find(
    geometries: Sequence[Geometry], group: str, position: int
) -> tuple[int, Instance, int] | None:
    """Return (geometry, kind, index among its kind) of a position."""
    for number, geometry in enumerate(geometries):
        if geometry.group == group:
            before = 0
            for kind in geometry.instances:
                if position < before + kind.count:
                    return number, kind, position - before
                before += kind.count
    return None
