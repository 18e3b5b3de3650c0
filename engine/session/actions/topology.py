"""Network topology in allocate: a job within one hypernode (hard), or as near as can be (soft).

Source: ``pkg/scheduler/actions/allocate/allocate.go`` (``allocateResourceForTasksWithTopology``,
``selectBestHyperNode``) and ``util/scheduler_helper.go`` (``PrioritizeHyperNodes``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kubernetes.objects import NetworkTopology
from ...model.tables import Rows
from ..framework.priority_queue import Queue
from ..framework.session import Session
from ..framework.statement import Operation, Statement
from ..nodes.node_selection import lowest_score

if TYPE_CHECKING:
    from .allocate import Allocation

ALLOCATED_HYPERNODE = "volcano.sh/job-allocated-hypernode"

_SCORES = "allocate: scores of nodes by job and hypernode"
"""Under this name the process keeps what the nodes chosen in trials scored, over all sessions."""


def hard_tier(ssn: Session, job: int) -> int | None:
    """Return the highest tier that a job may span, ``None`` if that is left open."""
    wanted = _network_topology(ssn, job)
    if wanted is None or wanted.highest_tier_allowed is None or wanted.mode != "hard":
        return None
    return wanted.highest_tier_allowed


def is_soft(ssn: Session, job: int) -> bool:
    """Return whether a job wants its tasks near each other without insisting."""
    wanted = _network_topology(ssn, job)
    return wanted is not None and wanted.mode == "soft"


def _network_topology(ssn: Session, job: int) -> NetworkTopology | None:
    if not ssn.behaviours.network_topology:
        return None
    return ssn.jobs.pod_group(job).spec.network_topology


def keeps_near(ssn: Session, job: int) -> bool:
    """Return whether nodes are scored by how near they are to a job's tasks."""
    if ssn.behaviours.hard_topology_scores_nearby_nodes:
        return _network_topology(ssn, job) is not None
    return is_soft(ssn, job)


def allocated_hypernode(ssn: Session, job: int) -> str:
    """Return the hypernode that a job was placed in, as its PodGroup is annotated by now."""
    known: str | None = ssn.jobs.hypernode.get(job)
    if known is not None:
        return known
    return ssn.jobs.pod_group(job).annotations.get(ALLOCATED_HYPERNODE, "")


def allocate_in_hypernodes(
    allocation: Allocation, tasks: Queue[int], job: int, queue: str, highest_tier: int
) -> tuple[Statement | None, Queue[int] | None]:
    """Try the hypernodes tier by tier, and take the best of the lowest tier that has one.

    :returns: what is to be committed, and the tasks that are left over.
    """
    ssn = allocation.ssn
    annotated = allocated_hypernode(ssn, job)
    for tier in sorted(ssn.hypernodes.by_tier):
        if tier > highest_tier:
            break
        trials: dict[str, list[Operation]] = {}
        left: dict[str, Queue[int]] = {}
        spans: dict[str, str] = {}
        for name in ssn.hypernodes.by_tier[tier]:
            rows = hypernode_rows(ssn, name)
            if rows is None:
                continue
            span = _span(ssn, name, annotated, highest_tier)
            if span is None:
                continue
            spans[name] = span
            rest = tasks.clone()
            ssn.jobs.reset_fit_errors(job)
            statement = allocation.allocate_tasks(rest, job, queue, rows, name)
            if statement is None or not statement.operations:
                continue
            trials[name] = statement.save_operations()
            statement.discard()
            if rest:
                left[name] = rest
        if trials:
            return _take_best(ssn, job, trials, left, spans)
    return None, None


def hypernode_rows(ssn: Session, name: str) -> Rows | None:
    """Return the nodes below a hypernode, by name; ``None`` if there is no list of them."""
    members = ssn.hypernodes.real_nodes.get(name)
    if members is None:
        return None
    rows = sorted(ssn.nodes.row[node] for node in members if node in ssn.nodes.row)
    return np.array(rows, dtype=np.intp)


def leaf_hypernode(ssn: Session, node: int) -> str:
    """Return the hypernode of the lowest tier that a node is in; empty if there is none.

    Source: ``FindHyperNodeForNode``.
    """
    tiers = ssn.hypernodes.by_tier
    if not tiers:
        return ""
    name = ssn.nodes.names[node]
    for hypernode in tiers[min(tiers)]:
        if name in ssn.hypernodes.real_nodes.get(hypernode, ()):
            return hypernode
    return ""


def add_score(ssn: Session, job: int, hypernode: str, score: float) -> None:
    """Add what a chosen node scored to a hypernode that is tried; it is kept over sessions."""
    if hypernode:
        by_job = ssn.process.kept.setdefault(_SCORES, {})
        scores = by_job.setdefault(ssn.jobs.keys[job], {})
        scores[hypernode] = scores.get(hypernode, 0.0) + score


def after_placement(ssn: Session, node: int, placed_in: str) -> str:
    """Return the hypernode that a job, or group, is in after one more task was placed."""
    leaf = leaf_hypernode(ssn, node)
    if not leaf:
        return placed_in
    return ssn.hypernodes.get_lca(leaf, placed_in) if placed_in else leaf


def note_soft(ssn: Session, job: int, placed_in: str) -> None:
    """Annotate a soft job that is ready with the hypernode it is in."""
    if is_soft(ssn, job) and allocated_hypernode(ssn, job) != placed_in:
        ssn.jobs.hypernode[job] = placed_in


def _span(ssn: Session, name: str, annotated: str, highest_tier: int) -> str | None:
    """Return what a job would span if it took a hypernode; ``None`` if that is too much."""
    if not annotated:
        return name
    common = ssn.hypernodes.get_lca(name, annotated)
    info = ssn.hypernodes.infos.get(common)
    return common if info is not None and info.tier <= highest_tier else None


def _take_best(
    ssn: Session,
    job: int,
    trials: dict[str, list[Operation]],
    left: dict[str, Queue[int]],
    spans: dict[str, str],
) -> tuple[Statement | None, Queue[int] | None]:
    best = next(iter(trials)) if len(trials) == 1 else _best(ssn, job, sorted(trials))
    if best is None:
        return None, None
    statement = Statement(ssn)
    error = statement.recover_operations(trials[best])
    if error is not None:
        ssn.errors.append(f"Failed to recover operations: {error}")
        statement_or_none = None
    else:
        statement_or_none = statement
    if spans[best] != allocated_hypernode(ssn, job):
        ssn.jobs.hypernode[job] = spans[best]
    return statement_or_none, left.get(best)


def _best(ssn: Session, job: int, names: list[str]) -> str | None:
    """Return the hypernode with the highest score of plugins and nodes."""
    groups = {name: rows for name in names if (rows := hypernode_rows(ssn, name)) is not None}
    scores = ssn.hyper_node_order(job, ssn.jobs.tasks[job], groups)
    for name, score in ssn.process.kept.get(_SCORES, {}).get(ssn.jobs.keys[job], {}).items():
        scores[name] = scores.get(name, 0.0) + score
    highest = max(scores.get(name, 0.0) for name in names)
    if not highest > lowest_score(ssn):
        return None
    equals = [name for name in names if scores.get(name, 0.0) == highest]
    if len(equals) == 1:
        return equals[0]
    return equals[ssn.chooser.choose("hypernode", ssn.jobs.keys[job], equals)]
