"""What informers may have delivered to a session: of each kind of object, its own first part.

Every kind has its own informer. It delivers the changes of its kind in their order, but how far it
is when a session opens does not depend on the others. So what a session saw is one place among the
changes before it for each kind: a :class:`DeliveryCut`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...engine.cache.job_cache import job_of
from ...engine.cache.projector import WATCHED, Projector, key_of
from ...engine.cache.restored import Payloads, unpack
from ...engine.cache.stored import pack
from ...engine.events import KINDS as EVENT_KINDS
from ...engine.events import Effect, Event, Reference
from ...engine.events.payloads import ListObserved
from ...engine.kubernetes.objects import Object, Pod, PodGroup, Queue
from ...engine.kubernetes.objects.pods import PodCondition
from ...engine.model.panic import Panic

if TYPE_CHECKING:
    from ...engine.cache.snapshot import Snapshot
    from ...engine.volcano.session.behaviours import Behaviours

LivesOn = Callable[[Reference], bool]


class Arrival(NamedTuple):
    """A change that an informer may have delivered before the session.

    :param revision: the last revision that had happened with it.
    :param kind: the kind of its informer; empty for what is no object: the start of a process.
    :param tells: it may make a difference to a session: more changed than times and versions.
    :param about: the pod and PodGroup that it concerns, ``ns/name``; empty if it may concern all.
    :param lived: for objects that a list lacked: whether they have later events.
    """

    event: Event
    position: int
    revision: int
    kind: str
    tells: bool
    about: tuple[str, ...]
    lived: Mapping[Reference, bool]

    def deliver(self, projector: Projector) -> None:
        """Deliver the change."""
        lives_on = self.lived.get
        projector.apply(
            self.event,
            position=self.position,
            lives_on=lambda reference: bool(lives_on(reference, False)),
        )


class DeliveryCut(NamedTuple):
    """How many of the changes before a session were delivered.

    :param common: of all kinds: those before this place.
    :param own: of these kinds instead: those before another place.
    """

    common: int
    own: tuple[tuple[str, int], ...] = ()

    def place(self, kind: str) -> int:
        """Return the place before which the changes of a kind were delivered."""
        return dict(self.own).get(kind, self.common)

    def moved(self, kind: str, place: int) -> DeliveryCut:
        """Return the cut with another place for a kind."""
        return DeliveryCut(self.common, tuple(sorted({**dict(self.own), kind: place}.items())))


class Deliveries:
    """The changes around the opening of one session, and the caches that they could make.

    :param projector: the scheduler before the first of these changes.
    :param payloads: reads events of the log again.
    :param crashes: how many panics the scheduler had by the session before this one.
    :ivar arrivals: the changes in the order in which they happened.
    :ivar begin: the last revision before them.
    """

    def __init__(
        self, projector: Projector, payloads: Payloads, begin: int, crashes: int = 0
    ) -> None:
        self._behaviours: Behaviours = projector.cache.behaviours
        self._packed, self._payloads = pack(projector), payloads
        self.arrivals: list[Arrival] = []
        self.begin = begin
        self._crashes = crashes
        self._noted = {0: len(projector.crashes)}
        self._seen = {0: self._open(projector)}

    def add(self, projector: Projector, event: Event, position: int, lives_on: LivesOn) -> None:
        """Deliver a change to the scheduler that goes on, and keep it.

        :param position: of the event in the log.
        """
        before = _held(projector, event)
        lived: dict[Reference, bool] = {}

        def noted(reference: Reference) -> bool:
            lived[reference] = lives_on(reference)
            return lived[reference]

        projector.apply(event, position=position, lives_on=noted)
        after = _held(projector, event)
        tells = before is None or after is None or _essence(before) != _essence(after)
        last = self.arrivals[-1].revision if self.arrivals else self.begin
        # A change without a revision follows the last one that has one.
        revision = last if event.revision is None else max(last, event.revision)
        about = _about(before, after)
        self.arrivals.append(
            Arrival(event, position, revision, _informer(event), tells, about, lived)
        )
        # A panic matters, even if sessions read nothing of the change.
        panicked = len(projector.crashes) > self.crashes_by(len(self.arrivals))
        if tells or panicked:
            self._seen[len(self.arrivals)] = self._open(projector)
            self._noted[len(self.arrivals)] = len(projector.crashes)

    def _open(self, projector: Projector) -> Snapshot | Panic:
        """Open a session, and return what it sees, or the panic since the session before it.

        A process that panicked before that one was followed by another, which opens this session:
        the cache forgets the panic.
        """
        if len(projector.crashes) > self._crashes:
            return projector.crashes[-1]
        if not projector.driver.is_down:
            projector.cache.start_again()
        return projector.cache.seen()

    def crashes_by(self, place: int) -> int:
        """Return how many panics the scheduler had by a place."""
        return self._noted[self.settled(place)]

    def places(self) -> list[int]:
        """Return the places between changes that may make a difference, in order."""
        return sorted(self._seen)

    def at_revision(self, revision: int) -> int:
        """Return the place just after a revision, without changes that make no difference."""
        place = sum(1 for arrival in self.arrivals if arrival.revision <= revision)
        return self.settled(place)

    def with_nodes(self, place: int, nodes: int | None) -> int:
        """Return the last place up to this one at which a session has so many nodes, or this one.

        :param nodes: as the scheduler counted them; None if that is not known.
        """
        counted = (candidate for candidate in self.places() if candidate <= place)
        fitting = [candidate for candidate in counted if _nodes_in(self._seen[candidate]) == nodes]
        return fitting[-1] if fitting else place

    def settled(self, place: int) -> int:
        """Return the earliest place at which the cache is as at this one."""
        return max(known for known in self._seen if known <= place)

    def seen(self, place: int) -> Snapshot | Panic:
        """Return what a session sees if all informers delivered the changes before a place.

        It is a panic if the process ended since the session before, or cannot begin this one.
        """
        return self._seen[place]

    def along(
        self, cut: DeliveryCut, kind: str, places: Sequence[int]
    ) -> Iterator[tuple[DeliveryCut, Snapshot | Panic]]:
        """Yield what a session sees if the informer of a kind is at one place or another.

        :param cut: where the other informers are.
        :param places: in ascending order.
        """
        # From the begin for each kind: what an informer delivered cannot be taken back.
        projector = unpack(self._packed, self._behaviours, self._payloads)
        own = []
        for number, arrival in enumerate(self.arrivals):
            if arrival.kind == kind:
                own.append((number, arrival))
            elif number < cut.place(arrival.kind):
                arrival.deliver(projector)
        for place in places:
            while own and own[0][0] < place:
                own.pop(0)[1].deliver(projector)
            yield cut.moved(kind, place), self._open(projector)

    def between(self, kind: str, start: int, stop: int) -> list[Arrival]:
        """Return the changes of a kind between two places that may make a difference."""
        stretch = self.arrivals[min(start, stop) : max(start, stop)]
        return [arrival for arrival in stretch if arrival.kind == kind and arrival.tells]

    def kinds(self) -> list[str]:
        """Return the kinds with changes that may make a difference."""
        return sorted({arrival.kind for arrival in self.arrivals if arrival.tells and arrival.kind})


def _nodes_in(seen: Snapshot | Panic) -> int | None:
    """Return how many nodes a session has; None if there is none."""
    return None if isinstance(seen, Panic) else len(seen.nodes.names)


def _informer(event: Event) -> str:
    """Return the kind of the informer that delivers an event."""
    if EVENT_KINDS[event.kind].effect is Effect.LISTED:
        listing = msgspec.json.decode(event.payload, type=ListObserved)
        pair = (listing.group, listing.listed)
    else:
        pair = (event.reference.group, event.reference.kind)
    return pair[1] if pair in WATCHED else ""


def _held(projector: Projector, event: Event) -> Object | None:
    """Return the version of an event's object that the informer has."""
    kind = WATCHED.get((event.reference.group, event.reference.kind))
    if kind is None:
        return None
    stored: Object | None = projector.cache.stores.get(kind.__name__, key_of(event.reference))
    return stored


