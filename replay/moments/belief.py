"""The scheduler's cache at a moment: reads the log and drives the cache's projector.

A cache depends on its whole history, so a checkpoint of truth cannot replace its beginning: it
continues from a stored belief, or is rebuilt from everything that had happened by the moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.projector import Projector
from ...engine.cache.scheduler_flags import CacheOptions
from ...engine.events import Event, Reference
from ...engine.log.store import NO_REVISION, LogStore
from ...engine.volcano.session.behaviours import Behaviours
from .moment import Moment
from .ordered_events import OrderedEvent, OrderedEvents, had_happened
from .stored_belief import CacheBasis, believed, start_of

Progress = Callable[[int, int], None]


class Follower(Protocol):
    """What the events of a log are applied to, such as a :class:`.Projector`."""

    def apply(self, event: Event, *, position: int, lives_on: Callable[[Reference], bool]) -> None:
        """Apply an event."""


F = TypeVar("F", bound=Follower)

REPORT_EVERY = 1024
"""Events between two reports of progress."""


def belief_at(
    store: LogStore,
    moment: Moment,
    behaviours: Behaviours,
    options: CacheOptions | None = None,
    *,
    use_stored: bool = True,
    progress: Progress | None = None,
) -> SchedulerCache:
    """Return the cache, at a moment, of a scheduler whose informers are never late.

    :param options: flags that the scheduler was started with; by default its default flags.
    :param use_stored: False reads the log from its first event (to test that stored beliefs make no
        difference).
    :param progress: called with (position reached, last position) from time to time.
    """
    return projector_at(
        store, moment, behaviours, options, use_stored=use_stored, progress=progress
    ).cache


def projector_at(
    store: LogStore,
    moment: Moment,
    behaviours: Behaviours,
    options: CacheOptions | None = None,
    *,
    use_stored: bool = True,
    progress: Progress | None = None,
) -> Projector:
    """Return what drives the cache of :func:`belief_at`, to continue from there."""
    start = start_of(store, moment, behaviours) if use_stored and options is None else None
    if start is None:
        return play(store, moment, Projector(behaviours, options), progress=progress)
    return play(store, moment, start.projector, after=start.revision, progress=progress)


def beliefs_along(
    store: LogStore, moments: Sequence[Moment], *several: Behaviours
) -> Iterator[tuple[Moment, Sequence[SchedulerCache]]]:
    """Yield moments in ascending order, each with the caches of releases as of :func:`belief_at`.

    The log is read once. The caches continue to the next moment, so callers must not change them.
    Releases with the same cache behaviour share one.

    :param moments: revisions of one branch, ascending, of what was known by one position.
    """
    if not moments:
        return
    bases = [believed(behaviours) for behaviours in several]
    starts = {
        basis: _begin(store, moments, behaviours)
        for basis, behaviours in zip(bases, several, strict=True)
    }
    events = OrderedEvents(store, moments[-1], min(after for _, after in starts.values()))
    steps = events.steps()
    step = next(steps, None)
    for moment in moments:
        while step is not None and had_happened(step, moment.revision):
            for projector, after in starts.values():
                if after < 0 or not had_happened(step, after):
                    projector.apply(step.event, position=step.position, lives_on=events.lives_on)
            step = next(steps, None)
        yield moment, [starts[basis][0].cache for basis in bases]


def beliefs_until(
    store: LogStore, earlier: Sequence[Moment], moment: Moment, behaviours: Behaviours
) -> Iterator[tuple[Moment, SchedulerCache]]:
    """Yield earlier moments in ascending order, and then a moment, each with the cache as of then.

    The log is read once, from the stored belief before the first of them. The cache continues, so
    callers must not change it.

    :param earlier: revisions before the moment, known by the same position.
    """
    if not earlier:
        yield moment, belief_at(store, moment, behaviours)
        return
    projector, after = _begin(store, [*earlier, moment], behaviours)
    events = OrderedEvents(store, moment, after)
    steps = events.steps()
    step = next(steps, None)
    for then in earlier:
        while step is not None and had_happened(step, then.revision):
            projector.apply(step.event, position=step.position, lives_on=events.lives_on)
            step = next(steps, None)
        yield then, projector.cache
    while step is not None:
        projector.apply(step.event, position=step.position, lives_on=events.lives_on)
        step = next(steps, None)
    yield moment, projector.cache


def _begin(
    store: LogStore, moments: Sequence[Moment], behaviours: Behaviours
) -> tuple[Projector, int]:
    """Return a projector, and the revision up to which it has processed everything."""
    then = msgspec.structs.replace(moments[-1], revision=moments[0].revision)
    start = None if moments[0].revision is None else start_of(store, then, behaviours)
    if start is None:
        return Projector(behaviours), NO_REVISION
    return start.projector, start.revision


class Beliefs:
    """The scheduler caches of releases at one moment, each built when it is first needed.

    Callers must not change the caches.
    """

    def __init__(self, store: LogStore, moment: Moment) -> None:
        self._store, self._moment = store, moment
        self._known: dict[CacheBasis, SchedulerCache] = {}

    def of(self, behaviours: Behaviours) -> SchedulerCache:
        """Return the cache of a release; releases with the same cache behaviour share one."""
        way = believed(behaviours)
        if way not in self._known:
            self._known[way] = belief_at(self._store, self._moment, behaviours)
        return self._known[way]


def play(
    store: LogStore,
    moment: Moment,
    follower: F,
    *,
    after: int = NO_REVISION,
    after_each: Callable[[OrderedEvent], None] | None = None,
    progress: Progress | None = None,
) -> F:
    """Apply everything that had happened by a moment to a follower, and return it.

    :param after: the revision up to which it has processed everything.
    :param after_each: called after every event that it has processed.
    """
    events = OrderedEvents(store, moment, after)
    for number, step in enumerate(events.steps()):
        follower.apply(step.event, position=step.position, lives_on=events.lives_on)
        if after_each is not None:
            after_each(step)
        if progress is not None and number % REPORT_EVERY == 0:
            progress(step.position, moment.known)
    return follower
