"""The action ``backfill``: pods that request nothing."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, since, subject


class BackfillFailure(StrEnum):
    """How ``backfill`` goes on after a task that no node takes."""

    UNPREPARED_ENDS_JOB = "unprepared ends job"
    """With the next task; with the next job, if PrePredicate fails for the task."""
    ENDS_JOB = "ends job"
    """With the next job; after a task failed, no other one of its role is tried."""
    ENDS_ACTION = "ends action"
    """Not at all: all later tasks stay pending."""
    CONTINUES = "continues"
    """With the next task."""


@subject
class BackfillBehaviours:
    """The action ``backfill``: what differs between releases."""

    backfill_scores_nodes: bool = behaviour(
        "``backfill`` uses the node with the best score; else any node that fits.",
        since(FIRST, False).means("Pods without requests may all go to one node."),
        since("v1.8.2", True, pull=2955).means(
            "Pods without requests go to the node that scores best."
        ),
        source="actions/backfill/backfill.go Execute",
    )

    backfill_failure: BackfillFailure = behaviour(
        "How ``backfill`` goes on after a failure.",
        since(FIRST, BackfillFailure.UNPREPARED_ENDS_JOB).means(
            "A pod without requests that fits nowhere does not stop others."
        ),
        since("v1.8.2", BackfillFailure.ENDS_JOB, pull=2955).means(
            "One pod without requests that fits nowhere stops the others of its job."
        ),
        since("v1.9.0", BackfillFailure.ENDS_ACTION, pull=3335).means(
            "One pod without requests that fits nowhere stops the others of all jobs."
        ),
        since("v1.12.0", BackfillFailure.CONTINUES, pull=4029).means(
            "A pod without requests that fits nowhere does not stop others."
        ),
        source="actions/backfill/backfill.go Execute",
    )
