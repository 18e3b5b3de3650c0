"""The half of the scheduler's cache that is about nodes: their accounts, and the tree above them.

Source: pkg/scheduler/cache/event_handlers.go; pkg/scheduler/cache/cache.go.
"""

from __future__ import annotations

from copy import copy

from ..kubernetes import objects
from ..model.hypernode import HyperNodesInfo
from ..model.node import AS_RELEASED, NodeInfo, NodeRules
from ..model.task import TaskBuilder
from .dirty_marks import Changes
from .dry_run import CopiedOnUse
from .informers import Stores
from .node_sync import ImageStates, with_volume_limits
from .work_queue import WorkQueue

VGPU_RESOURCES = frozenset(
    {"volcano.sh/vgpu-memory", "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores"}
)
"""Resources that the vgpu devices count themselves, once a node has been seen."""


class NodeCache:
    """Nodes, what CSINodes and Numatopologies say of them, and HyperNodes.

    :param node_selectors: ``label:value`` texts; none choose every node.
    :param condition_hides: a node whose condition Ready is not True is not ready, and keeps the
        account that it had.
    :param gpus_uncounted: virtual GPUs are counted by their devices alone.
    :param rules: how nodes keep their accounts.
    :ivar infos: by name, with those that only pods have spoken of.
    :ivar csi_nodes: node to driver to whether the node limits the driver's volumes.
    :ivar queue: names of nodes to be looked at; ``hypernode_queue`` has what changed, by kind
        (``node`` or ``hyperNode``) and name.
    :ivar ignored: resources that shared devices count themselves, as of now.
    :ivar images: which nodes have which image.
    """

    def __init__(
        self,
        stores: Stores,
        changes: Changes,
        builder: TaskBuilder,
        node_selectors: frozenset[str],
        *,
        condition_hides: bool = False,
        uncounted: frozenset[str] = frozenset(),
        gpus_uncounted: bool = True,
        volumes_are_a_resource: bool = True,
        rules: NodeRules = AS_RELEASED,
    ) -> None:
        self.infos: dict[str, NodeInfo] = {}
        self.csi_nodes: dict[str, dict[str, bool]] = {}
        self.hypernodes = HyperNodesInfo(stores.of("Node"))
        self.queue: WorkQueue[str] = WorkQueue()
        self.hypernode_queue: WorkQueue[tuple[str, str]] = WorkQueue()
        self.ignored = self._uncounted = uncounted
        self._gpus_uncounted = gpus_uncounted
        self._volumes_are_a_resource = volumes_are_a_resource
        self._stores = stores
        self._changes = changes
        self._builder = builder
        self._selectors = node_selectors
        self._condition_hides = condition_hides
        self._rules = rules
        self.images = ImageStates()

    def on_trial(self) -> NodeCache:
        """Return a cache whose nodes are copies; it is for binding and evicting only."""
        trial = copy(self)
        trial.infos = CopiedOnUse(self.infos, NodeInfo.twin)
        return trial

    def get_or_create(self, name: str) -> NodeInfo:
        """Return the node of that name; a new one is not ready before its Node is seen."""
        node = self.infos.get(name)
        if node is None:
            node = self.infos[name] = NodeInfo(name, rules=self._rules)
        return node

    def node_changed(self, node: objects.Node) -> None:
        """Handle that a Node came or went."""
        self.queue.add(node.name)
        self.hypernode_queue.add(("node", node.name))

    def node_updated(self, old: objects.Node, new: objects.Node) -> None:
        """Handle that a Node changed."""
        self.queue.add(new.name)
        if old.labels != new.labels:
            self.hypernode_queue.add(("node", new.name))

    def ignore(self, names: frozenset[str]) -> None:
        """Leave these resources out of Nodes and pods from now on."""
        self.ignored = names
        self._builder.ignore(names)

    def sync_next(self) -> str | None:
        """Let a worker take the next name off the queue; return the error, or None.

        Source: cache.go processSyncNode.
        """
        name = self.queue.take()
        error = self._sync(name)
        if error is None:
            self.queue.forget(name)
        else:
            self.queue.add_rate_limited(name)
        self.queue.done(name)
        return error

    def run_workers(self) -> None:
        """Let every delay be over, and both workers go once over what is queued."""
        if not self.queue.idle:
            self.queue.fire_all()
            for _ in range(len(self.queue)):
                self.sync_next()
        if self.hypernode_queue.idle:
            return
        self.hypernode_queue.fire_all()
        for _ in range(len(self.hypernode_queue)):
            self.sync_next_hypernode()

    def _sync(self, name: str) -> str | None:
        """Bring a node in line with what the informers hold of it.

        Source: event_handlers.go SyncNode, AddOrUpdateNode.
        """
        node = self._stores.get("Node", name)
        if node is None:
            return self._remove(name)
        if not self.chooses(node):
            return None
        if self._volumes_are_a_resource:
            node = with_volume_limits(node, self._stores.get("CSINode", name))
        if self._gpus_uncounted and self.ignored == self._uncounted:
            self.ignore(VGPU_RESOURCES | self._uncounted)
        known = self.infos.get(name)
        info = self.get_or_create(name)
        hidden = self._condition_hides and _not_ready(node)
        if known is None or not hidden:
            info.set_node(node, self.ignored)
        if hidden:
            info.hide()
        self.images.remove(name)
        info.images = self.images.add(node)
        self._changes.node(name)
        return None

    def _remove(self, name: str) -> str | None:
        """Source: event_handlers.go RemoveNode. The node's tasks go with it, or wait for it."""
        self.images.remove(name)
        info = self.infos.get(name)
        if info is None:
            return f"node <{name}> does not exist"
        if self._rules.keep_pods and info.tasks:
            info.lose_node()
        else:
            del self.infos[name]
        self._changes.node(name)
        return None

    def chooses(self, node: objects.Node) -> bool:
        """Say whether the scheduler is to look at a node.

        Source: event_handlers.go nodeCanAddCache.
        """
        wanted = self._selectors
        return not wanted or any(f"{name}:{value}" in wanted for name, value in node.labels.items())

    def csi_node_set(self, csi_node: objects.CSINode) -> None:
        """Handle a CSINode that came or changed."""
        self.csi_nodes[csi_node.name] = {
            driver.name: driver.allocatable is not None and driver.allocatable.count is not None
            for driver in csi_node.spec.drivers
        }
        self.queue.add(csi_node.name)

    def csi_node_updated(self, old: objects.CSINode, new: objects.CSINode) -> None:
        """Handle a new version of a CSINode; one of the same drivers is passed over."""
        if old.spec != new.spec:
            self.csi_node_set(new)

    def csi_node_deleted(self, csi_node: objects.CSINode) -> None:
        """Handle that a CSINode went."""
        self.csi_nodes.pop(csi_node.name, None)
        self.queue.add(csi_node.name)

    def numatopology_set(self, topology: objects.Numatopology) -> None:
        """Handle a Numatopology that came or changed; like a pod, it makes a node."""
        self.get_or_create(topology.name).numatopology = topology
        self._changes.node(topology.name)

    def numatopology_updated(self, _: objects.Numatopology, new: objects.Numatopology) -> None:
        """Handle a new version of a Numatopology."""
        self.numatopology_set(new)

    def numatopology_deleted(self, topology: objects.Numatopology) -> None:
        """Handle that a Numatopology went."""
        node = self.infos.get(topology.name)
        if node is not None:
            node.numatopology = None
            self._changes.node(topology.name)

    def hypernode_changed(self, hyper_node: objects.HyperNode) -> None:
        """Handle that a HyperNode came or went."""
        self.hypernode_queue.add(("hyperNode", hyper_node.name))

    def hypernode_updated(self, _: objects.HyperNode, new: objects.HyperNode) -> None:
        """Handle a new version of a HyperNode."""
        self.hypernode_changed(new)

    def sync_next_hypernode(self) -> str | None:
        """Let the worker take the next change off its queue; return the error, or None.

        Source: cache.go processSyncHyperNode; event_handlers.go SyncHyperNode.
        """
        change = self.hypernode_queue.take()
        error = self._sync_hypernode(*change)
        self._changes.hypernodes = True
        if error is None:
            self.hypernode_queue.forget(change)
        else:
            self.hypernode_queue.add_rate_limited(change)
        self.hypernode_queue.done(change)
        return error

    def _sync_hypernode(self, kind: str, name: str) -> str | None:
        if kind == "node":
            return self.hypernodes.node_changed(name)
        hyper_node = self._stores.get("HyperNode", name)
        if hyper_node is None:
            return self.hypernodes.delete(name)
        return self.hypernodes.update(hyper_node)


def _not_ready(node: objects.Node) -> bool:
    """Source: api/node_info.go setNodeState."""
    return any(each.type == "Ready" and each.status != "True" for each in node.status.conditions)
