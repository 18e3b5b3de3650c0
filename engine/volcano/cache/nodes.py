"""Which nodes the cache holds, and what it writes into them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class UnselectedNodes(StrEnum):
    """What happens to nodes that ``--node-selector`` does not choose."""

    FORGOTTEN = "forgotten"
    """They are not in the cache; a node that loses the label is removed."""
    COME_WITH_DRIVERS = "come with drivers"
    """A CSINode adds its node, selected or not; a node that loses the label stays."""
    KEPT = "kept"
    """None is added; a node that loses the label stays in its last state."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class NodeBehaviours:
    """Which nodes the cache holds, and what it writes into them: what differs between releases."""

    unselected_nodes: UnselectedNodes
    """What happens to nodes that --node-selector does not choose."""

    volume_limits_written_to_shared_nodes: bool
    """How many volumes a node can attach is written into the object that informers share."""

    removed_images_forgotten: bool
    """An image that a node does not have any more is forgotten for that node."""


ROWS: tuple[Row, ...] = (
    Row(
        "unselected_nodes",
        UnselectedNodes.FORGOTTEN,
        FIRST,
        source="cache/cache.go addEventHandler, cache/event_handlers.go SyncNode",
        why="A node that loses the label is not scheduled to any more.",
    ),
    Row(
        "unselected_nodes",
        UnselectedNodes.COME_WITH_DRIVERS,
        landed("v1.8.2"),
        source="cache/cache.go addEventHandler, cache/event_handlers.go SyncNode",
        why="Pods are placed on nodes outside --node-selector, if these have CSI drivers.",
        pull=3211,
    ),
    Row(
        "unselected_nodes",
        UnselectedNodes.KEPT,
        landed("v1.10.0"),
        source="cache/cache.go addEventHandler, cache/event_handlers.go SyncNode",
        why="A node that loses the label still gets pods, in its last state, until a restart.",
        pull=3594,
    ),
    Row(
        "volume_limits_written_to_shared_nodes",
        False,
        FIRST,
        source="cache/event_handlers.go SyncNode, setCSIResourceOnNode",
        why="The cache does not know how many volumes a node can attach.",
    ),
    Row(
        "volume_limits_written_to_shared_nodes",
        True,
        landed("v1.8.2"),
        source="cache/event_handlers.go SyncNode, setCSIResourceOnNode",
        why="Other code may read a node during the write, and see wrong resources.",
        pull=3211,
    ),
    Row(
        "volume_limits_written_to_shared_nodes",
        False,
        landed("v1.10.0"),
        source="cache/event_handlers.go SyncNode, setCSIResourceOnNode",
        why="The cache writes into a copy.",
        pull=3594,
    ),
    Row(
        "removed_images_forgotten",
        False,
        FIRST,
        source="cache/event_handlers.go removeNodeImageStates",
        why="A node still scores for an image that was removed from it.",
    ),
    Row(
        "removed_images_forgotten",
        True,
        landed("v1.8.2"),
        source="cache/event_handlers.go removeNodeImageStates",
        why="A node has the images that its status lists.",
        pull=3211,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
