"""The hypernodes of a session: the cluster's, and a virtual root if the release adds one.

Source: ``framework/session.go`` (``addClusterTopHyperNode``, ``adjustNetworkTopologySpec``,
``convertSoftToHardTopology``) since v1.14.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...kubernetes.objects import HyperNode, HyperNodeSpec, Metadata
from ...model.hypernode import HyperNodeInfo, HyperNodes

if TYPE_CHECKING:
    from ...cache.snapshot import Snapshot
    from ...kubernetes.objects import NetworkTopology
    from ...volcano.session.behaviours import Behaviours

CLUSTER_TOP = "<cluster-top-hypernode>"


def session_tree(snapshot: Snapshot, behaviours: Behaviours) -> HyperNodes:
    """Return the hypernodes of a session."""
    if not behaviours.topology_gradients:
        return snapshot.hypernodes
    return with_cluster_top(snapshot.hypernodes, snapshot.nodes.names)


def with_cluster_top(tree: HyperNodes, nodes: Iterable[str]) -> HyperNodes:
    """Return a tree with a virtual root: a hypernode of all nodes, above all without a parent."""
    assert CLUSTER_TOP not in tree.infos, "the virtual root is added once, to the cluster's tree"
    names = frozenset(nodes)
    tier = _tier_above(tree)
    top = HyperNode(metadata=Metadata(name=CLUSTER_TOP), spec=HyperNodeSpec(tier=tier))
    infos = {name: info.clone() for name, info in tree.infos.items()}
    for info in infos.values():
        info.parent = info.parent or CLUSTER_TOP
    infos[CLUSTER_TOP] = HyperNodeInfo(top)
    # Without members that are no nodes of the session (`GetRealNodesByHyperNode`).
    real_nodes = {name: members & names for name, members in tree.real_nodes.items()}
    return HyperNodes(
        infos,
        MappingProxyType({**tree.by_tier, tier: (CLUSTER_TOP,)}),
        MappingProxyType({**real_nodes, CLUSTER_TOP: names}),
        ready=tree.ready or not tree.infos,
        dangling=tree.dangling,
    )


def top_tier(tree: HyperNodes) -> int:
    """Return the tier of the hypernode that has all nodes.

    A search for causes mixes behaviours of two releases. So a tree may lack that hypernode.
    """
    top = tree.infos.get(CLUSTER_TOP)
    return _tier_above(tree) if top is None else top.tier


def _tier_above(tree: HyperNodes) -> int:
    return max([1, *(tier + 1 for tier in tree.by_tier)])


def allowed_tier(
    tree: HyperNodes,
    behaviours: Behaviours,
    wanted: NetworkTopology | None,
    limit: int,
    *,
    translates: bool = True,
) -> int | None:
    """Return the highest tier that a topology allows; ``None`` if it has no limit.

    :param limit: the tier for a soft topology, if it is tried like a hard one.
    :param translates: whether the tier may be a name.
    """
    if wanted is None:
        return None
    if wanted.mode == "soft":
        return limit if behaviours.soft_topologies_tried_as_hard else None
    if wanted.mode != "hard":
        return None
    if wanted.highest_tier_allowed is None and wanted.highest_tier_name and translates:
        # A name that no hypernode has is not translated: then the tier is not limited
        # (`translateHighestTierNameToAllowed`).
        return next(
            (
                info.tier
                for info in tree.infos.values()
                if info.hyper_node.spec.tier_name == wanted.highest_tier_name
            ),
            None,
        )
    return wanted.highest_tier_allowed


def lca(tree: HyperNodes, one: str, other: str) -> str:
    """Return the lowest common ancestor of two hypernodes; of one and none, that one."""
    return tree.get_lca(one, other) if one and other else one or other
