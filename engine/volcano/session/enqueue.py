"""The action ``enqueue``: which jobs may enter, and what they reserve in their queues."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class EnqueueBehaviours:
    """The action ``enqueue``: what differs between releases."""

    overcommit_crashes: bool
    """With ``overcommit``, use above the factor crashes the scheduler."""

    enqueue_checks_ancestors: bool
    """With ``capacity``, a job is enqueued only if its queue's ancestors have room for it."""

    inqueue_jobs_reserve_missing_only: bool
    """In ``proportion`` and ``capacity``, enqueued jobs reserve only what they still lack."""

    reserved_scalars_in_milli: bool
    """What a job lacks of its minimum has the same unit for all resources."""

    reservation_kept_after_refusal: bool
    """Resources that a queue reserves for a job stay reserved if another plugin refuses the job."""


ROWS: tuple[Row, ...] = (
    Row(
        "overcommit_crashes",
        True,
        FIRST,
        source="plugins/overcommit/overcommit.go OnSessionOpen",
        why="Pods that use more than the nodes have crash the scheduler.",
    ),
    Row(
        "overcommit_crashes",
        False,
        landed("v1.9.0"),
        source="plugins/overcommit/overcommit.go OnSessionOpen",
        why="Losing nodes keeps jobs from being enqueued.",
        pull=3352,
    ),
    Row(
        "enqueue_checks_ancestors",
        False,
        FIRST,
        source="plugins/capacity/capacity.go OnSessionOpen",
        why="Together, siblings enqueue more than their parent has room for.",
        fault="A job is enqueued without a check of the queues above its own.",
    ),
    Row(
        "enqueue_checks_ancestors",
        True,
        landed("v1.12.0"),
        source="plugins/capacity/capacity.go checkJobEnqueueableHierarchically",
        why="Together, siblings enqueue only what their parent has room for.",
        pull=4119,
    ),
    Row(
        "inqueue_jobs_reserve_missing_only",
        False,
        FIRST,
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="A gang bound in a session counts twice until the next session.",
    ),
    Row(
        "inqueue_jobs_reserve_missing_only",
        True,
        landed("v1.15.0"),
        source="plugins/proportion/proportion.go, plugins/capacity/capacity.go",
        why="What an enqueued job holds is not reserved again.",
        pull=5130,
    ),
    Row(
        "reserved_scalars_in_milli",
        False,
        FIRST,
        source="plugins/util/util.go GetInqueueResource",
        why="For missing GPUs of its minimum, a job reserves only a thousandth.",
        fault="A job reserves only a thousandth of the GPUs and other scalar resources that it "
        "lacks.",
    ),
    Row(
        "reserved_scalars_in_milli",
        True,
        landed("v1.14.3", "v1.15.1"),
        source="plugins/util/util.go GetInqueueResource",
        why="A job reserves missing GPUs of its minimum in full, and pods too.",
        pull=5391,
    ),
    Row(
        "reservation_kept_after_refusal",
        True,
        FIRST,
        source="plugins/capacity/capacity.go, plugins/proportion/proportion.go OnSessionOpen",
        why="A job that another plugin refuses still fills its queue for the rest of the session.",
    ),
    Row(
        "reservation_kept_after_refusal",
        False,
        landed("hardened"),
        source="engine/session/actions/enqueue.py; tests/session/plugins/test_hardened_queues.py",
        why="If a job is refused, its reservation is released in all its queues.",
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
