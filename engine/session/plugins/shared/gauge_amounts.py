"""Amounts of resources as plain numbers, for the gauges of queues and the trace; and a sum of them.

Source: pkg/scheduler/metrics/queue.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from types import MappingProxyType

from ....model.resource import INFINITY, ZERO, Resource
from ....model.resource_names import PODS
from ....volcano.session.behaviours import Behaviours
from ....volcano.session.queues import QueueComparison

SetGauges = Callable[[MutableMapping[str, float], str, Resource], None]
CAPACITIES = frozenset({"capacity", "real_capacity"})


def plain(resource: Resource) -> dict[str, float]:
    """Return the amounts by name: milli-cores, bytes, scalars as the scheduler counts them."""
    return {"cpu": resource.cpu, "memory": resource.memory, **(resource.scalars or {})}


def set_gauges(gauges: MutableMapping[str, float], what: str, resource: Resource) -> None:
    """Set a queue's gauges of ``what`` (``allocated``, ``deserved`` ...).

    A scalar that the resource lacks keeps its last value, as in the exporter.

    Source: UpdateQueueAllocated, UpdateQueueDeserved and the like.
    """
    gauges[f"{what}_milli_cpu"] = resource.cpu
    gauges[f"{what}_memory_bytes"] = resource.memory
    if resource.scalars:
        for name, amount in resource.scalars.items():
            gauges[f"{what}_scalar_resources/{name}"] = amount


def set_narrow_gauges(gauges: MutableMapping[str, float], what: str, resource: Resource) -> None:
    """Set a queue's gauges of ``what`` for cpu and memory only; capacity gauges are not set."""
    if what not in CAPACITIES:
        gauges[f"{what}_milli_cpu"] = resource.cpu
        gauges[f"{what}_memory_bytes"] = resource.memory


def set_exact_gauges(gauges: MutableMapping[str, float], what: str, resource: Resource) -> None:
    """Set a queue's gauges of ``what``; those of scalars that the resource lacks fall to 0.

    Source: updateScalarResourceMetrics.
    """
    scalars, prefix = resource.scalars or {}, f"{what}_scalar_resources/"
    for name in gauges:
        if name.startswith(prefix) and name.removeprefix(prefix) not in scalars:
            gauges[name] = 0.0
    set_gauges(gauges, what, resource)


def gauge_setter(behaviours: Behaviours) -> SetGauges:
    """Return how a release sets the gauges of queues."""
    if behaviours.absent_scalar_metrics_reset:
        return set_exact_gauges
    return set_gauges if behaviours.queue_metrics_include_scalars else set_narrow_gauges


def unguaranteed(total: Resource, guarantees: Resource, *, crashes: bool) -> Resource:
    """Return a total minus all guarantees.

    :param crashes: whether the release panics if guarantees exceed the total; else 0 is returned.
    :raises Panic: they exceed it.
    """
    if crashes:
        return total.clone().sub(guarantees)
    return total.diff(guarantees, ZERO)[0]


def fits(used: Resource, request: Resource, limit: Resource | None) -> bool:
    """Return whether used + request ≤ limit in every resource requested, exactly and without pods.

    The same as building the sum and asking ``less_equal_with_dimension``; this runs for each task.

    :param limit: None has no room.
    """
    if limit is None:
        return False
    if request.cpu > 0 and used.cpu + request.cpu > limit.cpu:
        return False
    if request.memory > 0 and used.memory + request.memory > limit.memory:
        return False
    scalars = request.scalars
    if not scalars:
        return True
    used_scalars, limit_scalars = used.scalars or {}, limit.scalars or {}
    for name, amount in scalars.items():
        if (
            amount > 0
            and name != PODS
            and used_scalars.get(name, 0.0) + amount > limit_scalars.get(name, 0.0)
        ):
            return False
    return True


def fits_in_everything(used: Resource, request: Resource, limit: Resource | None) -> bool:
    """Return whether a request ≤ what is left of a limit, in all resources."""
    if limit is None:
        return False
    return request.less_equal(limit.diff(used, ZERO)[0], ZERO)


def enough_of_requested(needed: Resource, limit: Resource | None, least: Resource) -> bool:
    """Return whether needed ≤ limit in what a job's minResources name."""
    return needed.less_equal_with_dimension(limit, least)


def enough_of_everything(needed: Resource, limit: Resource | None, least: Resource) -> bool:
    """Return whether needed ≤ limit in all resources; scalars that are not needed do not count."""
    assert limit is not None
    bounds = limit.clone()
    if bounds.scalars is not None:
        named = needed.scalars or {}
        bounds.scalars = {name: amount for name, amount in bounds.scalars.items() if name in named}
    return needed.less_equal(bounds, INFINITY)


FITS: Mapping[QueueComparison, Callable[[Resource, Resource, Resource | None], bool]] = (
    MappingProxyType(
        {QueueComparison.REQUESTED: fits, QueueComparison.EVERYTHING: fits_in_everything}
    )
)
ENOUGH: Mapping[QueueComparison, Callable[[Resource, Resource | None, Resource], bool]] = (
    MappingProxyType(
        {
            QueueComparison.REQUESTED: enough_of_requested,
            QueueComparison.EVERYTHING: enough_of_everything,
        }
    )
)
