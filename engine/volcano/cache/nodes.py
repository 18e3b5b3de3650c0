"""Which nodes the cache holds, and what it writes into them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class UnselectedNodes(StrEnum):
    """What happens to nodes that ``--node-selector`` does not choose."""

    FORGOTTEN = "forgotten"
    """They are not in the cache; a node that loses the label is taken out."""
    COME_WITH_DRIVERS = "come with drivers"
    """A CSINode brings its node in, chosen or not; a node that loses the label stays."""
    KEPT = "kept"
    """None comes in; a node that loses the label stays as it was."""


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
        why="Pods come to nodes that the scheduler should leave alone, if they have CSI drivers.",
        pull=3211,
    ),
    Row(
        "unselected_nodes",
        UnselectedNodes.KEPT,
        landed("v1.10.0"),
        source="cache/cache.go addEventHandler, cache/event_handlers.go SyncNode",
        why="A node that loses the label is scheduled to, as it last was, till a restart.",
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
        why="Others may read a node while it is written, and see resources that it does not have.",
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
        why="A node goes on scoring for an image that was removed from it.",
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
