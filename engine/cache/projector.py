"""Build the scheduler's cache from the events of a log, one event after the other.

Every event reaches the cache at once, and every worker runs after it: this is the cache of a
scheduler whose informers are never late. Read in the order in which things happened, such a cache
differs from the API server only because of the handlers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..events import KINDS as EVENT_KINDS
from ..events import Effect, Event, Reference
from ..events.complete_lists import CompleteLists
from ..events.payloads import ControlMarked, ListObserved, PodBound, ProcessStarted
from ..kubernetes.objects import KINDS, Object, Pod, Undecodable, decode
from ..model.panic import Panic
from ..model.task import GROUP_NAME
from .cache import SchedulerCache
from .driver import CacheDriver
from .informers import Undecoded
from .scheduler_flags import CacheOptions

if TYPE_CHECKING:
    from ..volcano.session.behaviours import Behaviours

WATCHED: Mapping[tuple[str, str], type[Object]] = MappingProxyType(
    {
        (group, name): KINDS[name]
        for group, names in (
            ("", ("Node", "Pod", "Namespace", "ResourceQuota", "Service")),
            ("", ("PersistentVolume", "PersistentVolumeClaim", "ReplicationController")),
            ("apps", ("ReplicaSet", "StatefulSet")),
            ("policy", ("PodDisruptionBudget",)),
            ("scheduling.k8s.io", ("PriorityClass",)),
            ("storage.k8s.io", ("StorageClass", "CSINode")),
            ("scheduling.volcano.sh", ("PodGroup", "Queue")),
            ("topology.volcano.sh", ("HyperNode",)),
            ("nodeinfo.volcano.sh", ("Numatopology",)),
            ("resource.k8s.io", ("ResourceClaim", "DeviceClass", "ResourceSlice")),
        )
        for name in names
    }
)
"""API group and kind of what the scheduler watches."""

_SCHEDULER = "scheduler"


def _never(_: Reference) -> bool:
    return False


class Origin(NamedTuple):
    """An object, and the position of the event with it, so that it need not be stored again."""

    item: Object
    position: int


class Projector:
    """Delivers the events of a log to one scheduler; when its process panics, a new one starts.

    :ivar driver: drives the cache of the current process.
    :ivar crashes: the panics that ended processes, in order.
    :ivar lists: what complete lists show.
    :ivar taken_out: the objects that the last event removed because a list lacked them.
    :ivar origins: by kind and key, the last version delivered of each object.
    """

    def __init__(self, behaviours: Behaviours, options: CacheOptions | None = None) -> None:
        self.driver = CacheDriver(behaviours, options)
        self.crashes: list[Panic] = []
        self.lists = CompleteLists()
        self.origins: dict[str, dict[str, Origin]] = {kind: {} for kind in KINDS}
        self.taken_out: list[Reference] = []
        self._position = 0

    @property
    def cache(self) -> SchedulerCache:
        """The cache of the current process, after all applied events."""
        return self.driver.cache

    @property
    def size(self) -> int:
        """How many objects were delivered and not deleted since."""
        return sum(map(len, self.origins.values()))

    def apply(
        self,
        event: Event,
        *,
        position: int = 0,
        lives_on: Callable[[Reference], bool] = _never,
    ) -> None:
        """Deliver an event to the scheduler; events that it does not watch are skipped.

        :param position: the event's position in its log; 0 if it is in none.
        :param lives_on: returns whether an object has later versions; see
            :meth:`.CompleteLists.gone`.
        """
        reference, effect = event.reference, EVENT_KINDS[event.kind].effect
        self._position, self.taken_out = position, []
        try:
            if effect is Effect.LISTED:
                self._apply_list(msgspec.json.decode(event.payload, type=ListObserved), lives_on)
            elif effect in {Effect.VERSION, Effect.DELETED, Effect.BOUND}:
                kind = WATCHED.get((reference.group, reference.kind))
                if kind is not None:
                    self._hear()
                    self._change(kind, effect, reference, event.payload)
                    if self.lists.goes(reference, lives_on):
                        self._take_out(reference)
            elif event.kind == "control.marked":
                self._control(msgspec.json.decode(event.payload, type=ControlMarked).control)
            elif event.kind == "process.started":
                started = msgspec.json.decode(event.payload, type=ProcessStarted)
                if started.component == _SCHEDULER:
                    self._hear()
                    self.driver.restart(options_of(started.flags))
        except Panic as panic:
            about = f"{reference.kind} {key_of(reference)}".strip()
            self._end(panic.while_it(f"it handles {about} ({event.kind})"))

    def _hear(self) -> None:
        """Note that a process that runs takes another delivery."""
        if not self.driver.is_down:
            self.driver.cache.start_again()

    def _end(self, panic: Panic) -> None:
        """Note a panic, and start a new process; one that cannot start stays down."""
        if not self.driver.is_down:
            self.crashes.append(panic)
            try:
                self.driver.restart()
            except Panic as again:
                panic = again
                self.crashes.append(again)
        self.driver.cache.crash = panic

    def begin(self, options: CacheOptions, handled: int | None) -> list[tuple[Reference, Origin]]:
        """Start a new process whose handlers may have handled its first nodes only.

        :param handled: how many; informers list nodes by name, and handlers keep that order. None
            is all.
        :return: the others, to be delivered later.
        """
        late: list[str] = []
        try:
            self.driver.restart(options)
            if handled is not None:
                late = sorted(self.driver.cache.snapshot().nodes.names)[handled:]
            if late:
                # The first start shows which nodes a session sees. Their handlers run by name, so
                # the first names are those that were handled.
                self.driver.restart(options, without=frozenset(late))
        except Panic as panic:
            self._end(panic)
        origins = [self.origins["Node"][name] for name in late]
        return [
            (Reference("", "Node", "", origin.item.name, origin.item.uid), origin)
            for origin in origins
        ]

    def _change(
        self, kind: type[Object], effect: Effect, reference: Reference, payload: bytes
    ) -> None:
        stores, key = self.driver.cache.stores, key_of(reference)
        stored = stores.get(kind.__name__, key)
        try:
            if effect is Effect.VERSION:
                item = decode(kind, payload)
                stores.undecoded.pop((kind.__name__, key), None)
                # Before the delivery: if its handler panics, the store has the object all the same.
                if self._position:
                    self.origins[kind.__name__][item.key] = Origin(item, self._position)
                self.driver.deliver(kind.__name__, item)
            elif effect is Effect.DELETED:
                stores.undecoded.pop((kind.__name__, key), None)
                last = decode(kind, payload)
                # Some inputs report a deletion without the object: handlers then get what the store
                # has.
                self._delete(kind.__name__, stored, reference, last if last.name else stored)
            else:
                self._bind(stored, reference, payload)
        except (Undecodable, ValueError) as fault:
            if effect is Effect.VERSION:
                stores.undecoded[kind.__name__, key] = _undecoded(reference, fault, payload)
        self.driver.work()

    def _delete(
        self, kind: str, stored: Object | None, reference: Reference, last: Object | None
    ) -> None:
        """Remove the object, but not a newer one of its name.

        :param last: the version that the handlers get.
        """
        if stored is not None and last is not None and reference.uid in {"", stored.uid}:
            self.origins[kind].pop(last.key, None)
            self.driver.deliver_deletion(kind, last)

    def _bind(self, pod: Object | None, reference: Reference, payload: bytes) -> None:
        """Set the node of a pod, if no version of the pod names it."""
        if not isinstance(pod, Pod) or pod.spec.node_name or reference.uid not in {"", pod.uid}:
            return
        node = msgspec.json.decode(payload, type=PodBound).node
        if node:
            spec = msgspec.structs.replace(pod.spec, node_name=node)
            self.driver.deliver("Pod", msgspec.structs.replace(pod, spec=spec))

    def _apply_list(self, listing: ListObserved, lives_on: Callable[[Reference], bool]) -> None:
        """Remove the objects that a complete list lacks."""
        kind = WATCHED.get((listing.group, listing.listed))
        if kind is None:
            return
        self._hear()
        stores = self.driver.cache.stores
        unread = [
            undecoded for (of, _), undecoded in stores.undecoded.items() if of == kind.__name__
        ]
        # An object that could not be decoded exists all the same, so a list may lack it, too.
        existing = chain(stores.of(kind.__name__).values(), unread)
        for reference in self.lists.gone(listing, existing, lives_on, self._position):
            self._take_out(reference)

    def _take_out(self, reference: Reference) -> None:
        """Remove an object that a list lacked."""
        self.taken_out.append(reference)
        self.driver.cache.stores.undecoded.pop((reference.kind, key_of(reference)), None)
        stored = self.driver.cache.stores.get(reference.kind, key_of(reference))
        self._delete(reference.kind, stored, reference, stored)
        self.driver.work()

    def _control(self, control: str) -> None:
        self._hear()
        driver = self.driver
        if control == "RESTART":
            driver.restart()
        elif control == "CLEANUP_STEP":
            driver.clean_up()
        elif control in {"CLEANUP_HOLD", "CLEANUP_RUN"}:
            driver.holds_cleanup = control == "CLEANUP_HOLD"
            driver.work()


def options_of(flags: Mapping[str, str]) -> CacheOptions:
    """Return the options in a scheduler's logged command line.

    Source: cmd/scheduler/app/options/options.go AddFlags.
    """
    default = CacheOptions()
    names = _texts(flags.get("scheduler-name", ""))
    return default._replace(
        scheduler_names=names or default.scheduler_names,
        default_queue=flags.get("default-queue", "") or default.default_queue,
        node_selectors=frozenset(_texts(flags.get("node-selector", ""))),
        ignored_provisioners=frozenset(_texts(flags.get("ignored-provisioners", ""))),
        priority_classes=flags.get("priority-class", "true") != "false",
    )


def _texts(flag: str) -> tuple[str, ...]:
    """Return the elements of a list as Go prints it: ``[volcano,other]``."""
    inner = flag.strip('"').removeprefix("[").removesuffix("]")
    return tuple(text.strip() for text in inner.replace(" ", ",").split(",") if text.strip())


def _undecoded(about: Reference, fault: Exception, payload: bytes) -> Undecoded:
    words = fault.fault if isinstance(fault, Undecodable) else str(fault)
    document, within = msgspec.json.decode(payload), ""
    if about.kind == "Pod":
        group = _text_at(document, "metadata", "annotations", GROUP_NAME)
        within = f"{about.namespace}/{group}" if group else ""
    elif about.kind == "PodGroup":
        within = _text_at(document, "spec", "queue")
    return Undecoded(about.namespace, about.name, about.uid, words, within)


def _text_at(document: Any, *path: str) -> str:
    """Return a text of a document that cannot be decoded; empty if there is none."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, str) else ""


def key_of(reference: Reference) -> str:
    """Return an object's key in the informers' stores."""
    namespace, name = reference.namespace, reference.name
    return f"{namespace}/{name}" if namespace else name
