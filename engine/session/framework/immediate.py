"""Operations that take effect at once; those in :mod:`.statement` can be undone.

Source: ``pkg/scheduler/framework/session.go`` (``Allocate``, ``Pipeline``, ``Evict`` and
``dispatch``).
"""

from __future__ import annotations

from ...model.session_tables import NO_NODE, TaskStatus
from .session import Session
from .trace import StepOutcome
from .voting import job_ready


def allocate(ssn: Session, task: int, node: int) -> str | None:
    """Place a task at once, and bind all allocated tasks of its job if that is ready.

    Nothing is rolled back on an error, unless accounts are checked.
    """
    ssn.set_status(task, TaskStatus.ALLOCATED)
    ssn.tasks.node[task] = node
    error = ssn.place(task, node)
    if error is not None:
        ssn.errors.append(f"Failed to add task <{ssn.task_name(task)}> to node: {error}")
        # Otherwise the task stays Allocated on no node, as `Session.Allocate` returns without
        # undoing.
        if ssn.accounts_checked:
            ssn.set_status(task, TaskStatus.PENDING)
            ssn.tasks.node[task] = NO_NODE
        return error
    ssn.registry.notify_allocated(task, node)
    job = int(ssn.tasks.job[task])
    if job_ready(ssn, job):
        # All allocated tasks, not only this one: those that waited for the gang are bound with it.
        for ready in ssn.jobs.tasks_with(job, (TaskStatus.ALLOCATED,)):
            error = dispatch(ssn, ready)
            if error is not None:
                ssn.errors.append(f"Failed to dispatch task <{ssn.task_name(ready)}>: {error}")
                return error
    return None


def pipeline(ssn: Session, task: int, node: int) -> str | None:
    """Pipeline a task at once; return the error, or ``None``."""
    ssn.set_status(task, TaskStatus.PIPELINED)
    ssn.tasks.node[task] = node
    error = ssn.place(task, node)
    if error is None:
        ssn.registry.notify_allocated(task, node)
    return error


def evict(ssn: Session, task: int, reason: str) -> str | None:
    """Evict a task at once; return the error, or ``None``."""
    error = evict_in_cache(ssn, task, reason)
    if error is not None:
        return error
    ssn.set_status(task, TaskStatus.RELEASING)
    node = int(ssn.tasks.node[task])
    if node != NO_NODE:
        ssn.replace(task, node)
    ssn.registry.notify_deallocated(task, node)
    return None


def dispatch(ssn: Session, task: int) -> str | None:
    """Bind an allocated task through the cache; return the error, or ``None``."""
    info, node = ssn.tasks.info[task], ssn.tasks.node.item(task)
    name = ssn.nodes.names[node]
    error = ssn.cache.add_bind_task(info.job, info.uid, name)
    if error is not None:
        return error
    ssn.binds.append((task, node))
    # Only the job learns of it: `dispatch` leaves the account of the node with status Allocated.
    ssn.set_status(task, TaskStatus.BINDING)
    if ssn.trace.on:
        ssn.trace.add("bind", info.key, outcome=StepOutcome.NODE, named=name)
    return None


def evict_in_cache(ssn: Session, task: int, reason: str) -> str | None:
    """Evict a task through the cache; return the error, or ``None``."""
    info = ssn.tasks.info[task]
    error = ssn.cache.evict(info.job, info.uid, reason)
    if error is None:
        ssn.evictions.append((task, reason))
        ssn.trace.add("evict", info.key, outcome=StepOutcome.REASON, named=reason)
    return error
