"""The state that a filter keeps for tasks from PreFilter.

Source: ``framework/session.go`` (``GetCycleState``), a state for each task as long as the session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....model.session_tables import Ints

if TYPE_CHECKING:
    from ...framework.session import Session


class States:
    """The verdicts of one filter, by the task that it was prepared for.

    All actions but one prepare for a task before they ask about it, so that the last state is
    enough. ``preempt`` asks first whether a pod's nominated node takes it: for such pods all states
    are kept.
    """

    def __init__(self, ssn: Session) -> None:
        self._info = ssn.tasks.info
        self._behaviours = ssn.behaviours
        self._kept: dict[int, Ints | None] = {}
        self._last = -1
        self._verdicts: Ints | None = None

    def note(self, task: int, verdicts: Ints | None) -> None:
        """Keep the verdicts about all nodes; ``None`` if all pass."""
        self._last, self._verdicts = task, verdicts
        if self._behaviours.nominated_pods_wait and self._info[task].pod.status.nominated_node_name:
            self._kept[task] = verdicts

    def __contains__(self, task: int) -> bool:
        return task == self._last or task in self._kept

    def of(self, task: int) -> Ints | None:
        """Return the verdicts about a task that is known; ``None`` if all nodes pass."""
        return self._verdicts if task == self._last else self._kept[task]
