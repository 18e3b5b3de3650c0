"""The list of invariants whose functions need nothing but a view."""

from __future__ import annotations

from . import controller_invariants as controllers
from . import device_invariants as devices
from . import eviction_invariants as evictions
from . import job_invariants as jobs
from . import node_invariants as nodes
from . import phase_invariants as phases
from . import plan_invariants as plans
from . import podgroup_invariants as podgroups
from . import queue_invariants as queues
from . import runs, unseen
from . import session_invariants as sessions
from . import version_invariants as versions
from . import writer_invariants as writers
from .invariant import Invariant


def _order(invariant: Invariant) -> tuple[int, str]:
    number = invariant.id.removeprefix("I-")
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