def _essence(item: Object) -> tuple[Any, ...]:
    """Return the part of an object that sessions read: without its version, and times of writes."""
    metadata = msgspec.structs.replace(item.metadata, resource_version="")
    if isinstance(item, Pod):
        other_conditions = tuple(
            condition for condition in item.status.conditions if not _is_reason(condition)
        )
        return (
            metadata,
            item.spec,
            msgspec.structs.replace(item.status, conditions=other_conditions),
        )
    if isinstance(item, PodGroup):
        conditions = [
            (condition.type, condition.status, condition.reason, condition.message)
            for condition in item.status.conditions
        ]
        return metadata, item.spec, msgspec.structs.replace(item.status, conditions=()), conditions
    if isinstance(item, Queue):
        # The rest of the status is counts, which change all the time; no decision reads them.
        return metadata, item.spec, item.status.state
    return (msgspec.structs.replace(item, metadata=metadata),)


def _is_reason(condition: PodCondition) -> bool:
    """Return whether a condition says why a pod is pending; sessions write these, and read none."""
    return condition.type == "PodScheduled" and condition.status == "False"


def _about(*versions: Object | None) -> tuple[str, ...]:
    """Return the pod and the PodGroup that versions of an object are about."""
    names: dict[str, None] = {}
    for item in versions:
        if isinstance(item, Pod):
            names[item.key] = None
            names[job_of(item)] = None
        elif isinstance(item, PodGroup):
            names[item.key] = None
    return tuple(name for name in names if name)


def concerns(arrival: Arrival, names: Iterable[str]) -> bool:
    """Return whether a change may be the reason why something came out differently."""
    return arrival.tells and (not arrival.about or any(name in arrival.about for name in names))
