"""Victims: who may be evicted on a node, whether it would help, and who goes first.

Source: ``framework/session_plugins.go:BuildVictimsPriorityQueue``,
``util/scheduler_helper.go:ValidateVictims``, ``framework/session.go:
GetUnschedulableAndUnresolvableNodesForTask``.
"""

from __future__ import annotations

from collections.abc import Callable

from ...model.tables import Rows
from ..framework.priority_queue import PriorityQueue, Queue
from ..framework.session import Session, fits
from ..nodes.future_idle import check_future_idle


def resolvable_nodes(ssn: Session, task: int) -> Rows:
    """Return the nodes where evicting could help a task, as far as this session has found out."""
    rows = ssn.selection.all_rows
    errors = ssn.jobs.fit_errors.get(task)
    if not ssn.behaviours.unresolvable_nodes_skipped:
        return rows
    return rows if errors is None else rows[~errors.unresolvable_nodes()]


def would_help(ssn: Session, task: int, node: int, victims: list[int], place: str = "") -> bool:
    """Return whether a task fits a node when victims are gone; none may be needed.

    :param place: the function that asks, for a crash that the release may have here.
    """
    if ssn.behaviours.overfull_nodes_crash:
        check_future_idle(
            ssn, ssn.selection.all_rows[node : node + 1], "util.ValidateVictims", place
        )
    room = ssn.nodes.future_idle(node)
    for victim in victims:
        room = room + ssn.tasks.request[victim]
    return fits(ssn.asked(task), room)


def victims_queue(ssn: Session, victims: list[int], preemptor: int) -> PriorityQueue[int]:
    """Return the victims with the least important first."""
    job_of, queue_of = ssn.tasks.job, ssn.jobs.queue
    by_queue = ssn.behaviours.victims_ordered_by_queue
    own_queue = queue_of[int(job_of[preemptor])]
    ties_by_task = ssn.behaviours.equal_victims_ordered_by_task

    def less(left: int, right: int) -> bool:
        one, other = int(job_of[left]), int(job_of[right])
        if one == other:
            return not ssn.task_order(left, right)
        if by_queue and queue_of[one] != queue_of[other]:
            return ssn.victim_queue_order(queue_of[one], queue_of[other], own_queue)
        if not ties_by_task:
            return not ssn.job_order(one, other)
        ranks = [[key(job) for _, key in ssn.flat("JobOrder")] for job in (one, other)]
        if ranks[0] == ranks[1]:
            return not ssn.task_order(left, right)
        return ranks[0] > ranks[1]

    queue: PriorityQueue[int] = PriorityQueue(less)
    for victim in victims:
        queue.push(victim)
    return queue


def starving_jobs(
    ssn: Session, starves: Callable[[int], bool] | None = None
) -> tuple[list[str], dict[str, PriorityQueue[int]], dict[int, Queue[int]]]:
    """Return the queues with jobs, and by queue the starving jobs, with their pending tasks.

    :param starves: whether a job starves; if not given, what plugins say.
    """
    starves = starves or ssn.job_starving
    queues: dict[str, None] = {}
    jobs_of: dict[str, PriorityQueue[int]] = {}
    tasks_of: dict[int, Queue[int]] = {}
    for job in range(len(ssn.jobs)):
        queue = ssn.jobs.queue[job]
        if ssn.jobs.is_pending(job) or ssn.job_valid(job) is not None or queue not in ssn.queues:
            continue
        queues[queue] = None
        if starves(job):
            jobs_of.setdefault(queue, PriorityQueue(ssn.job_order)).push(job)
            tasks_of[job] = pending_queue(ssn, job)
    return list(queues), jobs_of, tasks_of


def pending_queue(ssn: Session, job: int) -> Queue[int]:
    """Return a job's pending tasks without gates, in order; those without request too."""
    info = ssn.tasks.info
    return ssn.task_queue([task for task in ssn.jobs.pending_tasks(job) if not info[task].gated])
