"""The list of resources that shared devices count themselves, which a whole process shares."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class DeviceList(StrEnum):
    """How the list of ignored devices is written when a node is read, and whether readers wait."""

    UNLOCKED = "unlocked"
    """It is emptied and then filled in two steps; readers do not wait, and may see any of them."""
    REFILLED = "refilled"
    """It is emptied and filled while readers wait; what the last node has is on it."""
    EXTENDED = "extended"
    """What it lacks is added while readers wait; what any node had stays on it."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class DeviceListBehaviours:
    """The list that a whole process shares: what differs between releases."""

    ignored_devices_list: DeviceList
    """How the list of ignored devices is written, and whether readers wait."""


ROWS: tuple[Row, ...] = (
    Row(
        "ignored_devices_list",
        DeviceList.UNLOCKED,
        FIRST,
        source="api/node_info.go setNodeOthersResource, api/resource_info.go NewResource",
        why="A node's update may crash a session, or let it count resources that are ignored.",
    ),
    Row(
        "ignored_devices_list",
        DeviceList.REFILLED,
        landed("v1.9.0"),
        source="api/shared_device_pool.go ignoredDevicesList Set, Range",
        why="A session reads the whole list, whatever nodes do meanwhile.",
        pull=3325,
    ),
    Row(
        "ignored_devices_list",
        DeviceList.EXTENDED,
        landed("v1.14.0"),
        source="api/shared_device_pool.go ignoredDevicesList AppendList, Range",
        why="Nodes with different devices do not take each other's off the list.",
        pull=4779,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
