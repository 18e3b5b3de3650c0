"""What a process remembers of shared devices, and what it counts without the plugin.

Source: pkg/scheduler/plugins/deviceshare/deviceshare.go; pkg/scheduler/api/node_info.go.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from ....model.tables import Status
from ....volcano.session.devices import SharedDevices
from ...framework.session import Session
from .accounts import Account, crash_without_cards
from .gpu_share import SharedGpus

MODELESS = frozenset({SharedDevices.ERRORS_REPORTED, SharedDevices.FAULTS_REPORTED})
"""Releases in which cards have no sharing modes."""
_ALWAYS_COUNTED = MODELESS | {SharedDevices.FAULTS_UNREPORTED}
_PIPELINED = frozenset({Status.PIPELINED})


class DeviceMemory(msgspec.Struct):
    """The process's memory: switches keep their last values."""

    sharing: bool = False
    number: bool = False
    virtual: bool = False
    annotations: dict[str, dict[str, str | None]] = msgspec.field(default_factory=dict)
    """What sessions wrote on pods, by UID; ``None``: they removed it."""
    accounts: dict[str, Account] = msgspec.field(default_factory=dict)
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


def having_none(devices: SharedDevices) -> frozenset[Status]:
    """Return the statuses in which pods have nothing of a node's devices."""
    heeds = devices is SharedDevices.REFUSALS_HEEDED
    return _PIPELINED | {Status.RELEASING} if heeds else _PIPELINED


def take_snapshot(ssn: Session) -> None:
    """Count what pods have of shared cards when a process takes the snapshot of a session.

    :raises Panic: a pod has cards of a node without any. Since v1.13 that needs the plugin.

    Source: api/node_info.go Clone.
    """
    devices = known_how(ssn)
    memory = ssn.process.memory.find(DeviceMemory)
    on = memory is not None and (memory.sharing or memory.number)
    if not ssn.process.from_start or not (on or devices in _ALWAYS_COUNTED):
        return
    without = having_none(devices)
    for info in ssn.nodes.info:
        if not info.devices.changes or info.node is None or SharedGpus.of(info.node):
            continue
        for task, status in info.tasks.values():
            if status not in without:
                crash_without_cards(task.pod, whole=devices not in MODELESS)
