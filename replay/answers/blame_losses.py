"""The last event with which something stopped counting in a number, or counted with less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from ...engine.events import KINDS, Effect, Recorded, Reference
from ...engine.events.payloads import ListObserved
from ...engine.log.store import Query
from ...engine.state.extract import extract_fact
from ...engine.state.log_coverage import Pair
from ...engine.state.truth_fold import Entry
from ..truth.absences import lists_of
from ..truth.endings import ending_of
from .blamed import NumberAsked
from .evidence import evidence_of
from .records import Evidence

LATER = 20_000
"""How many events after the last addition are searched for one that took some away."""

ASKED = 200
"""How many of the objects that are gone are asked about, those first that lists showed longest."""

_CHANGING = frozenset({Effect.VERSION, Effect.DELETED})


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


def place_of(event: Evidence | None) -> LossPlace:
    """Return the place of an event; without one, that before all events."""
    if event is None:
        return LossPlace(None, 0, 0)
    return LossPlace(event.estimate, (event.revision or 0) * 2, event.position)


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
    after = 0 if last is None or last.revision is None else last.revision
    before = _held(ask, summed, after)
    latest, place = None, place_of(last)
    for loss in (*_told(ask, summed, after, before), *_unseen(ask, summed, before)):
        if loss.place.is_after(place):
            latest, place = loss, loss.place
    return latest


def _held(ask: NumberAsked, summed: Summed, revision: int) -> dict[Reference, float]:
    """Return what each object added at an earlier revision."""
    then = msgspec.structs.replace(ask.moment, revision=revision, time=None, label=f"rv:{revision}")
    earlier = contributors(msgspec.structs.replace(ask, moment=then), summed)
    return {entry.reference: amount for entry, amount in earlier}


def _told(
    ask: NumberAsked, summed: Summed, after: int, amounts: dict[Reference, float]
) -> Iterator[Loss]:
    """Yield what the last version or deletion that took something away took.

    :param held: what each object added before; afterwards, what it did with its last event.
    """
    query = Query(
        branch=ask.moment.branch,
        cluster=ask.moment.cluster,
        until=ask.moment.known,
        objects=(summed.pair,),
        revisions=(after + 1, ask.moment.revision),
        limit=LATER,
    )
    # Inputs may be recorded in another order than that of happening, which revisions have.
    last_taken: tuple[Recorded, float] | None = None
    for recorded in sorted(ask.log.store.read(query), key=_revision):
        effect = KINDS[recorded.event.kind].effect
        if effect not in _CHANGING:
            continue
        reference = recorded.event.reference
        was, now = amounts.get(reference, 0.0), 0.0
        if effect is Effect.VERSION:
            fact = extract_fact(*summed.pair, recorded.event.payload)
            now = summed.amount(reference.namespace, fact)
        # The last one counts, so each replaces the one before it.
        if now < was:
            last_taken = recorded, was - now
        amounts[reference] = now
    if last_taken is not None:
        (event,) = evidence_of(ask.log, ask.moment, [last_taken[0]])
        yield Loss(place_of(event), event, last_taken[1])


def _unseen(ask: NumberAsked, summed: Summed, amounts: dict[Reference, float]) -> Iterator[Loss]:
    """Yield what went with objects of which no event with a revision shows the end."""
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


def _revision(recorded: Recorded) -> int:
    return recorded.event.revision or 0
