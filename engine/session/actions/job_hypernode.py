"""The hypernode of a job: its topology, its current hypernode, and its nodes' scores there.

Source: ``pkg/scheduler/actions/allocate/allocate.go`` and ``util/scheduler_helper.go``.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from ...kubernetes.objects import NetworkTopology
from ...model.session_tables import Rows
from ..framework.session import Session

ALLOCATED_HYPERNODE = "volcano.sh/job-allocated-hypernode"


class HypernodeScores(msgspec.Struct):
    """The process's memory: scores of the nodes chosen in attempts, over all sessions.

    :ivar by_job: the sum by job and hypernode.
    """

    by_job: dict[str, dict[str, float]] = msgspec.field(default_factory=dict)


def hard_tier(ssn: Session, job: int) -> int | None:
    """Return the highest tier that a job may span, ``None`` if it is not limited."""
    wanted = _network_topology(ssn, job)
    if wanted is None or wanted.highest_tier_allowed is None or wanted.mode != "hard":
        return None
    return wanted.highest_tier_allowed


def is_soft(ssn: Session, job: int) -> bool:
    """Return whether a job has a soft topology."""
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
    """Return the hypernode that a job was placed in, from its PodGroup's current annotation."""
    known: str | None = ssn.jobs.hypernode.get(job)
    if known is not None:
        return known
    return ssn.jobs.pod_group(job).annotations.get(ALLOCATED_HYPERNODE, "")


def hypernode_rows(ssn: Session, name: str) -> Rows | None:
    """Return the nodes below a hypernode, by name; ``None`` if there is no list of them."""
    members = ssn.hypernodes.real_nodes.get(name)
    if members is None:
        return None
    # In order of names, as everywhere: of equal nodes the first is chosen.
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
    # Only the lowest tier of all (`hyperNodesTiers[0]`): a node that is only in higher ones is in
    # none.
    for hypernode in tiers[min(tiers)]:
        if name in ssn.hypernodes.real_nodes.get(hypernode, ()):
            return hypernode
    return ""


def add_score(ssn: Session, job: int, hypernode: str, score: float) -> None:
    """Add a chosen node's score to a tried hypernode; the sum is kept over sessions."""
    if hypernode:
        scores = ssn.process.memory.of(HypernodeScores).by_job.setdefault(ssn.jobs.keys[job], {})
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


def remembered_scores(ssn: Session, job: int) -> Mapping[str, float]:
    """Return by hypernode the scores of the nodes chosen for a job so far."""
    return ssn.process.memory.of(HypernodeScores).by_job.get(ssn.jobs.keys[job], {})
