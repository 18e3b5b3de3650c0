"""Network topology in allocate: a job within one hypernode (hard), or as near as possible (soft).

Source: ``pkg/scheduler/actions/allocate/allocate.go`` (``allocateResourceForTasksWithTopology``,
``selectBestHyperNode``) and ``util/scheduler_helper.go`` (``PrioritizeHyperNodes``).
"""

from __future__ import annotations

from ..framework import voting
from ..framework.priority_queue import ItemQueue
from ..framework.session import Session
from ..framework.statement import Statement, TaskOperation
from ..nodes.node_selection import lowest_score
from .job_hypernode import allocated_hypernode, hypernode_rows, remembered_scores
from .placing import Placing


def allocate_in_hypernodes(
    placing: Placing, tasks: ItemQueue[int], job: int, queue: str, highest_tier: int
) -> tuple[Statement | None, ItemQueue[int] | None]:
    """Try the hypernodes tier by tier, and take the best of the lowest tier that has one.

    :returns: the statement to commit, and the tasks left over.
    """
    ssn = placing.ssn
    annotated = allocated_hypernode(ssn, job)
    for tier in sorted(ssn.hypernodes.by_tier):
        if tier > highest_tier:
            break
        attempts: dict[str, list[TaskOperation]] = {}
        left: dict[str, ItemQueue[int]] = {}
        spans: dict[str, str] = {}
        for name in ssn.hypernodes.by_tier[tier]:
            rows = hypernode_rows(ssn, name)
            if rows is None:
                continue
            span = _span(ssn, name, annotated, highest_tier)
            if span is None:
                continue
            spans[name] = span
            rest = tasks.pushed_again()
            # A role that failed in another hypernode would be skipped in this one
            # (`TaskHasFitErrors`).
            ssn.jobs.reset_fit_errors(job)
            statement = placing.allocate_tasks(rest, job, queue, rows, name)
            if statement is None or not statement.operations:
                continue
            attempts[name] = statement.save_operations()
            statement.discard()
            if rest:
                left[name] = rest
        if attempts:
            return _take_best(ssn, job, attempts, left, spans)
    return None, None


def _span(ssn: Session, name: str, annotated: str, highest_tier: int) -> str | None:
    """Return the hypernode that a job would span with this one; ``None`` if too high."""
    if not annotated:
        return name
    common = ssn.hypernodes.get_lca(name, annotated)
    info = ssn.hypernodes.infos.get(common)
    return common if info is not None and info.tier <= highest_tier else None


def _take_best(
    ssn: Session,
    job: int,
    attempts: dict[str, list[TaskOperation]],
    left: dict[str, ItemQueue[int]],
    spans: dict[str, str],
) -> tuple[Statement | None, ItemQueue[int] | None]:
    assert attempts, "the best is chosen from at least one"
    best = next(iter(attempts)) if len(attempts) == 1 else _best(ssn, job, sorted(attempts))
    if best is None:
        return None, None
    statement = Statement(ssn)
    error = statement.recover_operations(attempts[best])
    if error is not None:
        ssn.errors.append(f"Failed to recover operations: {error}")
    # Noted even if the plan could not be repeated: the caller there looks only at the name.
    if spans[best] != allocated_hypernode(ssn, job):
        ssn.jobs.hypernode[job] = spans[best]
    return (statement if error is None else None), left.get(best)


def _best(ssn: Session, job: int, names: list[str]) -> str | None:
    """Return the hypernode with the highest score of plugins and nodes."""
    groups = {name: rows for name in names if (rows := hypernode_rows(ssn, name)) is not None}
    scores = voting.hyper_node_order(ssn, job, ssn.jobs.tasks[job], groups)
    for name, score in remembered_scores(ssn, job).items():
        scores[name] = scores.get(name, 0.0) + score
    highest = max(scores.get(name, 0.0) for name in names)
    if not highest > lowest_score(ssn):
        return None
    equals = [name for name in names if scores.get(name, 0.0) == highest]
    if len(equals) == 1:
        return equals[0]
    return equals[ssn.chooser.choose("hypernode", ssn.jobs.keys[job], equals)]
