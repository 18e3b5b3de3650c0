"""The lives of the pods that a log records: when each was bound, ran and ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from ...engine.controllers.job.job_names import TASK
from ...engine.events import KINDS, Effect, Event
from ...engine.events.payloads import PodBound
from ...engine.kubernetes.api_server import ENDED
from ...engine.log.store import Query
from ..logs.log import Log
from ..moments.log_clock import clock_of
from ..moments.moment import Moment

NO_SCHEDULER = "default-scheduler"


class Owner(msgspec.Struct, frozen=True):
    """Who controls a pod."""

    kind: str = ""
    name: str = ""
    controller: bool = False


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = "default"
    uid: str = ""
    annotations: dict[str, str] | None = None
    owner_references: tuple[Owner, ...] | None = None
    deletion_timestamp: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""
    scheduler_name: str = NO_SCHEDULER


class _Status(msgspec.Struct):
    phase: str = ""


class _Version(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_DECODE = msgspec.json.Decoder(_Version).decode


class PodTemplateKey(NamedTuple):
    """What pods are alike for: their controller, and the task of a job that they belong to."""

    namespace: str
    kind: str
    owner: str
    task: str = ""


@dataclass(slots=True)
class PodLife:
    """One pod. Times are microseconds since 1970; None is not known, or not yet.

    :ivar key: ``namespace/name``. :ivar ended: when its containers ended by themselves.
    :ivar phase: in which they did. :ivar deleting: when its deletion began. :ivar gone: it ended.
    """

    key: str
    uid: str
    template: PodTemplateKey | None
    scheduler: str
    bound: int | None = None
    node: str = ""
    running: int | None = None
    ended: int | None = None
    phase: str = ""
    deleting: int | None = None
    gone: int | None = None

    @property
    def ran_for(self) -> int | None:
        """How long it ran until it ended by itself."""
        if self.running is None or self.ended is None:
            return None
        if self.deleting is not None and self.deleting <= self.ended:
            return None
        return max(self.ended - self.running, 0)

    @property
    def ended_after(self) -> int | None:
        """How long it took from its deletion until it was gone, if it still ran then."""
        if self.running is None or self.deleting is None or self.gone is None:
            return None
        if self.ended is not None and self.ended <= self.deleting:
            return None
        return self.gone - self.deleting

    @property
    def started_after(self) -> int | None:
        """How long it took from its binding until it ran."""
        if self.bound is None or self.running is None:
            return None
        return max(self.running - self.bound, 0)


def recorded_lives(log: Log, end: Moment) -> Mapping[str, PodLife]:
    """Return the lives of all pods by uid, as far as the log has them by a moment."""
    lives: dict[str, PodLife] = {}
    for time, event in sorted(_changes(log, end), key=lambda change: change[0]):
        uid = event.reference.uid
        match KINDS[event.kind].effect:
            case Effect.VERSION:
                _take(lives, uid, time, _DECODE(event.payload))
            case Effect.BOUND if uid in lives:
                life = lives[uid]
                node = msgspec.json.decode(event.payload, type=PodBound).node
                # The first word counts: the same binding may come as a request and as a version.
                if life.bound is None and node:
                    life.bound, life.node = time, node
            case Effect.DELETED if uid in lives:
                life = lives[uid]
                life.gone = time
                # Without a grace period no version shows that the deletion began.
                life.deleting = time if life.deleting is None else life.deleting
    return lives


def _changes(log: Log, end: Moment) -> Iterator[tuple[int, Event]]:
    clock = clock_of(log.store, branch=end.branch, cluster=end.cluster)
    query = Query(branch=end.branch, cluster=end.cluster, until=end.known, objects=(("", "Pod"),))
    for recorded in log.store.read(query):
        event = recorded.event
        time = event.observed_at if event.revision is None else clock.time_of(event.revision)
        if time is not None:
            yield time, event


def _take(lives: dict[str, PodLife], uid: str, time: int, version: _Version) -> None:
    life = lives.get(uid)
    if life is None:
        life = lives[uid] = _new(version)
    node, phase = version.spec.node_name, version.status.phase
    if node and life.bound is None:
        life.bound, life.node = time, node
    if version.metadata.deletion_timestamp and life.deleting is None:
        life.deleting = time
    if phase == "Running" and life.running is None:
        life.running = time
    if phase in ENDED and life.ended is None:
        life.ended, life.phase = time, phase


def _new(version: _Version) -> PodLife:
    own = version.metadata
    key = f"{own.namespace}/{own.name}"
    return PodLife(key, own.uid, _template(own), version.spec.scheduler_name)


def _template(own: _Metadata) -> PodTemplateKey | None:
    controller = next(
        (reference for reference in own.owner_references or () if reference.controller), None
    )
    if controller is None:
        return None
    task = (own.annotations or {}).get(TASK, "")
    return PodTemplateKey(own.namespace, controller.kind, controller.name, task)


def template_of(pod: Mapping[str, object]) -> PodTemplateKey | None:
    """Return what a pod is alike with others for; None if nothing controls it."""
    return _template(msgspec.convert(pod["metadata"], type=_Metadata))


def alike(key: str, template: PodTemplateKey | None) -> str:
    """Return what pods are compared by: their key, or what made those of a ReplicaSet."""
    if template is None or template.kind != "ReplicaSet":
        return key
    # A ReplicaSet has the name of its Deployment and a hash.
    return f"{template.namespace}/{template.owner.rpartition('-')[0]}-*"
