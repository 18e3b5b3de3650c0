"""The scheduler's cache of a release, while it goes forward from moment to moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from ...engine.cache.projector import Projector
from ...engine.cache.restored import decode_belief
from ...engine.cache.stored import encode_belief
from ...engine.log.store import NO_REVISION, LogStore
from ...engine.volcano.session.behaviours import Behaviours
from ..moments.later_lists import later_lists
from ..moments.moment import Moment
from ..moments.ordered_events import STRETCH, OrderedEvent, OrderedEvents, had_happened
from .recent_beliefs import END, BeliefBasis, RecentBeliefs
from .stored_belief import believed, last_stored, start_of

Progress = Callable[[int, int], None]

LEAST_SAVED = 500
"""No belief in memory is opened or kept to save fewer events than these."""

MOST_HELD = 8192
"""Payloads that are held to be read once only, of some 3 KB each."""

REPORT_EVERY = 1024
"""Events between two reports of progress."""


def begin_before(store: LogStore, moment: Moment, behaviours: Behaviours) -> tuple[Projector, int]:
    """Return a projector, and the revision up to which it has processed everything."""
    start = start_of(store, moment, behaviours)
    if start is None:
        return Projector(behaviours), NO_REVISION
    return start.projector, start.revision


class Advancing:
    """The cache of a release while it goes forward from moment to moment.

    It continues from where it is, or from a belief in memory or in the log if that saves reading.
    """

    def __init__(
        self,
        store: LogStore,
        last: Moment,
        behaviours: Behaviours,
        recent: RecentBeliefs | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Begin.

        :param last: no moment after it is needed.
        :param progress: called with (position reached, last position) from time to time.
        """
        self._store, self._last, self._behaviours = store, last, behaviours
        self._recent = _Remembered(recent, store, last, behaviours) if recent is not None else None
        self._progress = progress
        self._projector: Projector | None = None
        self._reached = NO_REVISION
        self._events: OrderedEvents | None = None
        self._steps: Iterator[OrderedEvent] | None = None
        self._next: OrderedEvent | None = None
        self._played = 0

    def to(self, moment: Moment) -> Projector:
        """Return the projector at a moment, which is no earlier than the one before.

        It continues afterwards, so callers must not change it, except at the last moment.
        """
        unmade = later_lists(self._store, moment)
        if unmade:  # No belief at the revision lacks these lists, and none may be kept without.
            return self._before_lists(moment, min(later_list.revision for later_list in unmade))
        until = END if moment.revision is None else moment.revision
        projector = self._begun(moment, until)
        if self._reached < until:
            self._play(projector, moment.revision)
            self._reached = until
        if self._recent is not None and self._played >= _worth(projector):
            self._recent.keep(until, projector)
            self._played = 0
        return projector

    def _before_lists(self, moment: Moment, revision: int) -> Projector:
        """Return the projector at a moment before some lists that were made later.

        :param revision: the least of these lists.
        """
        before = msgspec.structs.replace(moment, revision=revision - 1, time=None)
        projector, reached = begin_before(self._store, before, self._behaviours)
        events = OrderedEvents(self._store, moment, reached)
        for step in events.steps():
            if not had_happened(step, moment.revision):
                break
            projector.apply(step.event, position=step.position, lives_on=events.lives_on)
        return projector

    def _begun(self, moment: Moment, until: int) -> Projector:
        """Return the projector at the last place up to a moment from which to continue.

        That is where it is, or a belief in memory or in the log if that saves enough events.
        """
        in_memory = NO_REVISION if self._recent is None else self._recent.last(until)
        if self._projector is None:
            # If one in memory is that near, a stored one could save hardly anything, so none is
            # read.
            is_near = in_memory > NO_REVISION and not self._is_after(in_memory, STRETCH, until)
            opened = self._open(in_memory) if is_near else None
            projector = opened or self._set(*begin_before(self._store, moment, self._behaviours))
        else:
            projector = self._skipped(self._projector, moment, until)
        return (self._saves(projector, in_memory) and self._open(in_memory)) or projector

    def _skipped(self, projector: Projector, moment: Moment, until: int) -> Projector:
        """Continue from the last stored belief up to a moment, if that saves enough events."""
        # If the moment itself is near, no belief before it can save much.
        if not self._saves(projector, until):
            return projector
        # The cheap question first: to decode a belief takes as long as many events.
        if not self._saves(projector, last_stored(self._store, moment, self._behaviours)):
            return projector
        start = start_of(self._store, moment, self._behaviours)
        if start is None or start.revision <= self._reached:
            return projector
        return self._set(start.projector, start.revision)

    def _saves(self, projector: Projector, revision: int) -> bool:
        """Return whether it is quicker to open a belief at a revision than to apply the events."""
        return revision > self._reached and self._is_after(
            self._reached, _worth(projector), revision
        )

    def _open(self, revision: int) -> Projector | None:
        """Continue from a belief in memory; return None if it is no longer there."""
        opened = None if self._recent is None else self._recent.at(revision)
        return None if opened is None else self._set(opened, revision)

    def _set(self, projector: Projector, revision: int) -> Projector:
        self._projector, self._reached = projector, revision
        self._events, self._steps, self._next, self._played = None, None, None, 0
        return projector

    def _is_after(self, revision: int, events: int, until: int) -> bool:
        """Return whether there are more than so many events between two revisions."""
        then = msgspec.structs.replace(self._last, revision=None if until == END else until)
        return self._store.revision_after(then.window(revision), events) is not None

    def _play(self, projector: Projector, until: int | None) -> None:
        """Apply everything that had happened by a revision."""
        if self._steps is None:
            self._events = OrderedEvents(self._store, self._last, self._reached)
            self._steps = self._events.steps()
            self._next = next(self._steps, None)
        assert self._events is not None, "there are no steps without events"
        lives_on = self._events.lives_on
        while self._next is not None and had_happened(self._next, until):
            step = self._next
            projector.apply(step.event, position=step.position, lives_on=lives_on)
            if self._progress is not None and self._played % REPORT_EVERY == 0:
                self._progress(step.position, self._last.known)
            self._played += 1
            self._next = next(self._steps, None)


