"""Groups of tasks and hypernodes in allocate of newer releases: small hypernodes first.

A job is tried in each hypernode, and in each of them its groups (:mod:`..jobs.sub_jobs`), each in
hypernodes within that. The best attempt is kept, all others undone.

Source: ``pkg/scheduler/actions/allocate/allocate.go`` (``organizeJobWorksheet``,
``allocateForJob``, ``allocateForSubJob``) and ``recorder.go`` since v1.14.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from ..framework import framework_orders as orders
from ..framework import voting
from ..framework.priority_queue import ItemQueue, KeyedQueue
from ..framework.session import Session
from ..framework.statement import Statement, TaskOperation
from ..jobs.division import SubJob
from ..topology.top_hypernode import CLUSTER_TOP, lca
from .job_hypernode import hypernode_rows
from .nomination import place_nominated
from .placing import Placing


class Worksheet(msgspec.Struct):
    """The tasks of a job to place.

    :param sub_jobs: the groups that have tasks to place; those that the job needs come first.
    :param tasks: by UID of the group.
    """

    sub_jobs: ItemQueue[SubJob]
    tasks: dict[str, ItemQueue[int]]

    def clone(self) -> Worksheet:
        """Return a copy with the same groups and tasks, for an attempt."""
        return Worksheet(
            self.sub_jobs.clone(), {uid: tasks.clone() for uid, tasks in self.tasks.items()}
        )


def organize(ssn: Session, job: int, tasks: list[int]) -> Worksheet:
    """Return the worksheet of a job.

    :param tasks: its tasks to place.

    Source: ``organizeJobWorksheet``.
    """
    division, to_place = ssn.sub_jobs.of(job), set(tasks)
    ready = {sub.uid for sub in division.sub_jobs if voting.sub_job_ready(ssn, sub)}
    enough = Counter(sub.policy for sub in division.sub_jobs if sub.uid in ready)
    required: set[str] = set()
    for sub in sorted(division.sub_jobs, key=lambda sub: orders.sub_job_key(ssn, sub)):
        if sub.uid not in ready and enough[sub.policy] < division.minima.get(sub.policy, 0):
            required.add(sub.uid)
            enough[sub.policy] += 1

    def key(sub: SubJob) -> tuple[Any, ...]:
        return (sub.uid not in required, *orders.sub_job_key(ssn, sub))

    groups = [(sub, [task for task in sub.tasks if task in to_place]) for sub in division.sub_jobs]
    count = sum(len(waiting) for _, waiting in groups)
    assert count == len(to_place), "each task to place is in one group of its job"
    return Worksheet(
        KeyedQueue(key, [sub for sub, waiting in groups if waiting]),
        {sub.uid: orders.task_queue(ssn, waiting) for sub, waiting in groups if waiting},
    )


class _Attempt(msgspec.Struct, frozen=True):
    """What came of a job in one hypernode."""

    operations: list[TaskOperation]
    left: Worksheet
    score: float


class Gradients:
    """The search for hypernodes in one session."""

    def __init__(self, placing: Placing) -> None:
        self._ssn = placing.ssn
        self._placing = placing
        self._worksheets: dict[int, Worksheet] = {}
        self._behaviours = self._ssn.behaviours
        self._groups: dict[tuple[int, str], dict[str, str]] = {}
        """By job and hypernode tried for it: the hypernodes of its groups, by UID."""

    def visit(self, job: int, tasks: list[int]) -> bool:
        """Place as many tasks of a job as possible; return whether it is tried again.

        :param tasks: its tasks to place, at the first visit.
        """
        sheet = self._worksheets.get(job)
        if sheet is None:
            sheet = self._worksheets[job] = organize(self._ssn, job, tasks)
        division = self._ssn.sub_jobs.of(job)
        if division.hard or (
            job in self._ssn.jobs.grouped and not self._behaviours.sub_groups_need_hard_topology
        ):
            return self._visit_in_hypernodes(job, sheet)
        return self._visit_anywhere(job, sheet)

    def _visit_anywhere(self, job: int, sheet: Worksheet) -> bool:
        """Place the tasks without a group one by one, on all nodes."""
        ssn, sub = self._ssn, self._ssn.sub_jobs.default(job)
        tasks = None if sub is None else sheet.tasks.get(sub.uid)
        if sub is None or not tasks:
            ssn.errors.append(f"Can not find default subJob or tasks for job {ssn.jobs.keys[job]}")
            return False
        statement = None
        if sub.nominated and self._behaviours.plain_jobs_use_nominations:
            statement = place_nominated(self._placing, sub, tasks)
        if statement is None:
            rows = ssn.all_rows
            statement = self._placing.allocate_group(tasks, sub, rows, CLUSTER_TOP)
        # A job that is only pipelined is not committed, and not undone: it keeps its nodes until
        # the close.
        if statement is None or not voting.job_ready(ssn, job):
            return False
        statement.commit()
        if self._behaviours.plain_jobs_use_nominations:
            sub.nominated = ""
        return bool(tasks)

    def _visit_in_hypernodes(self, job: int, sheet: Worksheet) -> bool:
        best = self._search(job, sheet)
        if best is None:
            return False
        hypernode, statement = best
        # Not undone either, as in `_visit_anywhere`.
        if not voting.job_ready(self._ssn, job):
            return False
        statement.commit()
        groups = self._groups.get((job, hypernode), {})
        self._ssn.sub_jobs.note_placed(job, hypernode, groups)
        for sub in self._ssn.sub_jobs.of(job).sub_jobs:
            if sub.uid in groups:
                sub.nominated = ""
        return bool(self._worksheets[job].sub_jobs)

    def _search(self, job: int, sheet: Worksheet) -> tuple[str, Statement] | None:
        """Try one gradient after the other; keep the best attempt of the first with a solution.

        Source: ``allocateForJob``.
        """
        ssn = self._ssn
        if not sheet.sub_jobs:
            return None
        for gradient in self._gradients_of_job(job):
            tried = {name: self._try(job, sheet.clone(), name) for name in gradient}
            attempts = {name: attempt for name, attempt in tried.items() if attempt is not None}
            if not attempts:
                continue
            # Among equals `selectBestHyperNodeForJob` takes the first of a map; here it is the
            # least name.
            best = max(sorted(attempts), key=lambda name: attempts[name].score)
            statement = Statement(ssn)
            error = statement.recover_operations(attempts[best].operations)
            if error is not None:
                ssn.errors.append(f"Failed to recover operations: {error}")
                return None
            self._worksheets[job] = attempts[best].left
            return best, statement
        return None

    def _gradients_of_job(self, job: int) -> list[list[str]]:
        ssn, division = self._ssn, self._ssn.sub_jobs.of(job)
        if division.tier is None:
            return [[CLUSTER_TOP]]
        least = ssn.jobs.min_resources(job)
        return voting.hyper_node_gradient(
            ssn, CLUSTER_TOP, division.tier, division.hypernode, least, purpose="allocate"
        )

    def _try(self, job: int, sheet: Worksheet, hypernode: str) -> _Attempt | None:
        """Place a job within a hypernode, and undo it; ``None`` if it does not fit there."""
        ssn = self._ssn
        ssn.jobs.reset_fit_errors(job)
        sub_jobs = ssn.sub_jobs.of(job).sub_jobs
        before = [sub.hypernode for sub in sub_jobs]
        statements: list[Statement] = []
        score = 0.0
        while sheet.sub_jobs:
            sub = sheet.sub_jobs.pop()
            placed = self._search_for_group(sub, sheet, hypernode)
            if placed is None:
                continue
            # It stands while the next groups are tried: they must fit beside it.
            statements.append(placed[0])
            score += placed[1]
            if sheet.tasks[sub.uid]:
                sheet.sub_jobs.push(sub)
            if voting.job_ready(ssn, job):
                break
        # `RecoverSubJobStatus` comes first, so readiness is asked with the hypernodes of before.
        for sub, given in zip(sub_jobs, before, strict=True):
            sub.hypernode = given
        operations = [each for statement in statements for each in statement.save_operations()]
        # The plugins are asked while all that was placed still stands.
        met = bool(operations) and (voting.job_ready(ssn, job) or voting.job_pipelined(ssn, job))
        # In their order, not backwards: `allocateForJob` discards its list from the front.
        for statement in statements:
            statement.discard()
        return _Attempt(operations, sheet, score) if met else None

    def _search_for_group(
        self, sub: SubJob, sheet: Worksheet, hypernode: str
    ) -> tuple[Statement, float] | None:
        """Place a group's next tasks in the best hypernode within one; ``None`` if there is none.

        :returns: the statement and its score; tasks left over are in the worksheet.

        Source: ``allocateForSubJob``.
        """
        ssn = self._ssn
        if sub.nominated:
            pinned = place_nominated(self._placing, sub, sheet.tasks[sub.uid])
            if pinned is not None:
                self._groups.setdefault((sub.job, hypernode), {})[sub.uid] = sub.hypernode
                return pinned, 0.0
        for gradient in self._gradients_inside(sub, hypernode):
            attempts: dict[str, tuple[list[TaskOperation], ItemQueue[int]]] = {}
            for name in gradient:
                ssn.jobs.reset_group_fit_errors(sub.job, sub.tasks)
                rest, rows = sheet.tasks[sub.uid].clone(), hypernode_rows(ssn, name)
                if rows is None or not len(rows):
                    continue
                statement = self._placing.allocate_group(rest, sub, rows, name)
                if statement is not None and statement.operations:
                    attempts[name] = (statement.save_operations(), rest)
                    statement.discard()
            if attempts:
                return self._take_best(sub, sheet, attempts, hypernode)
        return None

    def _gradients_inside(self, sub: SubJob, hypernode: str) -> list[list[str]]:
        ssn = self._ssn
        if sub.tier is None or not (sub.divided or self._behaviours.narrower_hypernodes_tried):
            return [[hypernode]]
        pending = ssn.jobs.sum_requests(
            [
                task
                for task in ssn.sub_jobs.pending_tasks(sub.job)
                if ssn.sub_jobs.of_task(task) is sub
            ]
        )
        return voting.hyper_node_gradient(
            ssn, hypernode, sub.tier, sub.hypernode, pending, purpose="allocate"
        )

    def _take_best(
        self,
        sub: SubJob,
        sheet: Worksheet,
        attempts: dict[str, tuple[list[TaskOperation], ItemQueue[int]]],
        hypernode: str,
    ) -> tuple[Statement, float] | None:
        assert attempts, "the best is chosen from at least one"
        ssn = self._ssn
        groups = {
            name: rows for name in attempts if (rows := hypernode_rows(ssn, name)) is not None
        }
        scores = voting.hyper_node_order(ssn, sub.job, sub.tasks, groups)
        highest = max(scores.get(name, 0.0) for name in attempts)
        equals = [name for name in sorted(attempts) if scores.get(name, 0.0) == highest]
        best = equals[0]
        if len(equals) > 1:
            best = equals[ssn.chooser.choose("hypernode", ssn.jobs.keys[sub.job], equals)]
        operations, left = attempts[best]
        statement = Statement(ssn)
        error = statement.recover_operations(operations)
        if error is not None:
            ssn.errors.append(f"Failed to recover operations: {error}")
            return None
        sub.hypernode = lca(ssn.hypernodes, sub.hypernode, best)
        sheet.tasks[sub.uid] = left
        self._groups.setdefault((sub.job, hypernode), {})[sub.uid] = sub.hypernode
        return statement, highest
