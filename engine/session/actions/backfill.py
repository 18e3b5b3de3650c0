"""backfill: place the tasks without requests.

Source: ``pkg/scheduler/actions/backfill/backfill.go``.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...model.panic import NIL_POINTER, Panic
from ...model.session_tables import Rows, TaskStatus
from ...volcano.session.backfill import BackfillFailure
from ..framework import framework_orders as orders
from ..framework import immediate, voting
from ..framework.priority_queue import ItemQueue, PriorityQueue
from ..framework.session import Session
from ..framework.statement import Statement
from ..nodes.node_selection import ErrorCache, NodeSelection, Purpose, new_error_cache
from ..nodes.node_views import NodeViews
from ..reasons.fit_errors import FitErrors
from ..reasons.objections import Objection
from ..reasons.statuses import StatusCode
from .placing import everywhere


def execute(ssn: Session, views: NodeViews) -> None:
    """Place each task without requests; neither Overused nor Allocatable is checked."""
    failure = ssn.behaviours.backfill_failure
    by_job = failure in {BackfillFailure.ENDS_JOB, BackfillFailure.UNPREPARED_ENDS_JOB}
    for tasks in _by_job(ssn) if by_job else [_pick_up(ssn)]:
        cache_of_job = new_error_cache()
        for task in tasks:
            # v1.8.2 makes the predicate helper once for a job, so a failure counts for later tasks
            # of the role. Later releases make one for each task.
            failed = cache_of_job if failure is BackfillFailure.ENDS_JOB else new_error_cache()
            if (
                not _place(ssn, views.selection, task, failed)
                and failure is not BackfillFailure.CONTINUES
            ):
                break


def _place(ssn: Session, selection: NodeSelection, task: int, failed: ErrorCache) -> bool:
    """Place one task; return whether later tasks are tried."""
    job = int(ssn.tasks.job[task])
    error = voting.pre_predicate(ssn, task)
    if error is not None:
        ssn.jobs.set_fit_errors(job, task, everywhere(ssn, ssn.all_rows, error))
        return False
    rows, errors = selection.predicate(task, ssn.all_rows, Purpose.BACKFILL, failed)
    if not len(rows):
        ssn.jobs.set_fit_errors(job, task, errors)
        return ssn.behaviours.backfill_failure is BackfillFailure.UNPREPARED_ENDS_JOB
    if not ssn.behaviours.backfill_scores_nodes:
        _take_any(ssn, task, rows, errors)
        return True
    # A single node is taken unscored; even one whose score would not be accepted.
    node: int | None = int(rows[0])
    if len(rows) > 1:
        node, _ = selection.best(task, rows)
    if node is None:
        # `Execute` reads the name of the best node, and never looks whether there is one.
        raise Panic(
            NIL_POINTER,
            ("actions/backfill.(*Action).Execute",),
        )
    error = immediate.allocate(ssn, task, node)
    if error is not None:
        ssn.errors.append(f"Failed to bind Task {ssn.task_name(task)} of {ssn.jobs.keys[job]}")
        # Before v1.12 this error is collected, but a `continue` skips the line that stores it.
        if ssn.behaviours.backfill_failure is BackfillFailure.CONTINUES:
            ssn.jobs.set_fit_errors(job, task, _on_one(ssn, node, error))
    return True


def _take_any(ssn: Session, task: int, rows: Rows, errors: FitErrors) -> None:
    """Place a task on the first node that fits; the order of nodes is arbitrary."""
    job, names = int(ssn.tasks.job[task]), ssn.nodes.names
    left = {names[row]: row for row in rows.tolist()}
    while left:
        equals = sorted(left)
        chosen = ssn.chooser.choose("node", ssn.task_name(task), equals) if len(equals) > 1 else 0
        node = left.pop(equals[chosen])
        failed = immediate.allocate(ssn, task, node)
        if failed is None:
            return
        ssn.errors.append(f"Failed to bind Task {ssn.task_name(task)} of {ssn.jobs.keys[job]}")
        errors.set_node_error(node, ssn.reasons.intern(StatusCode.ERROR, Objection(failed)))
    ssn.jobs.set_fit_errors(job, task, errors)


def _by_job(ssn: Session) -> Iterator[list[int]]:
    """Yield each job's pending tasks without requests; queues and orders do not count."""
    info = ssn.tasks.info
    for job in range(len(ssn.jobs)):
        if not ssn.jobs.is_pending(job) and voting.job_valid(ssn, job) is None:
            yield [task for task in ssn.jobs.pending_tasks(job) if info[task].best_effort]


def _on_one(ssn: Session, node: int, error: str) -> FitErrors:
    errors = FitErrors.none(ssn.reasons, len(ssn.nodes))
    errors.set_node_error(node, ssn.reasons.intern(StatusCode.ERROR, Objection(error)))
    return errors


def _pick_up(ssn: Session) -> list[int]:
    """Return the tasks to place, by queue, job and task; pipelined ones are freed first."""
    queues = orders.queues_in_order(ssn)
    jobs_of: dict[str, ItemQueue[int]] = {}
    tasks_of: dict[int, ItemQueue[int]] = {}
    for job in range(len(ssn.jobs)):
        queue = ssn.jobs.queue[job]
        if (
            not ssn.jobs.best_effort[job]
            or ssn.jobs.is_pending(job)
            or voting.job_valid(ssn, job) is not None
            or queue not in ssn.queues
        ):
            continue
        tasks = _tasks(ssn, job)
        if not tasks:
            continue
        tasks_of[job] = tasks
        if queue not in jobs_of:
            jobs_of[queue] = orders.job_queue(ssn)
            queues.push(queue)
        jobs_of[queue].push(job)
    return _flatten(queues, jobs_of, tasks_of)


def _tasks(ssn: Session, job: int) -> ItemQueue[int]:
    info = ssn.tasks.info
    tasks = [
        task
        for task in ssn.jobs.pending_tasks(job)
        if info[task].best_effort and not info[task].gated
    ]
    for task in ssn.jobs.tasks_with(job, (TaskStatus.PIPELINED,)):
        if info[task].best_effort:
            # The statement is thrown away (`pickUpPendingTasks`): nothing commits this, and nothing
            # undoes it.
            Statement(ssn).un_pipeline(task)
            tasks.append(task)
    return orders.task_queue(ssn, tasks)


def _flatten(
    queues: PriorityQueue[str],
    jobs_of: dict[str, ItemQueue[int]],
    tasks_of: dict[int, ItemQueue[int]],
) -> list[int]:
    flat: list[int] = []
    while queues:
        # Unlike in allocate, a queue gives all of its jobs in one turn; it is not pushed again.
        jobs = jobs_of[queues.pop()]
        while jobs:
            tasks = tasks_of[jobs.pop()]
            while tasks:
                flat.append(tasks.pop())
    return flat
