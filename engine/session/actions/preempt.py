"""preempt: evict less important tasks of the same queue, then of the same job.

Source: ``pkg/scheduler/actions/preempt/preempt.go``.
"""

from __future__ import annotations

import numpy as np

from ..framework import framework_orders as orders
from ..framework import voting
from ..framework.framework_orders import victims_queue
from ..framework.map_orders import QUEUES
from ..framework.priority_queue import ItemQueue, PriorityQueue
from ..framework.session import Session, fits
from ..framework.statement import Statement
from ..framework.vote_details import Gate, VictimTrial
from ..nodes.eviction_candidates import PromisingNodes
from ..nodes.eviction_trials import begin_trials, keep_trial
from ..nodes.node_selection import NodeSelection, Purpose, new_error_cache
from ..nodes.node_views import NodeViews
from ..reasons.fit_errors import FitErrors
from . import topology_aware_preempt
from .eligibility import may_preempt, not_allowed
from .eviction_details import keep_gate, keep_search, keep_votes
from .eviction_victims import pending_queue, resolvable_nodes, starving_jobs, would_help

SessionPoint = tuple[int, FitErrors | None]
"""The number of node changes so far in the session, and the known fit errors of the task."""


class _Search:
    """Results of earlier preemptors that later ones reuse.

    A task finds no node where one of its job and class found none just before, as long as nothing
    has changed on any node. This shortcut is only used where the trace does not record every
    attempt, and where plugins look at the class only.
    """

    def __init__(self, views: NodeViews) -> None:
        self.views = views
        self.cache = new_error_cache()
        self._failed: dict[tuple[int, int, bool], SessionPoint] = {}

    def begin(self, ssn: Session, task: int, *, own: bool) -> SessionPoint | None:
        """Return the state of the session; ``None`` if the task is known to find no node."""
        now = len(ssn.touched), ssn.jobs.fit_errors.get(task)
        if ssn.trace.on and ssn.trace.records_all(ssn.task_name(task)):
            return now
        return None if self._failed.get(self._key(ssn, task, own=own)) == now else now

    def note_failure(self, ssn: Session, task: int, began: SessionPoint, *, own: bool) -> None:
        """Note that a task found no node."""
        untouched = len(ssn.touched) == began[0]
        recorded = ssn.trace.on and ssn.trace.records_all(ssn.task_name(task))
        if untouched and not recorded and _looks_at_class_only(ssn, self.views.selection, task):
            self._failed[self._key(ssn, task, own=own)] = began

    def _key(self, ssn: Session, task: int, *, own: bool) -> tuple[int, int, bool]:
        return ssn.tasks.job.item(task), ssn.tasks.klass.item(task), own


def _looks_at_class_only(ssn: Session, selection: NodeSelection, task: int) -> bool:
    plugins = ssn.registry.flat("Preemptable")
    if topology_aware_preempt.enabled(ssn):
        return False
    return selection.depends_on_class_only(task) and all(
        entry.per == "class" for _, entry in plugins
    )


def execute(ssn: Session, views: NodeViews) -> None:
    """Let starving jobs preempt: first other jobs of their queue, then their own tasks.

    The second part runs once for every queue, over the starving jobs of all queues, and leaves to
    the next queue only the tasks that it has not tried, as in Volcano.
    """
    near: list[str] = []

    def starves(job: int) -> bool:
        waits = skips and ssn.sub_jobs.wants_near(job)
        starving = voting.job_starving(ssn, job)
        if starving and waits:
            near.append(ssn.jobs.keys[job])
        return starving and not waits

    topology_aware_preempt.read_arguments(ssn)
    skips = ssn.behaviours.topology_jobs_never_preempt
    queues, jobs_of, tasks_of = starving_jobs(ssn, starves)
    for key in near:
        keep_gate(ssn, key, Gate.TOPOLOGY)
    search = _Search(views)
    if ssn.behaviours.preempt_in_queue_order:
        _in_queue_order(ssn, jobs_of, tasks_of, search)
        return
    starving, names = list(tasks_of), sorted(queues)
    for place in ssn.map_order(QUEUES, len(names), lambda: names).tolist():
        queue = names[place]
        jobs = jobs_of.get(queue)
        while jobs:
            _preempt_between_jobs(ssn, jobs, tasks_of, search)
        for job in starving:
            tasks_of[job] = pending_queue(ssn, job)
            _preempt_within_job(ssn, tasks_of[job], search)
    if ssn.behaviours.preempt_evicts_victim_tasks:
        _evict_unwanted(ssn)


