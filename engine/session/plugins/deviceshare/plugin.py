"""Plugin ``deviceshare``: pods that share GPUs go where their part is free.

Which part a pod was given stands in its annotations; what sessions give away is remembered by the
process until they say so. v1.12 computes a score of nodes and throws it away: there is none here.

Source: pkg/scheduler/plugins/deviceshare/deviceshare.go; what happens to devices when tasks are
placed is in pkg/scheduler/plugins/predicates/predicates.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from ....belief.objects import Pod
from ....belief.panic import Panic
from ....volcano.conf import Arguments
from ...reasons import PASS, StatusCode
from ...session import Session
from ...tables import Ints, Rows, Status
from ..type_assertion import text_or_panic
from . import gpu_share, vgpu
from .device_config import VGPU
from .gpu_share import SharedGpus, most_of
from .vgpu import VirtualGpus

GPU_SHARING = "deviceshare.GPUSharingEnable"
GPU_NUMBER = "deviceshare.GPUNumberEnable"
NODE_LOCK = "deviceshare.NodeLockEnable"
SCHEDULE_POLICY = "deviceshare.SchedulePolicy"
DEVICE_CONFIG = "vgpu-device-config"
"""Under this name the process keeps the device configuration that it read, if it read one."""

_PLACE = "plugins/deviceshare.enablePredicate"
_NO_CONFIG: Mapping[str, Any] = MappingProxyType({})
_UNCUT = "deviceshare: no device configuration was recorded; cards in mode mig count as uncut"


@dataclass(slots=True)
class Kept:
    """What the process remembers: switches stay as they were last set."""

    sharing: bool = False
    number: bool = False
    virtual: bool = False
    annotations: dict[str, dict[str, str]] = field(default_factory=dict)
    """What sessions wrote on pods, by UID."""


class DeviceShare:
    """Filters nodes by free GPUs, and gives them away.

    Arguments (bool, default false): ``deviceshare.GPUSharingEnable``,
    ``deviceshare.GPUNumberEnable``, ``deviceshare.VGPUEnable``, ``deviceshare.NodeLockEnable``.
    """

    name: ClassVar[str] = "deviceshare"

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments

    def on_session_open(self, ssn: Session) -> None:
        """Set the switches, build the accounts of cards, and register filter and handlers.

        :raises Panic: switches that exclude each other are on.
        """
        self._ssn = ssn
        self._kept: Kept = ssn.process.kept.setdefault(self.name, Kept())
        self._set_switches()
        self._shared: dict[int, SharedGpus] = {}
        self._virtual: dict[int, VirtualGpus] = {}
        if not (self._kept.sharing or self._kept.number or self._kept.virtual):
            return
        self._build()
        ssn.add_predicate(self.name, self._predicate, per="class")
        if any(option.name == "predicates" for tier in ssn.tiers for option in tier):
            ssn.add_event_handler(allocate=self._allocate, deallocate=self._deallocate)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _set_switches(self) -> None:
        given, kept = self._arguments, self._kept
        kept.sharing = given.get_bool(GPU_SHARING, kept.sharing)
        kept.number = given.get_bool(GPU_NUMBER, kept.number)
        kept.virtual = given.get_bool(VGPU, kept.virtual)
        if SCHEDULE_POLICY in given.raw:
            text_or_panic(given.raw[SCHEDULE_POLICY], _PLACE)
        if kept.sharing and kept.number:
            raise Panic("can not define true in both gpu sharing and gpu number", (_PLACE,))
        if (kept.sharing or kept.number) and kept.virtual:
            raise Panic("gpu-share and vgpu can't be used together", (_PLACE,))
        if given.get_bool(NODE_LOCK, False):
            self._ssn.errors.append("deviceshare: locks of nodes are not taken into account")

    def _build(self) -> None:
        """Build the accounts from nodes and from what the pods on them were given."""
        ssn, kept = self._ssn, self._kept
        config: Mapping[str, Any] = ssn.process.kept.get(DEVICE_CONFIG, _NO_CONFIG)
        nodes = [info.node for info in ssn.nodes.info if info.node is not None]
        if kept.virtual and not config and any(map(vgpu.registers_mig, nodes)):
            ssn.errors.append(_UNCUT)
        handshake = ssn.behaviours.virtual_gpus_by_handshake
        for row, info in enumerate(ssn.nodes.info):
            if info.node is None:
                continue
            shared = SharedGpus.of(info.node) if kept.sharing or kept.number else None
            virtual = (
                VirtualGpus.of(info.node, config, ssn.now, handshake=handshake)
                if kept.virtual
                else None
            )
            for task, status in ssn.nodes.tasks(row).values():
                if status == Status.PIPELINED:
                    continue
                pod = ssn.tasks.info[task].pod
                annotations = {**pod.annotations, **kept.annotations.get(pod.uid, {})}
                if shared is not None:
                    shared.add(pod, annotations)
                if virtual is not None:
                    virtual.add(pod.uid, annotations)
            if shared is not None:
                self._shared[row] = shared
            if virtual is not None:
                self._virtual[row] = virtual

    def _asks_shared(self, pod: Pod) -> bool:
        kept = self._kept
        return (kept.sharing and most_of(pod, gpu_share.MEMORY) > 0) or (
            kept.number and most_of(pod, gpu_share.NUMBER) > 0
        )

    def _asks_virtual(self, pod: Pod) -> bool:
        return self._kept.virtual and vgpu.asks(pod)

    def _predicate(self, task: int, rows: Rows) -> Ints | None:
        pod = self._ssn.tasks.info[task].pod
        if not (self._asks_shared(pod) or self._asks_virtual(pod)):
            return None
        return np.array([self._filter(pod, node) for node in rows.tolist()], dtype=np.int32)

    def _filter(self, pod: Pod, node: int) -> int:
        error = ""
        if self._asks_shared(pod):
            shared = self._shared.get(node)
            kept = self._kept
            error = (
                "node not initialized with deviceGpuShare"
                if shared is None
                else shared.filter(pod, sharing=kept.sharing, number=kept.number)
            )
        if not error and self._asks_virtual(pod):
            virtual = self._virtual.get(node)
            if virtual is None:
                error = "node not initialized with devicehamivgpu"
            elif virtual.clone().fit(pod) is None:
                error = "hami-vgpuDeviceSharing error"
        return self._ssn.reasons.intern(StatusCode.UNSCHEDULABLE, error) if error else PASS

    def _allocate(self, task: int, node: int) -> None:
        """Give a pod its part, and write it down; a part that is not free is an error logged."""
        pod = self._ssn.tasks.info[task].pod
        written, error = self._kept.annotations.setdefault(pod.uid, {}), ""
        shared, virtual = self._shared.get(node), self._virtual.get(node)
        if shared is not None and self._asks_shared(pod):
            cards, error = shared.allocate(pod)
            if cards:
                written[gpu_share.INDEX] = ",".join(map(str, cards))
        if not error and virtual is not None and self._asks_virtual(pod):
            given = virtual.fit(pod)
            if given is None:
                error = "not enough gpu fitted on this node"
            else:
                written[vgpu.ASSIGNED] = vgpu.encode_given(given)
                if self._ssn.behaviours.virtual_gpus_counted_twice:
                    virtual.add(pod.uid, written)
        if error:
            self._ssn.errors.append(f"AllocateToPod failed {error}")

    def _deallocate(self, task: int, node: int) -> None:
        """Take shared cards back that the pod's own annotation names; virtual ones stay taken."""
        pod = self._ssn.tasks.info[task].pod
        shared = self._shared.get(node)
        if shared is not None and self._asks_shared(pod):
            shared.remove(pod)
            self._kept.annotations.get(pod.uid, {}).pop(gpu_share.INDEX, None)
