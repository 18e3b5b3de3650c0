"""The tasks of the jobs that a trace follows, counted at the end of a session."""

from __future__ import annotations

from ...model.session_tables import NO_NODE, STATUS_NAMES, VALID_STATUS, TaskStatus
from .session import Session
from .vote_details import GangCounts

GANG = "gang"
"""What the counts are kept under."""


def keep_gangs(ssn: Session) -> None:
    """Keep the counts of each job that the trace follows."""
    for key in sorted(ssn.trace.closely):
        job = ssn.jobs.row.get(key)
        if job is not None:
            ssn.trace.detail(GANG, key, _counts(ssn, job))


def _counts(ssn: Session, job: int) -> GangCounts:
    jobs, counts = ssn.jobs, ssn.jobs.counts[job]
    return GangCounts(
        least=jobs.min_available[job],
        ready=jobs.ready_task_num(job),
        waiting=jobs.waiting_task_num(job),
        free=jobs.pending_best_effort_task_num(job),
        valid=jobs.valid_task_num(job),
        statuses={name: n for name, n in zip(STATUS_NAMES, counts, strict=True) if n},
        lacking=_lacking(ssn, job),
        planned=_planned(ssn, job),
        message=jobs.fit_error(job),
    )


def _lacking(ssn: Session, job: int) -> dict[str, tuple[int, int]]:
    """Return the roles with fewer valid tasks than their minimum: (minimum, valid)."""
    tasks, lacking = ssn.tasks, dict[str, tuple[int, int]]()
    for role, least in sorted(ssn.jobs.info[job].task_min_available.items()):
        valid = sum(
            tasks.info[task].role == role and tasks.status.item(task) in VALID_STATUS
            for task in ssn.jobs.tasks[job]
        )
        if valid < least:
            lacking[role] = (least, valid)
    return lacking


def _planned(ssn: Session, job: int) -> dict[str, tuple[str, str]]:
    """Return what was planned for pending tasks and taken back: (status, node) by pod."""
    plans, names = ssn.tasks.last_transaction, ssn.nodes.names
    return {
        ssn.task_name(task): (STATUS_NAMES[plans[task][0]], names[plans[task][1]])
        for task in ssn.jobs.pending_tasks(job)
        if task in plans
        and plans[task][0] in {TaskStatus.ALLOCATED, TaskStatus.PIPELINED}
        and plans[task][1] != NO_NODE
    }
