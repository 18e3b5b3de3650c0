"""The states of a queue: what each makes of an action, and which state is written.

Source: pkg/controllers/queue/state/factory.go, open.go, closed.go, closing.go, unknown.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

OPEN, CLOSED, CLOSING, UNKNOWN = "Open", "Closed", "Closing", "Unknown"
SYNC_QUEUE, OPEN_QUEUE, CLOSE_QUEUE = "SyncQueue", "OpenQueue", "CloseQueue"

ENDING = frozenset({CLOSED, CLOSING})
"""States of queues that take nothing new."""

NextState = Callable[[int], str]
"""Returns the next state of a queue, from how many PodGroups it has."""


class QueuePlan(NamedTuple):
    """What is to be done: :data:`SYNC_QUEUE`, :data:`OPEN_QUEUE` or :data:`CLOSE_QUEUE`."""

    act: str
    state: NextState


def plan(state: str, action: str) -> QueuePlan | None:
    """Return what an action means for a queue of a state; None if there is no such state.

    A queue without a state is open. Each unknown action is a sync.
    """
    if state not in {"", OPEN, CLOSED, CLOSING, UNKNOWN}:
        return None
    if action == OPEN_QUEUE:
        return QueuePlan(SYNC_QUEUE if state in {"", OPEN} else OPEN_QUEUE, _always(OPEN))
    if action == CLOSE_QUEUE:
        if state == CLOSED:
            return QueuePlan(SYNC_QUEUE, _always(CLOSED))
        return QueuePlan(SYNC_QUEUE if state == CLOSING else CLOSE_QUEUE, _closed_when_empty)
    # A sync ends Closing when the last PodGroup is gone: each deletion requests one.
    synced = _closed_when_empty if state == CLOSING else _always(state or OPEN)
    return QueuePlan(SYNC_QUEUE, synced)


def _always(state: str) -> NextState:
    return lambda _: state


def _closed_when_empty(groups: int) -> str:
    return CLOSING if groups else CLOSED
