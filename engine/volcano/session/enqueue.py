"""The action ``enqueue``: which jobs may enter, and what they reserve in their queues."""

from __future__ import annotations

from ..releases import FIRST, behaviour, landed, since, subject


@subject
class EnqueueBehaviours:
    """The action ``enqueue``: what differs between releases."""

    overcommit_crashes: bool = behaviour(
        "With ``overcommit``, use above the factor crashes the scheduler.",
        since(FIRST, True).means("Pods that use more than the nodes have crash the scheduler."),
        since("v1.9.0", False, pull=3352).means("Losing nodes keeps jobs from being enqueued."),
        source="plugins/overcommit/overcommit.go OnSessionOpen",
    )

    enqueue_checks_ancestors: bool = behaviour(
        "With ``capacity``, a job is enqueued only if its queue's ancestors have room for it.",
        since(FIRST, False).means(
            "Together, siblings enqueue more than their parent has room for.",
            source="plugins/capacity/capacity.go OnSessionOpen",
            fault="A job is enqueued without a check of the queues above its own.",
        ),
        since("v1.12.0", True, pull=4119).means(
            "Together, siblings enqueue only what their parent has room for.",
            source="plugins/capacity/capacity.go checkJobEnqueueableHierarchically",
        ),
    )

    enqueue_events_name_resources: bool = behaviour(
        "The Event of a job that is not enqueued names the resources that are short.",
        since(FIRST, False).means(
            "The Event only says that the queue's quota is insufficient, or the cluster overused.",
            source="plugins/capacity/capacity.go, plugins/proportion/proportion.go, "
            "plugins/overcommit/overcommit.go",
        ),
        since("v1.13.0", True, pull=4544).means(
            "The Event names what is short (insufficient cpu), GPUs and other scalars in random "
            "order; v1.15.0 and later call devices beyond a quota dra-resource-exceeded.",
            source="plugins/util/util.go FormatResourceNames",
        ),
    )

    inqueue_jobs_reserve_missing_only: bool = behaviour(
        "In ``proportion`` and ``capacity``, enqueued jobs reserve only what they still lack.",
        since(FIRST, False).means("A gang bound in a session counts twice until the next session."),
        since("v1.15.0", True, pull=5130).means(
            "What an enqueued job holds is not reserved again."
        ),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
    )

    reserved_scalars_in_milli: bool = behaviour(
        "What a job lacks of its minimum has the same unit for all resources.",
        since(FIRST, False).means(
            "For missing GPUs of its minimum, a job reserves only a thousandth.",
            fault="A job reserves only a thousandth of the GPUs and other scalar resources that "
            "it lacks.",
        ),
        since(landed("v1.14.3", "v1.15.1"), True, pull=5391).means(
            "A job reserves missing GPUs of its minimum in full, and pods too."
        ),
        source="plugins/util/util.go GetInqueueResource",
    )

    reservation_kept_after_refusal: bool = behaviour(
        "Resources that a queue reserves for a job stay reserved if another plugin refuses the "
        "job.",
        since(FIRST, True).means(
            "A job that another plugin refuses still fills its queue for the rest of the session.",
            source="plugins/capacity/capacity.go, plugins/proportion/proportion.go OnSessionOpen",
        ),
        since("hardened", False).means(
            "If a job is refused, its reservation is released in all its queues.",
            source="engine/session/actions/enqueue.py; "
            "tests/session/plugins/test_hardened_queues.py",
        ),
    )
