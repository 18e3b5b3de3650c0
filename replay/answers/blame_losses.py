"""The last event with which something stopped counting in a number, or counted with less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from ...engine.events import KINDS, Effect, Recorded, Reference
from ...engine.events.payloads import ListObserved, PodBound
from ...engine.log.store import Query
from ...engine.state.extract import extract_fact
from ...engine.state.facts import Fact, PodFact
from ...engine.state.log_coverage import Pair
from ...engine.state.truth_fold import Entry
from ..moments.log_clock import clock_of, placed
from ..truth.absences import lists_of
from ..truth.endings import ending_of
from .answering_session import POD
from .blamed import NumberAsked
from .evidence import evidence_of, keys_of
from .records import Evidence

LATER = 20_000
"""How many events after the last addition are searched for one that took some away."""

ASKED = 200
"""How many of the objects that are gone are asked about, those first that lists showed longest."""

_DECODE_BOUND = msgspec.json.Decoder(PodBound).decode


class Summed(NamedTuple):
    """What a number adds up.

    :param amount: what an object adds, by its namespace and its fact; 0 if it does not count.
    """

    pair: Pair
    amount: Callable[[str, object], float]


class LossPlace(NamedTuple):
    """A place in the order of happening.

    :param time: the best estimate, microseconds. :param key: twice the revision. If that of a list
        is a lower bound, times tell more.
    """

    time: int | None
    key: int
    position: int

    def is_after(self, other: LossPlace) -> bool:
        """Return whether it is after another one: by time, at one time by key."""
        if self.time is None or other.time is None or self.time == other.time:
            return self[1:] > other[1:]
        return self.time > other.time


def place_of(ask: NumberAsked, event: Evidence | None) -> LossPlace:
    """Return the place of an event; without one, that before all events."""
    if event is None:
        return LossPlace(None, 0, 0)
    key = keys_of(ask.log, ask.moment, [event])(event)
    return LossPlace(event.estimate, key, event.position)


class Loss(NamedTuple):
    """What an event took away."""

    place: LossPlace
    event: Evidence
    amount: float


def contributors(ask: NumberAsked, summed: Summed) -> list[tuple[Entry, float]]:
    """Return the objects that count at the moment, each with what it adds."""
    entries = ask.log.truth(ask.moment).of(*summed.pair)
    amounts = ((entry, summed.amount(entry.reference.namespace, entry.fact)) for entry in entries)
    return [(entry, amount) for entry, amount in amounts if amount]


def last_loss(ask: NumberAsked, summed: Summed, last: Evidence | None) -> Loss | None:
    """Return the last event that took something away after an addition; None if there is none.

    An object may be gone without an event that deletes it: a complete list lacks it, or another
    one has its name.

    :param last: the last addition; None if nothing counts.
    """
    place = place_of(ask, last)
    after = place.key // 2
    facts = _facts(ask, summed.pair, after)
    latest = None
    for loss in (*_told(ask, summed, after, facts), *_unseen(ask, summed, facts)):
        if loss.place.is_after(place):
            latest, place = loss, loss.place
    return latest


def _facts(ask: NumberAsked, pair: Pair, revision: int) -> dict[Reference, Fact | None]:
    """Return the objects of a kind at an earlier revision."""
    moment = ask.moment
    then = msgspec.structs.replace(moment, revision=revision, time=None, label=f"rv:{revision}")
    return {entry.reference: entry.fact for entry in ask.log.truth(then).of(*pair)}


def _told(
    ask: NumberAsked, summed: Summed, after: int, facts: dict[Reference, Fact | None]
) -> Iterator[Loss]:
    """Yield what the last version or deletion that took something away took.

    :param facts: of each object before; afterwards, as of its last event.
    """
    last_taken: tuple[Recorded, float] | None = None
    for recorded in _changes(ask, summed.pair, after):
        reference, payload = recorded.event.reference, recorded.event.payload
        before = after_it = facts.get(reference)
        effect = KINDS[recorded.event.kind].effect
        if effect is Effect.VERSION:
            after_it = extract_fact(*summed.pair, payload)
        elif effect is Effect.DELETED:
            after_it = None
        elif effect is Effect.BOUND and isinstance(before, PodFact):
            after_it = msgspec.structs.replace(before, node=_DECODE_BOUND(payload).node)
        was, now = (summed.amount(reference.namespace, fact) for fact in (before, after_it))
        # The last one counts, so each replaces the one before it.
        if now < was:
            last_taken = recorded, was - now
        facts[reference] = after_it
    if last_taken is not None:
        (event,) = evidence_of(ask.log, ask.moment, [last_taken[0]])
        yield Loss(place_of(ask, event), event, last_taken[1])


def _changes(ask: NumberAsked, pair: Pair, after: int) -> list[Recorded]:
    """Return the events of a kind after a revision, in the order of happening.

    Inputs may be recorded in another order, so these are sorted.
    """
    moment, store = ask.moment, ask.log.store
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        objects=(pair,),
        revisions=(after + 1, moment.revision),
        limit=LATER,
    )
    keyed = [((recorded.event.revision or 0) * 2, recorded) for recorded in store.read(query)]
    if pair == POD:  # No version shows the node of some bindings.
        clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
        loose = placed(clock, moment, after=after, until=moment.revision)
        keys = dict(zip(loose.positions.tolist(), loose.keys.tolist(), strict=True))
        bound = Query(branch=moment.branch, positions=tuple(keys)[-LATER:])
        undated = store.read(bound) if keys else ()
        keyed += [
            (keys[recorded.position], recorded)
            for recorded in undated
            if KINDS[recorded.event.kind].effect is Effect.BOUND
        ]
    return [recorded for _, recorded in sorted(keyed, key=lambda each: (each[0], each[1].position))]


def _unseen(
    ask: NumberAsked, summed: Summed, facts: Mapping[Reference, Fact | None]
) -> Iterator[Loss]:
    """Yield what went with objects of which no event with a revision shows the end."""
    amounts = {
        reference: summed.amount(reference.namespace, fact) for reference, fact in facts.items()
    }
    there = {entry.reference for entry in ask.log.truth(ask.moment).of(*summed.pair)}
    gone = [reference for reference, amount in amounts.items() if amount and reference not in there]
    # Each of them is looked up in the log: those that were seen last may have gone last.
    if len(gone) > ASKED:
        shown = _last_shown(ask, summed.pair)
        gone.sort(key=lambda reference: shown.get(reference.uid, -1), reverse=True)
        gone = gone[:ASKED]
    for reference in gone:
        ending = ending_of(ask.log.store, ask.moment, reference)
        if ending is not None:
            (event,) = evidence_of(ask.log, ask.moment, [ending.event])
            estimate = ending.span.estimate if ending.request is None else event.estimate
            place = LossPlace(estimate, ending.key, event.position)
            yield Loss(place, event, amounts[reference])


def _last_shown(ask: NumberAsked, pair: Pair) -> dict[str, int]:
    """Return the number of the last list that has each object of a kind, by uid."""
    lists = lists_of(ask.log.store, ask.moment, pair)
    return {
        uid: number
        for number, recorded in enumerate(lists)
        for uid in msgspec.json.decode(recorded.event.payload, type=ListObserved).uids
    }
