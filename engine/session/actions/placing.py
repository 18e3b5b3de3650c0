"""Placing the pending tasks of a job, or of one of its groups, on some nodes.

:mod:`.allocate` iterates over queues and jobs; :mod:`.hypernode_allocation`,
:mod:`.hypernode_gradients` and :mod:`.nomination` try hypernodes. All of them place tasks here.

Source: ``pkg/scheduler/actions/allocate/allocate.go`` (``allocateResourcesForTasks``).
"""

from __future__ import annotations

from enum import Enum

import msgspec

from ...model.panic import NIL_POINTER, Panic
from ...model.session_tables import NO_NODE, Rows
from ...volcano.session.allocate import FailedPipelining, NoBestNode
from ..framework import voting
from ..framework.kept_arguments import KeptArguments
from ..framework.priority_queue import ItemQueue
from ..framework.session import Session, fits
from ..framework.statement import Statement
from ..framework.vote_details import SkippedTask
from ..jobs.division import SubJob
from ..nodes.future_idle import check_future_idle
from ..nodes.node_selection import ErrorCache, NodeSelection, Purpose, new_error_cache
from ..reasons.fit_errors import FitErrors
from ..reasons.objections import Objection
from ..reasons.statuses import PASS, StatusCode
from ..topology.top_hypernode import CLUSTER_TOP
from . import job_hypernode
from .hypernode_details import note_try

ERROR_CACHE_ARGUMENT = "predicateErrorCacheEnable"

_PREDICATING = (
    "actions/allocate.(*Action).Execute.func1",
    "util.(*predicateHelper).PredicateNodes.func1",
)
_NO_BEST_NODE = (
    "actions/allocate.(*Action).allocateResourcesForTasks",
    "actions/allocate.(*Action).allocateResources",
    "actions/allocate.(*Action).Execute",
)


SKIPPED = "skipped"
"""What details about tasks are kept under whose role fitted no node before."""


class _After(Enum):
    """What follows after a task was looked at."""

    NEXT = "next"
    """With the next task, without checking whether the job is ready now."""
    PLACED = "placed"
    """It was placed, or placing it failed: the job may be ready."""
    STOP = "stop"
    """The rest of the job cannot help."""


class _Visit(msgspec.Struct):
    """One attempt at a job's tasks on some nodes."""

    job: int
    queue: str
    rows: Rows
    hypernode: str
    statement: Statement
    cache: ErrorCache | None
    keeps_near: bool
    """Whether the job has a soft topology."""
    placed_in: str
    """The job's current hypernode, if it has a topology."""
    named_hypernode: str = ""
    """The hypernode in the message if no node fits a task."""
    sub_job: SubJob | None = None
    """The group of the tasks, if the job has groups."""


