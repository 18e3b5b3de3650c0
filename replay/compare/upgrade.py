"""What another release would decide differently over a whole log, and which behaviour causes it."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.session.framework.behaviour_recorder import RecordedBehaviours
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from .. import parallel
from ..belief.belief import beliefs_along
from ..belief.stored_belief import CacheBasis, believed
from ..logs.log import opened
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..sessions.session_answer import SessionInputs, scene_at, session_in
from ..sessions.session_moments import SessionMoment, SessionMoments, sampled
from .causes import Cause, causes, changed, most_specific_first, partly, suspects
from .decisions import Decision, DifferingDecision, decisions_of, differing
from .releases import session_diff
from .verdict import CauseGroup, ChangedDecision, Upgrade

STRETCHES_PER_JOB = 4
"""Stretches take different times: with several per process, all processes end together."""

PLACES = 50
"""The least moments of a stretch, as each stretch is replayed from the log's begin."""

MOMENTS_KEPT = 50
"""Moments between collections of garbage, which the command line otherwise collects seldom."""


class CheckedUpgrade(NamedTuple):
    """An upgrade check of a whole log.

    :param place: the log's place, for processes that open it themselves.
    :param conf: None is the configuration in force at each moment.
    """

    place: str
    releases: tuple[str, str]
    conf: ConfText | None = None


class MomentRange(NamedTuple):
    """Neighbouring moments of a log, as the work of one process.

    :param before: the last moment before them; a crash since then belongs to the first of them.
    """

    question: CheckedUpgrade
    places: tuple[SessionMoment, ...]
    before: Moment | None = None


def upgrade_check(
    places: SessionMoments,
    question: CheckedUpgrade,
    *,
    sample: int = 0,
    jobs: int = 1,
    progress: parallel.Progress | None = None,
) -> Upgrade:
    """Run the sessions of a log as both releases, and return what differs and why.

    :param sample: the number of moments to check, evenly spread, those in gaps of the log only once
        no other is left; 0 is all.
    :param jobs: processes.
    :param progress: called with (sessions compared, total) after each stretch.
    :raises UsageError: sessions of a release cannot be run.
    """
    before, after = (resolve(name).release for name in question.releases)
    asked = sampled(places.found, sample)
    stretches = list(_stretches(question, asked, jobs))
    ends = list(accumulate((len(stretch.places) for stretch in stretches), initial=0))

    def tell(done: int, _: int) -> None:
        if progress is not None:
            progress(ends[done], len(asked))

    decisions = [
        each
        for of_stretch in parallel.run_all(check, stretches, jobs=jobs, progress=tell)
        for each in of_stretch
    ]
    return Upgrade(
        releases=(before, after),
        logged=places.logged,
        sessions=len(asked),
        known=len(places.found),
        # Several decisions may differ in one session.
        differing=len({each.at for each in decisions}),
        groups=tuple(_groups(decisions)),
        behaviours=tuple(session_diff(before, after)),
        unsure=places.unsure,
        not_known=places.not_known,
        doubtful=sum(not place.known for place in asked),
        left_out=places.left_out,
        unconfigured=places.unconfigured and question.conf is None,
        whole=places.whole,
    )


def check(stretch: MomentRange) -> list[ChangedDecision]:
    """Return what differs in a stretch of a log, in order.

    The log is read once, for the caches of all variants.
    """
    question, places, before = stretch
    behaviours, other = map(resolve, question.releases)
    ways = _ways(behaviours, other)
    first = places[0].moment
    decisions: list[ChangedDecision] = []
    with opened(question.place, read_only=True, branch=first.branch, cluster=first.cluster) as log:
        moments = [place.moment for place in places]
        earlier = [] if before is None else [before]
        along = beliefs_along(log.store, [*earlier, *moments], *ways.values())
        along = islice(along, len(earlier), None)
        for number, (place, (moment, caches)) in enumerate(zip(places, along, strict=True)):
            if number % MOMENTS_KEPT == 0:
                # Garbage is collected seldom in commands, and each moment leaves a whole session.
                gc.collect()
            scene = scene_at(log, moment, question.conf)
            sessions = _Sessions(scene, (behaviours, other), dict(zip(ways, caches, strict=True)))
            decisions += [
                ChangedDecision(
                    *(moment.label, place.position, row.kind, row.about, row.values),
                    causes=tuple(sessions.causes(row)),
                    known=place.known,
                )
                for row in sessions.differing()
            ]
    return decisions


