"""Why a task does not fit a node: statuses with codes, interned so that columns can hold them.

Source: ``pkg/scheduler/api/types.go`` (``Status``, ``StatusSets``).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .objections import Objection


class StatusCode(IntEnum):
    """Code of a status, as in kube-scheduler's framework."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5


class NodeRefusal(NamedTuple):
    """One reason of one filter."""

    code: StatusCode
    objection: Objection


PASS = 0
"""Id of the verdict that has no status: the node takes the task."""

_FINAL = frozenset(
    {
        StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE,
        StatusCode.ERROR,
        StatusCode.SKIP,
        StatusCode.WAIT,
    }
)


class Reasons:
    """Assigns a small number to every distinct list of statuses, for int32 columns."""

    def __init__(self) -> None:
        self._ids: dict[tuple[NodeRefusal, ...], int] = {(): PASS}
        self._statuses: list[tuple[NodeRefusal, ...]] = [()]
        self._stops: list[bool] = [False]

    def intern(self, code: StatusCode, objection: Objection) -> int:
        """Return the id of a verdict with one status."""
        return self.intern_all((NodeRefusal(code, objection),))

    def intern_all(self, statuses: tuple[NodeRefusal, ...]) -> int:
        """Return the id of a verdict with these statuses."""
        known = self._ids.get(statuses)
        if known is None:
            known = self._ids[statuses] = len(self._statuses)
            self._statuses.append(statuses)
            self._stops.append(any(status.code in _FINAL for status in statuses))
        return known

    def statuses(self, verdict: int) -> tuple[NodeRefusal, ...]:
        """Return the statuses of a verdict."""
        return self._statuses[verdict]

    def objections(self, verdict: int) -> tuple[Objection, ...]:
        """Return the objections of a verdict."""
        return tuple(status.objection for status in self._statuses[verdict])

    def plain(self, verdict: int) -> tuple[Objection, ...]:
        """Return the objections of a verdict, without what a release puts around them."""
        return tuple(
            objection for status in self._statuses[verdict] for objection in status.objection.plain
        )

    def unresolvable(self, verdict: int) -> bool:
        """Return whether evicting pods from the node cannot help."""
        return any(
            status.code is StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE
            for status in self._statuses[verdict]
        )

    def stops_preemption(self, verdict: int) -> bool:
        """Return whether preempt and reclaim skip the node: every code except Unschedulable.

        Source: ``framework/session.go:PredicateForPreemptAction``.
        """
        return self._stops[verdict]

    def stop_preemption(self) -> NDArray[np.bool_]:
        """Return :meth:`stops_preemption` of all verdicts."""
        return np.array(self._stops)

    def __len__(self) -> int:
        return len(self._statuses)
