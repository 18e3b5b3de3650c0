"""Plugin ``priority``: higher priority first; lower priority can be preempted.

Source: pkg/scheduler/plugins/priority/priority.go.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...model.session_tables import Rows
from ...volcano.conf import Arguments
from ..framework.plugin_registry import RECLAIM, GangEviction
from ..framework.session import Session
from ..framework.trace import PERMIT
from ..framework.vote_details import Spares


class Priority:
    """Orders tasks and jobs by priority, and lets the higher preempt the lower."""

    name: ClassVar[str] = "priority"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments."""

    def on_session_open(self, ssn: Session) -> None:
        """Register the orders, the filters of victims, and which jobs starve."""
        jobs = ssn.jobs
        tasks = ssn.tasks.info
        job_of = ssn.tasks.job
        job_priority: list[int] = jobs.priority.tolist()

        def stays(candidate: int, has: int, limit: int) -> bool:
            """Return False; keep why a candidate stays, while the vote is explained."""
            if ssn.trace.staying is not None:
                ssn.trace.spare(Spares.PRIORITY, jobs.keys[job_of.item(candidate)], has, limit)
            return False

        def preemptable(preemptor: int, candidates: list[int]) -> tuple[list[int], int]:
            """Choose tasks of less important jobs and, of the own job, less important tasks."""
            own, victims = job_of.item(preemptor), []
            for task in candidates:
                job = job_of.item(task)
                has, limit = job_priority[job], job_priority[own]
                if job == own:
                    has, limit = tasks[task].priority, tasks[preemptor].priority
                if has < limit or stays(task, has, limit):
                    victims.append(task)
            return victims, PERMIT

        def may_yield(preemptor: int, candidates: Rows) -> NDArray[np.bool_]:
            """Return which tasks may be preempted: less important jobs', and all of the own job."""
            theirs, ours = job_of[candidates], job_of.item(preemptor)
            may: NDArray[np.bool_] = ssn.jobs.priority[theirs] < job_priority[ours]
            may |= theirs == ours
            return may

        def evictable(eviction: GangEviction, candidates: list[int]) -> tuple[list[int], int]:
            """Choose tasks of less important jobs; to reclaim, importance does not count."""
            if eviction.action == RECLAIM:
                return candidates, PERMIT
            ours = job_priority[eviction.job]
            theirs = ((task, job_priority[job_of[task]]) for task in candidates)
            chosen = [task for task, has in theirs if has < ours or stays(task, has, ours)]
            return chosen, PERMIT

        ssn.registry.add_task_key(self.name, lambda task: -tasks[task].priority)
        ssn.registry.add_job_order(self.name, lambda job: -job_priority[job])
        ssn.registry.add_sub_job_order(self.name, lambda sub_job: -sub_job.priority)
        # Only to preempt: queues decide about reclaiming, and `priority` registers no
        # `ReclaimableFn`.
        ssn.registry.add_preemptable(self.name, preemptable, may=may_yield)
        ssn.registry.add_unified_evictable(self.name, evictable)
        ssn.registry.add_job_starving(self.name, lambda job: _starves(ssn, job))

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""


def _starves(ssn: Session, job: int) -> bool:
    """Return whether fewer pods of a job run or will run than it has."""
    jobs = ssn.jobs
    # All tasks count, not only the minimum: an elastic job preempts for each that it lacks.
    return jobs.ready_task_num(job) + jobs.waiting_task_num(job) < len(jobs.tasks[job])
