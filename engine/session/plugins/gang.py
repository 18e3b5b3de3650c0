"""Plugin ``gang``: a job's minimum of tasks is placed together or not at all.

Source: pkg/scheduler/plugins/gang/gang.go.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...kubernetes.objects import PodGroup
from ...model.session_tables import ALLOCATED_STATUS, Rows
from ...volcano.conf import Arguments
from ..framework.conditions import update_condition
from ..framework.plugin_registry import GangEviction
from ..framework.session import Session
from ..framework.session_outcome import GroupCondition
from ..framework.trace import PERMIT, REJECT, Vote
from ..framework.vote_details import Spares
from ..jobs.division import SubJob

NOT_ENOUGH_RESOURCES = "NotEnoughResources"
READY = GroupCondition("Scheduled", "True", "tasks in gang are ready to be scheduled", ours=True)


class GangPlugin:
    """Compares a job's tasks with ``minAvailable`` and, by role, ``taskMinAvailable``."""

    name: ClassVar[str] = "gang"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments."""

    def on_session_open(self, ssn: Session) -> None:
        """Register validity, order, readiness, and which tasks of a job may be evicted."""
        self._jobs = ssn.jobs
        self._sub_jobs = ssn.sub_jobs
        self._job_of = ssn.tasks.job
        self._ssn = ssn
        self._least = np.array(ssn.jobs.min_available)
        ssn.registry.add_job_valid(self.name, self._valid)
        ssn.registry.add_preemptable(self.name, self._evictable, may=self._could_evict)
        ssn.registry.add_reclaimable(self.name, self._evictable, may=self._could_evict)
        ssn.registry.add_unified_evictable(self.name, _all_candidates)
        ssn.registry.add_job_order(
            self.name, self._jobs.is_ready
        )  # those that are not ready come first
        ssn.registry.add_job_ready(self.name, self._ready)
        ssn.registry.add_job_pipelined(self.name, self._pipelined)
        # Starving knows no roles: `jobStarvingFn` asks `IsStarving` only.
        ssn.registry.add_job_starving(self.name, self._jobs.is_starving)
        ssn.registry.add_sub_job_ready(self.name, self._sub_jobs.is_ready)
        ssn.registry.add_sub_job_pipelined(self.name, self._sub_job_pipelined)
        ssn.registry.add_sub_job_order(self.name, self._sub_jobs.is_ready)

    def on_session_close(self, ssn: Session) -> None:
        """Write to every PodGroup, if it has pods, whether its gang is ready, and why not."""
        jobs = ssn.jobs
        for job, tasks in enumerate(jobs.tasks):
            if not (tasks or ssn.behaviours.empty_podgroups_get_conditions):
                continue
            # `IsReady` without `CheckTaskReady`: the condition ignores the minima of roles.
            if jobs.is_ready(job):
                if not _was_reported_ready(jobs.info[job].pod_group):
                    update_condition(ssn, job, READY)
                continue
            message = (
                f"{_unready_num(ssn, job)}/{len(tasks)} tasks in gang unschedulable:"
                f" {jobs.fit_error(job)}"
            )
            if not ssn.behaviours.gang_message_includes_pod_reason:
                jobs.job_fit_errors[job] = message
            condition = GroupCondition(
                "Unschedulable", "True", NOT_ENOUGH_RESOURCES, message, ours=True
            )
            update_condition(ssn, job, condition)

    def _valid(self, job: int) -> Vote | None:
        """Reject a job that can never be ready: tasks are missing or lost."""
        jobs = self._jobs
        if not jobs.check_task_valid(job):
            return Vote(REJECT, "Not enough valid pods of each task for gang-scheduling")
        if job in jobs.grouped and not self._sub_jobs.has_minima(job, lambda _: True):
            return Vote(REJECT, "Not enough valid subGroups of each task for gang-scheduling")
        valid, least = jobs.valid_task_num(job), jobs.min_available[job]
        if valid < least:
            message = f"Not enough valid tasks for gang-scheduling, valid: {valid}, min: {least}"
            return Vote(REJECT, message, {"valid": valid, "minAvailable": least})
        return None

    def _evictable(self, evictor: int, candidates: list[int]) -> tuple[list[int], int]:
        """Choose the tasks that each job has beyond its minimum, in the order given."""
        occupied: dict[int, int] = {}
        victims = []
        for task in candidates:
            job = self._job_of.item(task)
            if job not in occupied:
                occupied[job] = self._jobs.ready_task_num(job)
            # `minAvailable` alone: minima of roles and groups do not keep a task (`preemptableFn`).
            if occupied[job] > self._jobs.min_available[job]:
                occupied[job] -= 1
                victims.append(task)
            elif self._ssn.trace.staying is not None:
                has, least = occupied[job], self._jobs.min_available[job]
                self._ssn.trace.spare(Spares.MIN_MEMBER, self._jobs.keys[job], has, least)
        return victims, PERMIT

    def _could_evict(self, _: int, candidates: Rows) -> NDArray[np.bool_]:
        """Return the candidates whose jobs have more tasks than their minimum."""
        spare: NDArray[np.bool_] = np.array(self._jobs.ready_task_nums()) > self._least
        return spare[self._job_of[candidates]]

    def _ready(self, job: int) -> bool:
        jobs = self._jobs
        if job in jobs.grouped and not self._sub_jobs.has_minima(job, self._sub_jobs.is_ready):
            return False
        return jobs.check_task_ready(job) and jobs.is_ready(job)

    def _pipelined(self, job: int) -> int:
        jobs, sub_jobs = self._jobs, self._sub_jobs
        if job in jobs.grouped and not sub_jobs.has_minima(job, sub_jobs.is_pipelined):
            return REJECT
        return PERMIT if jobs.check_task_pipelined(job) and jobs.is_pipelined(job) else REJECT

    def _sub_job_pipelined(self, sub_job: SubJob) -> int:
        return PERMIT if self._sub_jobs.is_pipelined(sub_job) else REJECT


def _was_reported_ready(group: PodGroup | None) -> bool:
    """Return whether a PodGroup already has the condition, so that writing it changes nothing."""
    return group is not None and any(
        known.type == READY.type
        and known.status == READY.status
        and known.reason == READY.reason
        and not known.message
        for known in group.status.conditions
    )


def _unready_num(ssn: Session, job: int) -> int:
    """Return how many tasks the gang lacks; pending ones that had a node at a discard count.

    It may be 0 or less.
    """
    before = ssn.tasks.last_transaction
    placed = sum(
        task in before and before[task][0] in ALLOCATED_STATUS
        for task in ssn.jobs.pending_tasks(job)
    )
    unready: int = ssn.jobs.min_available[job] - placed - ssn.jobs.ready_task_num(job)
    return unready


def _all_candidates(eviction: GangEviction, candidates: list[int]) -> tuple[list[int], int]:
    """Choose all candidates: the actions that evict gangs check a gang's minimum themselves."""
    return candidates, PERMIT
