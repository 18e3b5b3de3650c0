"""What a process remembers of shared devices, and what it counts without the plugin.

Source: pkg/scheduler/plugins/deviceshare/deviceshare.go; pkg/scheduler/api/node_info.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from ....kubernetes.objects import Node, Pod
from ....model.panic import Panic
from ....model.session_tables import TaskStatus
from ....volcano.session.devices import CountedDevices, SharedDevices
from ...framework.session import Session
from .accounts import CardAccount, crash_if_malformed, crash_without_cards
from .device_config import GPU_NUMBER, GPU_SHARING
from .gpu_share import SharedGpus
from .vgpu import VirtualGpus

MODELESS = frozenset({SharedDevices.ERRORS_REPORTED, SharedDevices.FAULTS_REPORTED})
"""Releases in which cards have no sharing modes."""
_SHARED_COUNTED = frozenset({CountedDevices.ALL, CountedDevices.REGISTERED})
NO_CONFIG: Mapping[str, Any] = MappingProxyType({})
_PIPELINED = frozenset({TaskStatus.PIPELINED})


class DeviceMemory(msgspec.Struct):
    """The process's memory: switches keep their last values."""

    sharing: bool = False
    number: bool = False
    virtual: bool = False
    annotations: dict[str, dict[str, str | None]] = msgspec.field(default_factory=dict)
    """What sessions wrote on pods, by UID; ``None``: they removed it."""
    accounts: dict[str, CardAccount] = msgspec.field(default_factory=dict)
    """By node, if the process is known since its start."""

    def __deepcopy__(self, _: dict[int, Any]) -> DeviceMemory:
        """Return a copy with the same objects: another object is an update."""
        annotations = {uid: {**written} for uid, written in self.annotations.items()}
        accounts = {name: account.clone() for name, account in self.accounts.items()}
        return replace(self, annotations=annotations, accounts=accounts)

    @property
    def on(self) -> bool:
        """Whether devices of any kind are shared."""
        return self.sharing or self.number or self.virtual


def known_how(ssn: Session) -> SharedDevices:
    """Return how the release keeps accounts of devices."""
    return ssn.behaviours.shared_devices


def having_none(devices: SharedDevices) -> frozenset[TaskStatus]:
    """Return the statuses in which pods have nothing of a node's devices."""
    heeds = devices is SharedDevices.REFUSALS_HEEDED
    return _PIPELINED | {TaskStatus.RELEASING} if heeds else _PIPELINED


def take_snapshot(ssn: Session) -> None:
    """Count what pods have of devices when a process takes the snapshot of a session.

    The handlers of pods and nodes count it, too: a pod with which this panics ends the process
    when it is delivered, and again at each start.

    :raises Panic: a pod has shared cards of a node without any, or its annotation of virtual cards
        is malformed, and the release counts them.

    Source: api/node_info.go Clone, AddTask, addResource.
    """
    shared = ssn.behaviours.devices_counted_without_plugin in _SHARED_COUNTED or _shares(ssn)
    without = having_none(known_how(ssn))
    for info in ssn.nodes.info:
        if not info.devices.changes or info.node is None:
            continue
        lacks = shared and SharedGpus.of(info.node) is None
        decodes = _decodes(ssn, info.node)
        if lacks or decodes:
            for task, status in info.tasks.values():
                if status not in without:
                    _count(ssn, task.pod, info.name, lacks=lacks, decodes=decodes)


def _count(ssn: Session, pod: Pod, node: str, *, lacks: bool, decodes: bool) -> None:
    try:
        if lacks:
            crash_without_cards(pod, whole=known_how(ssn) not in MODELESS)
        if decodes:
            crash_if_malformed(pod)
    except Panic as panic:
        raise panic.while_it(counting(pod, node)) from None


def counting(pod: Pod, node: str) -> str:
    """Return what a process does that counts the devices of a pod, as text."""
    return f"it counts the devices of Pod {pod.key} on node {node}"


def _shares(ssn: Session) -> bool:
    """Return whether cards are shared by memory or whole.

    A process that is not known since its start has read the configuration in earlier sessions.
    """
    if ssn.process.from_start:
        memory = ssn.process.memory.find(DeviceMemory)
        return memory is not None and (memory.sharing or memory.number)
    return any(
        option.arguments.get_bool(switch, default=False)
        for tier in ssn.conf.tiers
        for option in tier
        if option.name == "deviceshare"
        for switch in (GPU_SHARING, GPU_NUMBER)
    )


def _decodes(ssn: Session, node: Node) -> bool:
    """Return whether a node's account reads the annotations of virtual cards, without the plugin.

    Source: api/devices/nvidia/vgpu/device_info.go AddResource.
    """
    counted = ssn.behaviours.devices_counted_without_plugin
    if counted in {CountedDevices.ALL, CountedDevices.NONE}:
        return counted is CountedDevices.ALL
    handshake = ssn.behaviours.virtual_gpus_by_handshake
    return VirtualGpus.of(node, NO_CONFIG, ssn.now, handshake=handshake) is not None
