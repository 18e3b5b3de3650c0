"""Bisection of a log: the first revision or position at which a question gets another answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events import Recorded
from ...engine.log.store import MAIN, Query
from ...engine.volcano.behaviours import Behaviours
from ...engine.volcano.history import resolve
from ..belief import beliefs_along
from ..log import Log, Point
from ..points import Moment
from ..session import ConfText, SessionAnswer, scene_at, session_at, session_in
from .bisection import Bisection, Flip, Probe, Side, first_change, first_flip, sides
from .places import at_revision, session_places
from .questions import Question
from .subjects import CaseSubject, answers_of

Progress = Callable[[int, int], None]


class Span(NamedTuple):
    """A stretch of a log.

    :param by_position: the places are positions: what was known then; else revisions.
    :param end: the moment of the last place; all others are of its branch.
    """

    by_position: bool
    first: int
    last: int
    end: Moment

    def moment(self, place: int) -> Moment:
        """Return the moment of a place."""
        if not self.by_position:
            return at_revision(self.end, place)
        branch = "" if self.end.branch == MAIN else self.end.branch
        return msgspec.structs.replace(self.end, known=place, label=f"{branch}@{place}")


def span_of(log: Log, start: Point | None, end: Point) -> Span:
    """Return the stretch between two points: of positions if the first is one, else of revisions.

    :param start: None is the first revision, or where there are no revisions the first position.
    :raises UsageError: they are of different kinds or branches, or in the wrong order.
    """
    to = log.moment(end)
    extent = log.store.extent(known=to.known, cluster=to.cluster, branch=to.branch)
    last = extent.last_revision if to.revision is None else to.revision
    if to.revision is None and last is not None:
        # A scenario asks for its last session after its last change.
        last = max(last, session_places(log, to).found[-1].moment.revision or 0)
    since = None if start is None else log.moment(start)
    if since is not None and since.branch != to.branch:
        raise UsageError(
            f"{start} and {end} are of different branches", now="choose both of one branch"
        )
    if since is None and extent.first_revision is not None:
        span = Span(False, extent.first_revision, last or 0, to)
    elif since is None or since.revision is None:
        if to.revision is not None:
            raise UsageError(
                f"{start} is a position, and {end} is none", now="name both alike: @7 and @9"
            )
        span = Span(True, 1 if since is None else since.known, to.known, to)
    else:
        span = Span(False, since.revision, last or 0, to)
    if span.first > span.last:
        raise UsageError(f"{start} comes after {end}", now="the earlier point goes after --from")
    return span


class LogBisection:
    """One question to the sessions of one release in a stretch of a log.

    :param conf: None is the configuration in force at each place.
    """

    def __init__(
        self,
        log: Log,
        span: Span,
        question: Question,
        behaviours: Behaviours,
        *,
        conf: ConfText | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._log, self._span, self._question = log, span, question
        self._behaviours, self._conf = behaviours, conf
        self._progress, self._asked = progress, 0

    def halve(self) -> Bisection:
        """Find the place at which the answer changes, if it changes once."""
        return self._between(self._span.first, self._span.last, [])

    def scan(self) -> Bisection:
        """Ask at the moment of every session until one answers otherwise, then halve in between."""
        places = self._session_places()
        taken, found = first_change(self._along(places))
        if not found:
            return Bisection(self._question, taken, None)
        low, high = places[len(taken) - 2 : len(taken)]
        return self._between(low, high, taken)

    def _between(self, first: int, last: int, asked: list[Probe]) -> Bisection:
        probes, pair = first_flip(self._ask, first, last)
        taken = [*asked[:-2], *probes]
        if pair is None:
            return Bisection(self._question, taken, None)
        sessions = [self._session(place, trace=True) for place in pair]
        ends = [Probe(one.at, self._question.of(one)) for one in sessions]
        flip = Flip(*sides(self._question, ends, sessions), events=self._events(*pair))
        return Bisection(self._question, taken, flip)

    def _session_places(self) -> list[int]:
        span = self._span
        if span.by_position:
            found = sorted({place.position for place in session_places(self._log, span.end).found})
        else:
            places = session_places(self._log, span.end, since=span.first).found
            found = [one.moment.revision for one in places if one.moment.revision is not None]
        return [place for place in found if span.first <= place <= span.last] or [span.last]

    def _along(self, places: list[int]) -> Iterator[Probe]:
        """Ask at many places; revisions are gone through once."""
        moments = [self._span.moment(place) for place in places]
        if self._span.by_position:
            yield from map(self._ask, places)
            return
        for number, (moment, (cache,)) in enumerate(
            beliefs_along(self._log.store, moments, self._behaviours)
        ):
            scene = scene_at(self._log, moment, self._conf)
            answer = session_in(scene, self._behaviours, cache)
            yield self._probe(answer, number, len(moments))

    def _ask(self, place: int) -> Probe:
        self._asked += 1
        expected = (self._span.last - self._span.first).bit_length() + 2
        return self._probe(self._session(place), min(self._asked, expected), expected)

    def _probe(self, answer: SessionAnswer, done: int, total: int) -> Probe:
        if self._progress is not None:
            self._progress(done, total)
        return Probe(answer.at, self._question.of(answer))

    def _session(self, place: int, *, trace: bool = False) -> SessionAnswer:
        return session_at(
            self._log,
            self._span.moment(place),
            release=self._behaviours,
            conf=self._conf,
            trace=trace,
        )

    def _events(self, before: int, after: int) -> list[Recorded]:
        """Return what happened, or became known, between two neighbours."""
        end = self._span.end
        query = Query(branch=end.branch, cluster=end.cluster, until=end.known)
        if self._span.by_position:
            query = msgspec.structs.replace(query, after=before, until=after)
        else:
            query = msgspec.structs.replace(query, revisions=(before + 1, after))
        return list(self._log.store.read(query))


def over_case(subject: CaseSubject, question: Question, release: str) -> Bisection:
    """Ask the sessions of a scenario in their order until one answers otherwise.

    :param subject: the last session that is asked.
    """
    behaviours = resolve(release)
    case = msgspec.structs.replace(subject.case, steps=subject.case.steps[: subject.step])
    probes, found_steps = [], []
    for answer in answers_of(case, behaviours):
        probes.append(Probe(answer.at, question.of(answer)))
        found_steps.append(question.steps(answer))
        if probes[-1].answer.holds != probes[0].answer.holds:
            pair = zip(probes[-2:], found_steps[-2:], strict=True)
            before, after = (Side(probe, steps) for probe, steps in pair)
            return Bisection(question, probes, Flip(before, after))
    return Bisection(question, probes, None)
