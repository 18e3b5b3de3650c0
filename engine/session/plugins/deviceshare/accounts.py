"""The account of a node's cards that a process keeps from session to session.

Source: pkg/scheduler/api/node_info.go setNodeOthersResource, addResource, subResource.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ....kubernetes.objects import Pod
from ....model.device_log import DeviceLog
from ....model.panic import NIL_POINTER, Panic
from .gpu_share import MEMORY, NUMBER, SharedGpus, gpu_index, most_of
from .vgpu import ASSIGNED, VirtualGpus, decode_given, gang_of

ADDING = "api.(*NodeInfo).addResource"
"""Counts what a pod has of a node's devices: in handlers of events, and in each snapshot."""


class CardAccount(msgspec.Struct):
    """One node's cards, since its Node was last read.

    :ivar log: which pods came and left; the first ``seen`` changes are counted.
    :ivar known: whether the process has looked for the node's cards.
    :ivar score: of the cards, for the last pod that passed the filter.
    """

    log: DeviceLog
    seen: int = 0
    known: bool = True
    shared: SharedGpus | None = None
    virtual: VirtualGpus | None = None
    score: float = 0.0

    def clone(self) -> CardAccount:
        """Return a copy that counts for itself."""
        return replace(
            self,
            shared=None if self.shared is None else self.shared.clone(),
            virtual=None if self.virtual is None else self.virtual.clone(),
        )

    def add(self, pod: Pod, *, virtual: bool = True) -> None:
        """Count what a pod has by its annotations; of virtual cards only if ``virtual``."""
        if self.shared is not None:
            self.shared.add(pod, pod.annotations)
        if self.virtual is not None and virtual:
            self.virtual.add(pod.uid, pod.annotations, gang_of(pod))

    def sub(self, pod: Pod, *, virtual: bool = True) -> None:
        """Count out what a pod has by its annotations; of virtual cards only if ``virtual``."""
        if self.shared is not None:
            self.shared.sub(pod)
        if self.virtual is not None and virtual:
            self.virtual.remove(pod.uid, pod.annotations)


def crash_without_cards(pod: Pod, *, whole: bool) -> None:
    """Crash as the scheduler does when a pod has shared cards of a node that has none.

    :param whole: pods with whole cards count, too.
    :raises Panic: the pod has.

    Source: pkg/scheduler/api/devices/nvidia/gpushare/device_info.go AddResource.
    """
    asks = most_of(pod, MEMORY) > 0 or (whole and most_of(pod, NUMBER) > 0)
    if asks and gpu_index(pod.annotations):
        raise Panic(
            NIL_POINTER,
            ("api/devices/nvidia/gpushare.(*GPUDevices).AddResource", ADDING),
        )


def crash_if_malformed(pod: Pod) -> None:
    """Crash as the scheduler does when it reads what a pod has of virtual cards.

    :raises Panic: an entry of the annotation has too few fields.

    Source: pkg/scheduler/api/devices/nvidia/vgpu/device_info.go AddResource.
    """
    for _ in decode_given(pod.annotations.get(ASSIGNED, "")):
        pass
