"""The garbage collector: finished Volcano Jobs whose time is over."""

from __future__ import annotations

from ..releases import FIRST, behaviour, since, subject


@subject
class GarbageCollectorBehaviours:
    """The garbage collector: what differs between releases."""

    collection_of_deleted_job_retried: bool = behaviour(
        "If a finished job is deleted during its collection, that is an error and retried.",
        since(FIRST, True).means(
            "If a user deletes the job at the same time, its collection is retried in vain."
        ),
        since("v1.10.0", False, pull=3599).means("A job that no longer exists is not retried."),
        source="pkg/controllers/garbagecollector/garbagecollector.go processJob",
    )
