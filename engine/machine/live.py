"""A cluster that lives on from some moment: components, an API server, and a clock that jumps.

It has the components of a machine, and one order of their steps, the natural one: everything that
is written is delivered before the next session, and a session runs each period. Nothing is kept to
go back to, so a step costs no more than what it does. Where nothing is due, time jumps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from ..controllers.component import Actor
from ..errors import PlinianError
from ..kubernetes.api_errors import Forbidden
from ..kubernetes.api_server import (
    ADDED,
    DELETED,
    ApiServer,
    ApiServerState,
    Document,
    ObjectKey,
    WatchEvent,
    merged,
    place_of,
)
from ..kubernetes.units import format_time
from ..model.panic import Panic
from .live_scheduler import LiveScheduler
from .machine_layout import everything
from .natural import USER
from .scheduler import SCHEDULER, SESSION
from .user import UserAct

MOST_STEPS = 1_000_000
"""After so many steps at one moment, the components are said not to come to rest."""

MOST_PANICS = 10
"""After so many panics of processes, a cluster ends."""

Make = Callable[[], Actor]
Sees = Callable[[str, Document], Document]


class Timed(NamedTuple):
    """A write of a user. :param at: microseconds since 1970."""

    at: int
    act: UserAct


class WrittenObject(NamedTuple):
    """A change of an object. :param before: None if it is new. :param by: the component's name."""

    at: int
    by: str
    change: WatchEvent
    before: Document | None


class Observer(Protocol):
    """What follows a live cluster."""

    def begun(self, server: ApiServer) -> None:
        """Know what exists at the beginning."""

    def note(self, written: WrittenObject) -> None:
        """Note a change of an object."""


