"""Victims: which tasks may be evicted on a node, whether that helps, and in which order.

Source: ``framework/session_plugins.go:BuildVictimsPriorityQueue``,
``util/scheduler_helper.go:ValidateVictims``, ``framework/session.go:
GetUnschedulableAndUnresolvableNodesForTask``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...model.session_tables import Rows
from ..framework import framework_orders as orders
from ..framework import voting
from ..framework.map_orders import JOBS
from ..framework.priority_queue import ItemQueue, PriorityQueue
from ..framework.session import Session, fits
from ..framework.vote_details import Gate, VictimTrial
from ..nodes.eviction_trials import keep_trial
from ..nodes.future_idle import check_future_idle
from .eviction_details import keep_gate, keep_not_starving


def resolvable_nodes(ssn: Session, task: int) -> Rows:
    """Return the nodes where evictions could help a task, as far as this session knows."""
    rows = ssn.all_rows
    errors = ssn.jobs.fit_errors.get(task)
    if not ssn.behaviours.unresolvable_nodes_skipped:
        return rows
    return rows if errors is None else rows[~errors.unresolvable_nodes()]


def in_walk(ssn: Session, task: int, rows: Rows) -> Rows:
    """Return nodes in the order in which `reclaim` comes to them for a task.

    They are a map if the session left any out, or were found by several workers at once. Else they
    are the cache's list, to which several workers add the nodes when the scheduler starts.
    """
    if ssn.map_orders.ascending:
        return rows
    names = ssn.nodes.names

    def named() -> list[str]:
        return [names[row] for row in rows.tolist()]

    return rows[ssn.map_order(ssn.task_name(task), len(rows), named)]


def would_help(ssn: Session, task: int, node: int, victims: list[int], place: str = "") -> bool:
    """Return whether a task fits a node when the victims are gone; victims may be empty.

    :param place: the calling function in Volcano, for a crash that the release may have here.
    """
    if ssn.behaviours.overfull_nodes_crash:
        check_future_idle(ssn, ssn.all_rows[node : node + 1], "util.ValidateVictims", place)
    # Without victims a node may do: earlier evictions can have left room there (`ValidateVictims`).
    room = ssn.nodes.future_idle(node)
    for victim in victims:
        room = room + ssn.tasks.request[victim]
    helps = fits(ssn.named_request(task), room)
    if not helps and ssn.trace.on:
        keep_trial(ssn, task, VictimTrial.TOO_LITTLE, node, len(victims), room=room)
    return helps


def starving_jobs(
    ssn: Session, starves: Callable[[int], bool] | None = None
) -> tuple[list[str], dict[str, PriorityQueue[int]], dict[int, ItemQueue[int]]]:
    """Return the queues with jobs, and by queue the starving jobs, with their pending tasks.

    :param starves: whether a job starves; by default the plugins decide.
    """
    starves = starves or partial(voting.job_starving, ssn)
    queues: dict[str, None] = {}
    jobs_of: dict[str, PriorityQueue[int]] = {}
    tasks_of: dict[int, ItemQueue[int]] = {}
    for job in ssn.map_order(JOBS, len(ssn.jobs), lambda: ssn.jobs.keys).tolist():
        queue, key = ssn.jobs.queue[job], ssn.jobs.keys[job]
        if ssn.jobs.is_pending(job):
            keep_gate(ssn, key, Gate.NOT_ENQUEUED)
            continue
        if voting.job_valid(ssn, job) is not None:
            keep_gate(ssn, key, Gate.INVALID)
            continue
        if queue not in ssn.queues:
            continue
        # A queue is in even if none of its jobs starves: reclaim asks `Overused` of it, which sets
        # a gauge.
        queues[queue] = None
        if starves(job):
            jobs_of.setdefault(queue, orders.changing_job_queue(ssn)).push(job)
            tasks_of[job] = pending_queue(ssn, job)
        else:
            keep_not_starving(ssn, job)
    return list(queues), jobs_of, tasks_of


def pending_queue(ssn: Session, job: int) -> ItemQueue[int]:
    """Return a job's pending tasks without gates, in order, including those without requests."""
    info = ssn.tasks.info
    return orders.task_queue(
        ssn, [task for task in ssn.jobs.pending_tasks(job) if not info[task].gated]
    )
