"""The scheduler's cache at a moment: reads the log for the projector.

The cache depends on its history, so a checkpoint of truth cannot be its start: it goes on from a
stored belief, or is rebuilt from everything that had happened by the moment.
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
from .stored_belief import CacheBasis, believed, start_of
from .story import Story, StoryStep, had_happened

Progress = Callable[[int, int], None]


class Follower(Protocol):
    """What the events of a log are applied to, such as a :class:`.Projector`."""

    def apply(self, event: Event, *, position: int, lives_on: Callable[[Reference], bool]) -> None:
        """Apply an event."""


F = TypeVar("F", bound=Follower)

TOLD_EVERY = 1024
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
    """Return the cache that a scheduler would have at a moment whose informers are never late.

    :param options: flags that the scheduler began with; by default its own defaults.
    :param use_stored: False reads the log from its first event (tests prove that this makes no
        difference).
    :param progress: called with (position reached, last position) from time to time.
    """
    start = start_of(store, moment, behaviours) if use_stored and options is None else None
    if start is None:
        return play(store, moment, Projector(behaviours, options), progress=progress).cache
    projector = start.projector
    return play(store, moment, projector, after=start.revision, progress=progress).cache


def beliefs_along(
    store: LogStore, moments: Sequence[Moment], *several: Behaviours
) -> Iterator[tuple[Moment, Sequence[SchedulerCache]]]:
    """Yield the moments of one story, each with the caches of releases as :func:`belief_at` makes.

    The log is read once. The caches go on to the next moment: other code must not change them.
    Releases whose caches are the same share one.

    :param moments: revisions of one branch, ascending, of what was known by one position.
    """
    if not moments:
        return
    bases = [believed(behaviours) for behaviours in several]
    starts = {
        basis: _begin(store, moments, behaviours)
        for basis, behaviours in zip(bases, several, strict=True)
    }
    story = Story(store, moments[-1], min(after for _, after in starts.values()))
    steps = story.steps()
    step = next(steps, None)
    for moment in moments:
        while step is not None and had_happened(step, moment.revision):
            for projector, after in starts.values():
                if after < 0 or not had_happened(step, after):
                    projector.apply(step.event, position=step.position, lives_on=story.lives_on)
            step = next(steps, None)
        yield moment, [starts[basis][0].cache for basis in bases]


def _begin(
    store: LogStore, moments: Sequence[Moment], behaviours: Behaviours
) -> tuple[Projector, int]:
    """Return a projector, and the revision up to which it has seen everything."""
    then = msgspec.structs.replace(moments[-1], revision=moments[0].revision)
    start = None if moments[0].revision is None else start_of(store, then, behaviours)
    if start is None:
        return Projector(behaviours), NO_REVISION
    return start.projector, start.revision


class Beliefs:
    """The caches of schedulers of any release at one moment, each made when it is first needed.

    They must not be changed.
    """

    def __init__(self, store: LogStore, moment: Moment) -> None:
        self._store, self._moment = store, moment
        self._known: dict[CacheBasis, SchedulerCache] = {}

    def of(self, behaviours: Behaviours) -> SchedulerCache:
        """Return the cache of a release; releases whose caches are the same share one."""
        basis = believed(behaviours)
        if basis not in self._known:
            self._known[basis] = belief_at(self._store, self._moment, behaviours)
        return self._known[basis]


def play(
    store: LogStore,
    moment: Moment,
    follower: F,
    *,
    after: int = NO_REVISION,
    after_each: Callable[[StoryStep], None] | None = None,
    progress: Progress | None = None,
) -> F:
    """Apply everything that had happened by a moment to a follower, and return it.

    :param after: the revision up to which it has seen everything.
    :param after_each: called after every event that it has seen.
    """
    story = Story(store, moment, after)
    for number, step in enumerate(story.steps()):
        follower.apply(step.event, position=step.position, lives_on=story.lives_on)
        if after_each is not None:
            after_each(step)
        if progress is not None and number % TOLD_EVERY == 0:
            progress(step.position, moment.known)
    return follower
