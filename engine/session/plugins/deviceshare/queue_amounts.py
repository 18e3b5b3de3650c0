"""Virtual GPUs in queues' statuses: what pods have, not what they requested.

Source: pkg/scheduler/framework/session.go addNodeSharableDeviceUsage;
pkg/scheduler/api/devices/nvidia/vgpu/device_info.go AddQueueResource.
"""

from __future__ import annotations

from collections.abc import Mapping

from .vgpu import ASSIGNED, VirtualGpus, decode_given

_MILLI = 1000


def queue_amounts(virtual: VirtualGpus, annotations: Mapping[str, str]) -> dict[str, float]:
    """Return memory and cores that a pod has of a node's cards, in the units of ``Resource``.

    :param annotations: the pod's; without them it has nothing.
    """
    names, amounts = virtual.sharing.names, dict[str, float]()
    for given in decode_given(annotations.get(ASSIGNED, "")):
        for card in virtual.cards:
            if card.uuid in given.uuid:
                for name, amount in ((names.memory, given.memory), (names.cores, given.cores)):
                    amounts[name] = amounts.get(name, 0.0) + float(amount * _MILLI)
    return amounts
