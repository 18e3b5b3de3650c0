"""The start of the scheduler."""

from __future__ import annotations

from ..releases import FIRST, behaviour, landed, since, subject


@subject
class StartBehaviours:
    """The start of the scheduler: what differs between releases."""

    first_session_waits_for_handlers: bool = behaviour(
        "The first session waits until the cache has all objects that existed at the start.",
        since(FIRST, False).means(
            "The first sessions may miss nodes or pods, and place pods on resources in use."
        ),
        since(landed("v1.12.4", "v1.13.3", "v1.14.2", "v1.15.0"), True, pull=5172).means(
            "The first session sees all objects, or starts after --resource-sync-timeout (1m)."
        ),
        source="cache/cache.go Run, WaitForHandlerSync",
    )

    startup_queues_checked_first: bool = behaviour(
        "At the start, the root and default queues are created only if they do not exist.",
        since(FIRST, False).means(
            "A scheduler does not start if admission refuses to create a queue that exists.",
            source="cache/cache.go newDefaultQueue, newDefaultAndRootQueue",
        ),
        since(landed("v1.14.2", "v1.15.0"), True, pull=4973).means(
            "A scheduler starts if its queues exist, even if admission refuses to create them.",
            source="cache/cache.go newDefaultAndRootQueue",
        ),
    )
