"""The action ``backfill``: pods that request nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


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


@dataclass(frozen=True, init=False, repr=False, eq=False)
class BackfillBehaviours:
    """The action ``backfill``: what differs between releases."""

    backfill_scores_nodes: bool
    """``backfill`` uses the node with the best score; else any node that fits."""

    backfill_failure: BackfillFailure
    """How ``backfill`` goes on after a failure."""


ROWS: tuple[Row, ...] = (
    Row(
        "backfill_scores_nodes",
        False,
        FIRST,
        source="actions/backfill/backfill.go Execute",
        why="Pods without requests may all go to one node.",
    ),
    Row(
        "backfill_scores_nodes",
        True,
        landed("v1.8.2"),
        source="actions/backfill/backfill.go Execute",
        why="Pods without requests go to the node that scores best.",
        pull=2955,
    ),
    Row(
        "backfill_failure",
        BackfillFailure.UNPREPARED_ENDS_JOB,
        FIRST,
        source="actions/backfill/backfill.go Execute",
        why="A pod without requests that fits nowhere does not stop others.",
    ),
    Row(
        "backfill_failure",
        BackfillFailure.ENDS_JOB,
        landed("v1.8.2"),
        source="actions/backfill/backfill.go Execute",
        why="One pod without requests that fits nowhere stops the others of its job.",
        pull=2955,
    ),
    Row(
        "backfill_failure",
        BackfillFailure.ENDS_ACTION,
        landed("v1.9.0"),
        source="actions/backfill/backfill.go Execute",
        why="One pod without requests that fits nowhere stops the others of all jobs.",
        pull=3335,
    ),
    Row(
        "backfill_failure",
        BackfillFailure.CONTINUES,
        landed("v1.12.0"),
        source="actions/backfill/backfill.go Execute",
        why="A pod without requests that fits nowhere does not stop others.",
        pull=4029,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
