"""The start of the scheduler."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class StartBehaviours:
    """The start of the scheduler: what differs between releases."""

    first_session_waits_for_handlers: bool
    """The first session waits until the cache has all objects that existed at the start."""

    startup_queues_checked_first: bool
    """At the start, the root and default queues are created only if they do not exist."""


ROWS: tuple[Row, ...] = (
    Row(
        "first_session_waits_for_handlers",
        False,
        FIRST,
        source="cache/cache.go Run, WaitForHandlerSync",
        why="The first sessions may miss nodes or pods, and place pods on resources in use.",
    ),
    Row(
        "first_session_waits_for_handlers",
        True,
        landed("v1.12.4", "v1.13.3", "v1.14.2", "v1.15.0"),
        source="cache/cache.go Run, WaitForHandlerSync",
        why="The first session sees all objects, or starts after --resource-sync-timeout (1m).",
        pull=5172,
    ),
    Row(
        "startup_queues_checked_first",
        False,
        FIRST,
        source="cache/cache.go newDefaultQueue, newDefaultAndRootQueue",
        why="A scheduler does not start if admission refuses to create a queue that exists.",
    ),
    Row(
        "startup_queues_checked_first",
        True,
        landed("v1.14.2", "v1.15.0"),
        source="cache/cache.go newDefaultAndRootQueue",
        why="A scheduler starts if its queues exist, even if admission refuses to create them.",
        pull=4973,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
