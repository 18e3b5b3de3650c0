"""The list of invariants whose functions need nothing but a view."""

from __future__ import annotations

from . import (
    controllers,
    devices,
    evictions,
    jobs,
    nodes,
    phases,
    plans,
    podgroups,
    queues,
    runs,
    sessions,
    unseen,
    versions,
    writers,
)
from .invariant import Invariant


def _order(one: Invariant) -> tuple[int, str]:
    number = one.id.removeprefix("I-")
    return int(number[:2]), number[2:]


def in_order(some: tuple[Invariant, ...]) -> tuple[Invariant, ...]:
    """Return invariants by number."""
    return tuple(sorted(some, key=_order))


INVARIANTS: tuple[Invariant, ...] = in_order(
    (
        *podgroups.INVARIANTS,
        *nodes.INVARIANTS,
        *jobs.INVARIANTS,
        *queues.INVARIANTS,
        *sessions.INVARIANTS,
        *versions.INVARIANTS,
        *controllers.INVARIANTS,
        *devices.INVARIANTS,
        *evictions.INVARIANTS,
        *phases.INVARIANTS,
        *plans.INVARIANTS,
        *runs.INVARIANTS,
        *unseen.INVARIANTS,
        *writers.INVARIANTS,
    )
)
"""All of them, by number."""
