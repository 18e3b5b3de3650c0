"""What a session would say next of a task: it stops at the first reason, and there may be more.

A task whose queue is full is compared with no node; one whose gang lacks pods, with neither queue
nor nodes. For the tasks that a trace follows, both are looked up when all actions are over: nothing
that the session decides or writes depends on it.
"""

from __future__ import annotations

from ..model.panic import Panic
from .framework import voting
from .framework.session import Session
from .framework.vote_details import FURTHER
from .nodes.node_selection import Purpose
from .nodes.node_views import NodeViews

_CHECKED = (Purpose.ALLOCATE.value, Purpose.BACKFILL.value)


def look_further(ssn: Session, views: NodeViews) -> None:
    """Keep what the queue and the nodes say of followed tasks that the session did not come to."""
    trace = ssn.trace
    tasks = [task for job in range(len(ssn.jobs)) for task in _unchecked(ssn, job)]
    acting, steps, errors = trace.action, len(trace.steps), len(ssn.errors)
    trace.action = FURTHER
    try:
        for task in tasks:
            _look(ssn, views, task)
    except Panic:
        pass  # The session itself does not come to this point, so it does not panic there.
    # Only the details stay: steps and errors are those of the session.
    del trace.steps[steps:], ssn.errors[errors:]
    trace.action = acting


def _unchecked(ssn: Session, job: int) -> list[int]:
    """Return the followed pending tasks of a followed job that were compared with no node."""
    if ssn.jobs.keys[job] not in ssn.trace.fully or ssn.jobs.queue[job] not in ssn.queues:
        return []
    seen = {name for _, kind, name in ssn.trace.details if kind in _CHECKED}
    unseen = [
        task
        for task in ssn.jobs.pending_tasks(job)
        if not ssn.tasks.info[task].gated
        and ssn.trace.follows(ssn.task_name(task))
        and ssn.task_name(task) not in seen
    ]
    return sorted(unseen, key=ssn.task_name)


def _look(ssn: Session, views: NodeViews, task: int) -> None:
    voting.allocatable(ssn, ssn.jobs.queue[ssn.tasks.job.item(task)], task)
    if voting.pre_predicate(ssn, task) is None:
        views.selection.predicate(task, ssn.all_rows, Purpose.ALLOCATE, None)
