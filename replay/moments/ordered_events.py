"""The events that a scheduler's informers get, in the order in which they happened."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import merge
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...engine.cache.projector import WATCHED
from ...engine.events import Effect, Event, Reference, kind_of_version
from ...engine.log.store import NO_REVISION, FoldWindow, LogStore, Query
from ...engine.state.clock import Clock
from ...engine.state.event_columns import EventColumns, concatenate
from ...engine.state.fold import PlacedEvents, in_order, with_lists_in_order
from .contradicting_versions import contradictions
from .later_events import SHOWING, has_later_event
from .later_lists import later_lists
from .log_clock import clock_of, columns_of, placed
from .moment import Moment
from .store_key import StoreKey

Pair = tuple[str, str]
"""API group and kind."""

PAYLOADS_AT_ONCE = 1024

STRETCH = 2_500
"""About how many events a stretch has; a stretch is read as a whole."""

_STEERING = ("control.marked", "process.started")
_CHANGING = (Effect.VERSION, Effect.DELETED, Effect.BOUND, Effect.LISTED)
_VERBS = MappingProxyType({Effect.VERSION: "updated", Effect.DELETED: "deleted"})


class OrderedEvent(NamedTuple):
    """An event in the order in which events happened.

    :param key: twice its revision; events without one are between two revisions.
    :param rank: at equal keys, events of the revision come before those that had happened by then.
    """

    key: int
    rank: int
    position: int
    event: Event


def had_happened(step: OrderedEvent, revision: int | None) -> bool:
    """Return whether a step had happened at a revision; None is the end."""
    return revision is None or step.key <= revision * 2 + (step.rank == 0)


class OrderedEvents:
    """The events for a scheduler from just after a revision up to a moment.

    Stretches end at revisions, so a shorter range has the same events up to its end.
    """

    def __init__(
        self,
        store: LogStore,
        moment: Moment,
        after: int = NO_REVISION,
        *,
        more: Collection[Pair] = (),
    ) -> None:
        """Read them.

        :param more: API groups and kinds besides those that schedulers watch.
        """
        self._store, self._moment, self._after = store, moment, after
        self._watched = frozenset({*WATCHED, *more})
        self._clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
        self._unmade = [later_list.position for later_list in later_lists(store, moment)]
        self._steering = steering(store, moment, self._clock)
        self._stretch: _Stretch | None = None

    def lives_on(self, reference: Reference) -> bool:
        """Return whether a version or deletion of an object follows, even after the moment.

        Only events with a revision count.
        """
        return self._stretch is not None and self._stretch.lives_on(reference)

    def steps(self) -> Iterator[OrderedEvent]:
        """Yield the steps in order."""
        for _, steps in self.stretches():
            yield from steps

    def stretches(self) -> Iterator[tuple[int | None, Iterator[OrderedEvent]]]:
        """Yield the last revision of each stretch (None is the end), and its steps."""
        after, references, last = self._after, dict[int, Reference](), False
        while not last:
            end = self._end(after)
            # Only the last stretch ends at the moment itself, so only there a time counts.
            last = end is None
            moment = self._moment if end is None else _until(self._moment, end)
            until = moment.revision
            loose = placed(self._clock, moment, after=after, until=until, last=last)
            self._stretch = _Stretch(
                # Neighbouring stretches share most objects: their names are read once.
                self._store,
                moment,
                after,
                loose,
                (references, self._watched),
                without=self._unmade,
            )
            references = self._stretch.references
            steered = [step for step in self._steering if _within(step.key, after, until)]
            yield until, merge(self._stretch.changes(), steered, key=itemgetter(0, 1, 2))
            after = NO_REVISION if until is None else until

    def _end(self, after: int) -> int | None:
        """Return the last revision of a stretch; None for the last stretch."""
        moment = self._moment
        window = moment.window(after)
        return self._store.revision_after(window, STRETCH)


def _until(moment: Moment, revision: int) -> Moment:
    return msgspec.structs.replace(moment, revision=revision, time=None)


def _within(key: int, after: int, until: int | None) -> bool:
    return (after < 0 or key > after * 2 + 1) and (until is None or key <= until * 2 + 1)


def steering(store: LogStore, moment: Moment, clock: Clock) -> Sequence[OrderedEvent]:
    """Return the starts of processes and the marks of a scenario, in order."""
    return _steering(StoreKey(store), moment.branch, moment.cluster, moment.known, clock)


@lru_cache(maxsize=2)  # No index finds these events, and each moment needs them more than once.
def _steering(
    store: StoreKey, branch: str, cluster: str, known: int, clock: Clock
) -> list[OrderedEvent]:
    query = Query(branch=branch, cluster=cluster, until=known, kinds=_STEERING)
    steps = [
        OrderedEvent(_place(recorded.event, clock), 0, recorded.position, recorded.event)
        for recorded in store.store.read(query)
    ]
    return sorted(steps, key=itemgetter(0, 2))


def _place(event: Event, clock: Clock) -> int:
    if event.revision is not None:
        return event.revision * 2
    # Nothing says when it was, so it comes before all that has a place.
    if event.observed_at is None:
        return 0
    return clock.revision_at(event.observed_at) * 2 + 1


class _Stretch:
    """The changes after one revision up to another."""

    def __init__(
        self,
        store: LogStore,
        moment: Moment,
        after: int,
        loose: PlacedEvents,
        known: tuple[Mapping[int, Reference], frozenset[Pair]],
        *,
        without: Sequence[int],
    ) -> None:
        self._store, self._moment = store, moment
        self._contents = contradictions(store, moment)
        before, self._kinds = known
        window = FoldWindow(
            branch=moment.branch,
            cluster=moment.cluster,
            known=moment.known,
            after=after,
            until=moment.revision,
            loose=tuple(loose.positions.tolist()),
        )
        columns = concatenate([columns_of(chunk) for chunk in store.scan(window)])
        columns, keys, _ = in_order(columns.without(without) if without else columns, loose)
        lists = np.flatnonzero(columns.effects == Effect.LISTED)
        columns = with_lists_in_order(columns, keys, lists, store.references, self._payload)
        self.references = self._named(np.unique(columns.objects).tolist(), before)
        changing = np.isin(columns.effects, _CHANGING) & self._watched(columns)
        self._rows, self._keys = columns.select(changing), keys[changing]
        self._row = 0
        self._event_kinds: dict[tuple[str, str, int], str] = {}
        self._last: dict[Reference, int] = {}
        shown = (self._rows.revisions >= 0) & np.isin(self._rows.effects, SHOWING)
        dated = np.flatnonzero(shown)
        for row, number in zip(dated.tolist(), self._rows.objects[dated].tolist(), strict=True):
            self._last[self.references[number]] = row

    def _payload(self, position: int) -> bytes:
        return self._store.payloads([position], self._moment.branch)[position]

    def _named(
        self, numbers: Sequence[int], known: Mapping[int, Reference]
    ) -> dict[int, Reference]:
        references = {number: known[number] for number in numbers if number in known}
        references.update(
            self._store.references([number for number in numbers if number not in references])
        )
        return references

    def _watched(self, columns: EventColumns) -> NDArray[np.bool_]:
        known = [
            number
            for number, reference in self.references.items()
            if (reference.group, reference.kind) in self._kinds
        ]
        mask = np.isin(columns.objects, known)
        mask |= columns.effects == Effect.LISTED
        return mask

    def lives_on(self, reference: Reference) -> bool:
        """Return whether a version or deletion of an object follows that has a revision."""
        return self._last.get(reference, -1) > self._row or has_later_event(
            self._store, self._moment, reference
        )

    def changes(self) -> Iterator[OrderedEvent]:
        """Yield the changes; payloads are read a few at a time."""
        rows = self._rows
        for start in range(0, len(rows), PAYLOADS_AT_ONCE):
            stop = min(start + PAYLOADS_AT_ONCE, len(rows))
            positions = rows.positions[start:stop].tolist()
            payloads = self._store.payloads(positions, self._moment.branch)
            steps = zip(
                range(start, stop),
                self._keys[start:stop].tolist(),
                positions,
                rows.objects[start:stop].tolist(),
                rows.effects[start:stop].tolist(),
                rows.revisions[start:stop].tolist(),
                strict=True,
            )
            for row, key, own, number, effect, revision in steps:
                # Before the event is yielded: to apply it, its reader asks what comes after this
                # row.
                self._row = row
                position, payload = self._content(own, number, revision, payloads[own])
                event = self._event(number, effect, revision, payload)
                # An event without a revision does not belong to an earlier revision.
                yield OrderedEvent(key, 2 if revision < 0 else 0, position, event)

    def _content(
        self, position: int, number: int, revision: int, payload: bytes
    ) -> tuple[int, bytes]:
        """Return the position and payload that count of a version that has several contents."""
        if not self._contents:
            return position, payload
        contents = self._contents.get((self.references[number], revision))
        if contents is None or position not in contents.positions:
            return position, payload
        return contents.chosen, self._payload(contents.chosen)

    def _event(self, number: int, effect: int, revision: int, payload: bytes) -> Event:
        reference = self.references[number]
        of = (reference.group, reference.kind, effect)
        kind = self._event_kinds.get(of)
        if kind is None:
            kind = self._event_kinds[of] = _kind(*of)
        return Event(
            kind=kind,
            reference=reference,
            payload=payload,
            revision=revision if revision >= 0 else None,
            cluster=self._moment.cluster,
        )


def _kind(group: str, kind: str, effect: int) -> str:
    """Return the kind of an event by its object and effect."""
    if effect == Effect.LISTED:
        return "list.observed"
    if effect == Effect.BOUND:
        return "pod.bound"
    return kind_of_version(group, kind, _VERBS[Effect(effect)])
