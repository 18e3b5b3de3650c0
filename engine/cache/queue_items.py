"""The items in the queues of a cache's workers; they depend on the release."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ..model.job import JobInfo
from ..model.task import TaskInfo


class JobName(NamedTuple):
    """An item for the cleanup of a job: the job that then has the name.

    :param key: ``namespace/name`` of the PodGroup. :param uid: of the PodGroup that it had.
    """

    key: str
    uid: str


class FailedTask:
    """A task as it was when it failed; only equal to itself."""

    __slots__ = ("task",)

    def __init__(self, task: TaskInfo) -> None:
        self.task = task

    def __eq__(self, other: object) -> bool:
        """Return whether it is the very same task."""
        return isinstance(other, FailedTask) and other.task is self.task

    def __hash__(self) -> int:
        """Return a hash by identity."""
        return id(self.task)


DeletedJob: TypeAlias = JobInfo | JobName
"""An item for cleanup; see :class:`.CleanupKey`."""

FailedItem: TypeAlias = FailedTask | str
"""An item for resync: the task, or ``namespace/group/uid``.

See :class:`.FailedTasksKey`.
"""


def name_of(item: FailedItem) -> str:
    """Return ``namespace/group/uid`` of a task for resync."""
    return f"{item.task.job}/{item.task.uid}" if isinstance(item, FailedTask) else item
