"""Which pods with shared devices came to a node, and left it, since its Node was last read."""

from __future__ import annotations

from typing import NamedTuple

from ..kubernetes.objects import Pod
from .task_status import TaskStatus

SHARED_CARDS = "volcano.sh/gpu-index"
VIRTUAL_CARDS = "volcano.sh/vgpu-ids-new"


class DeviceChange(NamedTuple):
    """A pod that came (``added``) or left, in the version that the cache had of it."""

    added: bool
    pod: Pod
    status: TaskStatus


class DeviceLog:
    """The changes in order; it grows only. A node gets a new log when its Node is read.

    The scheduler adds to a node's devices, and takes from them, at each of these changes; adding
    and taking are not the reverse of each other. A plugin of devices repeats that.

    Source: pkg/scheduler/api/node_info.go addResource, subResource.
    """

    __slots__ = ("changes",)

    def __init__(self, changes: list[DeviceChange] | None = None) -> None:
        self.changes: list[DeviceChange] = changes or []

    def note(self, pod: Pod, status: TaskStatus, *, added: bool) -> None:
        """Note a pod that came or left, if its annotations name devices."""
        annotations = pod.annotations
        if annotations and (SHARED_CARDS in annotations or VIRTUAL_CARDS in annotations):
            self.changes.append(DeviceChange(added, pod, status))

    def copy(self) -> DeviceLog:
        """Return a log with the same changes that grows for itself."""
        return DeviceLog(list(self.changes))
