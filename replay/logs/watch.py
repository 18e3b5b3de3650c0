"""A watch: changes of objects after a moment, from the log and from what is appended to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from ...engine.events import KINDS, Effect, Recorded, Reference
from ...engine.kubernetes.resources import GroupKind
from ...engine.log.store import Query, TimeCut
from ...engine.state.clock import TimeSpan
from ...engine.state.extract import extract_fact
from ...engine.state.facts import PodFact
from ...engine.state.truth_fold import Entry
from ..moments.moment import Moment
from ..moments.times import with_spans
from .log import Log

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"

Choose = Callable[[Sequence[Entry]], list[Entry]]
"""Returns the objects that are watched."""

_LAST = 2**63 - 1
_LOOSE = frozenset({Effect.BOUND, Effect.DELETED, Effect.LISTED})
"""Events that can happen without a revision."""

_PAYLOADS_AT_ONCE = 512
_Name = tuple[str, str]


class ObjectChange(NamedTuple):
    """One change of an object.

    :param what: ``ADDED``, ``MODIFIED`` or ``DELETED``, as Kubernetes calls it.
    :param entry: the object after the change; of a deleted one, its last state.
    :param moment: the moment of this state; of a deleted object, the last one at which it existed.
    :param when: between which times it happened, as far as the log then knew.
    """

    what: str
    entry: Entry
    moment: Moment
    when: TimeSpan


class Watch:
    """Objects of one kind, and their changes after a moment.

    :param choose: selects the watched objects; one that is no longer selected counts as deleted.
    """

    def __init__(self, log: Log, kind: GroupKind, moment: Moment, choose: Choose) -> None:
        self._log = log
        self._kind = kind
        self._moment = moment
        self._choose = choose
        self._known = moment.known
        truth = log.truth(moment)
        self._time, self._when = truth.time, truth.when
        self._clock = log.clock(moment)
        self._state = {_name(entry.reference): entry for entry in choose(truth.of(*kind))}
        extent = log.store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
        last = extent.last_revision
        self._reached = moment.revision if moment.revision is not None else (last or 0)

    def entries(self) -> list[Entry]:
        """Return the watched objects in their current state, by namespace and name."""
        return [self._state[name] for name in sorted(self._state)]

    def changes(self, *, timeout: float | None = None) -> Iterator[ObjectChange]:
        """Yield changes after the moment: those in the log, then those that are appended.

        In the order in which they happened, if they are appended in that order; events that are
        appended late count only by their effect on the present state.

        :param timeout: end after this many seconds without a change; None never ends.
        """
        # A revision or a time may be before changes that the log holds; a position never is.
        if self._moment.revision is not None:
            yield from self._changes_between(0, self._known)
        while True:
            last = self._log.store.last(self._moment.branch)
            if last > self._known:
                before, self._known = self._known, last
                yield from self._changes_between(before, last)
                continue
            query = self._query(after=self._known, until=None)
            waited = self._log.store.follow(
                msgspec.structs.replace(query, objects=(), limit=1), timeout=timeout
            )
            if next(waited, None) is None:
                return

    def _query(self, *, after: int, until: int | None) -> Query:
        return Query(
            branch=self._moment.branch,
            cluster=self._moment.cluster,
            after=after,
            until=until,
            objects=(self._kind,),
        )

    def _changes_between(self, after: int, until: int) -> Iterator[ObjectChange]:
        """Yield the changes that the events of some positions make."""
        news, late = [], False
        for recorded in self._events(after, until):
            if self._is_shown_by_version(recorded):
                continue
            place = self._place(recorded)
            if place <= self._reached:
                late = late or after > 0
            else:
                # Without payloads, which are read again in portions: a long history would not fit.
                bare = msgspec.structs.replace(
                    recorded, event=msgspec.structs.replace(recorded.event, payload=b"")
                )
                listed = _effect(recorded) is Effect.LISTED
                news.append(((place, listed, recorded.position), bare))
        # A list comes after the changes of its revision: it only shows what they left.
        news.sort(key=lambda item: item[0])
        for start in range(0, len(news), _PAYLOADS_AT_ONCE):
            portion = news[start : start + _PAYLOADS_AT_ONCE]
            positions = [recorded.position for _, recorded in portion]
            payloads = self._log.store.payloads(positions, self._moment.branch)
            for (place, _, position), recorded in portion:
                yield from self._applied(recorded, place, payloads[position])
        placed = [place for (place, _, _), _ in news if place < _LAST]
        self._reached = max(self._reached, *placed, 0)
        if late:
            yield from self._reconciled(self._at(None))

    def _events(self, after: int, until: int) -> Iterator[Recorded]:
        """Yield the events of some positions that may be after the moment."""
        query = self._query(after=after, until=until)
        if after or self._moment.revision is None:
            yield from self._log.store.read(query)
            return
        later = (self._moment.revision + 1, None)
        yield from self._log.store.read(msgspec.structs.replace(query, revisions=later))
        loose = tuple(name for name, info in KINDS.items() if info.effect in _LOOSE)
        begin = None if self._time is None else TimeCut(_LAST, self._time)
        timed = msgspec.structs.replace(query, kinds=loose, happened=(begin, None))
        for recorded in self._log.store.read(timed):
            if recorded.event.revision is None:
                yield recorded

    def _place(self, recorded: Recorded) -> int:
        """Return the revision at which, or after which, an event happened."""
        event = recorded.event
        if event.revision is not None:
            return event.revision
        if event.observed_at is None:
            return _LAST
        place = self._clock.revision_at(event.observed_at)
        # An event without a revision after all that have one is always new.
        return place if recorded.position <= self._moment.known else max(place, self._reached + 1)

    def _is_shown_by_version(self, recorded: Recorded) -> bool:
        """Return whether the log holds the version that a request without a revision made."""
        if recorded.event.revision is not None:
            return False
        spans = self._clock.loose_spans([recorded.position])
        return any(0 < version <= self._known for _, version in spans.values())

    def _at(self, revision: int | None) -> Moment:
        label = f"@{self._known}" if revision is None else f"rv:{revision}"
        return msgspec.structs.replace(
            self._moment, known=self._known, revision=revision, time=None, label=label
        )

    def _applied(self, recorded: Recorded, place: int, payload: bytes) -> Iterator[ObjectChange]:
        event = recorded.event
        self._happened(recorded)
        old = self._state.get(_name(event.reference))
        if old is not None and event.reference.uid not in {"", old.reference.uid}:
            # Of another object with the name, only a version says that the old one is gone.
            if _effect(recorded) is not Effect.VERSION or event.revision is None:
                return
            if old.revision < event.revision:  # An unrecorded deletion.
                yield self._gone(old, place)
            old = None
        match _effect(recorded):
            case Effect.VERSION if event.revision is not None:
                fact = extract_fact(*self._kind, payload)
                entry = Entry(
                    reference=event.reference,
                    position=recorded.position,
                    revision=event.revision,
                    fact=fact,
                )
                if old is None or old.revision < event.revision:
                    yield from self._changed(old, entry, self._at(place))
            case Effect.DELETED if old is not None and old.revision <= place:
                yield self._gone(old, place)
            case Effect.BOUND if old is not None:
                yield from self._bound(old, recorded, place, payload)
            case Effect.LISTED:
                yield from self._reconciled(self._at(place))

    def _happened(self, recorded: Recorded) -> None:
        """Note when the last change was."""
        time = recorded.event.observed_at
        if time is not None:
            self._time = max(self._time or time, time)
        ((_, span),) = with_spans([recorded], self._clock)
        if (span.estimate or 0) >= (self._when.estimate or 0):
            self._when = span

    def _bound(
        self, old: Entry, recorded: Recorded, place: int, payload: bytes
    ) -> Iterator[ObjectChange]:
        """Yield a binding that no version shows yet."""
        node = msgspec.json.decode(payload).get("node", "")
        if node and isinstance(old.fact, PodFact) and not old.fact.node:
            entry = msgspec.structs.replace(
                old,
                fact=msgspec.structs.replace(old.fact, node=node),
                node_bound=node,
                bound_position=recorded.position,
            )
            yield from self._changed(old, entry, self._at(min(place, _LAST)))

    def _changed(self, old: Entry | None, entry: Entry, moment: Moment) -> Iterator[ObjectChange]:
        if not self._choose([entry]):
            if old is not None:
                yield self._gone(old, moment.revision)
            return
        self._state[_name(entry.reference)] = entry
        yield ObjectChange(ADDED if old is None else MODIFIED, entry, moment, self._when)

    def _gone(self, old: Entry, place: int | None) -> ObjectChange:
        del self._state[_name(old.reference)]
        last = old.revision if place is None else max(old.revision, place - 1)
        return ObjectChange(DELETED, old, self._at(last), self._when)

    def _reconciled(self, moment: Moment) -> Iterator[ObjectChange]:
        """Yield changes that were not seen yet: objects absent from a list, or late events."""
        truth = self._log.truth(moment)
        now = {_name(entry.reference): entry for entry in self._choose(truth.of(*self._kind))}
        for name in sorted(self._state.keys() - now.keys()):
            yield self._gone(self._state[name], moment.revision)
        for name, entry in now.items():
            old = self._state.get(name)
            if old is None or old.revision < entry.revision or old.node_bound != entry.node_bound:
                self._state[name] = entry
                yield ObjectChange(ADDED if old is None else MODIFIED, entry, moment, self._when)


def _name(reference: Reference) -> _Name:
    return reference.namespace, reference.name


def _effect(recorded: Recorded) -> Effect:
    return KINDS[recorded.event.kind].effect


def watched(entries: Iterable[Entry], names: frozenset[str]) -> list[Entry]:
    """Return the objects with these names; all if there are no names."""
    return [entry for entry in entries if not names or entry.reference.name in names]
