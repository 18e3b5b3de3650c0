"""The actions of a session, by the names that a configuration gives them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..session import Execute
from . import allocate, backfill, enqueue, preempt, reclaim

ACTIONS: Mapping[str, Execute] = MappingProxyType(
    {
        "enqueue": enqueue.execute,
        "allocate": allocate.execute,
        "backfill": backfill.execute,
        "preempt": preempt.execute,
        "reclaim": reclaim.execute,
    }
)
