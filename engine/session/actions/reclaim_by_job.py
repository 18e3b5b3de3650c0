"""reclaim in newer releases: for a whole job at a time, or not at all.

Source: ``pkg/scheduler/actions/reclaim/reclaim.go`` since v1.14.
"""

from __future__ import annotations

from ...model.session_tables import Floats
from ..framework import framework_orders as orders
from ..framework import voting
from ..framework.framework_orders import victims_queue
from ..framework.priority_queue import ItemQueue
from ..framework.session import Session, fits
from ..framework.statement import Statement
from ..framework.vote_details import Gate, VictimTrial
from ..nodes.eviction_trials import begin_trials, keep_trial
from ..nodes.node_selection import Purpose
from ..nodes.node_views import NodeViews
from .eligibility import never_preempts
from .eviction_details import keep_gate, keep_search, keep_votes
from .eviction_victims import in_walk, resolvable_nodes, starving_jobs, would_help


def execute(ssn: Session, views: NodeViews) -> None:
    """Take queues and their starving jobs in order; evict for a job if that pipelines it."""
    names, jobs_of, tasks_of = starving_jobs(ssn)
    queues = orders.queues_in_order(ssn, names)
    while queues:
        queue = queues.pop()
        if voting.overused(ssn, queue):
            keep_gate(ssn, queue, Gate.OVERUSED, voted=True)
            continue
        jobs = jobs_of.get(queue)
        while jobs:
            job = jobs.pop()
            _reclaim_for_job(ssn, views, queue, job, tasks_of[job])
            # Pushed once for each job that is left, though this loop takes them all: those turns
            # are empty.
            if jobs:
                queues.push(queue)


def _reclaim_for_job(
    ssn: Session, views: NodeViews, queue: str, job: int, tasks: ItemQueue[int]
) -> None:
    """Reclaim for one task after the other as long as the job starves."""
    statement = Statement(ssn)
    while tasks and voting.job_starving(ssn, job):
        task = tasks.pop()
        if _may_reclaim(ssn, queue, task):
            _reclaim(ssn, views, statement, queue, task)
    if voting.job_pipelined(ssn, job):
        statement.commit()
    else:
        statement.discard()


def _may_reclaim(ssn: Session, queue: str, task: int) -> bool:
    """Return whether a queue may reclaim for a task."""
    name = ssn.task_name(task)
    if never_preempts(ssn, task):
        keep_gate(ssn, name, Gate.POLICY)
    elif not voting.preemptive(ssn, queue, (task,)):
        keep_gate(ssn, name, Gate.MAY_NOT_RECLAIM, voted=True)
    elif voting.pre_predicate(ssn, task) is not None:
        keep_gate(ssn, name, Gate.UNPREPARED)
    else:
        return True
    return False


def _reclaim(ssn: Session, views: NodeViews, statement: Statement, queue: str, task: int) -> None:
    """Find a node for a task by evicting, and pipeline it there."""
    by_node = ssn.behaviours.evictions_on_unused_nodes_undone
    resolvable, candidates = resolvable_nodes(ssn, task), views.candidates
    rows, _ = views.selection.predicate(task, resolvable, Purpose.PREEMPT, None)
    who = candidates.reclaimable_by(queue)
    if ssn.trace.on:
        begin_trials(ssn, task)
        keep_search(ssn, task, (len(rows), int(who.sum()), 0))
        keep_votes(ssn, task, "Reclaimable", who)
    for node in candidates.reclaimed_on(task, in_walk(ssn, task, rows), who):
        victims = voting.reclaimable(ssn, task, candidates.on(node, who))
        if not would_help(ssn, task, node, victims):
            continue
        if by_node:
            if _evict_on_node(ssn, statement, task, node, victims):
                return
        elif _evict_for(ssn, statement, task, node, victims):
            return


def _evict_for(
    ssn: Session, statement: Statement, task: int, node: int, victims: list[int]
) -> bool:
    """Evict at least one victim, until a task fits the node; pipeline it if it does.

    Evictions stay in the statement even if the task does not fit in the end.
    """
    waiting, evicted = victims_queue(ssn, victims, task), False
    request, room = ssn.named_request(task), _room(ssn, node)
    while waiting:
        # v1.14 compares after the eviction, so one victim goes even where the node has room.
        victim = waiting.pop()
        if statement.evict(victim, "reclaim") is None:
            room += ssn.tasks.request[victim]
            evicted = True
            if fits(request, room):
                break
    if not fits(request, room):
        keep_trial(ssn, task, VictimTrial.KEPT_OUT, node, len(victims), room=room)
        return False
    if statement.pipeline(task, node, evicted=evicted) is not None:
        statement.un_pipeline(task)
    return True


def _evict_on_node(
    ssn: Session, statement: Statement, task: int, node: int, victims: list[int]
) -> bool:
    """Evict until a task fits the node, and pipeline it; else undo the evictions."""
    own = Statement(ssn)
    waiting, evicted = victims_queue(ssn, victims, task), False
    request, room = ssn.named_request(task), _room(ssn, node)
    while waiting and not fits(request, room):
        victim = waiting.pop()
        own.evict(victim, "reclaim")
        room += ssn.tasks.request[victim]
        evicted = True
    if fits(request, room):
        if own.pipeline(task, node, evicted=evicted) is None:
            statement.merge(own)
            return True
        own.un_pipeline(task)
    own.discard()
    return False


def _room(ssn: Session, node: int) -> Floats:
    room: Floats = ssn.nodes.future_idle(node).copy()
    return room
