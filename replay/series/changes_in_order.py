"""Changes of objects in the order in which they happened: one pass, holding only what exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from ...engine.events import KINDS, Effect, Event, Reference
from ...engine.events.complete_lists import CompleteLists
from ...engine.events.payloads import ListObserved, PodBound
from ...engine.state.extract import extract_fact
from ...engine.state.facts import Fact, PodFact
from ..logs.log import Log, Progress
from ..moments.moment import Moment
from ..moments.ordered_events import OrderedEvent, OrderedEvents

POD = ("", "Pod")
NODE = ("", "Node")
QUEUE = ("scheduling.volcano.sh", "Queue")
PODGROUP = ("scheduling.volcano.sh", "PodGroup")
KINDS_FOLLOWED = frozenset({POD, NODE, QUEUE, PODGROUP})

_REPORT_EVERY = 1024
"""Events between two reports of progress."""

_Name = tuple[str, str, str, str]


class StateChange(NamedTuple):
    """A change of one object.

    :param time: microseconds since 1970. :param before: and ``now``: its facts, None if it does
        not exist. A pod has the node of its binding, also before a version shows it.
    """

    time: int
    reference: Reference
    before: Fact | None
    now: Fact | None


Extract = Callable[[str, str, bytes], Fact]


def changes(
    log: Log,
    moment: Moment,
    progress: Progress | None = None,
    *,
    extract: Extract = extract_fact,
) -> Iterator[StateChange]:
    """Yield the changes of nodes, pods, PodGroups and queues up to a moment.

    What exists after the last one is what :meth:`Log.truth` returns for the moment.

    :param progress: called with (position, last position).
    :param extract: returns the fact of an object by group, kind and payload; what it leaves out is
        no change.
    """
    state, dated = _Held(extract), _Dated(log, moment)
    events = OrderedEvents(log.store, moment)
    reached = 0
    for number, step in enumerate(events.steps()):
        reached = max(reached, step.position)
        if progress is not None and number % _REPORT_EVERY == 0:
            progress(reached, moment.known)
        yield from state.take(step, dated, events.lives_on)
    if progress is not None:
        progress(moment.known, moment.known)


class _Dated:
    """The time of each step; never before that of the step before."""

    def __init__(self, log: Log, moment: Moment) -> None:
        self._clock = log.clock(moment)
        self._time_of = self._clock.rising()
        self._last, self._key = 0, -2

    def time_of(self, step: OrderedEvent) -> int:
        loose = step.event.revision is None
        if step.key == self._key and not loose:
            return self._last
        span = self._clock.loose_spans([step.position]).get(step.position) if loose else None
        known = self._time_of(step.key // 2) if span is None else span[0].estimate
        self._last, self._key = max(self._last, known or 0), step.key
        return self._last


class _Held:
    """What exists, by name; the rules are those of :class:`plinian.engine.state.Fold`."""

    def __init__(self, extract: Extract) -> None:
        self._extract = extract
        self._facts: dict[_Name, tuple[Reference, int, Fact]] = {}
        self._lists = CompleteLists()

    def take(
        self, step: OrderedEvent, dated: _Dated, lives_on: Callable[[Reference], bool]
    ) -> Iterator[StateChange]:
        """Take the next event, and yield what it changes."""
        event = step.event
        effect, reference = KINDS[event.kind].effect, event.reference
        if effect is Effect.LISTED:
            yield from self._list(event, dated.time_of(step), lives_on)
        elif (reference.group, reference.kind) not in KINDS_FOLLOWED:
            return
        elif effect is Effect.VERSION:
            yield from self._version(step, dated.time_of(step))
        elif effect is Effect.DELETED:
            yield from self._delete(step, dated.time_of(step))
        elif effect is Effect.BOUND:
            yield from self._bind(step, dated.time_of(step))
        # A list with a lower bound as revision came before this event, but it was made after it.
        if self._lists.goes(reference, lives_on):
            yield from self._gone(reference, dated.time_of(step))

    def _version(self, step: OrderedEvent, time: int) -> Iterator[StateChange]:
        reference, name = step.event.reference, _name(step.event.reference)
        fact = self._extract(reference.group, reference.kind, step.event.payload)
        before, known = None, self._facts.get(name)
        if known is not None:
            if known[0].uid == reference.uid:
                before = known[2]
            # It is of an object that had the name before: its place is before that of the one known
            # here.
            elif known[1] > step.key:
                return
            else:  # Another object had the name, and its deletion was not seen.
                yield StateChange(time, known[0], known[2], None)
        self._facts[name] = (reference, step.key, fact)
        if fact != before:
            yield StateChange(time, reference, before, fact)

    def _delete(self, step: OrderedEvent, time: int) -> Iterator[StateChange]:
        reference = step.event.reference
        known = self._facts.get(_name(reference))
        # Later than the known version: under another uid, too, that object is gone.
        if known is not None and (known[0].uid == reference.uid or known[1] < step.key):
            del self._facts[_name(reference)]
            yield StateChange(time, known[0], known[2], None)

    def _bind(self, step: OrderedEvent, time: int) -> Iterator[StateChange]:
        reference, name = step.event.reference, _name(step.event.reference)
        known = self._facts.get(name)
        # A binding that is older than the known version says nothing that this does not.
        if known is None or known[1] >= step.key or reference.uid not in {"", known[0].uid}:
            return
        fact = known[2]
        node = msgspec.json.decode(step.event.payload, type=PodBound).node
        if isinstance(fact, PodFact) and not fact.node and node:
            bound = msgspec.structs.replace(fact, node=node)
            self._facts[name] = (known[0], known[1], bound)
            yield StateChange(time, known[0], fact, bound)

    def _list(
        self, event: Event, time: int, lives_on: Callable[[Reference], bool]
    ) -> Iterator[StateChange]:
        listing = msgspec.json.decode(event.payload, type=ListObserved)
        pair = (listing.group, listing.listed)
        if pair not in KINDS_FOLLOWED:
            return
        references = [
            reference for name, (reference, _, _) in self._facts.items() if name[:2] == pair
        ]
        for reference in self._lists.gone(listing, references, lives_on):
            yield from self._gone(reference, time)

    def _gone(self, reference: Reference, time: int) -> Iterator[StateChange]:
        """Remove an object that a list lacked, unless another one has its name."""
        known = self._facts.get(_name(reference))
        if known is not None and known[0].uid == reference.uid:
            del self._facts[_name(reference)]
            yield StateChange(time, reference, known[2], None)


def _name(reference: Reference) -> _Name:
    return (reference.group, reference.kind, reference.namespace, reference.name)
