"""The garbage collector: finished Volcano Jobs whose time is over."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class GarbageCollectorBehaviours:
    """The garbage collector: what differs between releases."""

    collection_of_deleted_job_retried: bool
    """If a finished job is deleted during its collection, that is an error and retried."""


ROWS: tuple[Row, ...] = (
    Row(
        "collection_of_deleted_job_retried",
        True,
        FIRST,
        source="pkg/controllers/garbagecollector/garbagecollector.go processJob",
        why="If a user deletes the job at the same time, its collection is retried in vain.",
    ),
    Row(
        "collection_of_deleted_job_retried",
        False,
        landed("v1.10.0"),
        source="pkg/controllers/garbagecollector/garbagecollector.go processJob",
        why="A job that no longer exists is not retried.",
        pull=3599,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