class MachineClock:
    """The current time, in microseconds since 1970."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        """Return it."""
        return self.now


class Rhythm(NamedTuple):
    """When sessions run: at some times, and from a first time on each period, in microseconds."""

    first: int
    period: int
    before: tuple[int, ...] = ()

    def from_on(self, time: int) -> int:
        """Return the first session at a time or after it."""
        at = bisect_left(self.before, time)
        if at < len(self.before):
            return self.before[at]
        late = max(time - self.first, 0)
        return self.first + -(-late // self.period) * self.period


class ComponentMember(NamedTuple):
    """How a component is made.

    :param make: makes one that has just started. :param lists: it is given what exists when it
        starts; else it knows that already. :param sees: what it sees of an object.
    """

    make: Make
    lists: bool = True
    sees: Sees = everything


class LiveCluster:
    """Components that act until some time.

    :param members: the components by name, in the order in which they work; one is the scheduler.
    :param existing: the objects at the beginning, with their uids and versions.
    :param observer: is shown each change of an object.
    :param classes_known: whether a priority class that does not exist at the beginning is known not
        to: the API server refuses pods that name it.
    :ivar sessions: how many sessions were due. :ivar ran: how many of them were run: for the
        others it is known that they decide nothing.
    :ivar panics: when processes panicked, and the messages.
    """

    def __init__(
        self,
        clock: MachineClock,
        members: Mapping[str, ComponentMember],
        existing: Iterable[Document],
        rhythm: Rhythm,
        observer: Observer,
        *,
        classes_known: bool = False,
    ) -> None:
        self.clock = clock
        self._members = members
        self._observer = observer
        self._rhythm = rhythm
        self.server = server_of(existing, clock, classes_known=classes_known)
        self._held = dict(self.server.kept().objects)
        observer.begun(self.server)
        self._actors = {name: member.make() for name, member in members.items()}
        self._changes: deque[tuple[int, WatchEvent]] = deque()
        self._written = 0
        self._listed: dict[str, int] = {}
        """Of processes that started again: the last change by then, which they know of."""
        self._busy = dict.fromkeys(self._actors, True)
        self.sessions = self.ran = 0
        self.panics: list[tuple[int, str]] = []
        for name, member in members.items():
            if member.lists:
                self._list(name)
        self._settle()

    @property
    def scheduler(self) -> LiveScheduler:
        """The scheduler's process."""
        scheduler = self._actors[SCHEDULER]
        assert isinstance(scheduler, LiveScheduler)
        return scheduler

    @property
    def ended(self) -> bool:
        """Whether processes panic again and again."""
        return len(self.panics) >= MOST_PANICS

    def write(self, act: UserAct) -> None:
        """Let a user write; what does not exist is neither changed nor deleted."""
        write_to(self.server, act)
        self._take(USER)
        self._settle()

    def run(
        self,
        until: int,
        writes: Sequence[Timed] = (),
        after_each: Callable[[], None] | None = None,
        done: Callable[[], bool] = lambda: False,
    ) -> None:
        """Run until a time, with these writes of users, or until processes panic again and again.

        :param writes: by time. :param after_each: is called after each session.
        :param done: whether nothing that follows matters, so that the run may end at once.
        """
        begin = self.clock.now
        self._run(until, deque(writes), after_each, done)
        # If the process panics for the last time, the session of that moment was run, but it is not
        # before the end.
        self.sessions = max(self._sessions_until(begin, self.clock.now), self.ran)

    def _run(
        self,
        until: int,
        left: deque[Timed],
        after_each: Callable[[], None] | None,
        done: Callable[[], bool],
    ) -> None:
        # A session may be due at the very moment of the beginning.
        last = self.clock.now - 1
        while not (self.ended or done()):
            session = self._rhythm.from_on(max(self.clock.now, last + 1))
            assert session > last, "there is one session at a moment"
            times = [until, *((left[0].at,) if left else ())]
            # The next session is known to decide nothing, so time may jump over it.
            if not self.scheduler.idle:
                times.append(session)
            due = self._due()
            assert due is None or due >= 0, "what is due is ready as soon as time has passed"
            if due is not None:
                times.append(self.clock.now + due)
            self._advance(max(min(times), self.clock.now))
            while left and left[0].at <= self.clock.now:
                # What the API server refuses a user leaves everything as it is.
                with suppress(Forbidden):
                    self.write(left.popleft().act)
            self._settle()
            if self.clock.now >= until:
                return
            if self.clock.now == session and not self.scheduler.idle:
                self._session()
                last = session
                if after_each is not None:
                    after_each()

    def _sessions_until(self, begin: int, until: int) -> int:
        """Return how many sessions are due from one time until before another."""
        first, period, before = self._rhythm
        known = bisect_left(before, until) - bisect_left(before, begin)
        return known + max(-(-(until - first) // period), 0)

    def _session(self) -> None:
        self.ran += 1
        self._do(SCHEDULER, SESSION)
        self._settle()

    def _settle(self) -> None:
        """Deliver all that was written, and let workers work, until nothing is left to do."""
        for _ in range(MOST_STEPS):
            while self._changes:
                self._deliver(*self._changes.popleft())
            name = next(iter(self._busy), None)
            if name is None:
                return
            step = next(
                (candidate for candidate in self._actors[name].steps() if candidate != SESSION),
                None,
            )
            # It is looked at again when something is delivered to it or becomes due.
            if step is None:
                del self._busy[name]
            else:
                self._do(name, step)
        raise PlinianError(
            f"the components do not come to rest at {format_time(self.clock.now)}",
            now="begin at another moment, or without the object that they restart for ever",
        )

    def _do(self, name: str, step: str) -> None:
        self._busy[name] = True
        try:
            self._actors[name].step(step, self.server)
        except Panic as panic:
            self._take(name)
            self._restart(name, panic)
        else:
            self._take(name)

    def _deliver(self, number: int, change: WatchEvent) -> None:
        for name in self._actors:
            if number > self._listed.get(name, 0):
                self._show(name, change)

    def _show(self, name: str, change: WatchEvent) -> None:
        actor = self._actors[name]
        if change.kind not in actor.kinds:
            return
        self._busy[name] = True
        seen = self._members[name].sees(change.kind, change.document)
        try:
            actor.deliver(change.verb, change.kind, change.key, seen, self.server)
        except Panic as panic:
            self._restart(name, panic)
        self._take(name)

    def _restart(self, name: str, panic: Panic) -> None:
        self.panics.append((self.clock.now, f"{name}: {panic}"))
        if not self.ended:
            self._actors[name] = self._members[name].make()
            # The list has all that was written so far, so those changes are not delivered to it
            # again.
            self._listed[name] = self._written
            self._list(name)

    def _list(self, name: str) -> None:
        """Let a component that starts see all objects."""
        for kind in self._actors[name].kinds:
            for document in self.server.list(kind):
                place = place_of(document)
                self._show(name, WatchEvent(ADDED, kind, place.key, document))

    def _take(self, name: str) -> None:
        """Note what a component wrote."""
        for change in self.server.take_changes():
            place = ObjectKey(change.kind, change.key)
            before = self._held.get(place)
            assert (before is None) == (change.verb == ADDED), "only what exists changes or goes"
            if change.verb == DELETED:
                self._held.pop(place, None)
            else:
                self._held[place] = change.document
            self._written += 1
            self._changes.append((self._written, change))
            self._observer.note(WrittenObject(self.clock.now, name, change, before))

    def _due(self) -> int | None:
        delays = (actor.due() for actor in self._actors.values())
        return min((due for due in delays if due is not None), default=None)

    def _advance(self, to: int) -> None:
        by = to - self.clock.now
        assert by >= 0, "time does not run backwards"
        if not by:
            return
        self.clock.now = to
        for name, actor in self._actors.items():
            due = actor.due()
            actor.advance(by)
            if due is not None and due <= by:
                self._busy[name] = True


def write_to(server: ApiServer, act: UserAct) -> None:
    """Let a user write; what does not exist is neither changed nor deleted."""
    verb, document = act.verb, _unversioned(act.document)
    place = place_of(document)
    existing = server.find(*place)
    if verb == ADDED and existing is None:
        server.create(document)
    elif verb == DELETED and existing is not None:
        server.delete(*place)
    elif verb != DELETED and existing is not None:
        server.update(merged(existing, document))
        # A status is written by itself: an update of the object leaves it as it is.
        if document.get("status"):
            server.update(merged(server.get(*place), document), status=True)


def _unversioned(document: Document) -> Document:
    metadata = {k: value for k, value in document["metadata"].items() if k != "resourceVersion"}
    return {**document, "metadata": metadata}


def server_of(
    existing: Iterable[Document], clock: MachineClock, *, classes_known: bool = False
) -> ApiServer:
    """Return a server with objects as they are; the next version of each has a higher number."""
    objects = {place_of(document): document for document in existing}
    versions = tuple((place, _version(document)) for place, document in sorted(objects.items()))
    state = ApiServerState(tuple(sorted(objects.items(), key=_place)), versions, ())
    return ApiServer(state, clock, classes_known=classes_known)


def _place(item: tuple[ObjectKey, Document]) -> ObjectKey:
    return item[0]


def _version(document: Document) -> int:
    version = str(document["metadata"].get("resourceVersion", ""))
    return int(version) if version.isascii() and version.isdigit() else 0
