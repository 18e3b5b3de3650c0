"""Comparisons of amounts in some dimensions only: those that a task requests, and that matter.

Source: pkg/scheduler/api/resource_info.go LessEqualPartlyWithDimensionZeroFiltered,
GreaterPartlyWithRelevantDimensions, Intersection.
"""

from __future__ import annotations

from ....model.resource import Resource
from ....model.resource_names import PODS

EPSILON = 0.1
"""Amounts below this are as good as none."""


def fits_partly(used: Resource, limit: Resource, request: Resource) -> bool:
    """Return whether used ≤ limit in some resource requested, pods left out.

    A resource of which there is nothing on either side does not count.
    """
    for name, amount in _requested(request):
        have, bound = used.get(name), limit.get(name)
        if amount <= 0 or name == PODS or (have < EPSILON and bound < EPSILON):
            continue
        if have < bound or abs(have - bound) < EPSILON:
            return True
    return False


def exceeds_partly(used: Resource, limit: Resource, request: Resource) -> bool:
    """Return whether used > limit in some resource requested that the limit names; without pods."""
    for name, amount in _requested(request):
        if amount <= 0 or name == PODS or not _names(limit, name):
            continue
        if used.get(name) > limit.get(name):
            return True
    return False


def intersect(resource: Resource, other: Resource, *, pods: bool) -> bool:
    """Return whether there is some of the same resource in both.

    :param pods: whether the number of pods counts as a resource.
    """
    names = set(resource.resource_names()) & set(other.resource_names())
    return bool(names if pods else names - {PODS})


def _names(limit: Resource, name: str) -> bool:
    if name in {"cpu", "memory"}:
        return limit.get(name) >= EPSILON
    return name in (limit.scalars or ())


def _requested(request: Resource) -> tuple[tuple[str, float], ...]:
    scalars = (request.scalars or {}).items()
    return (("cpu", request.cpu), ("memory", request.memory), *scalars)
