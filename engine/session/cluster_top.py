"""The hypernodes of a session: the cluster's, and one above them all where the release adds it.

Source: ``framework/session.go`` (``addClusterTopHyperNode``, ``recoverAllocatedHyperNode``,
``convertSoftToHardTopology``) since v1.14.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..belief.hypernode import HyperNodeInfo, HyperNodes
from ..belief.objects import HyperNode, HyperNodeSpec, Metadata
from .tables import ALLOCATED_STATUS, NO_NODE

if TYPE_CHECKING:
    from ..belief.snapshot import Snapshot
    from ..volcano.behaviours import Behaviours
    from .session import Session

CLUSTER_TOP = "<cluster-top-hypernode>"
_ALLOCATED = "allocate: hypernodes that jobs were given"
"""Under this name the process keeps, by job, the hypernode that its tasks were placed in."""


def session_tree(snapshot: Snapshot, behaviours: Behaviours) -> HyperNodes:
    """Return the hypernodes of a session."""
    if not behaviours.topology_gradients:
        return snapshot.hypernodes
    return with_cluster_top(snapshot.hypernodes, snapshot.nodes.names)


def with_cluster_top(tree: HyperNodes, nodes: Iterable[str]) -> HyperNodes:
    """Return a tree with one more hypernode, above all that have no parent, of all nodes."""
    names = frozenset(nodes)
    tier = max([1, *(each + 1 for each in tree.by_tier)])
    top = HyperNode(metadata=Metadata(name=CLUSTER_TOP), spec=HyperNodeSpec(tier=tier))
    infos = {name: info.clone() for name, info in tree.infos.items()}
    for info in infos.values():
        info.parent = info.parent or CLUSTER_TOP
    infos[CLUSTER_TOP] = HyperNodeInfo(top)
    real_nodes = {name: members & names for name, members in tree.real_nodes.items()}
    return HyperNodes(
        infos,
        MappingProxyType({**tree.by_tier, tier: (CLUSTER_TOP,)}),
        MappingProxyType({**real_nodes, CLUSTER_TOP: names}),
        ready=tree.ready or not tree.infos,
    )


def wanted_tier(ssn: Session, job: int) -> int | None:
    """Return the highest tier that a job may span: any, if it only prefers to be near itself.

    ``None`` if it does not say: then it is scored, and not bound to anything.
    """
    wanted = ssn.jobs.pod_group(job).spec.network_topology
    if wanted is None:
        return None
    if wanted.mode == "soft":
        return ssn.hypernodes.infos[CLUSTER_TOP].tier
    if wanted.mode != "hard":
        return None
    if wanted.highest_tier_allowed is None and wanted.highest_tier_name:
        return next(
            (
                info.tier
                for info in ssn.hypernodes.infos.values()
                if info.hyper_node.spec.tier_name == wanted.highest_tier_name
            ),
            None,
        )
    return wanted.highest_tier_allowed


def lca(ssn: Session, one: str, other: str) -> str:
    """Return the lowest common ancestor of two hypernodes; of one and none, that one."""
    return ssn.hypernodes.get_lca(one, other) if one and other else one or other


def allocated_hypernode(ssn: Session, job: int) -> str:
    """Return the hypernode that a job's tasks were placed in: as remembered, or as they run."""
    kept: dict[str, str] = ssn.process.kept.setdefault(_ALLOCATED, {})
    key = ssn.jobs.keys[job]
    held = ssn.jobs.tasks_with(job, ALLOCATED_STATUS)
    known = kept.get(key, "")
    if known and (known not in ssn.hypernodes.infos or not held):
        known = ""
    if not known:
        nodes = {int(ssn.tasks.node[task]) for task in held} - {NO_NODE}
        known = _lowest(ssn, {ssn.nodes.names[node] for node in nodes})
    kept[key] = known
    return known


def note_allocated(ssn: Session, job: int, hypernode: str) -> None:
    """Remember that a job's tasks were placed in one more hypernode."""
    kept: dict[str, str] = ssn.process.kept.setdefault(_ALLOCATED, {})
    kept[ssn.jobs.keys[job]] = lca(ssn, kept.get(ssn.jobs.keys[job], ""), hypernode)


def _lowest(ssn: Session, nodes: set[str]) -> str:
    """Return the hypernode of the lowest tier that has all of some nodes; empty without any."""
    if not nodes:
        return ""
    for names in ssn.hypernodes.by_tier.values():
        for name in names:
            if nodes <= ssn.hypernodes.real_nodes.get(name, frozenset()):
                return name
    return ""
