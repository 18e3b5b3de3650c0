"""Amounts of resources as plain numbers: for the gauges of queues, and for the trace.

Source: pkg/scheduler/metrics/queue.go.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from ...belief.resource import Resource


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
