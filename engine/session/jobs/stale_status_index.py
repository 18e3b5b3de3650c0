"""Where a job's groups list tasks by status besides where they are: traces of plans done again.

A plan is saved with copies of its tasks, each with the status that the plan gave it. When it is
done again, the copy is taken off its group's list of that status, where it is not, and the task
stays on the list of the status that it has. Who goes through the waiting tasks of a group later in
the session meets it again, though it was placed.

Source: ``pkg/scheduler/api/job_info.go`` (``DeleteTaskInfo``, which takes the task off its group by
what it is given), ``framework/statement.go`` (``SaveOperations``) since v1.14.

The handle by which it is met there is the old one, and remembers what was planned for it before.

"""

from __future__ import annotations

Discarded = tuple[int, int, bool]


class StaleStatusIndex:
    """By task: the statuses under which its group lists it besides its own."""

    def __init__(self) -> None:
        self._besides: dict[int, set[int]] = {}
        self._kept: dict[int, Discarded | None] = {}

    def __bool__(self) -> bool:
        return bool(self._besides)

    def move(self, task: int, present: int, noted: int, status: int) -> None:
        """Note that a task goes from its present status to another.

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
        """Keep what the handle of a task remembers, before its plan is done on a copy."""
        self._kept[task] = discarded

    def kept(self, task: int) -> Discarded | None:
        """Return what the old handle remembers: (status, node, whether others had to go)."""
        return self._kept.get(task)

    def under(self, status: int) -> list[int]:
        """Return the tasks that are listed under a status besides their own."""
        return sorted(task for task, besides in self._besides.items() if status in besides)
