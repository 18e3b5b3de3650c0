"""What invariants look at: truth, the scheduler's cache, and indexes of both, event after event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import NamedTuple, Protocol

from ..cache.cache import SchedulerCache
from ..cache.drift.drift import PodIndex
from ..cache.informers import Stores
from ..cache.job_cache import job_of
from ..cache.projector import Projector, key_of
from ..events import KINDS, Effect, Event, Reference
from ..kubernetes.objects import Pod, PodGroup
from ..model.task_status import COMPLETED_STATUS, status_of
from ..session.framework.session_outcome import SessionResult
from .owner_invariants import Owners
from .remembered_moments import Evictions, Phases

Unit = tuple[str, str]
"""Kind and name of what is checked at once."""

EVICTIONS = "Evictions"
"""The unit of an invariant about all evictions together."""

_OUTSIDE = frozenset({"Node", "PodGroup", "Queue"})
"""Kinds whose spec sessions do not change, or only for the better."""

_UID = "00000000-0000-0000-0000-000000000000"
"""As long as a uid."""

_BEGUN = frozenset({"Running", "Completed", "Unknown"})
"""Phases that a PodGroup gets only after its gang was complete."""


class PodGroupDeletion(NamedTuple):
    """The deletion of a PodGroup. :param actor: who asked for it; empty if not known."""

    uid: str
    position: int
    actor: str


class QueueLimits(Enum):
    """What limits queues in a session."""

    TREE = "a tree"
    """Each queue, and all queues above it."""
    FLAT = "each"
    """Each queue alone."""
    NOTHING = "nothing"
    """No plugin limits queues."""


class Again(Protocol):
    """Runs the session of a moment once more, with one thing changed."""

    def with_last_names(self) -> SessionResult | None:
        """Take the last of equal nodes instead of the first; None if there was no choice."""
        ...

    def without_limits(self, queue: str) -> SessionResult:
        """Run it as if a queue had no capability, deserved resources or guarantee."""
        ...


class _Named(Protocol):
    """A violation, as far as a view looks at it."""

    @property
    def kind(self) -> str: ...

    @property
    def name(self) -> str: ...


class SessionView(NamedTuple):
    """A session that was run on the state of the moment.

    :param plugins: those of its configuration. :param again: runs it once more, changed.
    """

    result: SessionResult
    limits: QueueLimits
    plugins: frozenset[str] = frozenset()
    again: Again | None = None


class ClusterView:
    """One moment of a cluster; it follows a projector.

    Truth is what was delivered to the informers of a scheduler that are never late.

    :param actors: by position of a PodGroup's deletion, who asked for it.
    :ivar session: the session of this moment, if one was run.
    :ivar deleted: by ``namespace/name``, the last deletion of each PodGroup that is gone.
    """

    def __init__(self, projector: Projector, actors: Mapping[int, str] | None = None) -> None:
        self._projector = projector
        self._actors = actors or {}
        self._complete: set[str] = set()
        self.session: SessionView | None = None
        self.deleted: dict[str, PodGroupDeletion] = {}
        self._early: frozenset[str] = frozenset()
        self.phases, self.evictions, self.owners = Phases(), Evictions(), Owners()
        self._read()

    @property
    def truth(self) -> Stores:
        """The objects of the API server."""
        return self.cache.stores

    def units(self) -> Iterable[Unit]:
        """Yield everything that can be checked now, in order."""
        named = {job_of(pod) for pod, _ in self.pods.all()} - {""}
        names = (
            ("Node", {*self.cache.nodes, *self.truth.of("Node")}),
            ("Pod", self.truth.of("Pod")),
            ("PodGroup", {*self.cache.jobs, *self.truth.of("PodGroup"), *named}),
            ("Queue", {*self.cache.queues, *self.truth.of("Queue")}),
            ("Job", self.owners.jobs),
        )
        return [(kind, name) for kind, keys in names for name in sorted(keys)]

    def take(
        self,
        event: Event,
        position: int,
        lives_on: Callable[[Reference], bool] = lambda _: False,
    ) -> Iterable[Unit]:
        """Follow an event that the projector has applied; return the units that it may change.

        :param lives_on: returns whether an object has later versions.
        """
        # The scheduler's cache has no Jobs, so only this view follows them.
        jobs = self.owners.take(event, lives_on)
        if jobs:
            return [unit for job in jobs for unit in self._of_job(job)]
        reference, effect = event.reference, KINDS[event.kind].effect
        # A restart or a panic gave the projector another cache.
        if self._projector.cache is not self.cache:
            self._read()
            return self.units()
        if effect is Effect.LISTED:
            gone = [self._changed(lacked) for lacked in self._projector.taken_out]
            return [unit for units in gone for unit in units]
        if effect is Effect.DELETED and reference.kind == "PodGroup":
            actor = self._actors.get(position, event.actor)
            self.deleted[key_of(reference)] = PodGroupDeletion(reference.uid, position, actor)
        return self._changed(reference)

    def presume_history(self) -> None:
        """Begin in the middle: presume of what was before that it leads to violations."""
        self._early = frozenset(group.uid for group in self.truth.of("PodGroup").values())
        for key, group in self.truth.of("PodGroup").items():
            self.phases.presume(group, self.occupied(key))

    def is_presumed(self, violation: _Named) -> bool:
        """Return whether a violation may be one only because history was presumed.

        :param violation: that of an invariant that remembers.
        """
        if violation.kind == "Job":
            name = violation.name
            return name in self.owners.presumed and not self.owners.was_replaced(name)
        group: PodGroup | None = self.truth.get("PodGroup", violation.name)
        return violation.kind == "PodGroup" and group is not None and group.uid in self._early

    def note_deletion(self, reference: Reference, deletion: PodGroupDeletion) -> None:
        """Note the deletion of a PodGroup from before the begin."""
        if self.truth.get("PodGroup", key_of(reference)) is None:
            self.deleted[key_of(reference)] = deletion

    def group_of(self, pod: Pod) -> PodGroup | None:
        """Return the PodGroup that a pod names, if it exists."""
        pod_group: PodGroup | None = self.truth.get("PodGroup", job_of(pod))
        return pod_group

    def groups_in(self, queue: str) -> list[PodGroup]:
        """Return the PodGroups of a queue, by name."""
        groups: Mapping[str, PodGroup] = self.truth.of("PodGroup")
        return [groups[key] for key in sorted(self._in_queue.get(queue, ()))]

    def queue_of(self, group: PodGroup) -> str:
        """Return the name of a PodGroup's queue."""
        return group.spec.queue or self.cache.options.default_queue

    def queue_of_group(self, key: str) -> str:
        """Return the name of the queue of a PodGroup by its ``namespace/name``; empty if gone."""
        group: PodGroup | None = self.truth.get("PodGroup", key)
        return "" if group is None else self.queue_of(group)

    def queue_of_pod(self, key: str) -> str:
        """Return the name of a pod's queue by its ``namespace/name``; empty if there is none."""
        pod = self.pods.get(key)
        return "" if pod is None else self.queue_of_group(job_of(pod))

    def placed(self, group: PodGroup) -> int:
        """Return how many pods of a PodGroup have a node, or have ended."""
        return sum(map(has_place, self.pods.of(group.key)))

    def occupied(self, key: str) -> int:
        """Return how many pods of a PodGroup have a node, and have not ended."""
        return sum(bool(pod.spec.node_name) and not has_ended(pod) for pod in self.pods.of(key))

    def was_complete(self, group: PodGroup) -> bool:
        """Return whether this PodGroup's gang was ever complete.

        Either ``minMember`` of its pods had a node at once, or its status says so: its phase, or
        the condition Scheduled, which stays.
        """
        return group.uid in self._complete

    def _read(self) -> None:
        """Read everything: the cache is that of a new process."""
        self.cache: SchedulerCache = self._projector.cache
        uncounted = self.cache.node_cache.uncounted
        self.pods = PodIndex(self.cache.stores.of("Pod").values(), uncounted)
        self._queues: dict[str, str] = {}
        self._in_queue: dict[str, set[str]] = {}
        for key, group in self.truth.of("PodGroup").items():
            self._file(key)
            self._note_complete(key)
            self.phases.take(key, group, self.occupied(key))
        for pod, _ in self.pods.all():
            # Run for what it notes; the keys that it yields are all checked anyway.
            for _job in self.owners.put_pod(None, pod):
                pass
        for kind in _OUTSIDE:
            for key, item in self.truth.of(kind).items():
                self.evictions.outside(kind, key, item)

    def _file(self, key: str) -> list[str]:
        """Update the queue of a PodGroup; return its queue before and now."""
        before = self._queues.pop(key, None)
        if before is not None:
            self._in_queue[before].discard(key)
        group: PodGroup | None = self.truth.get("PodGroup", key)
        if group is None:
            return [] if before is None else [before]
        now = self._queues[key] = self.queue_of(group)
        self._in_queue.setdefault(now, set()).add(key)
        # It exists again: its deletion explains nothing any more.
        self.deleted.pop(key, None)
        return [now] if before is None else [before, now]

    def _changed(self, reference: Reference) -> list[Unit]:
        key = key_of(reference)
        if reference.kind in _OUTSIDE:
            self.evictions.outside(reference.kind, key, self.truth.get(reference.kind, key))
        if reference.kind == "Pod":
            return self._pod_changed(key)
        if reference.kind == "PodGroup":
            queues = self._file(key)
            self._note_complete(key)
            self.phases.take(key, self.truth.get("PodGroup", key), self.occupied(key))
            pods = (("Pod", pod.key) for pod in self.pods.of(key))
            jobs = (("Job", name) for name in self._jobs_of(key))
            return [("PodGroup", key), *pods, *jobs, *(("Queue", name) for name in queues)]
        if reference.kind in {"Node", "CSINode"}:
            return [("Node", reference.name)]
        if reference.kind == "Queue":
            # The existence of its queue is checked for each PodGroup.
            groups = self._in_queue.get(key, ())
            return [("Queue", key), *(("PodGroup", name) for name in sorted(groups))]
        return []

    def _jobs_of(self, group: str) -> list[str]:
        """Return the Job of a PodGroup, which is named after it, and in some releases its uid."""
        names = (group, group[: -len(_UID) - 1])
        return [name for name in names if name in self.owners.jobs]

    def _of_job(self, job: Reference) -> list[Unit]:
        """Return what a change of a Job may change: itself, and the pods of its PodGroup."""
        key = key_of(job)
        groups = (f"{key}-{job.uid}", key)
        pods = [("Pod", pod.key) for name in groups for pod in self.pods.of(name)]
        return [("Job", key), *pods]

    def _pod_changed(self, key: str) -> list[Unit]:
        before, _ = self.pods.remove(key)
        now = self.truth.get("Pod", key)
        if now is not None:
            self.pods.put(now)
        either = now or before
        if either is not None:
            ended = now is not None and has_ended(now) and not (before and has_ended(before))
            self.evictions.pod(job_of(either), before, now, ended=ended)
        units: dict[Unit, None] = {("Pod", key): None}
        units.update(dict.fromkeys(("Job", job) for job in self.owners.put_pod(before, now)))
        # Both, as a pod of the same name may be of another PodGroup, on another node.
        for pod in (before, now):
            if pod is not None and job_of(pod):
                units["PodGroup", job_of(pod)] = None
                self._note_complete(job_of(pod))
            if pod is not None and pod.spec.node_name:
                units["Node", pod.spec.node_name] = None
        return list(units)

    def _note_complete(self, key: str) -> None:
        group: PodGroup | None = self.truth.get("PodGroup", key)
        if group is None or group.uid in self._complete:
            return
        was_scheduled = any(condition.type == "Scheduled" for condition in group.status.conditions)
        if (
            was_scheduled
            or group.status.phase in _BEGUN
            or self.placed(group) >= group.spec.min_member
        ):
            self._complete.add(group.uid)


def has_place(pod: Pod) -> bool:
    """Return whether a pod has a node, or has ended."""
    return bool(pod.spec.node_name) or has_ended(pod)


def has_ended(pod: Pod) -> bool:
    """Return whether a pod has succeeded or failed."""
    return status_of(pod) in COMPLETED_STATUS


def is_live(pod: Pod) -> bool:
    """Return whether a pod has not ended and is not being deleted."""
    return not has_ended(pod) and pod.metadata.deletion_timestamp is None
