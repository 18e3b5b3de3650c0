"""The list of resources that shared devices count themselves, which a whole process shares."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, since, subject


class DeviceList(StrEnum):
    """How the list of ignored devices is written when a node is read, and whether readers wait."""

    UNLOCKED = "unlocked"
    """It is emptied and then filled in two steps; readers do not wait, and may see any of them."""
    REFILLED = "refilled"
    """It is emptied and filled while readers wait; what the last node has is on it."""
    EXTENDED = "extended"
    """What it lacks is added while readers wait; what any node had stays on it."""


@subject
class DeviceListBehaviours:
    """The list that a whole process shares: what differs between releases."""

    ignored_devices_list: DeviceList = behaviour(
        "How the list of ignored devices is written, and whether readers wait.",
        since(FIRST, DeviceList.UNLOCKED).means(
            "A node's update may crash a session, or let it count resources that are ignored.",
            source="api/node_info.go setNodeOthersResource, api/resource_info.go NewResource",
        ),
        since("v1.9.0", DeviceList.REFILLED, pull=3325).means(
            "A session reads the whole list, whatever nodes do meanwhile.",
            source="api/shared_device_pool.go ignoredDevicesList Set, Range",
        ),
        since("v1.14.0", DeviceList.EXTENDED, pull=4779).means(
            "Nodes with different devices do not take each other's off the list.",
            source="api/shared_device_pool.go ignoredDevicesList AppendList, Range",
        ),
    )
