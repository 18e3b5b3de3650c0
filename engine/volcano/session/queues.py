"""Queues in ``proportion`` and ``capacity``: their order, what they deserve and may use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class Elastic(StrEnum):
    """What a job holds beyond its minResources (its elastic resources)."""

    ALL_OR_NOTHING = "all or nothing"
    """The surplus, if every resource exceeds the minimum; else nothing."""
    EACH = "each"
    """Of every resource what is beyond."""


class Comparison(StrEnum):
    """What is compared when a queue or the cluster is checked for a pod or a job."""

    EVERYTHING = "everything"
    """All resources: a queue that lacks one takes no pod."""
    REQUESTED = "requested"
    """Those that are requested."""


class ReclaimsFor(StrEnum):
    """For which tasks a queue may reclaim."""

    ALL = "all"
    """Tasks whose requests are all within what it deserves."""
    SOME = "some"
    """Tasks of which any request is within what it deserves."""
    SOME_WITHIN_CAPABILITY = "some within capability"
    """The same within its capability; or within what a checked ancestor deserves."""


class CapacityVictims(StrEnum):
    """Which tasks a task may reclaim."""

    OVER_DESERVED = "over deserved"
    """Tasks of queues that hold more of any resource than they deserve."""
    BY_DIMENSION = "by dimension"
    """Tasks with a resource that the reclaimer requests and their queue has too much of."""
    IN_ORDER_BY_DIMENSION = "in order by dimension"
    """The same, least important first; also tasks whose queue's ancestors hold too much."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class QueueBehaviours:
    """Queues in ``proportion`` and ``capacity``: what differs between releases."""

    queue_priority: bool
    """Queues have a priority, which comes before their shares."""

    closed_queues_schedule: bool
    """Queues that are not Open still enqueue and allocate."""

    compared_resources: Comparison
    """What is compared when a queue is checked for a pod or a job."""

    elastic_resources: Elastic
    """What a job could give back."""

    deserved_keeps_zero_scalars: bool
    """Scalars with deserved 0 stay in a queue's deserved."""

    excess_guarantees_crash: bool
    """Guarantees that exceed the cluster crash the scheduler."""

    guarantees_above_remaining_crash: bool
    """``proportion`` crashes when guarantees exceed what remains to divide."""

    unnamed_capability_unlimited: bool
    """With ``proportion``, a capability does not bound what it does not name; else a queue whose
    capability names one kind of GPU, or another such resource, may use no other."""

    deserved_capped_by_request: bool
    """With ``capacity``, a queue deserves no more than it requests."""

    zero_deserved_share_is_one: bool
    """With ``capacity``, a queue that deserves nothing always has the share 1."""

    capacity_reclaims_for: ReclaimsFor
    """With ``capacity``, for which tasks a queue may reclaim."""

    capacity_victims: CapacityVictims
    """With ``capacity``, which tasks a task may reclaim."""


