"""The actions of a session, by the names that a configuration gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...volcano.session.reclaim import ReclaimUnit
from ..framework.session import Session
from ..nodes.node_views import NodeViews
from . import (
    allocate,
    backfill,
    enqueue,
    gangpreempt,
    gangreclaim,
    preempt,
    reclaim,
    reclaim_by_job,
    shuffle,
)

Execute = Callable[[Session, NodeViews], None]
"""An action: it works on the session and returns nothing."""

_RECLAIM: Mapping[ReclaimUnit, Execute] = MappingProxyType(
    {ReclaimUnit.TASK: reclaim.execute, ReclaimUnit.JOB: reclaim_by_job.execute}
)


def _reclaim(ssn: Session, views: NodeViews) -> None:
    """Reclaim as the release does."""
    _RECLAIM[ssn.behaviours.reclaim_unit](ssn, views)


ACTIONS: Mapping[str, Execute] = MappingProxyType(
    {
        "enqueue": enqueue.execute,
        "allocate": allocate.execute,
        "backfill": backfill.execute,
        "preempt": preempt.execute,
        "reclaim": _reclaim,
        "gangpreempt": gangpreempt.execute,
        "gangreclaim": gangreclaim.execute,
        "shuffle": shuffle.execute,
    }
)