def _ways(one: Behaviours, other: Behaviours) -> dict[CacheBasis, Behaviours]:
    """Return the cache behaviours to build: of either release, and with single ones set back."""
    # Behaviours of the cache cannot be set back in a session: each needs a cache built so.
    values = changed(one, other)
    back = [partly(other, values, (name,)) for name, _ in believed(other) if name in values]
    return {believed(behaviours): behaviours for behaviours in (one, other, *back)}


def _stretches(
    question: CheckedUpgrade, places: Sequence[SessionMoment], jobs: int
) -> Iterator[MomentRange]:
    # Enough stretches for all processes, but none so short that reading up to it costs more than it
    # does.
    count = min(len(places), jobs * STRETCHES_PER_JOB, max(jobs, len(places) // PLACES))
    bounds = [len(places) * i // count for i in range(count + 1)] if count else [0]
    for start, stop in pairwise(bounds):
        before = places[start - 1].moment if start else None
        yield MomentRange(question, tuple(places[start:stop]), before)


class _Sessions:
    """The sessions of one moment: of two releases, and of the second with behaviours set back.

    :param caches: the caches at the moment, by cache behaviours.
    """

    def __init__(
        self,
        scene: SessionInputs,
        pair: tuple[Behaviours, Behaviours],
        caches: Mapping[CacheBasis, SchedulerCache],
    ) -> None:
        self._scene, self._caches = scene, caches
        self._one, self._other = pair
        self._consulted = RecordedBehaviours.of(self._other)
        self._values = changed(self._one, self._other)
        self._believing = frozenset(name for name, _ in believed(self._other))
        self._second: Mapping[Decision, str] = {}
        self._suspects: list[str] | None = None
        self._tried: dict[Cause, Mapping[Decision, str] | None] = {}
        self._breadths: dict[Cause, int] = {}

    def differing(self) -> list[DifferingDecision]:
        """Run both, and return what differs."""
        first, self._second = map(self._decisions, (self._one, self._consulted))
        # With all values set back, the second release decides as the first.
        self._tried[tuple(self._values)] = first
        return differing([first, self._second])

    def causes(self, row: DifferingDecision) -> list[Cause]:
        """Return the behaviours that remove a difference when set to the first release's values."""
        if self._suspects is None:
            asked = self._believing | self._consulted.names
            # What the session did not read cannot have changed it; the cache's behaviours are read
            # before it.
            names = [name for name in self._values if name in asked]
            self._suspects = suspects(names, self._inert, active=True)
        deciding = [name for name in self._values if name not in self._believing]
        goes = partial(self._goes, row)
        found_causes = causes(self._suspects, goes, self._suspects, deciding, list(self._values))
        return most_specific_first(found_causes, self._breadth)

    def _inert(self, names: Cause) -> bool:
        return self._set_back(names) == self._second

    def _goes(self, row: DifferingDecision, names: Cause) -> bool:
        decided = self._set_back(names)
        return decided is not None and decided.get(Decision(row.kind, row.about)) == row.values[0]

    def _breadth(self, names: Cause) -> int:
        """Return how many decisions some behaviours change when they are set back."""
        if names not in self._breadths:
            decided = self._set_back(names)
            changes = [] if decided is None else differing([decided, self._second])
            self._breadths[names] = len(changes)
        return self._breadths[names]

    def _set_back(self, names: Cause) -> Mapping[Decision, str] | None:
        """Return what the second decides with some behaviours of the first.

        None if that needs a cache that was not built.
        """
        if names not in self._tried:
            behaviours = partly(self._other, self._values, names)
            known = believed(behaviours) in self._caches
            self._tried[names] = self._decisions(behaviours) if known else None
        return self._tried[names]

    def _decisions(self, behaviours: Behaviours) -> Mapping[Decision, str]:
        plain = behaviours.plain if isinstance(behaviours, RecordedBehaviours) else behaviours
        return decisions_of(session_in(self._scene, behaviours, self._caches[believed(plain)]))


def _groups(decisions: Sequence[ChangedDecision]) -> Iterator[CauseGroup]:
    """Yield differences by cause, the most frequent first."""
    by_cause: dict[tuple[Cause, ...], list[ChangedDecision]] = defaultdict(list)
    for each in decisions:
        by_cause[each.causes].append(each)
    for named in sorted(by_cause, key=lambda causes_of: (-len(by_cause[causes_of]), causes_of)):
        decisions_of_cause = by_cause[named]
        yield CauseGroup(
            named, tuple(decisions_of_cause), len({each.at for each in decisions_of_cause})
        )
