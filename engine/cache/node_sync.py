"""What the node worker adds to a Node: its volume limits, and the spread of its images.

Source: pkg/scheduler/cache/event_handlers.go setCSIResourceOnNode, addNodeImageStates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ..kubernetes.objects import CSINode, Node
from ..model.node import ImageState
from ..model.volumes import attach_limit_key

UNLIMITED_VOLUMES = 2**31 - 1
"""The volume limit of a driver that sets none."""


def with_volume_limits(node: Node, csi_node: CSINode | None) -> Node:
    """Return the Node with its volume limit of each driver."""
    if csi_node is None or not csi_node.spec.drivers:
        return node
    limits: dict[str, str | int | float] = {}
    for driver in csi_node.spec.drivers:
        room = driver.allocatable
        count = UNLIMITED_VOLUMES if room is None or room.count is None else room.count
        limits[attach_limit_key(driver.name)] = f"{count}m"  # volumes are counted in milli
    status = msgspec.structs.replace(
        node.status,
        allocatable={**node.status.allocatable, **limits},
        capacity={**node.status.capacity, **limits},
    )
    return msgspec.structs.replace(node, status=status)


class ImageStates:
    """Which nodes have which image."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._nodes: dict[str, set[str]] = {}
        self._images: dict[str, list[str]] = {}

    def of_nodes(self) -> Mapping[str, Sequence[str]]:
        """Return the names of each node's images."""
        return self._images

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes of the images, in bytes."""
        return self._sizes

    def hold(self, images: Mapping[str, Sequence[str]], sizes: Mapping[str, int]) -> None:
        """Restore the state of another instance (:meth:`of_nodes`, :meth:`sizes`)."""
        self._images = {node: list(names) for node, names in images.items()}
        self._sizes, self._nodes = dict(sizes), {name: set() for name in sizes}
        for node, names in images.items():
            for name in names:
                self._nodes[name].add(node)

    def add(self, node: Node) -> dict[str, ImageState]:
        """Store a node's images, and return the records for the node.

        Counts become outdated: nodes that already had an image keep the older count.
        """
        states: dict[str, ImageState] = {}
        for image in node.status.images:
            for name in image.names:
                size = self._sizes.setdefault(name, image.size_bytes)
                nodes = self._nodes.setdefault(name, set())
                nodes.add(node.name)
                if name not in states:
                    states[name] = ImageState(size, len(nodes))
        # Releases that forget only the images of a node's last version leave others behind.
        no_longer_listed = [name for name in self._images.get(node.name, ()) if name not in states]
        self._images[node.name] = [*no_longer_listed, *states]
        return states

    def remove(self, node: str) -> None:
        """Forget a node; an image that no node has is forgotten with its size."""
        for name in self._images.pop(node, ()):
            self._discard(name, node)

    def remove_named(self, node: Node) -> None:
        """Forget the images that this version of a node lists; others stay."""
        named = {name for image in node.status.images for name in image.names}
        known = self._images.pop(node.name, [])
        for name in known:
            if name in named:
                self._discard(name, node.name)
        staying = [name for name in known if name not in named]
        if staying:
            self._images[node.name] = staying

    def _discard(self, image: str, node: str) -> None:
        nodes = self._nodes[image]
        nodes.discard(node)
        if not nodes:
            del self._nodes[image], self._sizes[image]
