"""What another release would decide differently over a whole log, and which behaviour is why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ...engine.volcano.behaviours import Behaviours
from ...engine.volcano.history import resolve
from .. import parallel
from ..belief import beliefs_along
from ..log import Log, opened
from ..points import Moment
from ..releases import BehaviourDiff, release_diff
from ..session import ConfText, session_at
from .causes import Cause, changed, partly, smallest
from .decisions import Decision, decisions_of, differing
from .places import Place, Places, evenly

STRETCHES_PER_JOB = 4
"""Stretches differ in how long they take: with more of them, processes end at about one time."""

PLACES = 50
"""Moments that a stretch has at least, as each is played from the log's beginning."""


class Changed(NamedTuple):
    """A decision that the other release takes differently.

    :param at: the point of the session. :param position: the event that makes it one.
    :param values: as the first and as the second release; None where it is not taken.
    :param causes: see :mod:`.causes`.
    """

    at: str
    position: int
    kind: str
    about: str
    values: tuple[str | None, ...]
    causes: tuple[Cause, ...]


class Group(NamedTuple):
    """All that differs for one reason.

    :param causes: behaviours, each of which alone makes it go, or a smallest set.
    :param sessions: how many sessions have any of it.
    """

    causes: tuple[Cause, ...]
    changed: tuple[Changed, ...]
    sessions: int


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The answer; true if anything differs.

    :param logged: the sessions are those that the log tells of; else changes of objects.
    :param sessions: moments at which both releases were asked, of ``known`` in all.
    :param differing: at how many of them anything differs.
    :param behaviours: in which the releases differ, whether it matters here or not.
    """

    releases: tuple[str, str]
    logged: bool
    sessions: int
    known: int
    differing: int
    groups: tuple[Group, ...]
    behaviours: tuple[BehaviourDiff, ...]

    def __bool__(self) -> bool:
        return bool(self.groups)


class Question(NamedTuple):
    """What is asked of a whole log.

    :param place: of the log, for processes that open it themselves.
    :param conf: None is the configuration in force at each moment.
    """

    place: str
    releases: tuple[str, str]
    conf: ConfText | None = None


class Stretch(NamedTuple):
    """Neighbouring moments of a log, for a process that knows nothing else."""

    question: Question
    places: tuple[Place, ...]


def upgrade_check(
    places: Places,
    question: Question,
    *,
    sample: int = 0,
    jobs: int = 1,
    progress: parallel.Progress | None = None,
) -> Upgrade:
    """Run the sessions of a log as both releases, and tell what differs and why.

    :param sample: ask at so many moments, evenly spread; 0 is all.
    :param jobs: processes.
    :raises UsageError: sessions of a release cannot be run.
    """
    one, other = (resolve(name).release for name in question.releases)
    asked = evenly(places.found, sample)
    stretches = list(_stretches(question, asked, jobs))
    found = [
        each
        for some in parallel.run_all(check, stretches, jobs=jobs, progress=progress)
        for each in some
    ]
    return Upgrade(
        releases=(one, other),
        logged=places.logged,
        sessions=len(asked),
        known=len(places.found),
        differing=len({each.at for each in found}),
        groups=tuple(_groups(found)),
        behaviours=tuple(release_diff(one, other)),
    )


def check(stretch: Stretch) -> list[Changed]:
    """Return what differs in a stretch of a log, in order."""
    first = stretch.places[0].moment
    with opened(
        stretch.question.place, read_only=True, branch=first.branch, cluster=first.cluster
    ) as log:
        return _Check(log, stretch).run()


def _stretches(question: Question, places: Sequence[Place], jobs: int) -> Iterator[Stretch]:
    count = min(len(places), jobs * STRETCHES_PER_JOB, max(jobs, len(places) // PLACES))
    bounds = [len(places) * i // count for i in range(count + 1)] if count else [0]
    for start, stop in pairwise(bounds):
        yield Stretch(question, tuple(places[start:stop]))


class _Check:
    """A stretch under examination."""

    def __init__(self, log: Log, stretch: Stretch) -> None:
        self._log, self._conf = log, stretch.question.conf
        self._one, self._other = map(resolve, stretch.question.releases)
        self._values = changed(self._one, self._other)
        self._places = stretch.places

    def run(self) -> list[Changed]:
        both = zip(
            self._places,
            self._along(self._places, self._one),
            self._along(self._places, self._other),
            strict=True,
        )
        found = [
            Changed(place.moment.label, place.position, *row, ())
            for place, old, new in both
            for row in differing([old, new])
        ]
        return self._explained(found)

    def _along(
        self, places: Sequence[Place], behaviours: Behaviours
    ) -> Iterator[Mapping[Decision, str]]:
        """Yield what is decided at moments, with one pass over the log."""
        moments = [place.moment for place in places]
        for moment, cache in beliefs_along(self._log.store, moments, behaviours):
            answer = session_at(self._log, moment, release=behaviours, conf=self._conf, cache=cache)
            yield decisions_of(answer)

    def _explained(self, found: list[Changed]) -> list[Changed]:
        """Try every behaviour by itself wherever anything differs; what is left, one by one."""
        at: dict[str, list[Changed]] = defaultdict(list)
        for each in found:
            at[each.at].append(each)
        places = [place for place in self._places if place.moment.label in at]
        alone: dict[Changed, list[Cause]] = defaultdict(list)
        for name in self._values if places else ():
            behaviours = partly(self._other, self._values, (name,))
            for place, decisions in zip(places, self._along(places, behaviours), strict=True):
                for each in at[place.moment.label]:
                    if _as_before(each, decisions):
                        alone[each].append((name,))
        explained = [each._replace(causes=tuple(alone[each])) for each in found]
        return self._several(explained, places)

    def _several(self, found: list[Changed], places: Sequence[Place]) -> list[Changed]:
        """Find the smallest sets of behaviours where none alone makes the difference."""
        at = {place.moment.label: place.moment for place in places}
        sets: list[Cause] = []
        complete = []
        for each in found:
            if each.causes:
                complete.append(each)
                continue
            known = next((one for one in sets if self._goes(each, at[each.at], one)), None)
            named = [known] if known else self._smallest(each, at[each.at])
            sets += [one for one in named if one not in sets]
            complete.append(each._replace(causes=tuple(named)))
        return complete

    def _smallest(self, each: Changed, moment: Moment) -> list[Cause]:
        return smallest(list(self._values), lambda names: self._goes(each, moment, names))

    def _goes(self, each: Changed, moment: Moment, names: Cause) -> bool:
        behaviours = partly(self._other, self._values, names)
        answer = session_at(self._log, moment, release=behaviours, conf=self._conf)
        return _as_before(each, decisions_of(answer))


def _as_before(each: Changed, decisions: Mapping[Decision, str]) -> bool:
    return decisions.get(Decision(each.kind, each.about)) == each.values[0]


def _groups(found: Sequence[Changed]) -> Iterator[Group]:
    """Yield what differs by its causes, the most frequent first."""
    by_cause: dict[tuple[Cause, ...], list[Changed]] = defaultdict(list)
    for each in found:
        by_cause[each.causes].append(each)
    for named in sorted(by_cause, key=lambda one: (-len(by_cause[one]), one)):
        some = by_cause[named]
        yield Group(named, tuple(some), len({each.at for each in some}))
