"""shuffle: evict the victim tasks that plugins name, for no other task.

It places nothing instead: controllers create new pods, and the next session places them. All
releases do the same.

Source: ``pkg/scheduler/actions/shuffle/shuffle.go``.
"""

from __future__ import annotations

from ...model.session_tables import TaskStatus
from ..framework import immediate, voting
from ..framework.session import Session
from ..nodes.node_views import NodeViews

REASON = "shuffle"


def execute(ssn: Session, _: NodeViews) -> None:
    """Let the plugins choose among all running tasks, and evict these immediately.

    Volcano evicts in the order of a map, this code in that of rows; a task that several plugins
    name is evicted once.
    """
    running = [
        task
        for job in range(len(ssn.jobs))
        for task in ssn.jobs.tasks_with(job, (TaskStatus.RUNNING,))
    ]
    for victim in voting.victim_tasks(ssn, running):
        error = immediate.evict(ssn, victim, REASON)
        if error is not None:
            ssn.errors.append(f"Failed to evict Task <{ssn.task_name(victim)}>: {error}")
