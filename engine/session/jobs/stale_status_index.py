"""Stale entries of tasks in their groups' lists by status, left by repeated plans.

A plan is saved with copies of its tasks, each with its planned status. When it is repeated,
Volcano removes the copy from its group's list of that status, where it is not, and the task
stays on the list of its old status. Code that later in the session iterates over the pending
tasks of a group finds the task again, although it was placed.

Source: ``pkg/scheduler/api/job_info.go`` (``DeleteTaskInfo``, which removes it from its group by
its argument's status), ``framework/statement.go`` (``SaveOperations``) since v1.14.

The entry there is the old handle of the task, with the earlier plan.

"""

from __future__ import annotations

Discarded = tuple[int, int, bool]


class StaleStatusIndex:
    """By task: the statuses under which its group lists it, except its own."""

    def __init__(self) -> None:
        self._besides: dict[int, set[int]] = {}
        self._kept: dict[int, Discarded | None] = {}

    def __bool__(self) -> bool:
        return bool(self._besides)

    def move(self, task: int, present: int, noted: int, status: int) -> None:
        """Note that a task changes from its current status to another.

        :param noted: the status of the handle by which it is moved.
        """
        if present == noted and task not in self._besides:
            return
        besides = self._besides.setdefault(task, set())
        besides |= {present}
        besides -= {noted, status}
        if not besides:
            del self._besides[task]

    def keep(self, task: int, discarded: Discarded | None) -> None:
        """Store the earlier plan in a task's handle, before its plan is repeated on a copy."""
        self._kept[task] = discarded

    def kept(self, task: int) -> Discarded | None:
        """Return the plan in the old handle: (status, node, whether tasks were evicted)."""
        return self._kept.get(task)

    def under(self, status: int) -> list[int]:
        """Return the tasks that are listed under a status that is not their own."""
        return sorted(task for task, besides in self._besides.items() if status in besides)
