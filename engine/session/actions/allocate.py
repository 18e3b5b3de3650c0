"""allocate: place the pending tasks of enqueued jobs, and bind gangs that have their minimum.

Source: ``pkg/scheduler/actions/allocate/allocate.go``.
"""

from __future__ import annotations

from ...model.session_tables import TaskStatus
from ...volcano.session.allocate import JobRequeue
from ..framework import framework_orders as orders
from ..framework import voting
from ..framework.priority_queue import ItemQueue, PriorityQueue
from ..framework.session import Session
from ..framework.vote_details import JobTurn
from ..nodes.node_selection import NodeSelection
from ..nodes.node_views import NodeViews
from . import hypernode_allocation as topology
from .hypernode_gradients import Gradients
from .job_hypernode import hard_tier
from .placing import Placing

TURN = "turn"
"""What details are kept under about the order of jobs."""


def execute(ssn: Session, views: NodeViews) -> None:
    """Take queues, jobs and tasks in order, and place one task after the other."""
    AllocateRun(ssn, views.selection).run()


class AllocateRun:
    """The allocate action in one session."""

    def __init__(self, ssn: Session, selection: NodeSelection) -> None:
        self.ssn = ssn
        self._placing = Placing(ssn, selection)
        self._behaviours = ssn.behaviours
        self._gradients = Gradients(self._placing)
        self._queues: PriorityQueue[str] = orders.queues_in_order(ssn)
        self._jobs: dict[str, ItemQueue[int]] = {}
        self._pending: dict[int, ItemQueue[int]] = {}
        self._visited: dict[str, None] = {}

    def run(self) -> None:
        """Go through the queues until none is left."""
        if self._behaviours.topology_gradients:
            self.ssn.sub_jobs.recover_all()
        self._pick_up()
        while self._queues:
            queue = self._queues.pop()
            if voting.overused(self.ssn, queue):
                continue
            jobs = self._jobs[queue]
            if not jobs:
                continue
            job = jobs.pop()
            if self.ssn.trace.paths:
                self._note_turn(queue, self.ssn.jobs.keys[job])
            self._visit(queue, job)

    def _pick_up(self) -> None:
        """Put all jobs that may be placed into their queues.

        The original also puts jobs there that have no pending task; all that comes of it is that
        their queue is taken and put back, so here it is enough that their queue is there. It is not
        enough where the place of a queue in the heap may be out of date by then, because shares of
        other queues move with an allocation (hdrf).
        """
        ssn = self.ssn
        pending = [counts[TaskStatus.PENDING] > 0 for counts in ssn.jobs.counts]
        # `organizeJobWorksheet` reads the lists of groups, where such a task is still pending.
        for task in ssn.sub_jobs.stale.under(TaskStatus.PENDING):
            pending[ssn.tasks.job.item(task)] = True
        waits = self._behaviours.topology_gradients and not ssn.hypernodes.ready
        keeps_idle = self._behaviours.queue_requeued_before_placing or any(
            option.name == "drf" and option.enabled_hierarchy
            for tier in ssn.conf.tiers
            for option in tier
        )
        for job in range(len(ssn.jobs)):
            if ssn.jobs.is_pending(job):
                if "enqueue" in ssn.conf.actions:
                    continue
                # `EnabledActionMap`: where no action enqueues, this one must, or the job waits for
                # ever.
                ssn.jobs.phase[job] = "Inqueue"
            queue = ssn.jobs.queue[job]
            # Until the hypernodes are known (`HyperNodesReadyToSchedule`), jobs with a topology
            # wait.
            if waits and ssn.sub_jobs.wants_near(job):
                continue
            if not self._behaviours.overused_checked_for_idle_queues and not (
                pending[job] and self._tasks_of(job)
            ):
                continue
            wanted = pending[job] or keeps_idle
            if (not wanted and queue in self._jobs) or voting.job_valid(ssn, job) is not None:
                continue
            if queue not in self._jobs:
                self._jobs[queue] = orders.job_queue(ssn)
                self._queues.push(queue)
            if wanted:
                self._jobs[queue].push(job)

    def _visit(self, queue: str, job: int) -> None:
        """Place as many tasks of one job as possible, and requeue its queue."""
        ssn = self.ssn
        tasks = self._tasks_of(job)
        if self._behaviours.queue_requeued_before_placing or not tasks:
            self._queues.push(queue)
        if not tasks:
            return
        if self._behaviours.topology_gradients and self._has_groups(job):
            self._visit_in_groups(queue, job)
            return
        # Releases that try groups by gradients did so above; what is left here has no topology.
        highest_tier = None if self._behaviours.topology_gradients else hard_tier(ssn, job)
        if highest_tier is None:
            statement = self._placing.allocate_tasks(tasks, job, queue, ssn.all_rows, "")
            if tasks and self._returns(committed=statement is not None):
                self._jobs[queue].push(job)
        else:
            if not ssn.hypernodes.ready:
                # The queue is not put back: its other jobs wait for the next session as well.
                ssn.errors.append(
                    "RealNodesList not completely populated and not ready to schedule"
                )
                return
            statement, left = topology.allocate_in_hypernodes(
                self._placing, tasks, job, queue, highest_tier
            )
            if left is not None:
                self._jobs[queue].push(job)
                self._pending[job] = left
        # Committed first: where the queue is pushed only now, the heap compares its share of now.
        if statement is not None:
            statement.commit()
        if not self._behaviours.queue_requeued_before_placing:
            self._queues.push(queue)

    def _note_turn(self, queue: str, job: str) -> None:
        """Keep which jobs come before a job whose path is kept."""
        trace = self.ssn.trace
        if trace.keeps_path(job) and job not in self._visited:
            trace.detail(TURN, job, JobTurn(queue, tuple(self._visited), len(trace.steps)))
        self._visited.setdefault(job)

    def _visit_in_groups(self, queue: str, job: int) -> None:
        if self._gradients.visit(job, self._pending_tasks(job)):
            self._jobs[queue].push(job)
        self._queues.push(queue)

    def _has_groups(self, job: int) -> bool:
        """Return whether a job is placed by groups; a job with a topology is one group."""
        jobs = self.ssn.jobs
        return (
            job in jobs.grouped
            or jobs.pod_group(job).spec.network_topology is not None
            or job in self.ssn.sub_jobs.nominated
        )

    def _returns(self, *, committed: bool) -> bool:
        """Return whether a job with tasks left is tried again."""
        if self._behaviours.job_requeue is JobRequeue.IF_COMMITTED:
            return committed
        return self._placing.interrupted or self._behaviours.job_requeue is JobRequeue.ALWAYS

    def _tasks_of(self, job: int) -> ItemQueue[int]:
        """Return the job's tasks to place, in order."""
        tasks = self._pending.get(job)
        if tasks is None:
            tasks = self._pending[job] = orders.task_queue(self.ssn, self._pending_tasks(job))
        return tasks

    def _pending_tasks(self, job: int) -> list[int]:
        info = self.ssn.tasks.info
        return [
            task
            for task in self.ssn.sub_jobs.pending_tasks(job)
            # Tasks without requests are those of backfill. A count of pods is no request
            # (`IsEmpty`).
            if not info[task].gated and not info[task].request.is_empty()
        ]
