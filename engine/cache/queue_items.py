"""What waits in the queues of a cache's workers; releases differ in it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ..model.job import JobInfo
from ..model.task import TaskInfo


class JobName(NamedTuple):
    """What names a job that is to be cleaned up: whatever job has that name by then.

    :param key: ``namespace/name`` of the PodGroup. :param uid: of the PodGroup that it had.
    """

    key: str
    uid: str


class FailedTask:
    """A task as it was when it failed: equal to itself alone."""

    __slots__ = ("task",)

    def __init__(self, task: TaskInfo) -> None:
        self.task = task

    def __eq__(self, other: object) -> bool:
        """Say whether it is the very same task."""
        return isinstance(other, FailedTask) and other.task is self.task

    def __hash__(self) -> int:
        """Return a hash by identity."""
        return id(self.task)


DeletedJob: TypeAlias = JobInfo | JobName
"""What waits to be cleaned up; see :class:`.CleanupKey`."""

FailedItem: TypeAlias = FailedTask | str
"""What waits to be read again: the task, or ``namespace/group/uid``.

See :class:`.FailedTasksKey`.
"""


def name_of(item: FailedItem) -> str:
    """Return ``namespace/group/uid`` of a task that is to be read again."""
    return f"{item.task.job}/{item.task.uid}" if isinstance(item, FailedTask) else item
