"""Belief at a moment: the shell around the projector, which reads the log for it.

The cache is made anew of all that had happened by the moment. It depends on the way it came to be,
so that no checkpoint of truth can stand for its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..engine.belief.cache import SchedulerCache
from ..engine.belief.options import CacheOptions
from ..engine.belief.projector import WATCHED, Projector
from ..engine.events import Effect, Event, Reference, kind_of_version
from ..engine.log.store import NO_REVISION, LogStore, Query, Window
from ..engine.session.consulted import Consulted
from ..engine.state.columns import Columns, concatenate
from ..engine.state.fold import in_order
from ..engine.volcano.behaviours import Behaviours
from .clock import clock_of, columns_of, placed
from .moment import Moment
from .truth import has_later

PAYLOADS_AT_ONCE = 1024

_STEERING = ("control.marked", "process.started")
_TELLING = (Effect.VERSION, Effect.DELETED, Effect.BOUND, Effect.LISTED)
_VERBS = MappingProxyType({Effect.VERSION: "updated", Effect.DELETED: "deleted"})

Progress = Callable[[int, int], None]

Way: TypeAlias = tuple[tuple[str, Any], ...]
"""The behaviours that a cache asks for, with their values: by these alone beliefs differ."""


class Step(NamedTuple):
    """An event in the order of happening.

    :param key: twice its revision; what has none lies between two revisions.
    """

    key: int
    position: int
    event: Event


def _had_happened(step: Step, moment: Moment) -> bool:
    return moment.revision is None or step.key <= moment.revision * 2 + 1


def belief_at(
    store: LogStore,
    moment: Moment,
    behaviours: Behaviours,
    options: CacheOptions | None = None,
    *,
    progress: Progress | None = None,
) -> SchedulerCache:
    """Return the cache that a scheduler would have at a moment whose informers are never late.

    :param progress: called with (events seen, events in all) now and then.
    """
    return play(store, moment, Projector(behaviours, options), progress=progress).cache


def beliefs_along(
    store: LogStore, moments: Sequence[Moment], *several: Behaviours
) -> Iterator[tuple[Moment, Sequence[SchedulerCache]]]:
    """Yield the moments of one story, each with the caches of releases as :func:`belief_at` makes.

    The log is gone through once. The caches go on to the next moment: nobody else may change them.
    Releases that believe the same share one.

    :param moments: revisions of one branch, ascending, of what was known by one position.
    """
    if not moments:
        return
    ways = [believed(behaviours) for behaviours in several]
    projectors = {way: Projector(behaviours) for way, behaviours in zip(ways, several, strict=True)}
    story = _Story(store, moments[-1])
    steps = story.steps()
    step = next(steps, None)
    for moment in moments:
        while step is not None and _had_happened(step, moment):
            for projector in projectors.values():
                projector.apply(step.event, lives_on=story.lives_on)
            step = next(steps, None)
        yield moment, [projectors[way].cache for way in ways]


def believed(behaviours: Behaviours) -> Way:
    """Return the behaviours that a cache asks for, with their values: by these alone it differs."""
    consulted = Consulted.of(behaviours)
    SchedulerCache(consulted)
    return tuple((name, getattr(consulted.plain, name)) for name in sorted(consulted.names))


class Beliefs:
    """What schedulers of any release believe at one moment, each made when it is asked for.

    Nobody may change the caches.
    """

    def __init__(self, store: LogStore, moment: Moment) -> None:
        self._store, self._moment = store, moment
        self._known: dict[Way, SchedulerCache] = {}

    def of(self, behaviours: Behaviours) -> SchedulerCache:
        """Return the cache of a release; those that believe the same share one."""
        way = believed(behaviours)
        if way not in self._known:
            self._known[way] = belief_at(self._store, self._moment, behaviours)
        return self._known[way]


def play(
    store: LogStore,
    moment: Moment,
    projector: Projector,
    *,
    after_each: Callable[[Step], None] | None = None,
    progress: Progress | None = None,
) -> Projector:
    """Let a projector see everything that had happened by a moment, and return it.

    :param after_each: called after every event that it has seen.
    """
    story = _Story(store, moment)
    for number, step in enumerate(story.steps()):
        projector.apply(step.event, lives_on=story.lives_on)
        if after_each is not None:
            after_each(step)
        if progress is not None and number % PAYLOADS_AT_ONCE == 0:
            progress(number, len(story))
    return projector


class _Story:
    """What the log tells a scheduler, in the order of happening."""

    def __init__(self, store: LogStore, moment: Moment) -> None:
        self._store, self._moment = store, moment
        window = Window(
            branch=moment.branch,
            cluster=moment.cluster,
            known=moment.known,
            until=moment.revision,
        )
        told = concatenate([columns_of(chunk) for chunk in store.scan(window)])
        self._clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
        own = placed(self._clock, moment, after=NO_REVISION, until=moment.revision)
        told, keys, _ = in_order(told, own)
        self._references = store.references(np.unique(told.objects).tolist())
        telling = np.isin(told.effects, _TELLING) & self._watched(told)
        self._rows, self._keys = told.select(telling), keys[telling]
        self._row = 0
        objects = self._rows.objects.tolist()
        self._last = {number: row for row, number in enumerate(objects)}
        self._numbers = {self._references[number].uid: number for number in self._last}

    def __len__(self) -> int:
        return len(self._rows)

    def lives_on(self, reference: Reference) -> bool:
        """Say whether something is still to come of an object, also beyond the moment."""
        last = self._last.get(self._numbers.get(reference.uid, -1), -1)
        return last > self._row or has_later(self._store, self._moment, reference)

    def steps(self) -> Iterator[Step]:
        """Yield what happened; payloads are read a few at a time."""
        return merge(self._changes(), self._steering(), key=itemgetter(0, 1))

    def _watched(self, told: Columns) -> NDArray[np.bool_]:
        known = {
            number
            for number, reference in self._references.items()
            if (reference.group, reference.kind) in WATCHED
        }
        mask = np.isin(told.objects, sorted(known))
        mask |= told.effects == Effect.LISTED
        return mask

    def _changes(self) -> Iterator[Step]:
        rows = self._rows
        for start in range(0, len(rows), PAYLOADS_AT_ONCE):
            stop = min(start + PAYLOADS_AT_ONCE, len(rows))
            positions = rows.positions[start:stop].tolist()
            payloads = self._store.payloads(positions, self._moment.branch)
            for row, position in zip(range(start, stop), positions, strict=True):
                self._row = row
                event = self._event(row, payloads[position])
                yield Step(int(self._keys[row]), position, event)

    def _event(self, row: int, payload: bytes) -> Event:
        reference = self._references[int(self._rows.objects[row])]
        effect = Effect(int(self._rows.effects[row]))
        if effect is Effect.LISTED:
            kind = "list.observed"
        elif effect is Effect.BOUND:
            kind = "pod.bound"
        else:
            kind = kind_of_version(reference.group, reference.kind, _VERBS[effect])
        revision = int(self._rows.revisions[row])
        return Event(
            kind=kind,
            reference=reference,
            payload=payload,
            revision=revision if revision >= 0 else None,
            cluster=self._moment.cluster,
        )

    def _steering(self) -> list[Step]:
        """Return the starts of processes and the marks of a scenario, in their places."""
        moment = self._moment
        query = Query(
            branch=moment.branch, cluster=moment.cluster, until=moment.known, kinds=_STEERING
        )
        steps = [
            Step(self._place(recorded.event), recorded.position, recorded.event)
            for recorded in self._store.read(query)
        ]
        return sorted((step for step in steps if _had_happened(step, moment)), key=itemgetter(0, 1))

    def _place(self, event: Event) -> int:
        if event.revision is not None:
            return event.revision * 2
        if event.observed_at is None:
            return 0
        return self._clock.revision_at(event.observed_at) * 2 + 1
