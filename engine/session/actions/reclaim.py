"""reclaim: evict tasks of other queues for a queue below its deserved.

Source: ``pkg/scheduler/actions/reclaim/reclaim.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from ...model.resource import ZERO, Resource
from ...model.session_tables import TaskStatus
from ...volcano.session.reclaim import ReclaimingJobs
from ..framework import framework_orders as orders
from ..framework import immediate, voting
from ..framework.framework_orders import victims_queue
from ..framework.session import Session
from ..framework.vote_details import Gate, VictimTrial
from ..nodes.eviction_trials import begin_trials, keep_trial
from ..nodes.node_selection import NodeSelection, Purpose
from ..nodes.node_views import NodeViews
from .eligibility import never_preempts
from .eviction_details import keep_gate, keep_not_starving, keep_search, keep_votes
from .eviction_victims import in_walk, resolvable_nodes, starving_jobs, would_help

_EXECUTE = "actions/reclaim.(*Action).Execute"


def execute(ssn: Session, views: NodeViews) -> None:
    """Take queues in order; for one task per visit, evict on the first node where that helps.

    A queue whose job no longer starves, or may not reclaim, is dropped. Evictions are immediate.
    """
    by_queue = ssn.behaviours.preemptive_ignores_task
    starves = STARVES[ssn.behaviours.reclaiming_jobs](ssn)
    names, jobs_of, tasks_of = starving_jobs(ssn, starves)
    queues = orders.queues_in_order(ssn, names)
    while queues:
        queue = queues.pop()
        if voting.overused(ssn, queue):
            keep_gate(ssn, queue, Gate.OVERUSED, voted=True)
            continue
        if by_queue and not voting.preemptive(ssn, queue, ()):
            keep_gate(ssn, queue, Gate.MAY_NOT_RECLAIM, voted=True)
            continue
        jobs = jobs_of.get(queue)
        if not jobs:
            continue
        job = jobs.pop()
        tasks = tasks_of[job]
        # `continue` comes before the queue is pushed: its other jobs wait for the next session.
        if not tasks:
            continue
        if not starves(job):
            keep_not_starving(ssn, job)
            continue
        task = tasks.pop()
        if never_preempts(ssn, task):
            keep_gate(ssn, ssn.task_name(task), Gate.POLICY)
            # Job and queue return, so that one such task does not keep the others from reclaiming.
            jobs.push(job)
            queues.push(queue)
            continue
        if not _may_reclaim(ssn, queue, task):
            continue
        if _reclaim(ssn, views, task, queue):
            jobs.push(job)
        queues.push(queue)


def _may_reclaim(ssn: Session, queue: str, task: int) -> bool:
    """Return whether a queue may reclaim for a task; if not, it is dropped."""
    if ssn.behaviours.reclaim_checks_allocatable and not voting.allocatable(ssn, queue, task):
        keep_gate(ssn, queue, Gate.NOT_ALLOCATABLE, voted=True)
        return False
    if not (ssn.behaviours.preemptive_ignores_task or voting.preemptive(ssn, queue, (task,))):
        keep_gate(ssn, queue, Gate.MAY_NOT_RECLAIM, voted=True)
        return False
    if voting.pre_predicate(ssn, task) is not None:
        keep_gate(ssn, ssn.task_name(task), Gate.UNPREPARED)
        return False
    return True


def _has_pending(ssn: Session) -> Callable[[int], bool]:
    return lambda job: bool(ssn.jobs.counts[job][TaskStatus.PENDING])


def _starves(ssn: Session) -> Callable[[int], bool]:
    return lambda job: voting.job_starving(ssn, job)


STARVES: Mapping[ReclaimingJobs, Callable[[Session], Callable[[int], bool]]] = MappingProxyType(
    {ReclaimingJobs.PENDING: _has_pending, ReclaimingJobs.STARVING: _starves}
)


def _reclaim(ssn: Session, views: NodeViews, task: int, queue: str) -> bool:
    """Try the nodes until evictions on one free a task's request; return whether one does."""
    candidates = views.candidates
    who = candidates.reclaimable_by(queue)
    if ssn.trace.on:
        begin_trials(ssn, task)
        keep_search(ssn, task, (len(resolvable_nodes(ssn, task)), int(who.sum()), 0))
        keep_votes(ssn, task, "Reclaimable", who)
    rows = in_walk(ssn, task, resolvable_nodes(ssn, task))
    for node in candidates.reclaimed_on(task, rows, who):
        victims = _victims(ssn, views.selection, task, node, candidates.on(node, who))
        if victims is not None and _evict_for(ssn, task, node, victims):
            return True
    return False


def _victims(
    ssn: Session, selection: NodeSelection, task: int, node: int, candidates: list[int]
) -> list[int] | None:
    """Return the candidates that a task may reclaim on a node; ``None`` if that does not help."""
    if not candidates:
        return None
    # One node at a time: what the evictions on earlier nodes changed counts for the filters here.
    row = ssn.all_rows[node : node + 1]
    if not len(selection.predicate(task, row, Purpose.PREEMPT, None)[0]):
        keep_trial(ssn, task, VictimTrial.REFUSED, node, len(candidates))
        return None
    victims = voting.reclaimable(ssn, task, candidates)
    return victims if would_help(ssn, task, node, victims, _EXECUTE) else None


def _evict_for(ssn: Session, task: int, node: int, victims: list[int]) -> bool:
    """Evict victims until they free a task's request; idle resources do not count."""
    request = ssn.tasks.info[task].request
    reclaimed, count = Resource(), 0
    for victim in _ordered(ssn, task, victims):
        if immediate.evict(ssn, victim, "reclaim") is None:
            reclaimed.add(ssn.tasks.info[victim].request)
            count += 1
            if request.less_equal(reclaimed, ZERO):
                break
    if not request.less_equal(reclaimed, ZERO):
        # The victims are gone for nothing: `Session.Evict` takes effect at once and has no undo.
        freed = np.array(reclaimed.vector(ssn.dims))
        keep_trial(ssn, task, VictimTrial.EVICTED, node, count, room=freed)
        return False
    error = immediate.pipeline(ssn, task, node)
    if error is not None:
        ssn.errors.append(f"Failed to pipeline Task <{ssn.task_name(task)}>: {error}")
    return True


def _ordered(ssn: Session, task: int, victims: list[int]) -> Iterator[int]:
    """Yield victims in the order in which they go."""
    if not ssn.behaviours.reclaim_orders_victims:
        yield from victims
        return
    waiting = victims_queue(ssn, victims, task)
    while waiting:
        yield waiting.pop()