ROWS: tuple[Row, ...] = (
    Row(
        "queue_priority",
        False,
        FIRST,
        source="plugins/proportion/proportion.go QueueOrderFn",
        why="spec.priority of a queue has no effect.",
    ),
    Row(
        "queue_priority",
        True,
        landed("v1.10.0"),
        source="plugins/proportion/proportion.go QueueOrderFn",
        why="Queues of higher spec.priority come first.",
        pull=3700,
    ),
    Row(
        "closed_queues_schedule",
        True,
        FIRST,
        source="plugins/proportion/proportion.go",
        why="A closed queue still schedules its existing PodGroups.",
        fault="A closed queue still schedules.",
    ),
    Row(
        "closed_queues_schedule",
        False,
        landed("v1.12.0"),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="A queue places nothing while it is closed or its state was never set.",
        pull=4263,
    ),
    Row(
        "compared_resources",
        Comparison.EVERYTHING,
        FIRST,
        source="plugins/proportion/proportion.go, plugins/overcommit/overcommit.go",
        why="A queue above its limit of GPUs places no pod, even one that requests only cpu.",
    ),
    Row(
        "compared_resources",
        Comparison.REQUESTED,
        landed("v1.10.0"),
        source="api/resource_info.go LessEqualWithDimension",
        why="A queue above its limit of GPUs still places pods that request only cpu.",
        pull=3696,
    ),
    Row(
        "elastic_resources",
        Elastic.ALL_OR_NOTHING,
        FIRST,
        source="api/job_info.go GetElasticResources",
        why="Jobs count as elastic only if they exceed their minimum in every resource.",
    ),
    Row(
        "elastic_resources",
        Elastic.EACH,
        landed("v1.9.1", "v1.10.1", "v1.11.0"),
        source="api/job_info.go GetElasticResources",
        why="Resources that jobs hold beyond their minimum make room for new jobs.",
        pull=3106,
    ),
    Row(
        "deserved_keeps_zero_scalars",
        False,
        FIRST,
        source="api/helpers/helpers.go Max",
        why="A resource with deserved 0 is treated as missing.",
    ),
    Row(
        "deserved_keeps_zero_scalars",
        True,
        landed("v1.12.3"),
        source="api/helpers/helpers.go Max",
        why="A resource with deserved 0 is compared like others.",
        pull=4347,
    ),
    Row(
        "excess_guarantees_crash",
        True,
        FIRST,
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="Guarantees above the sum of the nodes crash the scheduler.",
    ),
    Row(
        "excess_guarantees_crash",
        False,
        landed("v1.9.1", "v1.10.1", "v1.11.0"),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="Guarantees above the sum of the nodes leave other queues nothing.",
        pull=3106,
    ),
    Row(
        "guarantees_above_remaining_crash",
        True,
        FIRST,
        source="plugins/proportion/proportion.go OnSessionOpen",
        why="Guarantees above what a queue's weight gives can crash the scheduler.",
    ),
    Row(
        "guarantees_above_remaining_crash",
        False,
        landed("v1.12.0"),
        source="plugins/proportion/proportion.go OnSessionOpen",
        why="A queue gets its guarantee, even if its weight gives less.",
        pull=4273,
    ),
    Row(
        "unnamed_capability_unlimited",
        False,
        FIRST,
        source="plugins/proportion/proportion.go OnSessionOpen",
        why="A queue with a capability of one kind of GPU gets no other kind.",
    ),
    Row(
        "unnamed_capability_unlimited",
        True,
        landed("v1.8.2"),
        source="plugins/proportion/proportion.go OnSessionOpen",
        why="A queue's capability bounds only what it names.",
        pull=3448,
    ),
    Row(
        "deserved_capped_by_request",
        True,
        FIRST,
        source="plugins/capacity/capacity.go",
        why="An idle queue deserves nothing: shares refer to what queues request.",
    ),
    Row(
        "deserved_capped_by_request",
        False,
        landed("v1.12.0"),
        source="plugins/capacity/capacity.go buildQueueAttrs, checkHierarchicalQueue",
        why="A queue's share refers to its configured deserved, not to its requests.",
        pull=3946,
    ),
    Row(
        "zero_deserved_share_is_one",
        False,
        FIRST,
        source="plugins/capacity/capacity.go updateShare",
        why="Queues that deserve nothing come first.",
    ),
    Row(
        "zero_deserved_share_is_one",
        True,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go updateQueueAttrShare",
        why="Queues that deserve nothing come after queues below their deserved.",
        pull=4865,
    ),
    Row(
        "capacity_reclaims_for",
        ReclaimsFor.ALL,
        FIRST,
        source="plugins/capacity/capacity.go OnSessionOpen (AddPreemptiveFn)",
        why="A queue that deserves no more cpu reclaims no GPU.",
    ),
    Row(
        "capacity_reclaims_for",
        ReclaimsFor.SOME,
        landed("v1.13.1"),
        source="plugins/capacity/capacity.go OnSessionOpen (AddPreemptiveFn)",
        why="A queue reclaims if it deserves more of anything that the task needs.",
        pull=4659,
    ),
    Row(
        "capacity_reclaims_for",
        ReclaimsFor.SOME_WITHIN_CAPABILITY,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go OnSessionOpen (AddPreemptiveFn)",
        why="A queue reclaims only within its capability; an ancestor's deserved counts too.",
        pull=5115,
    ),
    Row(
        "capacity_victims",
        CapacityVictims.OVER_DESERVED,
        FIRST,
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="Pods of a queue are victims if it holds more of any resource than it deserves.",
    ),
    Row(
        "capacity_victims",
        CapacityVictims.BY_DIMENSION,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="A task is a victim only for a resource of which its queue holds too much.",
        pull=4919,
    ),
    Row(
        "capacity_victims",
        CapacityVictims.IN_ORDER_BY_DIMENSION,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="Of several victims, the least important are evicted first.",
        pull=5115,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