def _worth(projector: Projector) -> int:
    """Return from how many events on it is quicker to open a belief than to apply them.

    An event takes about as long as three objects of a belief.
    """
    return max(LEAST_SAVED, projector.size // 3)


class _Remembered:
    """The recent beliefs of one course, opened and kept as projectors."""

    def __init__(
        self, recent: RecentBeliefs, store: LogStore, moment: Moment, behaviours: Behaviours
    ) -> None:
        """Find them.

        :param moment: any moment of the course.
        """
        head = next(
            head_info.hash for head_info in store.heads() if head_info.branch == moment.branch
        )
        self._course = BeliefBasis(head, moment.cluster, moment.known, believed(behaviours))
        self._recent, self._behaviours = recent, behaviours
        self._payloads = _payloads_of(store, moment.branch)

    def last(self, until: int) -> int:
        """Return the last revision up to one at which there is a belief, else NO_REVISION."""
        return self._recent.last(self._course, until, NO_REVISION)

    def at(self, revision: int) -> Projector | None:
        """Return the belief at a revision, if there still is one; it is the caller's own."""
        belief = self._recent.get(self._course, revision)
        return None if belief is None else decode_belief(belief, self._behaviours, self._payloads)

    def keep(self, revision: int, projector: Projector) -> None:
        """Hold the belief at a revision."""
        self._recent.keep(self._course, revision, encode_belief(projector))


def _payloads_of(store: LogStore, branch: str) -> Callable[[Sequence[int]], Mapping[int, bytes]]:
    """Return what reads payloads, each of them once: beliefs share most objects."""
    by_position: dict[int, bytes] = {}

    def read(positions: Sequence[int]) -> Mapping[int, bytes]:
        new = [position for position in positions if position not in by_position]
        # All of them: the ones dropped just now may be among them.
        if len(by_position) + len(new) > MOST_HELD:
            by_position.clear()
            new = list(positions)
        if new:
            by_position.update(store.payloads(new, branch))
        return by_position

    return read
