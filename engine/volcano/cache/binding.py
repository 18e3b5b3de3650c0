"""Binding and evicting pods, and what is written about it."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


class EvictionWithoutPodGroup(StrEnum):
    """What happens to the eviction of a pod whose PodGroup was just deleted."""

    CRASHES = "crashes"
    """The eviction is started, and the scheduler crashes."""
    HALF_DONE = "half done"
    """The eviction is started, and an error is returned."""
    REFUSED = "refused"
    """An error is returned, and nothing is done."""


@subject
class BindingBehaviours:
    """Binding and evicting pods, and what is written about it: what differs between releases."""

    bind_failures_in_condition: bool = behaviour(
        "A pod that could not be bound gets the reason in its condition PodScheduled.",
        since(FIRST, False).means("A pod whose binding was refused is Pending without a reason."),
        since(landed("v1.9.1", "v1.10.0"), True, pull=3547).means(
            "A pod whose binding was refused has the reason SchedulerError, and the error."
        ),
        source="cache/cache.go Bind",
    )

    pre_bind_failures_in_condition: bool = behaviour(
        "A pod whose volumes or devices could not be bound gets the reason in its condition.",
        since(FIRST, False).means(
            "A pod whose volumes could not be bound is Pending without a reason."
        ),
        since("v1.12.0", True, pull=4152).means(
            "A pod whose volumes could not be bound has the reason SchedulerError."
        ),
        source="cache/cache.go BindTask, executePreBinds",
    )

    pre_bind_blocks_sessions: bool = behaviour(
        "Sessions cannot open while volumes or devices are being bound.",
        since(FIRST, False).means("Volumes are bound while sessions run."),
        since("v1.12.0", True, pull=4152).means(
            "A slow volume binding stops all scheduling, for up to ten minutes."
        ),
        since(landed("v1.12.3", "v1.13.1", "v1.14.0"), False, pull=4693).means(
            "Volumes are again bound while sessions run."
        ),
        source="cache/cache.go executePreBind, Bind",
    )

    scheduled_events_by_pod: bool = behaviour(
        "A bound pod gets its event even if another pod of its batch was not bound.",
        since(FIRST, False).means(
            "With BATCH_BIND_NUM, one refused bind in a batch: no pod of it gets event Scheduled.",
            source="cache/cache.go Bind",
        ),
        since("v1.9.0", True, pull=2866).means(
            "Each pod that was bound gets its event Scheduled.",
            source="cache/cache.go DefaultBinder.Bind, Bind",
        ),
    )

    evicted_pods_get_disruption_target: bool = behaviour(
        "A pod that is evicted first gets the condition DisruptionTarget.",
        since(FIRST, False).means("Jobs of Kubernetes count evicted pods as failures."),
        since("v1.13.0", True, pull=4279).means(
            "Jobs of Kubernetes can distinguish evictions from failures by podFailurePolicy."
        ),
        source="cache/cache.go defaultEvictor.Evict",
    )

    eviction_without_podgroup: EvictionWithoutPodGroup = behaviour(
        "What happens to the eviction of a pod whose PodGroup was just deleted.",
        since(FIRST, EvictionWithoutPodGroup.CRASHES).means(
            "Evicting a pod whose PodGroup was deleted during the session crashes."
        ),
        since("v1.9.0", EvictionWithoutPodGroup.HALF_DONE, pull=3442).means(
            "The pod is evicted, though the session gets an error."
        ),
        since("v1.15.0", EvictionWithoutPodGroup.REFUSED, pull=5002).means(
            "The pod is not evicted."
        ),
        source="cache/cache.go Evict",
    )
