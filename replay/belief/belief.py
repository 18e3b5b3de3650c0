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
from ..moments.moment import Moment
from ..moments.ordered_events import OrderedEvent, OrderedEvents, had_happened
from .advancing_belief import REPORT_EVERY, Advancing, Progress, begin_before
from .recent_beliefs import RecentBeliefs
from .stored_belief import CacheBasis, believed


class EventFollower(Protocol):
    """What the events of a log are applied to, such as a :class:`.Projector`."""

    def apply(self, event: Event, *, position: int, lives_on: Callable[[Reference], bool]) -> None:
        """Apply an event."""


F = TypeVar("F", bound=EventFollower)


def belief_at(
    store: LogStore,
    moment: Moment,
    behaviours: Behaviours,
    options: CacheOptions | None = None,
    *,
    use_stored: bool = True,
    recent: RecentBeliefs | None = None,
    progress: Progress | None = None,
) -> SchedulerCache:
    """Return the cache, at a moment, of a scheduler whose informers are never late.

    :param options: flags that the scheduler was started with; by default its default flags.
    :param use_stored: False reads the log from its first event (to test that stored beliefs make no
        difference).
    :param recent: beliefs in memory to begin with; this one is added.
    :param progress: called with (position reached, last position) from time to time.
    """
    return projector_at(
        store,
        moment,
        behaviours,
        options,
        use_stored=use_stored,
        recent=recent,
        progress=progress,
    ).cache


def projector_at(
    store: LogStore,
    moment: Moment,
    behaviours: Behaviours,
    options: CacheOptions | None = None,
    *,
    use_stored: bool = True,
    recent: RecentBeliefs | None = None,
    progress: Progress | None = None,
) -> Projector:
    """Return what drives the cache of :func:`belief_at`, to continue from there."""
    if options is None and use_stored:
        return Advancing(store, moment, behaviours, recent, progress).to(moment)
    return play(store, moment, Projector(behaviours, options), progress=progress)


def beliefs_along(
    store: LogStore, moments: Sequence[Moment], *several: Behaviours
) -> Iterator[tuple[Moment, Sequence[SchedulerCache]]]:
    """Yield moments in ascending order, each with the caches of releases as of :func:`belief_at`.

    The log is read once. The caches continue to the next moment, so callers must not change them.
    Releases with the same cache behaviour share one. A cache's ``crash`` is any since the moment
    before.

    :param moments: revisions of one branch, ascending, of what was known by one position.
    """
    if not moments:
        return
    # The first moment as the last one knows it: all are of one position.
    first = msgspec.structs.replace(moments[-1], revision=moments[0].revision)
    bases = [believed(behaviours) for behaviours in several]
    starts = {
        basis: begin_before(store, first, behaviours)
        for basis, behaviours in zip(bases, several, strict=True)
    }
    events = OrderedEvents(store, moments[-1], min(after for _, after in starts.values()))
    steps = events.steps()
    step = next(steps, None)
    for number, moment in enumerate(moments):
        before = {basis: len(projector.crashes) for basis, (projector, _) in starts.items()}
        while step is not None and had_happened(step, moment.revision):
            for projector, after in starts.values():
                # The caches begin at different revisions; one that began later has processed these
                # events.
                if after < 0 or not had_happened(step, after):
                    projector.apply(step.event, position=step.position, lives_on=events.lives_on)
            step = next(steps, None)
        for basis, (projector, _) in starts.items():
            if number and len(projector.crashes) > before[basis]:
                projector.cache.crash = projector.crashes[-1]
        yield moment, [starts[basis][0].cache for basis in bases]
        # What happened between two moments is reported at the second one only.
        for projector, _ in starts.values():
            projector.cache.crash = projector.crashes[-1] if projector.driver.is_down else None


def beliefs_until(
    store: LogStore,
    earlier: Sequence[Moment],
    moment: Moment,
    behaviours: Behaviours,
    *,
    recent: RecentBeliefs | None = None,
) -> Iterator[tuple[Moment, SchedulerCache]]:
    """Yield earlier moments in ascending order, and then a moment, each with the cache as of then.

    The log is read once, from the stored belief before the first of them. The cache continues, so
    callers must not change it.

    :param earlier: revisions before the moment, known by the same position.
    :param recent: beliefs in memory to begin with; these are added.
    """
    advancing = Advancing(store, moment, behaviours, recent)
    for then in (*earlier, moment):
        yield then, advancing.to(then).cache


HELD_PODS = 2_000
"""Caches with no more pods than these together are held until the end; they take some 10 MB."""


class Beliefs:
    """The scheduler caches of releases at moments, each built when it is needed.

    Small ones are held. A large one is let go before the next is built: so ask for all that needs
    one cache before the next, and hold none. Callers must not change the caches.
    """

    def __init__(self, store: LogStore, recent: RecentBeliefs | None = None) -> None:
        self._store, self._recent = store, recent
        self._held: dict[tuple[Moment, CacheBasis], SchedulerCache] = {}

    def of(self, moment: Moment, behaviours: Behaviours) -> SchedulerCache:
        """Return the cache of a release; releases with the same cache behaviour share one."""
        basis = moment, believed(behaviours)
        if basis not in self._held:
            if sum(len(cache.stores.of("Pod")) for cache in self._held.values()) > HELD_PODS:
                self._held.clear()
            self._held[basis] = belief_at(self._store, moment, behaviours, recent=self._recent)
        return self._held[basis]


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
