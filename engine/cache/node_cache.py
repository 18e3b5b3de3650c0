"""The scheduler's cache of nodes: their accounts, and the tree of HyperNodes above them.

Source: pkg/scheduler/cache/event_handlers.go; pkg/scheduler/cache/cache.go.
"""

from __future__ import annotations

from copy import copy

from ..kubernetes import objects
from ..kubernetes.work_queue import WorkQueue
from ..model.hypernode import HyperNodesInfo
from ..model.node import NodeInfo
from ..volcano.cache.nodes import UnselectedNodes
from .cache_context import CacheContext
from .copied_on_use import CopiedOnUse
from .node_sync import ImageStates, with_volume_limits

VGPU_RESOURCES = frozenset(
    {"volcano.sh/vgpu-memory", "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores"}
)
"""Resources that the vgpu devices count themselves, once a node has been seen."""


class NodeCache:
    """Nodes, with the data of CSINodes and Numatopologies, and HyperNodes.

    :ivar infos: by name, including nodes that only pods name.
    :ivar csi_nodes: node to driver to whether the node limits the driver's volumes.
    :ivar queue: names of nodes to sync; ``hypernode_queue`` has what changed, by kind
        (``node`` or ``hyperNode``) and name.
    :ivar uncounted: resources that the release never counts.
    :ivar ignored: these, and those that shared devices currently count themselves.
    :ivar images: which nodes have which image.
    """

    def __init__(self, context: CacheContext) -> None:
        self._rules = context.rules.nodes
        self._own = context.rules.own
        self._stores = context.stores
        self._changes = context.changes
        self._builder = context.builder
        self._selectors = context.options.node_selectors
        self.infos: dict[str, NodeInfo] = {}
        self.csi_nodes: dict[str, dict[str, bool]] = {}
        self.hypernodes = HyperNodesInfo(self._stores.of("Node"))
        self.queue: WorkQueue[str] = WorkQueue()
        self.hypernode_queue: WorkQueue[tuple[str, str]] = WorkQueue()
        self.uncounted = self._rules.uncounted
        self.ignored = self.uncounted
        self.images = ImageStates()

    def dry_run(self) -> NodeCache:
        """Return a cache whose nodes are copies; it is for binding and evicting only."""
        dry = copy(self)
        dry.infos = CopiedOnUse(self.infos, NodeInfo.twin)
        return dry

    def get_or_create(self, name: str) -> NodeInfo:
        """Return the node of that name; a new one is not ready until its Node is delivered."""
        node = self.infos.get(name)
        if node is None:
            node = self.infos[name] = NodeInfo(name, rules=self._rules.accounts)
        return node

    def node_added(self, node: objects.Node) -> None:
        """Handle that a Node was added."""
        if self._handles(node):
            self._take(node)
        self._queue_hypernode(("node", node.name))

    def node_updated(self, old: objects.Node, new: objects.Node) -> None:
        """Handle a changed Node; one that is no longer selected counts as deleted."""
        if self._handles(new):
            self._take(new)
        elif self._handles(old):
            self._lose(old)
        # HyperNodes select nodes by name or by label, and a name never changes.
        if old.labels != new.labels:
            self._queue_hypernode(("node", new.name))

    def node_deleted(self, node: objects.Node) -> None:
        """Handle that a Node was deleted."""
        if self._handles(node):
            self._lose(node)
        self._queue_hypernode(("node", node.name))

    def _handles(self, node: objects.Node) -> bool:
        """Return whether the handlers are called for a Node; the worker may still sync it.

        Source: cache.go addEventHandler.
        """
        return self._own.unselected_nodes is UnselectedNodes.KEPT or self.chooses(node)

    def _take(self, node: objects.Node) -> None:
        if self._own.nodes_through_work_queue:
            self.queue.add(node.name)
        else:
            self._put(node)

    def _lose(self, node: objects.Node) -> None:
        if self._own.nodes_through_work_queue:
            self.queue.add(node.name)
        else:
            self._remove(node.name, node)

    def ignore(self, names: frozenset[str]) -> None:
        """Ignore these resources in Nodes and pods from now on."""
        self.ignored = names
        self._builder.ignore(names)

    def sync_next(self) -> str | None:
        """Let a worker take the next name from the queue; return the error, or None.

        Source: cache.go processSyncNode.
        """
        return self.finish_sync(self.queue.take())

    def finish_sync(self, name: str) -> str | None:
        """Let a worker finish the name that it took; return the error, or None."""
        error = self._sync(name)
        if error is None:
            self.queue.forget(name)
        else:
            self.queue.add_rate_limited(name)
        self.queue.done(name)
        return error

    def run_workers(self) -> None:
        """End all delays, and let both workers process their queues once."""
        if not self.queue.idle:
            self.queue.fire_all()
            # Only what waits now: what fails is queued again, and this would not end.
            for _ in range(len(self.queue)):
                self.sync_next()
        if self.hypernode_queue.idle:
            return
        self.hypernode_queue.fire_all()
        for _ in range(len(self.hypernode_queue)):
            self.sync_next_hypernode()

    def _sync(self, name: str) -> str | None:
        """Sync a node with the objects in the informers' stores.

        Source: event_handlers.go SyncNode.
        """
        node = self._stores.get("Node", name)
        if node is None:
            # Of a node that the cache never had this is an error, so the name is retried for ever.
            return self._remove(name)
        # SyncNode returns before it removes: a node that lost its label stays as it was.
        if self._own.unselected_nodes is UnselectedNodes.KEPT and not self.chooses(node):
            return None
        if self._rules.volumes_counted:
            limited = with_volume_limits(node, self._stores.get("CSINode", name))
            if limited is not node and self._own.volume_limits_written_to_shared_nodes:
                self._stores.put("Node", limited)
            node = limited
        self._put(node)
        return None

    def _put(self, node: objects.Node) -> None:
        """Store a version of a Node.

        Source: event_handlers.go AddOrUpdateNode.
        """
        rules, name = self._rules, node.name
        if rules.gpus_uncounted and self.ignored == rules.uncounted:
            # The first Node fills the list, which is one for the whole process: amounts that were
            # read before it count these resources.
            self.ignore(VGPU_RESOURCES | rules.uncounted)
        known = self.infos.get(name)
        info = self.get_or_create(name)
        hidden = rules.condition_hides and _not_ready(node)
        # SetNode ends early if the Node is not ready, so a known node keeps its old amounts; a new
        # one is made by NewNodeInfo, which reads them first.
        if known is None or not hidden:
            info.set_node(node, self.ignored)
        if hidden:
            info.hide()
        self._forget_images(name, node)
        info.images = self.images.add(node)
        self._changes.node(name)

    def _forget_images(self, name: str, node: objects.Node | None) -> None:
        """Forget the images of a node: all, or only those that its last version lists.

        Source: event_handlers.go removeNodeImageStates.
        """
        if node is None or self._own.removed_images_forgotten:
            self.images.remove(name)
        else:
            self.images.remove_named(node)

    def _remove(self, name: str, last: objects.Node | None = None) -> str | None:
        """Drop a node; its tasks are dropped, or kept for a node of the same name.

        :param last: its last version, if the handler has it.
        :return: the error, or None.

        Source: event_handlers.go RemoveNode.
        """
        self._forget_images(name, last)
        info = self.infos.get(name)
        if info is None:
            return f"node <{name}> does not exist"
        if self._rules.accounts.keep_pods and info.tasks:
            info.lose_node()
        else:
            del self.infos[name]
        self._changes.node(name)
        return None

    def chooses(self, node: objects.Node) -> bool:
        """Return whether a node belongs to the scheduler's cache.

        Source: event_handlers.go nodeCanAddCache.
        """
        wanted = self._selectors
        return not wanted or any(f"{name}:{value}" in wanted for name, value in node.labels.items())

    def csi_node_set(self, csi_node: objects.CSINode) -> None:
        """Handle a CSINode that was added or changed."""
        self.csi_nodes[csi_node.name] = {
            driver.name: driver.allocatable is not None and driver.allocatable.count is not None
            for driver in csi_node.spec.drivers
        }
        self._look_again(csi_node.name)

    def csi_node_updated(self, old: objects.CSINode, new: objects.CSINode) -> None:
        """Handle a new version of a CSINode; one with the same drivers is skipped."""
        if old.spec != new.spec:
            self.csi_node_set(new)

    def csi_node_deleted(self, csi_node: objects.CSINode) -> None:
        """Handle that a CSINode was deleted."""
        self.csi_nodes.pop(csi_node.name, None)
        self._look_again(csi_node.name)

    def _look_again(self, name: str) -> None:
        """Queue a node for the worker, if the release has one."""
        if self._own.nodes_through_work_queue:
            self.queue.add(name)

    def numatopology_set(self, topology: objects.Numatopology) -> None:
        """Handle a Numatopology that was added or changed; like a pod, it creates a node."""
        self.get_or_create(topology.name).numatopology = topology
        self._changes.node(topology.name)

    def numatopology_updated(self, _: objects.Numatopology, new: objects.Numatopology) -> None:
        """Handle a new version of a Numatopology."""
        self.numatopology_set(new)

    def numatopology_deleted(self, topology: objects.Numatopology) -> None:
        """Handle that a Numatopology was deleted."""
        node = self.infos.get(topology.name)
        if node is not None:
            node.numatopology = None
            self._changes.node(topology.name)

    def hypernode_changed(self, hyper_node: objects.HyperNode) -> None:
        """Handle an added or deleted HyperNode."""
        self._queue_hypernode(("hyperNode", hyper_node.name))

    def hypernode_updated(self, _: objects.HyperNode, new: objects.HyperNode) -> None:
        """Handle a new version of a HyperNode."""
        self.hypernode_changed(new)

    def _queue_hypernode(self, change: tuple[str, str]) -> None:
        """Queue a change for the worker that keeps the tree, if the release has one."""
        if self._rules.hypernodes:
            self.hypernode_queue.add(change)

    def sync_next_hypernode(self) -> str | None:
        """Let the worker take the next change from its queue; return the error, or None.

        Source: cache.go processSyncHyperNode; event_handlers.go SyncHyperNode.
        """
        return self.finish_sync_hypernode(self.hypernode_queue.take())

    def finish_sync_hypernode(self, change: tuple[str, str]) -> str | None:
        """Let the worker finish the change that it took; return the error, or None."""
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
    return any(
        condition.type == "Ready" and condition.status != "True"
        for condition in node.status.conditions
    )
