"""Queues in ``proportion`` and ``capacity``: their order, what they deserve and may use."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


class Elastic(StrEnum):
    """What a job holds beyond its minResources (its elastic resources)."""

    ALL_OR_NOTHING = "all or nothing"
    """The surplus, if every resource exceeds the minimum; else nothing."""
    EACH = "each"
    """Of every resource what is beyond."""


class QueueComparison(StrEnum):
    """What is compared when a queue or the cluster is checked for a pod or a job."""

    EVERYTHING = "everything"
    """All resources: a queue that lacks one takes no pod."""
    REQUESTED = "requested"
    """Those that are requested."""


@subject
class QueueBehaviours:
    """Queues in ``proportion`` and ``capacity``: what differs between releases."""

    queue_priority: bool = behaviour(
        "Queues have a priority, which comes before their shares.",
        since(FIRST, False).means("spec.priority of a queue has no effect."),
        since("v1.10.0", True, pull=3700).means("Queues of higher spec.priority come first."),
        source="plugins/proportion/proportion.go QueueOrderFn",
    )

    closed_queues_schedule: bool = behaviour(
        "Queues that are not Open still enqueue and allocate.",
        since(FIRST, True).means(
            "A closed queue still schedules its existing PodGroups.",
            source="plugins/proportion/proportion.go",
            fault="A closed queue still schedules.",
        ),
        since("v1.12.0", False, pull=4263).means(
            "A queue places nothing while it is closed or its state was never set.",
            source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        ),
    )

    compared_resources: QueueComparison = behaviour(
        "What is compared when a queue is checked for a pod or a job.",
        since(FIRST, QueueComparison.EVERYTHING).means(
            "A queue above its limit of GPUs places no pod, even one that requests only cpu.",
            source="plugins/proportion/proportion.go, plugins/overcommit/overcommit.go",
        ),
        since("v1.10.0", QueueComparison.REQUESTED, pull=3696).means(
            "A queue above its limit of GPUs still places pods that request only cpu.",
            source="api/resource_info.go LessEqualWithDimension",
        ),
    )

    elastic_resources: Elastic = behaviour(
        "What a job could give back.",
        since(FIRST, Elastic.ALL_OR_NOTHING).means(
            "Jobs count as elastic only if they exceed their minimum in every resource."
        ),
        since(landed("v1.9.1", "v1.10.1", "v1.11.0"), Elastic.EACH, pull=3106).means(
            "Resources that jobs hold beyond their minimum make room for new jobs."
        ),
        source="api/job_info.go GetElasticResources",
    )

    deserved_keeps_zero_scalars: bool = behaviour(
        "Scalars with deserved 0 stay in a queue's deserved.",
        since(FIRST, False).means("A resource with deserved 0 is treated as missing."),
        since("v1.12.3", True, pull=4347).means(
            "A resource with deserved 0 is compared like others."
        ),
        source="api/helpers/helpers.go Max",
    )

    excess_guarantees_crash: bool = behaviour(
        "Guarantees that exceed the cluster crash the scheduler.",
        since(FIRST, True).means("Guarantees above the sum of the nodes crash the scheduler."),
        since(landed("v1.9.1", "v1.10.1", "v1.11.0"), False, pull=3106).means(
            "Guarantees above the sum of the nodes leave other queues nothing."
        ),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
    )

    guarantees_above_remaining_crash: bool = behaviour(
        "``proportion`` crashes when guarantees exceed what remains to divide.",
        since(FIRST, True).means(
            "Guarantees above what a queue's weight gives can crash the scheduler."
        ),
        since("v1.12.0", False, pull=4273).means(
            "A queue gets its guarantee, even if its weight gives less."
        ),
        source="plugins/proportion/proportion.go OnSessionOpen",
    )

    unnamed_capability_unlimited: bool = behaviour(
        "With ``proportion``, a capability does not bound what it does not name; else a queue "
        "whose capability names one kind of GPU, or another such resource, may use no other.",
        since(FIRST, False).means(
            "A queue with a capability of one kind of GPU gets no other kind."
        ),
        since("v1.8.2", True, pull=3448).means("A queue's capability bounds only what it names."),
        source="plugins/proportion/proportion.go OnSessionOpen",
    )

    deserved_capped_by_request: bool = behaviour(
        "With ``capacity``, a queue deserves no more than it requests.",
        since(FIRST, True).means(
            "An idle queue deserves nothing: shares refer to what queues request.",
            source="plugins/capacity/capacity.go",
        ),
        since("v1.12.0", False, pull=3946).means(
            "A queue's share refers to its configured deserved, not to its requests.",
            source="plugins/capacity/capacity.go buildQueueAttrs, checkHierarchicalQueue",
        ),
    )

    zero_deserved_share_is_one: bool = behaviour(
        "With ``capacity``, a queue that deserves nothing always has the share 1.",
        since(FIRST, False).means(
            "Queues that deserve nothing come first.",
            source="plugins/capacity/capacity.go updateShare",
        ),
        since("v1.14.0", True, pull=4865).means(
            "Queues that deserve nothing come after queues below their deserved.",
            source="plugins/capacity/capacity.go updateQueueAttrShare",
        ),
    )
