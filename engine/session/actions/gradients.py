"""Hypernodes in allocate, as newer releases try them: in gradients, the narrowest first.

Groups within a job (``subGroupPolicy``) are not told apart: all tasks are one group.

Source: ``pkg/scheduler/actions/allocate/allocate.go`` (``allocateForJob``,
``allocateForSubJob``) since v1.14.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..cluster_top import CLUSTER_TOP, allocated_hypernode, lca, note_allocated, wanted_tier
from ..priority_queue import Queue
from ..session import Session
from ..statement import Operation, Statement
from .topology import hypernode_rows

if TYPE_CHECKING:
    from .allocate import Allocation


class _Trial(NamedTuple):
    """What came of a job in one hypernode."""

    operations: list[Operation]
    left: Queue[int]
    score: float
    inside: str
    """The hypernode within it that the tasks were placed in."""


def allocate_in_gradients(
    allocation: Allocation, tasks: Queue[int], job: int
) -> tuple[Statement | None, Queue[int]]:
    """Try the hypernodes of one gradient after the other; take the best of the first that has one.

    :returns: what is to be committed, and the tasks that are left over.
    """
    ssn = allocation.ssn
    given = allocated_hypernode(ssn, job)
    tier = wanted_tier(ssn, job)
    assert tier is not None
    least = ssn.jobs.min_resources(job)
    for gradient in ssn.hyper_node_gradient(CLUSTER_TOP, tier, given, least):
        trials = {
            name: trial
            for name in sorted(gradient)
            if (trial := _try(allocation, tasks.clone(), job, name)) is not None
        }
        if not trials:
            continue
        best = max(sorted(trials), key=lambda name: trials[name].score)
        statement = Statement(ssn)
        error = statement.recover_operations(trials[best].operations)
        if error is not None:
            ssn.errors.append(f"Failed to recover operations: {error}")
            return None, tasks
        if ssn.job_ready(job):
            note_allocated(ssn, job, trials[best].inside)
        return statement, trials[best].left
    return None, tasks


def _try(allocation: Allocation, tasks: Queue[int], job: int, hypernode: str) -> _Trial | None:
    """Place a job within a hypernode, and take it back; ``None`` if it cannot be met there."""
    ssn = allocation.ssn
    ssn.jobs.reset_fit_errors(job)
    given = allocated_hypernode(ssn, job)
    statements: list[Statement] = []
    score = 0.0
    while tasks:
        found = _try_inside(allocation, tasks, job, hypernode, given)
        if found is None:
            break
        statement, tasks, part, given = found
        statements.append(statement)
        score += part
        if ssn.job_ready(job):
            break
    operations = [each for statement in statements for each in statement.operations]
    met = bool(operations) and (ssn.job_ready(job) or ssn.job_pipelined(job))
    for statement in statements:
        statement.discard()
    return _Trial(operations, tasks, score, given) if met else None


def _try_inside(
    allocation: Allocation, tasks: Queue[int], job: int, hypernode: str, given: str
) -> tuple[Statement, Queue[int], float, str] | None:
    """Place the next tasks of a job in the best hypernode within one; ``None`` if there is none.

    :returns: what was done, the tasks left over, the score, and the hypernode the job is in then.
    """
    ssn = allocation.ssn
    for gradient in _gradients_inside(ssn, job, hypernode, given):
        trials: dict[str, tuple[list[Operation], Queue[int]]] = {}
        for name in sorted(gradient):
            rest, rows = tasks.clone(), hypernode_rows(ssn, name)
            ssn.jobs.reset_fit_errors(job)
            if rows is None or not len(rows):
                continue
            statement = allocation.allocate_group(rest, job, rows, name, given)
            if statement is not None and statement.operations:
                trials[name] = (statement.save_operations(), rest)
                statement.discard()
        if trials:
            return _take_best(ssn, job, trials, given)
    return None


def _gradients_inside(ssn: Session, job: int, hypernode: str, given: str) -> list[list[str]]:
    tier = wanted_tier(ssn, job)
    if not ssn.behaviours.groups_search_inside or tier is None:
        return [[hypernode]]
    pending = ssn.jobs.sum_requests(ssn.jobs.pending_tasks(job))
    return ssn.hyper_node_gradient(hypernode, tier, given, pending)


def _take_best(
    ssn: Session, job: int, trials: dict[str, tuple[list[Operation], Queue[int]]], given: str
) -> tuple[Statement, Queue[int], float, str] | None:
    groups = {name: rows for name in trials if (rows := hypernode_rows(ssn, name)) is not None}
    scores = ssn.hyper_node_order(job, groups)
    highest = max(scores.get(name, 0.0) for name in trials)
    equals = [name for name in sorted(trials) if scores.get(name, 0.0) == highest]
    best = equals[0]
    if len(equals) > 1:
        best = equals[ssn.chooser.choose("hypernode", ssn.jobs.keys[job], equals)]
    operations, left = trials[best]
    statement = Statement(ssn)
    error = statement.recover_operations(operations)
    if error is not None:
        ssn.errors.append(f"Failed to recover operations: {error}")
        return None
    return statement, left, highest, lca(ssn, given, best)
