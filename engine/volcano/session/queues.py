"""Queues in ``proportion`` and ``capacity``: their order, what they deserve and may use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class Elastic(StrEnum):
    """What a job holds beyond its minResources, and could give back."""

    ALL_OR_NOTHING = "all or nothing"
    """What is beyond, if every resource is beyond; else nothing."""
    EACH = "each"
    """Of every resource what is beyond."""


class Comparison(StrEnum):
    """What is compared when a queue, or the cluster, is to take a pod or a job."""

    EVERYTHING = "everything"
    """All resources: a queue that is short of one takes no pod."""
    REQUESTED = "requested"
    """Those that are requested."""


class ReclaimsFor(StrEnum):
    """For which tasks a queue may reclaim."""

    ALL = "all"
    """Those within what it deserves of everything that they request."""
    SOME = "some"
    """Those within what it deserves of anything that they request."""
    SOME_WITHIN_CAPABILITY = "some within capability"
    """The same, if it may use what they request; or if the ancestors checked deserve it."""


class CapacityVictims(StrEnum):
    """Which tasks a task may reclaim."""

    OVER_DESERVED = "over deserved"
    """Tasks of queues that hold more than they deserve of anything."""
    BY_DIMENSION = "by dimension"
    """Tasks that hold what the reclaimer requests, of which their queue holds too much."""
    IN_ORDER_BY_DIMENSION = "in order by dimension"
    """The same, the least important first, and those whose ancestors hold too much as well."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class QueueBehaviours:
    """Queues in ``proportion`` and ``capacity``: what differs between releases."""

    queue_priority: bool
    """Queues have a priority, which comes before their shares."""

    closed_queues_schedule: bool
    """Queues that are not Open enqueue and allocate like others."""

    compared_resources: Comparison
    """What is compared when a queue takes a pod or a job."""

    elastic_resources: Elastic
    """What a job could give back."""

    deserved_keeps_zero_scalars: bool
    """Scalars that a queue deserves nothing of, but names, stay named in what it deserves."""

    excess_guarantees_crash: bool
    """Guarantees that exceed the cluster crash the scheduler."""

    guarantees_above_remaining_crash: bool
    """``proportion`` crashes when guarantees give queues more than remains."""

    unnamed_capability_unlimited: bool
    """With ``proportion``, a capability does not bound what it does not name; else a queue whose
    capability names one kind of GPU, or another such resource, may use no other."""

    deserved_capped_by_request: bool
    """With ``capacity``, a queue deserves no more than it requests."""

    zero_deserved_share_is_one: bool
    """With ``capacity``, a queue that deserves nothing has the share 1 from the start."""

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
        why="A closed queue goes on with the PodGroups that it has.",
    ),
    Row(
        "closed_queues_schedule",
        False,
        landed("v1.12.0"),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="A closed queue places nothing more; nor does one whose state was never set.",
        pull=4263,
    ),
    Row(
        "compared_resources",
        Comparison.EVERYTHING,
        FIRST,
        source="plugins/proportion/proportion.go, plugins/overcommit/overcommit.go",
        why="A queue that is over in GPUs places no pod that requests cpu.",
    ),
    Row(
        "compared_resources",
        Comparison.REQUESTED,
        landed("v1.10.0"),
        source="api/resource_info.go LessEqualWithDimension",
        why="A queue that is over in GPUs still places pods that request cpu.",
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
        why="What jobs hold beyond their minimum, of any resource, makes room for new ones.",
        pull=3106,
    ),
    Row(
        "deserved_keeps_zero_scalars",
        False,
        FIRST,
        source="api/helpers/helpers.go Max",
        why="A resource of which a queue deserves 0 is as if it were not named.",
    ),
    Row(
        "deserved_keeps_zero_scalars",
        True,
        landed("v1.12.3"),
        source="api/helpers/helpers.go Max",
        why="A resource of which a queue deserves 0 is compared like any other.",
        pull=4347,
    ),
    Row(
        "excess_guarantees_crash",
        True,
        FIRST,
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="Queues that are guaranteed more than the nodes have crash the scheduler.",
    ),
    Row(
        "excess_guarantees_crash",
        False,
        landed("v1.9.1", "v1.10.1", "v1.11.0"),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="Queues that are guaranteed more than the nodes have leave the others nothing.",
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
        why="A queue has its guarantee, also where its weight gives less.",
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
        why="An idle queue deserves nothing: shares are of what queues request.",
    ),
    Row(
        "deserved_capped_by_request",
        False,
        landed("v1.12.0"),
        source="plugins/capacity/capacity.go buildQueueAttrs, checkHierarchicalQueue",
        why="A queue's share is of what is configured, whatever it requests.",
        pull=3946,
    ),
    Row(
        "zero_deserved_share_is_one",
        False,
        FIRST,
        source="plugins/capacity/capacity.go updateShare",
        why="Queues without anything deserved come first.",
    ),
    Row(
        "zero_deserved_share_is_one",
        True,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go updateQueueAttrShare",
        why="Queues without anything deserved come after those that still lack theirs.",
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
        why="A queue reclaims nothing that it may not use; its ancestors may deserve it.",
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
        why="A queue gives a task only for what that task holds too much of.",
        pull=4919,
    ),
    Row(
        "capacity_victims",
        CapacityVictims.IN_ORDER_BY_DIMENSION,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="Of several victims the least important go first.",
        pull=5115,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