def _in_queue_order(
    ssn: Session,
    jobs_of: dict[str, PriorityQueue[int]],
    tasks_of: dict[int, ItemQueue[int]],
    search: _Search,
) -> None:
    """Take the queues with starving jobs in order; the second part uses only their own jobs."""
    starving, names = list(tasks_of), sorted(jobs_of)
    walk = ssn.map_order(QUEUES, len(names), lambda: names).tolist()
    queues = orders.queues_in_order(ssn, [names[place] for place in walk])
    while queues:
        queue = queues.pop()
        jobs = jobs_of[queue]
        while jobs:
            _preempt_between_jobs(ssn, jobs, tasks_of, search)
        for job in starving:
            if ssn.jobs.queue[job] == queue:
                _preempt_within_job(ssn, pending_queue(ssn, job), search)


def _evict_unwanted(ssn: Session) -> None:
    """Evict the victim tasks that plugins name, for no other task."""
    statement = Statement(ssn)
    for victim in voting.victim_tasks(ssn, []):
        statement.evict(victim, "evict")
    statement.commit()


def _preempt_between_jobs(
    ssn: Session,
    jobs: PriorityQueue[int],
    tasks_of: dict[int, ItemQueue[int]],
    search: _Search,
) -> None:
    """Let the first job preempt until it no longer starves; commit if it is then pipelined."""
    job = jobs.pop()
    statement, tasks = Statement(ssn), tasks_of[job]
    assigned = False
    while voting.job_starving(ssn, job) and tasks:
        # In v1.8 and v1.9 one that was found counts to the end: the job, pushed without tasks, does
        # nothing more.
        assigned = _preempt(ssn, statement, tasks.pop(), search, own=False)
    # Not JobReady: what the victims hold is free only when they are gone.
    if not voting.job_pipelined(ssn, job):
        statement.discard()
        return
    statement.commit()
    if assigned:
        jobs.push(job)


def _preempt_within_job(ssn: Session, tasks: ItemQueue[int], search: _Search) -> None:
    """Let a job's tasks preempt other tasks of the job, one by one, until one finds no node."""
    while tasks:
        statement = Statement(ssn)
        assigned = _preempt(ssn, statement, tasks.pop(), search, own=True)
        if assigned or not ssn.behaviours.evictions_on_unused_nodes_undone:
            statement.commit()
        else:
            statement.discard()
        if not assigned:
            return


def _preempt(ssn: Session, statement: Statement, task: int, search: _Search, *, own: bool) -> bool:
    """Find a node for a task by evicting, and pipeline it there; return whether it was found.

    Evictions on a node that is not used in the end stay in the statement.

    :param own: whether victims are tasks of the same job, not of other jobs of the queue.
    """
    if (
        not may_preempt(ssn, search.views.selection, task)
        or voting.pre_predicate(ssn, task) is not None
    ):
        if ssn.trace.on:
            keep_search(ssn, task, own=own, gated=not_allowed(ssn, task))
        return False
    before = search.begin(ssn, task, own=own)
    if before is None:
        return False
    if not own:
        begin_trials(ssn, task)
    assigned = _find_node(ssn, statement, task, search, own=own)
    if not assigned:
        search.note_failure(ssn, task, before, own=own)
    return assigned


def _follow(ssn: Session, task: int, counts: tuple[int, int, int], *, own: bool) -> None:
    """Keep how far the search came: nodes, candidates, promising nodes."""
    if ssn.trace.on:
        keep_search(ssn, task, counts, own=own)


