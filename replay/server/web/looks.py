"""How a status is drawn, the same on every page: a look with a colour and a sign."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_LOOKS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("Pending", "(none)", "SchedulingGated", "Restarting"), "pending"),
        **dict.fromkeys(("Inqueue", "Closing", "ContainerCreating", "PodInitializing"), "waiting"),
        **dict.fromkeys(("Running", "Ready", "Open", ""), "running"),
        **dict.fromkeys(("Succeeded", "Completed", "Completing", "Closed"), "done"),
        **dict.fromkeys(("Failed", "Aborted", "Aborting", "Terminated"), "failed"),
        **dict.fromkeys(("Evicted", "NodeLost", "OOMKilled", "DeadlineExceeded"), "failed"),
    }
)
_FAULTS = ("Err", "CrashLoop", "ImagePull", "Invalid", "ExitCode:", "Signal:", "NotReady")
"""Beginnings of what kubectl prints for containers that do not run, and for nodes."""

_ENDED = ("Error", "BackOff", "OOMKilled")

GLYPHS: Mapping[str, str] = MappingProxyType(
    {"pending": "○", "waiting": "┄", "running": "■", "done": "●", "failed": "✖", "unknown": "?"}
)


def look_of(status: str, *, node: str = "") -> str:
    """Return how a status is drawn, which is a key of :data:`GLYPHS`.

    :param status: as ``get`` prints it; empty for kinds without one.
    :param node: of a pod: one that is bound does not wait for a node any more.
    """
    if status == "Pending" and node:
        return "waiting"
    if status.startswith(_FAULTS) or status.endswith(_ENDED):
        return "failed"
    if status.startswith("Init:") or status.endswith(",SchedulingDisabled"):
        return "waiting"
    return _LOOKS.get(status, "unknown")
