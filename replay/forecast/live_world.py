"""A moment of a log as a live cluster: its objects, its components, and what changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...engine.cache.driver import LISTING_ORDER
from ...engine.cache.projector import Projector
from ...engine.controllers.deployments import DeploymentController
from ...engine.controllers.garbage_collector import GarbageCollector
from ...engine.controllers.job.controller import JobController
from ...engine.controllers.jobflow_controller import JobFlowController
from ...engine.controllers.jobtemplate import JobTemplateController
from ...engine.controllers.owner_garbage_collector import OwnerGarbageCollector
from ...engine.controllers.pod_collector import PodCollector
from ...engine.controllers.podgroup_controller import PodGroupController
from ...engine.controllers.queue_controller import QueueController
from ...engine.controllers.replicasets import ReplicaSetController
from ...engine.controllers.statefulsets import StatefulSetController
from ...engine.controllers.timed_kubelets import PodTimes, TimedKubelets
from ...engine.errors import EventMalformed, NotKnown, ObjectNotFound, UsageError
from ...engine.kubernetes.api_errors import Forbidden
from ...engine.kubernetes.api_server import (
    ADDED,
    DELETED,
    ApiServer,
    Document,
    ObjectKey,
    place_of,
)
from ...engine.kubernetes.object_store import fault_of
from ...engine.kubernetes.object_table import ObjectTable
from ...engine.kubernetes.objects import KINDS, Object, decode
from ...engine.kubernetes.resources import GroupKind, distinct_kind
from ...engine.machine.cluster_machine import OWNERS_FIRST
from ...engine.machine.decoded import DecodedObjects
from ...engine.machine.live import ComponentMember, MachineClock
from ...engine.machine.live_scheduler import LiveScheduler
from ...engine.machine.scheduler import SCHEDULER, SchedulerSettings
from ...engine.machine.user import UserAct
from ...engine.session.framework.process_parts import ProcessState
from ...engine.state.log_coverage import UnknownCause
from ...engine.volcano.conf import SchedulerConf
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.table import controller_behaviours
from ..coverage.coverage import SCHEDULING, unknown_at
from ..explore.families import group_of
from ..logs.log import Log
from ..logs.readable_objects import readable_at
from ..moments.moment import Moment
from ..objects.kind_names import plain_name
from .arrivals import CARRIED

_NAMES = frozenset(distinct_kind(f"{group}/v1" if group else "v1", kind) for group, kind in CARRIED)


def existing_at(log: Log, moment: Moment) -> list[Document]:
    """Return the objects of a moment that a live cluster begins with, as far as it can hold them.

    :raises NotKnown: the log does not have all pods, PodGroups, queues and nodes: controllers would
        make again what the log lacks.
    """
    lacking = [
        unknown
        for unknown in unknown_at(log, moment, SCHEDULING)
        if unknown.gap.why in {UnknownCause.NEVER, UnknownCause.BEFORE}
    ]
    if lacking:
        raise NotKnown(
            f"what happens next cannot be run from {moment.label}: {lacking[0].name} is "
            f"{lacking[0].reason}",
            now=lacking[0].remedy,
        )
    return readable_at(log, moment, CARRIED)


def followed_owners(log: Log, moment: Moment) -> frozenset[str]:
    """Return the kinds of which the log has all objects, so that one it lacks is gone."""
    truth = set(log.truth(moment).kinds())
    return frozenset(
        kind
        for group, kind in CARRIED
        if kind in OWNERS_FIRST
        and (group, kind) in truth
        and not unknown_at(log, moment, [(group, kind)])
    )


class Cast:
    """Makes the components of one live cluster.

    :param owners: kinds whose missing objects are known to be gone.
    """

    def __init__(
        self,
        behaviours: Behaviours,
        conf: SchedulerConf,
        clock: MachineClock,
        owners: frozenset[str],
    ) -> None:
        self._behaviours, self._conf = behaviours, conf
        self._clock, self._owners = clock, owners
        self._objects = ObjectTable()

    def members(
        self, projector: Projector, process: ProcessState, times: PodTimes
    ) -> Mapping[str, ComponentMember]:
        """Return the components by name.

        :param projector: drives the scheduler's cache, which holds what exists.
        :param process: what the scheduler's process remembers.
        """
        own, objects = controller_behaviours(self._behaviours.release), self._objects
        schedulers = projector.cache.options.scheduler_names
        # The first process goes on with the cache of the moment; one after a panic begins with an
        # empty one.
        begun = [self._scheduler(projector, process)]

        def scheduler() -> LiveScheduler:
            if begun:
                return begun.pop()
            own = projector.cache.options
            return self._scheduler(Projector(self._behaviours, own), process)

        return {
            "deployments": ComponentMember(lambda: DeploymentController(objects)),
            "replicasets": ComponentMember(lambda: ReplicaSetController(objects)),
            "statefulsets": ComponentMember(lambda: StatefulSetController(objects)),
            "jobs": ComponentMember(lambda: JobController(own, objects)),
            "gc": ComponentMember(lambda: GarbageCollector(own, objects)),
            "jobflows": ComponentMember(lambda: JobFlowController(own, objects)),
            "jobtemplates": ComponentMember(lambda: JobTemplateController(own, objects)),
            "queues": ComponentMember(lambda: QueueController(own, objects)),
            "podgroups": ComponentMember(lambda: PodGroupController(own, objects, schedulers)),
            "kubelets": ComponentMember(lambda: TimedKubelets(times)),
            "podgc": ComponentMember(PodCollector),
            "owners": ComponentMember(
                lambda: OwnerGarbageCollector(OWNERS_FIRST), sees=self._of_owners
            ),
            SCHEDULER: ComponentMember(scheduler, lists=False),
        }

    def _scheduler(self, projector: Projector, process: ProcessState) -> LiveScheduler:
        options = projector.cache.options
        objects = DecodedObjects(self._objects)
        settings = SchedulerSettings(
            self._behaviours, self._conf, objects, LISTING_ORDER, self._clock.now, options
        )
        return LiveScheduler(settings, self._clock, projector, process)

    def _of_owners(self, kind: str, document: Document) -> Document:  # noqa: ARG002 -- any kind
        """Return an object without owners of which the log would not say that they are gone."""
        metadata = document["metadata"]
        followed = [
            reference
            for reference in metadata.get("ownerReferences") or ()
            if distinct_kind(reference.get("apiVersion", ""), reference["kind"]) in self._owners
        ]
        return {**document, "metadata": {**metadata, "ownerReferences": followed}}


class LiveWorld:
    """A cluster that is about to live on, to which changes are made as a user would.

    :param write: makes a write of a user. :param label: of the moment.
    """

    def __init__(self, server: ApiServer, write: Callable[[UserAct], None], label: str) -> None:
        self._server, self._write, self._label = server, write, label

    def find(self, pair: GroupKind, namespace: str, name: str) -> Document | None:
        """Return an object as it is now; None if there is none."""
        return self._server.find(*_place(pair, namespace, name))

    def get(self, pair: GroupKind, namespace: str, name: str) -> Document:
        """Return an object as it is now.

        :raises ObjectNotFound: there is none.
        """
        document = self.find(pair, namespace, name)
        if document is None:
            raise ObjectNotFound(
                f"the log shows no {plain_name(*pair)} {_place(pair, namespace, name).key} at "
                f"{self._label}",
                now="name one that exists then",
            )
        return document

    def of(self, kind: str) -> Iterator[Object]:
        """Yield the objects of a kind that the scheduler watches, by key."""
        for document in self._server.list(kind):
            yield decode(KINDS[kind], document)

    def put(self, document: Document) -> None:
        """Create an object, or replace it.

        :raises UsageError: a live cluster has no objects of its kind, or it is no valid object.
        """
        if lacks := fault_of(document):
            raise UsageError(f"not a valid object: {lacks}", now="correct the change")
        place = _carried(document)
        try:
            if place.kind in KINDS:
                decode(KINDS[place.kind], document)
        except EventMalformed as fault:
            raise UsageError(f"not a valid object: {fault}", now="correct the change") from fault
        existing = self._server.find(*place)
        gone = {} if existing is None else _gone(existing, document)
        try:
            self._write(UserAct(ADDED, {**document, **gone}))
        except Forbidden as refused:
            raise UsageError(
                f"the API server refuses the object: {refused}", now="correct the change"
            ) from refused

    def delete(self, pair: GroupKind, namespace: str, name: str) -> None:
        """Delete an object; what it owned follows, and with a PodGroup its pods.

        :raises ObjectNotFound: there is none.
        """
        document = self.get(pair, namespace, name)
        place = place_of(document)
        self._write(UserAct(DELETED, document))
        if place.kind != "PodGroup":
            return
        for pod in self._server.list("Pod", place.key.partition("/")[0]):
            if group_of(pod) == place:
                self._write(UserAct(DELETED, pod))


def _gone(existing: Mapping[str, Any], wanted: Mapping[str, Any]) -> Document:
    """Return the merge patch that also takes away what a document has no more."""
    patch: Document = {}
    for name, value in wanted.items():
        before = existing.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            patch[name] = {**value, **_gone(before, value)}
    return {**patch, **{name: None for name in existing if name not in wanted}}


def _place(pair: GroupKind, namespace: str, name: str) -> ObjectKey:
    group, kind = pair
    version = f"{group}/v1" if group else "v1"
    metadata = {"name": name, "namespace": namespace}
    return place_of({"apiVersion": version, "kind": kind, "metadata": metadata})


def _carried(document: Document) -> ObjectKey:
    place = place_of(document)
    if place.kind not in _NAMES:
        raise UsageError(
            f"nothing here acts on a {document['kind']}, so a change of it would have no effect",
            now=f"change one of {', '.join(sorted(_NAMES))}",
        )
    return place
