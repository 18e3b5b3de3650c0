"""The hypernodes in which jobs and their groups were placed: stored, or found by their nodes.

Source: ``framework/session.go`` (``removeInvalidAllocatedHyperNode``,
``recoverAllocatedHyperNode``), ``actions/allocate/recorder.go`` since v1.14.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ...model.session_tables import ALLOCATED_STATUS
from ..topology.top_hypernode import lca
from .division import Division

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...model.hypernode import HyperNodes
    from ...model.session_tables import TaskTable
    from ...volcano.session.behaviours import Behaviours
    from .jobs import JobTable

_JOB = ""
"""In place of a group's UID: the job itself."""


class HypernodeMemory(msgspec.Struct):
    """The process's memory of its placements.

    :ivar by_job: hypernode by job and UID of the group; "" stands for the job.
    """

    by_job: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)


class AllocatedHypernodes:
    """The hypernodes in which jobs were placed, remembered from session to session.

    :param memory: see :class:`HypernodeMemory`; it is changed.
    :param opening: the statuses of the tasks when the session was opened.
    :param choose: chooses one of several equal hypernodes for a job, by index.
    """

    def __init__(
        self,
        *,
        memory: dict[str, dict[str, str]],
        jobs: JobTable,
        tasks: TaskTable,
        opening: NDArray[np.int8],
        tree: HyperNodes,
        behaviours: Behaviours,
        choose: Callable[[str, Sequence[str]], int],
    ) -> None:
        self._memory = memory
        self._jobs = jobs
        self._tasks = tasks
        self._opening = opening
        self._tree = tree
        self._behaviours = behaviours
        self._choose = choose

    def forget_absent(self) -> list[int]:
        """Forget jobs that are gone; return the others."""
        row = self._jobs.row
        for key in [key for key in self._memory if key not in row]:
            del self._memory[key]
        return [row[key] for key in sorted(self._memory)]

    def recover(self, job: int, division: Division) -> None:
        """Store where a job and its groups were placed when the session was opened."""
        known = self._memory.get(self._jobs.keys[job], {})
        division.hypernode = known.get(_JOB, "")
        for sub in division.sub_jobs:
            sub.hypernode = known.get(sub.uid, "")
        if self._tree.ready:
            self._forget_invalid(job, division)
            if division.near:
                self._find(job, division)
        self._remember(job, division)

    def note(self, job: int, division: Division, hypernode: str, groups: Mapping[str, str]) -> None:
        """Remember that a job was placed in one more hypernode, and its groups within it.

        :param groups: hypernode by UID of the group.

        Source: ``Recorder.UpdateDecisionToJob``.
        """
        division.hypernode = lca(self._tree, division.hypernode, hypernode)
        for sub in division.sub_jobs:
            if sub.uid in groups:
                sub.hypernode = lca(self._tree, sub.hypernode, groups[sub.uid])
        self._remember(job, division)

    def _remember(self, job: int, division: Division) -> None:
        placed = {sub.uid: sub.hypernode for sub in division.sub_jobs if sub.hypernode}
        if division.hypernode:
            placed[_JOB] = division.hypernode
        if placed:
            self._memory[self._jobs.keys[job]] = placed
        else:
            self._memory.pop(self._jobs.keys[job], None)

    def _forget_invalid(self, job: int, division: Division) -> None:
        """Forget hypernodes that are gone, and those where no task has resources any more."""
        names = self._tree.infos
        # The statuses of the opening: `removeInvalidAllocatedHyperNode` runs before any action.
        if division.hypernode not in names or not self._held(self._jobs.tasks[job]):
            division.hypernode = ""
        for sub in division.sub_jobs:
            if sub.hypernode not in names or not self._held(sub.tasks):
                sub.hypernode = ""

    def _find(self, job: int, division: Division) -> None:
        """Find the hypernodes of the groups by their nodes, and the job's by its groups'."""
        updated = False
        for sub in division.sub_jobs:
            if sub.topology and not sub.hypernode:
                sub.hypernode = self._lowest(job, self._nodes(sub.tasks))
                updated = updated or bool(sub.hypernode)
        # A job that was placed keeps its hypernode, unless a group has just been found in another.
        if not division.hypernode or updated:
            common = ""
            for sub in division.sub_jobs:
                common = lca(self._tree, common, sub.hypernode)
            division.hypernode = common

    def _held(self, tasks: Sequence[int]) -> list[int]:
        """Return those of some tasks that held resources when the session was opened."""
        status = self._opening.item
        return [task for task in tasks if status(task) in ALLOCATED_STATUS]

    def _nodes(self, tasks: Sequence[int]) -> set[str]:
        """Return the names of some tasks' nodes, including nodes that are not in the session."""
        return {self._tasks.info[task].node_name for task in self._held(tasks)} - {""}

    def _lowest(self, job: int, nodes: set[str]) -> str:
        """Return the hypernode of the lowest tier that has all of some nodes; empty without any.

        Source: ``getLowestTierHyperNode``; before it ``getMinimumHyperNode``, to which a hypernode
        and one above it that has no more nodes were equal.
        """
        if not nodes:
            return ""
        tree = self._tree
        sizes = {
            name: len(tree.real_nodes[name])
            for names in tree.by_tier.values()
            for name in names
            if nodes <= tree.real_nodes.get(name, frozenset())
        }
        least = min(sizes.values(), default=0)
        equals = sorted(name for name, size in sizes.items() if size == least)
        if self._behaviours.lowest_hypernode_found or len(equals) < 2:
            return next(iter(sizes), "")
        return equals[self._choose(self._jobs.keys[job], equals)]
