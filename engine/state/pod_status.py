"""The status of a pod as kubectl prints it, and its container counts.

Source: k8s.io/kubernetes/pkg/printers/internalversion/printers.go printPod.
"""

from __future__ import annotations

from typing import Any

import msgspec


class _Part(msgspec.Struct, rename="camel"):
    """Base of the partial types below."""


class WaitingContainer(_Part):
    """A container that has not started."""

    reason: str | None = None


class Terminated(_Part):
    """A container that ended."""

    reason: str | None = None
    exit_code: int = 0
    signal: int | None = None


class ContainerState(_Part):
    """At most one of the three is set; of ``running`` only its presence matters."""

    waiting: WaitingContainer | None = None
    running: dict[str, Any] | None = None
    terminated: Terminated | None = None


class DecodedContainerStatus(_Part):
    """One container's status."""

    ready: bool = False
    restart_count: int = 0
    state: ContainerState | None = None


class DecodedPodStatus(_Part):
    """The part of a pod's status that its table row needs."""

    phase: str | None = None
    reason: str | None = None
    container_statuses: list[DecodedContainerStatus] | None = None
    init_container_statuses: list[DecodedContainerStatus] | None = None


def container_counts(status: DecodedPodStatus) -> tuple[int, int]:
    """Return how many containers are ready, and how often they were restarted."""
    containers = status.container_statuses or ()
    return sum(c.ready for c in containers), sum(c.restart_count for c in containers)


def status_word(status: DecodedPodStatus, *, init_containers: int, deleting: bool) -> str:
    """Return the text of the STATUS column: a phase, a container's reason, or Terminating."""
    if deleting:
        return "Unknown" if status.reason == "NodeLost" else "Terminating"
    word = status.reason or status.phase or "Unknown"
    initialising = _init_word(status, init_containers)
    if initialising is not None:
        return initialising
    running = False
    # As in printPod: from the last to the first, so the first container with a reason wins.
    for container in reversed(status.container_statuses or ()):
        state = container.state or ContainerState()
        if state.waiting is not None and state.waiting.reason:
            word = state.waiting.reason
        elif state.terminated is not None:
            word = _terminated_word(state.terminated)
        elif container.ready and state.running is not None:
            running = True
    if word == "Completed" and running:
        return "Running"
    return word


def _init_word(status: DecodedPodStatus, total: int) -> str | None:
    for index, container in enumerate(status.init_container_statuses or ()):
        state = container.state or ContainerState()
        if state.terminated is not None:
            # It is done, so the next init container decides.
            if state.terminated.exit_code == 0:
                continue
            return f"Init:{_terminated_word(state.terminated)}"
        waiting = state.waiting
        if waiting is not None and waiting.reason and waiting.reason != "PodInitializing":
            return f"Init:{waiting.reason}"
        return f"Init:{index}/{total}"
    return None


def _terminated_word(terminated: Terminated) -> str:
    if terminated.reason:
        return terminated.reason
    if terminated.signal:
        return f"Signal:{terminated.signal}"
    return f"ExitCode:{terminated.exit_code}"
