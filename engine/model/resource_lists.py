"""Kubernetes' lists of quantities, read as the scheduler's amounts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from ..kubernetes.quantity import parse
from .resource_names import PODS, is_scalar_name

_KEPT = 4096
"""Lists whose amounts are kept: most nodes, and most pods, have one of few."""


class Amounts(NamedTuple):
    """The amounts of a list; the fields are those of :class:`.resource.Resource`."""

    cpu: float
    memory: float
    scalars: Mapping[str, float] | None
    max_task_num: int


@lru_cache(maxsize=_KEPT)
def amounts_of(quantities: tuple[tuple[str, str | float], ...], ignored: frozenset[str]) -> Amounts:
    """Return the amounts of a list, given by its names and quantities.

    :param ignored: see :meth:`.resource.Resource.of`.
    :raises ValueError: a quantity is malformed.

    Source: pkg/scheduler/api/resource_info.go NewResource.
    """
    cpu = memory = 0.0
    scalars: dict[str, float] = {}
    most = 0
    for name, text in quantities:
        quantity = parse(text)
        if name == "cpu":
            cpu = float(quantity.milli_value())
        elif name == "memory":
            memory = float(quantity.value())
        elif name == PODS:
            most = quantity.value()
            if name not in ignored:
                scalars[name] = float(quantity.value())
        elif name == "ephemeral-storage" or (is_scalar_name(name) and name not in ignored):
            scalars[name] = float(quantity.milli_value())
    return Amounts(cpu, memory, MappingProxyType(scalars) if scalars else None, most)
