"""Requests of containers for virtual GPUs, and the names of these resources.

Source: pkg/scheduler/api/devices/nvidia/vgpu/utils.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ....kubernetes.objects import Container, Pod
from ....kubernetes.quantity import parse

NUMBER = "volcano.sh/vgpu-number"
MEMORY = "volcano.sh/vgpu-memory"
MEMORY_PERCENTAGE = "volcano.sh/vgpu-memory-percentage"
CORES = "volcano.sh/vgpu-cores"

NO_PERCENTAGE = 101


class CardRequest(msgspec.Struct, frozen=True):
    """One container's request: cards, and for each memory (or a percentage) and cores."""

    cards: int
    memory: int
    percentage: int
    cores: int


class CardNames(msgspec.Struct, frozen=True):
    """The names of the resources for virtual GPUs; empty if a resource does not exist."""

    number: str = NUMBER
    memory: str = MEMORY
    percentage: str = MEMORY_PERCENTAGE
    cores: str = CORES


def names_of(config: Mapping[str, Any]) -> CardNames:
    """Return the names that a device configuration gives; without one there is no percentage.

    Source: config.go GetDefaultDevicesConfig, utils.go getConfig.
    """
    if not config:
        return CardNames(percentage="")
    given = config.get("nvidia") or {}
    parts = ("Count", "Memory", "MemoryPercentage", "Core")
    return CardNames(*(given.get(f"resource{part}Name") or "" for part in parts))


def asks(pod: Pod, names: CardNames = CardNames()) -> bool:  # noqa: B008 -- a tuple
    """Return whether a pod asks for virtual GPUs."""
    limits = [container.resources.limits for container in pod.spec.containers]
    return any(names.memory in limit or names.number in limit for limit in limits)


def requests_of(pod: Pod, names: CardNames = CardNames()) -> Iterator[CardRequest]:  # noqa: B008
    """Yield the requests of containers for virtual GPUs.

    Source: utils.go resourcereqs.
    """
    for container in pod.spec.containers:
        limits = container.resources.limits
        if names.number not in limits and names.memory not in limits:
            continue
        cards = 1 if names.number not in limits else _as_int64(limits[names.number]) or 0
        memory = _amount(container, names.memory, 0)
        percentage = _amount(container, names.percentage, NO_PERCENTAGE)
        if percentage == NO_PERCENTAGE and memory == 0:
            percentage = 100
        yield CardRequest(cards, memory, percentage, _amount(container, names.cores, 0))


def _amount(container: Container, resource: str, default: int) -> int:
    """Return a limit, or else a request; the default if neither is an integer."""
    for amounts in (container.resources.limits, container.resources.requests):
        if resource in amounts:
            whole = _as_int64(amounts[resource])
            return default if whole is None else whole
    return default


def _as_int64(text: str | float) -> int | None:
    """Source: k8s.io/apimachinery/pkg/api/resource/quantity.go AsInt64."""
    quantity = parse(text)
    if quantity.big or quantity.power < 0:
        return None
    return quantity.value()
