"""Volcano's Jobs as the API server had them, with the pods that they control."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from ..cache.projector import key_of
from ..events import KINDS, Effect, Event, Reference
from ..events.complete_lists import CompleteLists
from ..events.payloads import ListObserved
from ..kubernetes.objects import OwnerReference, Pod

GROUP, KIND = "batch.volcano.sh", "Job"


class _Task(msgspec.Struct):
    replicas: int | None = None
    dependsOn: object = None  # noqa: N815 -- the API's name


class _Spec(msgspec.Struct):
    tasks: list[_Task] | None = None


class _State(msgspec.Struct):
    phase: str = ""


class _Status(msgspec.Struct):
    state: _State | None = None


class _Metadata(msgspec.Struct):
    deletionTimestamp: str | None = None  # noqa: N815 -- the API's name


class _Job(msgspec.Struct):
    metadata: _Metadata | None = None
    spec: _Spec | None = None
    status: _Status | None = None


_DECODE = msgspec.json.Decoder(_Job).decode


class OwnerJob(NamedTuple):
    """A Job. :param revision: of its last version.

    :param wants: how many pods it has; None if some of its tasks wait for others, or if the Job
        cannot be decoded.
    """

    reference: Reference
    revision: int
    phase: str
    wants: int | None
    deleting: bool


class Owners:
    """The Jobs that exist, by ``namespace/name``, and the pods of each.

    :ivar presumed: names of Jobs of which it is not known whether they replaced another one.
    :ivar earlier: by ``namespace/name``, the uids of Jobs, in their order.
    """

    def __init__(self) -> None:
        self.jobs: dict[str, OwnerJob] = {}
        self.earlier: dict[str, dict[str, None]] = {}
        self.presumed: frozenset[str] = frozenset()
        self._pods: dict[str, set[str]] = {}
        self._lists = CompleteLists()

    def pods_of(self, uid: str) -> int:
        """Return how many pods a Job with a uid controls."""
        return len(self._pods.get(uid, ()))

    def put_pod(self, before: Pod | None, now: Pod | None) -> Iterator[str]:
        """Note a change of a pod; yield the keys of the Jobs that it belongs to."""
        for pod in (before, now):
            owner = None if pod is None else job_owner(pod)
            if pod is None or owner is None:
                continue
            key = f"{pod.namespace}/{owner.name}"
            pods = self._pods.setdefault(owner.uid, set())
            if pod is now:
                pods.add(pod.uid)
            # It is gone, or another pod has its name now.
            elif now is None or now.uid != pod.uid:
                pods.discard(pod.uid)
            yield key

    def replaced(self, key: str) -> bool:
        """Return whether another Job had the name of the present one before, or is presumed to."""
        return key in self.presumed or self.was_replaced(key)

    def was_replaced(self, key: str) -> bool:
        """Return whether another Job had the name of the present one before."""
        return len(self.earlier.get(key, ())) > 1

    def take(self, event: Event, lives_on: Callable[[Reference], bool]) -> list[Reference]:
        """Follow an event; return the Jobs that it changes.

        :param lives_on: returns whether an object has later versions.
        """
        reference, effect = event.reference, KINDS[event.kind].effect
        if effect is Effect.LISTED:
            return self._without_lacked(event, lives_on)
        if (reference.group, reference.kind) != (GROUP, KIND):
            return []
        key = key_of(reference)
        if effect is Effect.VERSION:
            self.jobs[key] = _job(reference, event)
            self.earlier.setdefault(key, {})[reference.uid] = None
        elif effect is Effect.DELETED:
            job = self.jobs.get(key)
            if job is not None and reference.uid in {"", job.reference.uid}:
                del self.jobs[key]
        if self._lists.goes(reference, lives_on):
            self._remove(reference)
        return [reference]

    def _without_lacked(
        self, event: Event, lives_on: Callable[[Reference], bool]
    ) -> list[Reference]:
        """Remove the Jobs that a complete list lacks."""
        listing = msgspec.json.decode(event.payload, type=ListObserved)
        if (listing.group, listing.listed) != (GROUP, KIND):
            return []
        references = (job.reference for job in self.jobs.values())
        gone = self._lists.gone(listing, references, lives_on)
        for reference in gone:
            self._remove(reference)
        return gone

    def _remove(self, reference: Reference) -> None:
        """Remove a Job that a list lacked, unless another one has its name."""
        job = self.jobs.get(key_of(reference))
        if job is not None and job.reference.uid == reference.uid:
            del self.jobs[key_of(reference)]


def job_owner(pod: Pod) -> OwnerReference | None:
    """Return the Job of Volcano that controls a pod, if one does."""
    owner = pod.metadata.controller
    if owner is None or owner.kind != KIND or not owner.api_version.startswith(f"{GROUP}/"):
        return None
    return owner


def _job(reference: Reference, event: Event) -> OwnerJob:
    try:
        read = _DECODE(event.payload)
    except msgspec.DecodeError:
        return OwnerJob(reference, event.revision or 0, "", None, deleting=False)
    tasks = (read.spec and read.spec.tasks) or []
    waits = any(task.dependsOn for task in tasks)
    wants = None if waits else sum(1 if task.replicas is None else task.replicas for task in tasks)
    phase = read.status.state.phase if read.status and read.status.state else ""
    deleting = bool(read.metadata and read.metadata.deletionTimestamp)
    return OwnerJob(reference, event.revision or 0, phase, wants, deleting)
