"""Requests of a scheduler's cache to the API server, and the possible answers.

The cache sends nothing itself: its requests are values, which something else carries out, so
that the same code runs with a recorded API server, a simulated one, or none.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..kubernetes.objects import Object, Pod, PodGroup, Queue
from ..kubernetes.objects.pods import PodCondition


class BindPod(NamedTuple):
    """Create the binding of a pod to a node."""

    pod: Pod
    node: str


class WriteConditions(NamedTuple):
    """Update a pod's status: the known version, with these conditions."""

    pod: Pod
    conditions: tuple[PodCondition, ...]


class DeletePod(NamedTuple):
    """Delete a pod."""

    pod: Pod


class WritePodGroup(NamedTuple):
    """Update a PodGroup: its version in hand."""

    pod_group: PodGroup


class WriteAllocated(NamedTuple):
    """Write a queue's ``status.allocated``.

    :param apply: by server-side apply, of only that field; else the whole status is updated, which
        fails if the queue has changed since this version.
    """

    queue: Queue
    allocated: dict[str, str]
    apply: bool


class GetQueue(NamedTuple):
    """Get a queue by name."""

    name: str


class CreateQueue(NamedTuple):
    """Create a queue of weight 1."""

    name: str
    reclaimable: bool


Request = (
    BindPod | WriteConditions | DeletePod | WritePodGroup | WriteAllocated | GetQueue | CreateQueue
)


class CacheRequests(Protocol):
    """Carries out what a cache sends."""

    def send(self, request: Request) -> None:
        """Carry out a request.

        :raises Refused: the API server refuses it, or does not answer.
        """

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """Return a pod as it is now, or None if there is none.

        :raises Refused: the API server does not answer.
        """

    def emit(self, about: Object, reason: str, message: str) -> None:
        """Create an event about an object."""

    def bind_volumes(self, pod: Pod) -> str | None:
        """Bind the volumes and devices of a pod; return the error, or None."""
