"""The status of a pod as kubectl prints it, and its container counts.

Source: k8s.io/kubernetes/pkg/printers/internalversion/printers.go printPod.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

GATED = "SchedulingGated"
"""The reason of the condition PodScheduled of a pod with scheduling gates."""


class _Part(msgspec.Struct, rename="camel", gc=False):
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
    """One container's status. :param started: of a sidecar, that the next containers may start."""

    name: str | None = None
    ready: bool = False
    started: bool | None = None
    restart_count: int = 0
    state: ContainerState | None = None


class DecodedPodCondition(_Part):
    """One condition of a pod."""

    type: str = ""
    status: str = ""
    reason: str | None = None


class DecodedPodStatus(_Part):
    """The part of a pod's status that its table row needs."""

    phase: str | None = None
    reason: str | None = None
    conditions: list[DecodedPodCondition] | None = None
    container_statuses: list[DecodedContainerStatus] | None = None
    init_container_statuses: list[DecodedContainerStatus] | None = None


class InitContainers(NamedTuple):
    """The init containers of a pod: how many, and the names of those that keep running."""

    number: int = 0
    sidecars: frozenset[str] = frozenset()


NO_INIT_CONTAINERS = InitContainers()


class PodColumns(NamedTuple):
    """What the table of pods shows of a status.

    :param word: a phase, a container's reason, or Terminating.
    :param ready: how many containers are, sidecars too; and how often they were restarted.
    """

    word: str
    ready: int
    restarts: int


class _Initialisation(NamedTuple):
    """How far the init containers are; ``word`` says what they wait for, None if for nothing."""

    word: str | None = None
    ready: int = 0
    restarts: int = 0


_INITIALISED = _Initialisation()


def pod_columns(status: DecodedPodStatus, init: InitContainers, *, deleting: bool) -> PodColumns:
    """Return the columns of a pod's status."""
    word, ready, restarts = _initialisation(status, init)
    if word is None:
        # Until the pod is initialised, only its init containers count.
        word = _word(status)
        restarts = sum(
            c.restart_count for c in status.init_container_statuses or () if c.name in init.sidecars
        )
        for container in status.container_statuses or ():
            ready += container.ready
            restarts += container.restart_count
    if deleting:
        word = "Unknown" if status.reason == "NodeLost" else "Terminating"
    return PodColumns(word, ready, restarts)


def _word(status: DecodedPodStatus) -> str:
    word = status.reason or status.phase or "Unknown"
    for condition in status.conditions or ():
        if condition.type == "PodScheduled" and condition.reason == GATED:
            word = GATED
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
        return "Running" if _holds(status, "Ready") else "NotReady"
    return word


def _initialisation(status: DecodedPodStatus, init: InitContainers) -> _Initialisation:
    if not status.init_container_statuses:
        return _INITIALISED
    ready = restarts = 0
    for index, container in enumerate(status.init_container_statuses):
        restarts += container.restart_count
        state = container.state or ContainerState()
        if state.terminated is not None and state.terminated.exit_code == 0:
            # It is done, so the next init container decides.
            continue
        if container.name in init.sidecars and container.started:
            # A sidecar is done as soon as it has started: it runs as long as the pod does.
            ready += container.ready
            continue
        if _holds(status, "Initialized"):
            break
        return _Initialisation(_init_word(state, index, init.number), ready, restarts)
    return _Initialisation(None, ready, restarts)


def _init_word(state: ContainerState, index: int, total: int) -> str:
    if state.terminated is not None:
        return f"Init:{_terminated_word(state.terminated)}"
    waiting = state.waiting
    if waiting is not None and waiting.reason and waiting.reason != "PodInitializing":
        return f"Init:{waiting.reason}"
    return f"Init:{index}/{total}"


def _holds(status: DecodedPodStatus, condition: str) -> bool:
    return any(c.type == condition and c.status == "True" for c in status.conditions or ())


def _terminated_word(terminated: Terminated) -> str:
    if terminated.reason:
        return terminated.reason
    if terminated.signal:
        return f"Signal:{terminated.signal}"
    return f"ExitCode:{terminated.exit_code}"
