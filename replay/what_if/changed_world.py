"""A moment of a log that can be changed: the objects then, and the scheduler's cache of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.projector import WATCHED, Projector
from ...engine.cache.restored import unpack
from ...engine.cache.stored import pack
from ...engine.errors import EventMalformed, ObjectNotFound, UsageError
from ...engine.events import OwnerName, Reference, is_owner
from ...engine.kubernetes.object_store import fault_of
from ...engine.kubernetes.objects import Object, decode
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ...engine.volcano.session.behaviours import Behaviours
from ..answers.answering_session import JOB, POD, PODGROUP
from ..belief.belief import projector_at
from ..logs.job_groups import groups_named
from ..logs.log import Log
from ..moments.moment import Moment
from ..objects.kind_names import plain_name

Document = dict[str, Any]
Place = tuple[GroupKind, str, str]
"""A kind, a namespace (empty if it has none) and a name."""


class Changeable(Protocol):
    """A cluster at a moment, which changes can be made to."""

    def find(self, pair: GroupKind, namespace: str, name: str) -> Document | None:
        """Return an object as it is now; None if there is none. Callers must not change it."""

    def get(self, pair: GroupKind, namespace: str, name: str) -> Document:
        """Return an object as it is now; callers must not change it.

        :raises ObjectNotFound: there is none.
        """

    def of(self, kind: str) -> Iterator[Object]:
        """Yield the objects of a kind that the scheduler watches, by key."""

    def put(self, document: Document) -> None:
        """Create an object, or replace it.

        :raises UsageError: a change of such an object has no effect, or it is not valid.
        """

    def delete(self, pair: GroupKind, namespace: str, name: str) -> None:
        """Delete an object and what belongs to it.

        :raises ObjectNotFound: there is none.
        """


class WrittenSince(NamedTuple):
    """What was written of an object after a moment: its last version, or that it is gone."""

    document: Document
    is_gone: bool = False


class Beginning:
    """A moment of a log with the cache of a release, from which any number of worlds begin.

    :param behaviours: of the release, or of another one whose cache behaves the same.
    :param since: what was written after the moment, and what all worlds begin with.
    """

    def __init__(
        self,
        log: Log,
        moment: Moment,
        behaviours: Behaviours,
        since: Sequence[WrittenSince] = (),
    ) -> None:
        self.log, self.moment = log, moment
        self._behaviours = behaviours
        self._projector = projector_at(log.store, moment, behaviours, recent=log.recent_beliefs)
        self._packed = b""
        self._payloads: dict[int, bytes] = {}
        self._since = tuple(since)
        self._changed: dict[Place, Document | None] = {}
        if since:
            # `_packed` stays as before: each world takes what was written since for itself.
            world = self.world()
            self._changed, self._projector = world.changed, world.projector

    @property
    def cache(self) -> SchedulerCache:
        """The scheduler's cache at the moment; callers must not change it."""
        return self._projector.cache

    def world(self) -> ChangedWorld:
        """Return a world in which nothing is changed yet."""
        # Changes go into the projector itself, so each world needs another one.
        if not self._packed:
            self._packed = pack(self._projector)
        world = ChangedWorld(self, unpack(self._packed, self._behaviours, self._read))
        for written in self._since:
            world.take(written)
        return world

    def find(self, place: Place) -> Document | None:
        """Return an object as all worlds have it in the beginning; None if there is none."""
        if place in self._changed:
            return self._changed[place]
        pair, namespace, name = place
        try:
            (document,) = self.log.get(pair, name, at=self.moment, namespace=namespace or None)
        except ObjectNotFound:
            return None
        return document

    def _read(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        new = [position for position in positions if position not in self._payloads]
        if new:
            self._payloads.update(self.log.store.payloads(new, self.moment.branch))
        return self._payloads


class ChangedWorld:
    """The cluster at a moment, with changes.

    :ivar projector: drives the scheduler's cache, which gets each change at once.
    :ivar changed: objects that are otherwise than at the moment; None of those that are gone.
    """

    def __init__(self, beginning: Beginning, projector: Projector) -> None:
        self._begin = beginning
        self.changed: dict[Place, Document | None] = {}
        self.projector = projector

    @property
    def cache(self) -> SchedulerCache:
        """The scheduler's cache, after all changes."""
        return self.projector.cache

    def find(self, pair: GroupKind, namespace: str, name: str) -> Document | None:
        """Return an object as it is now; None if there is none. Callers must not change it."""
        place = _place(pair, namespace, name)
        return self.changed[place] if place in self.changed else self._begin.find(place)

    def get(self, pair: GroupKind, namespace: str, name: str) -> Document:
        """Return an object as it is now; callers must not change it.

        :raises ObjectNotFound: there is none.
        """
        document = self.find(pair, namespace, name)
        if document is None:
            where = _key(_place(pair, namespace, name))
            raise ObjectNotFound(
                f"the log shows no {plain_name(*pair)} {where} at {self._begin.moment.label}",
                now="name one that exists then",
            )
        return document

    def of(self, kind: str) -> Iterator[Object]:
        """Yield the objects of a kind that the scheduler watches, by key."""
        yield from (item for _, item in sorted(self.cache.stores.of(kind).items()))

    def take(self, written: WrittenSince) -> None:
        """Let an object be as it was written; of kinds that sessions do not see it is only kept."""
        document = written.document
        pair, metadata = _pair(document), document["metadata"]
        place = _place(pair, metadata.get("namespace", ""), metadata["name"])
        if pair not in WATCHED:
            self.changed[place] = None if written.is_gone else document
        elif written.is_gone:
            self._gone(*place)
        else:
            self.put(document)

    def put(self, document: Document) -> None:
        """Create an object, or replace it.

        :raises UsageError: sessions do not see objects of its kind, or it is no valid object.
        """
        pair = _pair(document)
        kind = _watched(pair)
        # Before the version is raised, which needs the metadata.
        if lacks := fault_of(document):
            raise UsageError(f"not a valid object: {lacks}", now="correct the change")
        document = _next_version(document)
        try:
            item = decode(kind, document)
        except EventMalformed as fault:
            raise UsageError(f"not a valid object: {fault}", now="correct the change") from fault
        self.changed[_place(pair, item.namespace, item.name)] = document
        self.projector.driver.deliver(kind.__name__, item)
        # Some handlers only put a name into a queue: its worker brings the change into the cache.
        self.projector.driver.work()

    def delete(self, pair: GroupKind, namespace: str, name: str) -> None:
        """Delete an object; with a job also its PodGroup, and with a PodGroup also its pods.

        :raises ObjectNotFound: there is none.
        :raises UsageError: sessions do not see objects of its kind.
        """
        uid = self.get(pair, namespace, name)["metadata"].get("uid", "")
        if pair == JOB:
            place = _place(pair, namespace, name)
            self.changed[place] = None
            self._job_gone(Reference(*pair, place[1], name, uid))
        elif pair == PODGROUP:
            self._group_gone(namespace, name)
        else:
            self._gone(pair, namespace, name)

    def _job_gone(self, job: Reference) -> None:
        """Delete the PodGroups and the pods that a job owns.

        If it owns no PodGroup, its uid or its pods name one, as where objects have no owners.
        """
        begin = self._begin
        groups = [group.name for group in self.of(PODGROUP[1]) if _is_owned(group, job)]
        if not groups:
            named = groups_named(begin.log.truth(begin.moment), job)
            groups = [entry.reference.name for entry in named]
        for name in groups:
            self._group_gone(job.namespace, name)
        for pod in [pod for pod in self.of(POD[1]) if _is_owned(pod, job)]:
            self._gone(POD, pod.namespace, pod.name)

    def _group_gone(self, namespace: str, name: str) -> None:
        job = self.cache.jobs.get(_key(_place(PODGROUP, namespace, name)))
        for pod in sorted(task.key for task in job.tasks.values()) if job else ():
            self._gone(POD, *pod.split("/"))
        self._gone(PODGROUP, namespace, name)

    def _gone(self, pair: GroupKind, namespace: str, name: str) -> None:
        kind = _watched(pair).__name__
        place = _place(pair, namespace, name)
        self.changed[place] = None
        item = self.cache.stores.get(kind, _key(place))
        if item is not None:
            self.projector.driver.deliver_deletion(kind, item)
            self.projector.driver.work()


def _watched(pair: GroupKind) -> type[Object]:
    kind = WATCHED.get(pair)
    if kind is None:
        raise UsageError(
            f"sessions do not see a {plain_name(*pair)}, so a change of it has no effect on them",
            now="change the pods, podgroups, queues or nodes that it stands for",
        )
    return kind


def _pair(document: Document) -> GroupKind:
    group = str(document.get("apiVersion", "")).rpartition("/")[0]
    return group, str(document.get("kind", ""))


def _place(pair: GroupKind, namespace: str, name: str) -> Place:
    return pair, "" if pair in CLUSTER_SCOPED else namespace or "default", name


def _key(place: Place) -> str:
    return "/".join(filter(None, place[1:]))


def _next_version(document: Document) -> Document:
    """Return an object with another resourceVersion: handlers skip a version that they know."""
    metadata = document["metadata"]
    before = str(metadata.get("resourceVersion", ""))
    version = int(before) + 1 if before.isascii() and before.isdigit() else 1
    return {**document, "metadata": {**metadata, "resourceVersion": str(version)}}


def _is_owned(item: Object, owner: Reference) -> bool:
    return item.namespace == owner.namespace and any(
        is_owner(
            owner, OwnerName(reference.api_version, reference.kind, reference.name, reference.uid)
        )
        for reference in item.metadata.owner_references
    )
