"""Binding and evicting pods, and what is written about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class EvictionWithoutPodGroup(StrEnum):
    """What happens to the eviction of a pod whose PodGroup was just deleted."""

    CRASHES = "crashes"
    """The eviction is started, and the scheduler crashes."""
    HALF_DONE = "half done"
    """The eviction is started, and an error is returned."""
    REFUSED = "refused"
    """An error is returned, and nothing is done."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class BindingBehaviours:
    """Binding and evicting pods, and what is written about it: what differs between releases."""

    bind_failures_in_condition: bool
    """A pod that could not be bound gets the reason in its condition PodScheduled."""

    pre_bind_failures_in_condition: bool
    """A pod whose volumes or devices could not be bound gets the reason in its condition."""

    pre_bind_blocks_sessions: bool
    """Sessions cannot open while volumes or devices are being bound."""

    scheduled_events_by_pod: bool
    """A bound pod gets its event even if another pod of its batch was not bound."""

    evicted_pods_get_disruption_target: bool
    """A pod that is evicted first gets the condition DisruptionTarget."""

    eviction_without_podgroup: EvictionWithoutPodGroup
    """What happens to the eviction of a pod whose PodGroup was just deleted."""


ROWS: tuple[Row, ...] = (
    Row(
        "bind_failures_in_condition",
        False,
        FIRST,
        source="cache/cache.go Bind",
        why="A pod whose binding was refused is Pending without a reason.",
    ),
    Row(
        "bind_failures_in_condition",
        True,
        landed("v1.9.1", "v1.10.0"),
        source="cache/cache.go Bind",
        why="A pod whose binding was refused has the reason SchedulerError, and the error.",
        pull=3547,
    ),
    Row(
        "pre_bind_failures_in_condition",
        False,
        FIRST,
        source="cache/cache.go BindTask, executePreBinds",
        why="A pod whose volumes could not be bound is Pending without a reason.",
    ),
    Row(
        "pre_bind_failures_in_condition",
        True,
        landed("v1.12.0"),
        source="cache/cache.go BindTask, executePreBinds",
        why="A pod whose volumes could not be bound has the reason SchedulerError.",
        pull=4152,
    ),
    Row(
        "pre_bind_blocks_sessions",
        False,
        FIRST,
        source="cache/cache.go executePreBind, Bind",
        why="Volumes are bound while sessions run.",
    ),
    Row(
        "pre_bind_blocks_sessions",
        True,
        landed("v1.12.0"),
        source="cache/cache.go executePreBind, Bind",
        why="A slow volume binding stops all scheduling, for up to ten minutes.",
        pull=4152,
    ),
    Row(
        "pre_bind_blocks_sessions",
        False,
        landed("v1.12.3", "v1.13.1", "v1.14.0"),
        source="cache/cache.go executePreBind, Bind",
        why="Volumes are again bound while sessions run.",
        pull=4693,
    ),
    Row(
        "scheduled_events_by_pod",
        False,
        FIRST,
        source="cache/cache.go Bind",
        why="With BATCH_BIND_NUM, one refused bind in a batch: no pod of it gets event Scheduled.",
    ),
    Row(
        "scheduled_events_by_pod",
        True,
        landed("v1.9.0"),
        source="cache/cache.go DefaultBinder.Bind, Bind",
        why="Each pod that was bound gets its event Scheduled.",
        pull=2866,
    ),
    Row(
        "evicted_pods_get_disruption_target",
        False,
        FIRST,
        source="cache/cache.go defaultEvictor.Evict",
        why="Jobs of Kubernetes count evicted pods as failures.",
    ),
    Row(
        "evicted_pods_get_disruption_target",
        True,
        landed("v1.13.0"),
        source="cache/cache.go defaultEvictor.Evict",
        why="Jobs of Kubernetes can distinguish evictions from failures by podFailurePolicy.",
        pull=4279,
    ),
    Row(
        "eviction_without_podgroup",
        EvictionWithoutPodGroup.CRASHES,
        FIRST,
        source="cache/cache.go Evict",
        why="Evicting a pod whose PodGroup was deleted during the session crashes.",
    ),
    Row(
        "eviction_without_podgroup",
        EvictionWithoutPodGroup.HALF_DONE,
        landed("v1.9.0"),
        source="cache/cache.go Evict",
        why="The pod is evicted, though the session gets an error.",
        pull=3442,
    ),
    Row(
        "eviction_without_podgroup",
        EvictionWithoutPodGroup.REFUSED,
        landed("v1.15.0"),
        source="cache/cache.go Evict",
        why="The pod is not evicted.",
        pull=5002,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
