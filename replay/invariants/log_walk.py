"""The walk: the events of a log as they happened, checked after each revision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ...engine.cache.projector import Projector
from ...engine.invariants.invariant import QUEUES, SESSION, Invariant
from ...engine.invariants.owner_invariants import GROUP, KIND
from ...engine.invariants.view import EVICTIONS, ClusterView, SessionView, Unit
from ...engine.invariants.violation_timeline import HappeningPlace, ViolationTimeline
from ...engine.state.clock import Clock
from ...engine.state.log_coverage import Pair
from ...engine.volcano.session.behaviours import Behaviours
from ..moments.moment import Moment
from ..moments.ordered_events import OrderedEvent, OrderedEvents
from .known_objects import Knowledge
from .starts import CheckBegin

Progress = Callable[[int, int], None]

REPORT_EVERY = 1024
"""Events between two reports of progress."""

_SHOWN = 8
"""Events of a revision that a place keeps."""

_OF_QUEUES = frozenset({"Queue", "Node"})
"""Kinds whose changes may change the tree of queues."""


class SessionsOnTheWay(NamedTuple):
    """Sessions to run on the way.

    :param revisions: at which, ascending. :param run: runs one on the cache of a view.
    """

    revisions: Sequence[int]
    run: Callable[[int, ClusterView], SessionView]


class LogWalk:
    """Follows a log with a view of the cluster and a timeline of violations.

    :ivar place: the last place that was checked.
    :ivar seen: where invariants were last checked of which the log does not know enough now.
    :ivar sessions_run: how many sessions were run.
    """

    def __init__(
        self,
        behaviours: Behaviours,
        invariants: Iterable[Invariant],
        knowledge: Knowledge,
        clock: Clock,
        *,
        actors: dict[int, str],
        settle: int,
        begin: CheckBegin | None = None,
    ) -> None:
        """Begin a walk.

        :param begin: where, instead of the first event.
        """
        self.timeline = ViolationTimeline()
        self.place = HappeningPlace(0, None, None)
        self.seen: dict[str, HappeningPlace] = {}
        self.sessions_run = 0
        self._projector = Projector(behaviours) if begin is None else begin.projector
        self.view = ClusterView(self._projector, actors)
        self._all = tuple(invariants)
        self._knowledge, self._clock, self._settle = knowledge, clock, settle
        self._watching: set[str] = set()
        self._touched: dict[Unit, None] = {}
        self._positions: list[int] = []
        if begin is not None:
            begin.fill(self.view, actors)
            self.place = HappeningPlace(-1, begin.revision, clock.time_of(begin.revision))
            for invariant in self._all:
                if invariant.unit != SESSION:
                    self._begin(invariant)

    def follow(
        self,
        events: OrderedEvents,
        end: Moment,
        sessions: SessionsOnTheWay,
        progress: Progress | None,
    ) -> None:
        """Follow all events, and run the sessions between them."""
        key: int | None = None
        due = list(reversed(sessions.revisions))
        for number, step in enumerate(events.steps()):
            # Only after the last event of a revision is the state one that there was.
            if key is not None and step.key != key:
                self._check(key)
                key = None
            # A session sees its revision, and what happened before the next one.
            while due and due[-1] * 2 + 1 < step.key:
                self._run(due.pop(), sessions)
            self._apply(step, events)
            key = step.key
            if progress is not None and number % REPORT_EVERY == 0:
                progress(step.position, end.known)
        if key is not None:
            self._check(key)
        while due:
            self._run(due.pop(), sessions)

    def _apply(self, step: OrderedEvent, events: OrderedEvents) -> None:
        self._projector.apply(step.event, position=step.position, lives_on=events.lives_on)
        units = self.view.take(step.event, step.position, events.lives_on)
        self._touched.update(dict.fromkeys(units))
        self._positions.append(step.position)

    def _check(self, key: int) -> None:
        """Check everything that the events of a revision may have changed."""
        revision = key // 2 if key >= 0 else None
        time = self._clock.time_of(revision)
        last, before = max(self._positions), self.place
        self.place = HappeningPlace(last, revision, time, tuple(self._positions[-_SHOWN:]))
        touched, self._touched, self._positions = self._touched, {}, []
        if any(kind in _OF_QUEUES for kind, _ in touched):
            touched[QUEUES, ""] = None
        touched[EVICTIONS, ""] = None
        for invariant in self._all:
            # Sessions are checked where they are run, between revisions.
            if invariant.unit == SESSION:
                continue
            if not self._knowledge.at(invariant.kinds, revision):
                self._forget(invariant, before)
            elif invariant.id in self._watching:
                for unit in touched:
                    if unit[0] == invariant.unit:
                        violations = invariant.check(self.view, unit[1])
                        self.timeline.compare(invariant, unit, violations, self.place)
            else:
                self._begin(invariant)

    def _forget(self, invariant: Invariant, last: HappeningPlace) -> None:
        """Note where an invariant was last checked, as the log no longer knows enough for it."""
        if invariant.id in self._watching:
            self._watching.discard(invariant.id)
            self.seen[invariant.id] = last

    def _begin(self, invariant: Invariant) -> None:
        """Check all units, as the log knows from here on what the invariant needs."""
        self._watching.add(invariant.id)
        seen = self.seen.pop(invariant.id, None)
        units = [*self.timeline.units_of(invariant), *self.view.units(), (QUEUES, "")]
        for unit in dict.fromkeys(units):
            if unit[0] == invariant.unit:
                violations = list(invariant.check(self.view, unit[1]))
                began = [self._began(invariant, violation.newest, seen) for violation in violations]
                self.timeline.compare(
                    invariant, unit, violations, self.place, began=began, seen=seen
                )

    def _began(self, invariant: Invariant, newest: int, seen: HappeningPlace | None) -> int | None:
        """Return by when a violation had begun that is there at the first check.

        Since the last change of its objects, if their kinds were listed at about the same time. If
        not, an object may have changed between two lists: then it is known from this check on. So
        is one that an earlier check of the same objects did not find.

        :param seen: the place of that check; None if there was none.
        """
        if seen is not None and newest <= (seen.revision or 0):
            return self.place.time
        bounds = [self._listed_at(pair) for pair in invariant.kinds]
        if not newest or newest > min(bounds, default=0):
            return self.place.time
        times = [self._clock.time_of(bound) for bound in bounds]
        known = [time for time in times if time is not None]
        if len(known) < len(times) or max(known) - min(known) > self._settle:
            return self.place.time
        return self._clock.time_of(newest)

    def _listed_at(self, pair: Pair) -> int:
        """Return by which revision all objects of a kind were seen.

        For a list without a revision, it is the greatest among its items.
        """
        if pair not in self._knowledge.listed_without_revision:
            return self.place.revision or 0
        if pair == (GROUP, KIND):
            return max((job.revision for job in self.view.owners.jobs.values()), default=0)
        items = self.view.truth.of(pair[1]).values()
        return max((item.metadata.revision for item in items), default=0)

    def _run(self, revision: int, sessions: SessionsOnTheWay) -> None:
        """Run a session on the present state, and check it."""
        asked = [
            invariant
            for invariant in self._all
            if invariant.unit == SESSION and self._knowledge.at(invariant.kinds, revision)
        ]
        if not asked:
            return
        self.view.session = sessions.run(revision, self.view)
        self.view.phases.decide(self.view.session.result, self.view.truth.of("PodGroup"))
        self.sessions_run += 1
        place = self.place._replace(revision=revision, time=self._clock.time_of(revision))
        for invariant in asked:
            violations = invariant.check(self.view, "")
            self.timeline.compare(invariant, (SESSION, ""), violations, place)
        self.view.session = None