def _find_node(
    ssn: Session, statement: Statement, task: int, search: _Search, *, own: bool
) -> bool:
    """Try the nodes from the best to the worst, until evictions on one make room."""
    selection, candidates = search.views.selection, search.views.candidates
    resolvable = resolvable_nodes(ssn, task)
    rows, _ = selection.predicate(task, resolvable, Purpose.PREEMPT, search.cache)
    if not len(rows):
        _follow(ssn, task, (0, 0, 0), own=own)
        return False
    who = candidates.preemptable_by(task, own=own)
    _follow(ssn, task, (len(rows), int(np.count_nonzero(who)), 0), own=own)
    keep_votes(ssn, task, "Preemptable", who, own=own)
    if topology_aware_preempt.enabled(ssn):
        return topology_aware_preempt.preempt(ssn, candidates, statement, task, rows, own=own)
    promising = PromisingNodes(rows, np.ones(len(rows), dtype=np.bool_))
    # A release whose `FutureIdle` can panic visits all nodes, as each visit may be the crash.
    if not ssn.behaviours.overfull_nodes_crash:
        promising = candidates.could_help("Preemptable", task, rows, who)
    _follow(ssn, task, (len(rows), int(np.count_nonzero(who)), len(promising.nodes)), own=own)
    order = selection.sorted_places(task, rows, promising.nodes)
    queue = ssn.jobs.queue[ssn.tasks.job.item(task)]
    takes, done = None, -1
    for node, evicts in zip(
        promising.nodes[order].tolist(), promising.victims[order].tolist(), strict=True
    ):
        if not evicts:
            # What the queue allows changes only with an operation of this statement.
            if done < len(statement.operations):
                takes, done = _queue_takes(ssn, queue, task), len(statement.operations)
            if not takes:
                continue  # nothing can be evicted there, and only evictions let a queue take more
        victims = voting.preemptable(ssn, task, candidates.on(node, who))
        if not would_help(ssn, task, node, victims, "actions/preempt.preempt"):
            continue
        if _attempt(ssn, statement, task, node, victims):
            return True
    return False


def _attempt(ssn: Session, statement: Statement, task: int, node: int, victims: list[int]) -> bool:
    """Evict on a node for a task; if that does not help, undo it, if the release does so."""
    if not ssn.behaviours.evictions_on_unused_nodes_undone:
        return _evict_for(ssn, statement, task, node, victims)
    own = Statement(ssn)
    if not _evict_for(ssn, own, task, node, victims):
        own.discard()
        return False
    statement.merge(own)
    return True


def _evict_for(
    ssn: Session, statement: Statement, task: int, node: int, victims: list[int]
) -> bool:
    """Evict victims until the queue and the node have room for a task, then pipeline it."""
    queue = ssn.jobs.queue[ssn.tasks.job.item(task)]
    waiting = victims_queue(ssn, victims, task)
    evicted = False
    # The node may have room while the queue has none: victims of the queue make that, too.
    while waiting and not _takes(ssn, queue, task, node):
        victim = waiting.pop()
        if statement.evict(victim, "preempt") is None:
            # `evictionOccurred` is `!preempted.IsEmpty()`: victims without requests do not count.
            evicted = evicted or not ssn.tasks.info[victim].request.is_empty()
    if not _takes(ssn, queue, task, node):
        keep_trial(
            ssn, task, VictimTrial.KEPT_OUT, node, len(victims), room=ssn.nodes.future_idle(node)
        )
        return False
    if statement.pipeline(task, node, evicted=evicted) is None:
        return True
    statement.un_pipeline(task)
    # Older releases set `assigned` although `Pipeline` failed; the next session corrects that.
    return not ssn.behaviours.evictions_on_unused_nodes_undone


def _takes(ssn: Session, queue: str, task: int, node: int) -> bool:
    return _queue_takes(ssn, queue, task) and fits(
        ssn.named_request(task), ssn.nodes.future_idle(node)
    )


def _queue_takes(ssn: Session, queue: str, task: int) -> bool:
    """Return whether a queue allows a task now."""
    if ssn.behaviours.preempt_checks_overused:
        return not voting.overused(ssn, queue)
    return voting.allocatable(ssn, queue, task)