class Placing:
    """Places tasks in one session, with one set of arguments.

    :ivar uses_cache: whether failures of a role are cached during a visit.
    :ivar interrupted: whether the last visit to a job ended because it is ready, with tasks left.
    """

    def __init__(self, ssn: Session, selection: NodeSelection) -> None:
        self.ssn = ssn
        self.selection = selection
        self.uses_cache = KeptArguments(ssn, "allocate").get_bool(ERROR_CACHE_ARGUMENT, True)
        self.interrupted = False
        self._behaviours = ssn.behaviours
        self._skips = ssn.behaviours.no_best_node is NoBestNode.SKIPS
        self._takes_back = ssn.behaviours.failed_pipelining is FailedPipelining.UNDONE

    def allocate_tasks(
        self, tasks: ItemQueue[int], job: int, queue: str, rows: Rows, hypernode: str
    ) -> Statement | None:
        """Place tasks of a job on some nodes until it is ready, or no task is left.

        :returns: the statement to commit; ``None`` if the job is not ready. If it is not even
            pipelined, all is undone; else its tasks keep their nodes in this session.
        """
        ssn = self.ssn
        visit = _Visit(
            job=job,
            queue=queue,
            rows=rows,
            hypernode=hypernode,
            statement=Statement(ssn),
            cache=new_error_cache() if self.uses_cache else None,
            keeps_near=job_hypernode.keeps_near(ssn, job),
            placed_in=job_hypernode.allocated_hypernode(ssn, job),
        )
        self._place_in_turn(visit, tasks)
        if ssn.trace.closely:
            job_tasks = ssn.jobs.tasks[job]
            note_try(ssn, job, job_tasks, (hypernode, rows), visit.statement.operations)
        if voting.job_ready(ssn, job):
            job_hypernode.note_soft(ssn, job, visit.placed_in)
            return visit.statement
        if not voting.job_pipelined(ssn, job):
            visit.statement.discard()
        return None

    def allocate_group(
        self, tasks: ItemQueue[int], sub_job: SubJob, rows: Rows, hypernode: str
    ) -> Statement | None:
        """Place tasks of a group on the nodes of a hypernode until it is ready, or none is left.

        :returns: the statement if the group is ready or pipelined; else all is undone.
        """
        ssn, job = self.ssn, sub_job.job
        visit = _Visit(
            job=job,
            queue=ssn.jobs.queue[job],
            rows=rows,
            hypernode="",
            statement=Statement(ssn),
            cache=new_error_cache() if self.uses_cache else None,
            keeps_near=sub_job.topology,
            placed_in=sub_job.hypernode,
            named_hypernode="" if hypernode == CLUSTER_TOP else hypernode,
            sub_job=sub_job,
        )
        self._place_in_turn(visit, tasks)
        if ssn.trace.closely:
            where = (visit.named_hypernode, rows)
            note_try(ssn, job, sub_job.tasks, where, visit.statement.operations)
        if voting.sub_job_ready(ssn, sub_job):
            if sub_job.topology and sub_job.tier is None:
                sub_job.hypernode = visit.placed_in
            return visit.statement
        if voting.sub_job_pipelined(ssn, sub_job):
            return visit.statement
        visit.statement.discard()
        return None

    def _place_in_turn(self, visit: _Visit, tasks: ItemQueue[int]) -> None:
        """Place the tasks one by one, until the job or group is ready, or cannot become ready."""
        self.interrupted = False
        while tasks:
            after = self._allocate_task(visit, tasks.pop())
            ready = after is _After.PLACED and self._is_ready(visit)
            # A gang that is ready stops with tasks left: `JobReady && !tasks.Empty()` gives others
            # a turn.
            self.interrupted = ready and bool(tasks)
            if after is _After.STOP or self.interrupted:
                return

    def _is_ready(self, visit: _Visit) -> bool:
        if visit.sub_job is None:
            return voting.job_ready(self.ssn, visit.job)
        return voting.sub_job_ready(self.ssn, visit.sub_job)

    def _need_continue(self, visit: _Visit) -> bool:
        if visit.sub_job is None:
            return self.ssn.jobs.need_continue_allocating(visit.job)
        return self.ssn.sub_jobs.need_continue_allocating(visit.sub_job)

    def _allocate_task(self, visit: _Visit, task: int) -> _After:
        """Place one task, or store why it fits no node."""
        ssn, job = self.ssn, visit.job
        refused = self._refused(visit, task)
        if refused is not None:
            return refused
        choice = self._find_near(visit, task)
        if isinstance(choice, FitErrors):
            choice.set_hypernode(visit.named_hypernode)
            ssn.jobs.set_fit_errors(job, task, choice)
            # Stored first: `NeedContinueAllocating` counts this role among those that failed.
            if self._behaviours.unfit_task_ends_job or not self._need_continue(visit):
                return _After.STOP
            return _After.NEXT
        node, score = choice
        if node is None:
            if self._skips:
                return _After.NEXT
            raise Panic(NIL_POINTER, _NO_BEST_NODE)
        # Added before the task is placed: `sumNodeScoresInHyperNode` counts it even if that fails.
        if visit.hypernode:
            job_hypernode.add_score(ssn, job, visit.hypernode, score)
        if self.place(visit.statement, task, node) is not None:
            return _After.NEXT if self._behaviours.failed_placement_continues_job else _After.PLACED
        if visit.keeps_near:
            visit.placed_in = job_hypernode.after_placement(ssn, node, visit.placed_in)
        return _After.PLACED

    def _refused(self, visit: _Visit, task: int) -> _After | None:
        """Return how the visit continues if a task is skipped; ``None`` if it is to be placed."""
        ssn, job = self.ssn, visit.job
        if not voting.allocatable(ssn, visit.queue, task):
            return _After.NEXT
        if not self._behaviours.unfit_task_ends_job and ssn.jobs.task_has_fit_errors(job, task):
            name = ssn.task_name(task)
            if ssn.trace.follows(name):
                ssn.trace.detail(SKIPPED, name, SkippedTask(ssn.tasks.info[task].role))
            if self._behaviours.skipped_tasks_get_reason:
                ssn.jobs.set_fit_errors(job, task, _skipped(ssn, task))
            return _After.NEXT
        error = voting.pre_predicate(ssn, task)
        if error is None:
            return None
        ssn.jobs.set_fit_errors(job, task, everywhere(ssn, visit.rows, error))
        goes_on = self._behaviours.pre_predicate_failures_skipped and self._need_continue(visit)
        return _After.NEXT if goes_on else _After.STOP

    def _find_near(self, visit: _Visit, task: int) -> tuple[int | None, float] | FitErrors:
        """Find a node near where the job is; a task that fits nowhere keeps its old hypernode."""
        if not visit.keeps_near:
            return self._find(visit, task)
        hypernodes = self.ssn.tasks.job_hypernode
        before = hypernodes.get(task)
        # Scores read it. Volcano sets it between filters and scores, so where no node passes not at
        # all.
        hypernodes[task] = visit.placed_in
        choice = self._find(visit, task)
        if isinstance(choice, FitErrors):
            if before is None:
                del hypernodes[task]
            else:
                hypernodes[task] = before
        return choice

    def _find(self, visit: _Visit, task: int) -> tuple[int | None, float] | FitErrors:
        """Return (the best node, its score), or why a task fits no node."""
        if self._behaviours.overfull_nodes_crash:
            check_future_idle(self.ssn, visit.rows, *_PREDICATING)
        # The quick way knows the best of all nodes only, and no node that must be tried first.
        if visit.rows is self.ssn.all_rows and self.nominated_row(task) == NO_NODE:
            best = self.selection.quick_best(task, visit.cache)
            if best is not None:
                return best
        fitting = self._fitting(task, visit.rows, visit.cache)
        return fitting if isinstance(fitting, FitErrors) else self._best(task, fitting)

    def _fitting(self, task: int, rows: Rows, cache: ErrorCache | None) -> Rows | FitErrors:
        """Return the nodes that fit a task, or why none does; its nominated node is tried first."""
        node = self.nominated_row(task)
        # Before v1.15 the nominated node was tried even outside the hypernode.
        elsewhere = (
            self._behaviours.nominated_node_within_hypernode and rows is not self.ssn.all_rows
        )
        if elsewhere and node not in rows:
            node = NO_NODE
        if node != NO_NODE and self._fits_nominated(task, node):
            fitting, _ = self.selection.predicate(
                task, self.ssn.all_rows[node : node + 1], Purpose.ALLOCATE, cache
            )
            if len(fitting):
                return fitting
        fitting, errors = self.selection.predicate(task, rows, Purpose.ALLOCATE, cache)
        return fitting if len(fitting) else errors

    def nominated_row(self, task: int) -> int:
        """Return the node that is tried first, ``NO_NODE`` if there is none."""
        ssn = self.ssn
        name = ssn.sub_jobs.nominated_node(task) if self._behaviours.nominated_node_first else ""
        return ssn.nodes.row.get(name, NO_NODE) if name else NO_NODE

    def _fits_nominated(self, task: int, node: int) -> bool:
        nodes, may_free = self.ssn.nodes, self.ssn.behaviours.nominated_node_uses_future_idle
        room = nodes.future_idle(node) if may_free else nodes.idle[node]
        return fits(self.ssn.named_request(task), room)

    def _best(self, task: int, rows: Rows) -> tuple[int | None, float]:
        """Return the best node with room now, else the best with room in the future."""
        columns = self.selection.columns(task)
        idle = columns.fits_idle[rows]
        for fits_now in (True, False):
            group = rows[idle] if fits_now else rows[~idle & (columns.insufficient[rows] == PASS)]
            # Unscored, with score 0: `prioritizeNodes` scores only where there is a choice.
            if len(group) == 1:
                return int(group[0]), 0.0
            if len(group):
                node, score = self.selection.best(task, group)
                if node is not None:
                    return node, score
        return None, 0.0

    def place(self, statement: Statement, task: int, node: int) -> str | None:
        """Allocate a task if the node has room now, else pipeline it; return the error."""
        columns = self.selection.columns(task)
        if columns.fits_idle[node]:
            error = statement.allocate(task, node)
            if error is not None:
                statement.un_allocate(task)
            return error
        # Without room now or later `allocateResourcesForTask` returns no error: the task counts as
        # placed.
        if columns.insufficient[node] == PASS:
            error = statement.pipeline(task, node)
            if error is not None and self._takes_back:
                statement.un_pipeline(task)
            return error
        return None


def _skipped(ssn: Session, task: int) -> FitErrors:
    """Return the message of a task whose role was found to fit nowhere."""
    info, errors = ssn.tasks.info[task], FitErrors.none(ssn.reasons, len(ssn.nodes))
    errors.set_error(
        f"Task {info.name} with role spec {info.role} has already predicated failed, skip"
    )
    return errors


def everywhere(ssn: Session, rows: Rows, error: str) -> FitErrors:
    """Return fit errors with the same reason for some nodes."""
    errors = FitErrors.none(ssn.reasons, len(ssn.nodes))
    errors.verdicts[rows] = ssn.reasons.intern(StatusCode.ERROR, Objection(error))
    return errors
