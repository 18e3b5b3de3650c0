"""A gang's plan in a hypernode: its victims, and its tasks' nodes; simulated, then undone.

Source: ``pkg/scheduler/actions/utils/simulate.go`` since v1.15.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...model.session_tables import Rows
from ..framework import voting
from ..framework.plugin_registry import GangEviction
from ..framework.priority_queue import ItemQueue
from ..framework.session import Session, fits
from ..framework.statement import Statement, TaskOperation
from ..jobs.division import SubJob
from ..nodes.node_selection import ErrorCache, NodeSelection, Purpose, new_error_cache
from .eviction_victims import resolvable_nodes
from .hypernode_gradients import Worksheet, organize
from .job_hypernode import hypernode_rows

ERROR_CACHE_ARGUMENT = "predicateErrorCacheEnable"


def worksheet(ssn: Session, job: int) -> Worksheet:
    """Return the tasks of a job to place: all pending ones without gates."""
    info = ssn.tasks.info
    return organize(
        ssn,
        job,
        [
            task
            for task in ssn.sub_jobs.pending_tasks(job)
            if not info[task].gated and not info[task].request.is_empty()
        ],
    )


def pending_tasks(ssn: Session, job: int) -> list[int]:
    """Return the tasks for which a job would evict, in order.

    For a ready job these are the tasks of one group; else all tasks to place.

    Source: ``CollectPendingTasksForGangEviction``.
    """
    sheet, ready = worksheet(ssn, job), voting.job_ready(ssn, job)
    pending: list[int] = []
    while sheet.sub_jobs and not (ready and pending):
        tasks = sheet.tasks[sheet.sub_jobs.pop().uid]
        while tasks:
            pending.append(tasks.pop())
    return pending


class JobPlan(msgspec.Struct, frozen=True):
    """The plan for a job, and the hypernodes of its groups, by UID."""

    operations: list[TaskOperation]
    hypernodes: dict[str, str]


class _Attempt(msgspec.Struct, frozen=True):
    """The state that all attempts at one plan share.

    ``evicts`` says whether there are victims at all.
    """

    ssn: Session
    selection: NodeSelection
    eviction: GangEviction
    evicts: bool


def plan_in_domain(
    ssn: Session, selection: NodeSelection, eviction: GangEviction, victims: Sequence[int]
) -> JobPlan | None:
    """Evict victims, then place the job's groups one after the other until it is pipelined.

    All is undone in any case.

    :returns: the plan; ``None`` if it does not pipeline the job.

    Source: ``BuildNominationPlanInDomain``.
    """
    job, done = eviction.job, []
    attempt = _Attempt(ssn, selection, eviction, bool(victims))
    sheet, was_ready = worksheet(ssn, job), voting.job_ready(ssn, job)
    if victims and sheet.sub_jobs:
        done.append(Statement(ssn))
        for victim in victims:
            done[0].evict(victim, eviction.action)
    pipelined, hypernodes = False, {}
    while sheet.sub_jobs:
        sub = sheet.sub_jobs.pop()
        placed = _place_group(attempt, sub, sheet.tasks[sub.uid])
        if placed is None:
            pipelined = False
            break
        done.append(placed[0])
        hypernodes[sub.uid] = placed[1]
        # A job that was ready evicts for one group at a time.
        pipelined = voting.job_pipelined(ssn, job)
        if was_ready or pipelined:
            break
    # Saved before the discards, each of which changes what its task remembers (`LastTransaction`).
    operations = [each for statement in done for each in statement.save_operations()]
    for statement in reversed(done):
        statement.discard()
    return JobPlan(operations, hypernodes) if pipelined else None


def _place_group(
    attempt: _Attempt, sub: SubJob, tasks: ItemQueue[int]
) -> tuple[Statement, str] | None:
    """Place a group in the first hypernode with room for all of it; ``None`` if none has.

    It is the domain itself if neither the job nor a group has a hard topology.
    """
    ssn, domain = attempt.ssn, attempt.eviction.hypernode
    gradients = [[domain]]
    # Elsewhere `HyperNodeGradientForSubJobFn` would return the domain itself, as its only one.
    if ssn.sub_jobs.of(sub.job).hard and sub.tier is not None:
        waiting = set(ssn.sub_jobs.pending_tasks(sub.job))
        least = ssn.jobs.sum_requests([task for task in sub.tasks if task in waiting])
        gradients = voting.hyper_node_gradient(
            ssn, domain, sub.tier, sub.hypernode, least, purpose="evict"
        )
    for gradient in gradients:
        for name in gradient:
            statement = _place_within(attempt, sub, tasks.clone(), name)
            if statement is not None:
                return statement, name
    return None


def _place_within(
    attempt: _Attempt, sub: SubJob, tasks: ItemQueue[int], hypernode: str
) -> Statement | None:
    """Pipeline all of a group's tasks on the nodes of a hypernode, or none.

    Source: ``runSimulateTrialAtHyperNode``.
    """
    ssn, rows = attempt.ssn, hypernode_rows(attempt.ssn, hypernode)
    if rows is None or not len(rows):
        return None
    # The flag is that of allocate: these actions have no separate one.
    uses_cache = ssn.conf.action_arguments("allocate").get_bool(ERROR_CACHE_ARGUMENT, True)
    cache = new_error_cache() if uses_cache else None
    statement = Statement(ssn)
    while tasks:
        task = tasks.pop()
        node = _find_node(ssn, attempt.selection, task, rows, cache)
        if node is None or not _pipeline(attempt, statement, task, node):
            statement.discard()
            return None
    if statement.operations and (
        voting.sub_job_ready(ssn, sub) or voting.sub_job_pipelined(ssn, sub)
    ):
        return statement
    statement.discard()
    return None


def _pipeline(attempt: _Attempt, statement: Statement, task: int, node: int) -> bool:
    if statement.pipeline(task, node, evicted=attempt.evicts) is None:
        return True
    statement.un_pipeline(task)
    return False


def _find_node(
    ssn: Session, selection: NodeSelection, task: int, rows: Rows, cache: ErrorCache | None
) -> int | None:
    """Return the best node with room now, else the best with room in the future.

    If evictions are known to help nowhere, all nodes are tried nevertheless.
    """
    if not voting.allocatable(ssn, ssn.jobs.queue[ssn.tasks.job.item(task)], task):
        return None
    resolvable = resolvable_nodes(ssn, task)
    if len(resolvable):
        among = set(resolvable.tolist())
        rows = rows[[row in among for row in rows.tolist()]]
    if not len(rows) or voting.pre_predicate(ssn, task) is not None:
        return None
    fitting, _ = selection.predicate(task, rows, Purpose.SIMULATE, cache)
    idle = selection.columns(task).fits_idle[fitting]
    for group in (fitting[idle], fitting[~idle]):
        if len(group):
            node = int(group[0]) if len(group) == 1 else selection.best(task, group)[0]
            if node is not None:
                return node if fits(ssn.named_request(task), ssn.nodes.future_idle(node)) else None
    return None
