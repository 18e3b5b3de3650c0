"""Which nodes the cache holds, and what it writes into them."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, since, subject


class UnselectedNodes(StrEnum):
    """What happens to nodes that ``--node-selector`` does not choose."""

    FORGOTTEN = "forgotten"
    """They are not in the cache; a node that loses the label is removed."""
    COME_WITH_DRIVERS = "come with drivers"
    """A CSINode adds its node, selected or not; a node that loses the label stays."""
    KEPT = "kept"
    """None is added; a node that loses the label stays in its last state."""


@subject
class CacheNodeBehaviours:
    """Which nodes the cache holds, and what it writes into them: what differs between releases."""

    unselected_nodes: UnselectedNodes = behaviour(
        "What happens to nodes that --node-selector does not choose.",
        since(FIRST, UnselectedNodes.FORGOTTEN).means(
            "A node that loses the label is not scheduled to any more."
        ),
        since("v1.8.2", UnselectedNodes.COME_WITH_DRIVERS, pull=3211).means(
            "Pods are placed on nodes outside --node-selector, if these have CSI drivers."
        ),
        since("v1.10.0", UnselectedNodes.KEPT, pull=3594).means(
            "A node that loses the label still gets pods, in its last state, until a restart."
        ),
        source="cache/cache.go addEventHandler, cache/event_handlers.go SyncNode",
    )

    volume_limits_written_to_shared_nodes: bool = behaviour(
        "How many volumes a node can attach is written into the object that informers share.",
        since(FIRST, False).means("The cache does not know how many volumes a node can attach."),
        since("v1.8.2", True, pull=3211).means(
            "Other code may read a node during the write, and see wrong resources."
        ),
        since("v1.10.0", False, pull=3594).means("The cache writes into a copy."),
        source="cache/event_handlers.go SyncNode, setCSIResourceOnNode",
    )

    removed_images_forgotten: bool = behaviour(
        "An image that a node does not have any more is forgotten for that node.",
        since(FIRST, False).means("A node still scores for an image that was removed from it."),
        since("v1.8.2", True, pull=3211).means("A node has the images that its status lists."),
        source="cache/event_handlers.go removeNodeImageStates",
    )
