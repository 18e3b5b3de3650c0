"""Bisection of a log: the first revision or position at which an answer changes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events import KINDS, Effect, Recorded
from ...engine.log.store import MAIN, Query
from ...engine.state.log_coverage import UnknownCause
from ...engine.volcano.session.history import resolve
from .. import parallel
from ..belief.belief import belief_at, beliefs_along
from ..coverage.coverage import SCHEDULING, beginning_of, doubtful, unknown_between
from ..logs.given_names import PODGROUP
from ..logs.log import Log, opened
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from ..objects.kind_names import plain_name
from ..sessions.session_answer import SessionAnswer, scene_at, session_at, session_in
from ..sessions.session_moments import at_revision, recorded_sessions_count, session_places
from ..truth.points import Point
from .bisection import (
    CHANGES,
    HALVES,
    SESSIONS,
    STEPS,
    Bisection,
    Flip,
    FlipSide,
    LeftOut,
    ObjectRange,
    Probe,
    first_change,
    first_flip,
    sides,
)
from .session_claims import BOUND, PANIC, PENDING, SessionClaim
from .subjects import CaseSubject, answers_of
from .upgrade import MOMENTS_KEPT, STRETCHES_PER_JOB

Progress = Callable[[int, int], None]

_POD = ("", "Pod")

STRETCH = 100
"""The number of places that is worth a separate process."""


class LogRange(NamedTuple):
    """A range of a log.

    :param by_position: the places are positions (what was known then); else revisions.
    :param end: the moment of the last place; all others are on its branch.
    :param skipped: the first revision in the log, if the range begins later only because too little
        is known before.
    """

    by_position: bool
    first: int
    last: int
    end: Moment
    skipped: int | None = None

    def moment(self, place: int) -> Moment:
        """Return the moment of a place."""
        if not self.by_position:
            return at_revision(self.end, place)
        branch = "" if self.end.branch == MAIN else self.end.branch
        return msgspec.structs.replace(self.end, known=place, label=f"{branch}@{place}")


def span_of(log: Log, start: Point | None, end: Point) -> LogRange:
    """Return the range between two points: of positions if the first is one, else of revisions.

    :param start: None is the first revision, or without revisions the first position.
    :raises UsageError: the points are of different kinds or branches, or in the wrong order.
    """
    to = log.moment(end)
    extent = log.store.extent(known=to.known, cluster=to.cluster, branch=to.branch)
    last = extent.last_revision if to.revision is None else to.revision
    if to.revision is None and last is not None:
        # The last session of a scenario follows its last change.
        places = session_places(log, to).found[-1:]
        last = max([last, *(place.moment.revision or 0 for place in places)])
    since = None if start is None else log.moment(start)
    if since is not None and since.branch != to.branch:
        raise UsageError(
            f"{_said(start)} and {_said(end)} are on different branches",
            now="choose both on one branch",
        )
    if since is None and extent.first_revision is not None:
        # Before the first complete lists a session would see a part of the cluster only.
        first = max(extent.first_revision, beginning_of(log, to).revision or 0)
        skipped = extent.first_revision if first > extent.first_revision else None
        span = LogRange(False, first, last or 0, to, skipped)
    elif since is None or since.revision is None:
        if to.revision is not None:
            raise UsageError(
                f"{_said(start)} is a position, but {_said(end)} is not",
                now="give two positions: @7 and @9",
            )
        span = LogRange(True, 1 if since is None else since.known, to.known, to)
    else:
        span = LogRange(False, since.revision, last or 0, to)
    if span.first > span.last:
        raise UsageError(
            f"{_said(start)} is after {_said(end)}", now="give the earlier point with --from"
        )
    return span


def _said(point: Point | None) -> str:
    return point.label if isinstance(point, Moment) else str(point)


class LogQuestion(NamedTuple):
    """A question about a range of a log, for processes that open the log themselves.

    :param place: of the log.
    :param release: the release that runs the sessions.
    :param conf: None is the configuration in force at each place.
    """

    place: str
    span: LogRange
    question: SessionClaim
    release: str
    conf: ConfText | None = None


class PlaceRun(NamedTuple):
    """Neighbouring places, as the work of one process.

    :param before: the last place before them; a crash since then belongs to the first of them.
    """

    asked: LogQuestion
    places: tuple[int, ...]
    before: int | None = None


class LogBisection:
    """A search for the first change of an answer in a range of a log, with one release's sessions.

    :param progress: called with (sessions done, total).
    """

    def __init__(self, log: Log, asked: LogQuestion, *, progress: Progress | None = None) -> None:
        self._log, self._given = log, asked
        self._span, self._question = asked.span, asked.question
        self._behaviours, self._conf = resolve(asked.release), asked.conf
        self._progress, self._asked = progress, 0

    def halve(self) -> Bisection:
        """Find the place at which the answer changes, if it changes once."""
        return self._between(self._span.first, self._span.last, [], HALVES)

    def scan(self, *, jobs: int = 1) -> Bisection:
        """Check the moment of every session until the answer changes, then halve in between.

        :param jobs: processes; the answer is the same for any number of them.
        """
        logged, places = asked_places(self._log, self._span)
        searched = SESSIONS if logged else CHANGES
        taken, is_found = first_change(self._along(places, jobs))
        if not is_found:
            return self._found(taken, None, searched)
        # The scan stopped behind the last of these; between the two no session was run yet.
        low, high = places[len(taken) - 2 : len(taken)]
        self._progress = None  # Only a few sessions are left.
        return self._between(low, high, taken, searched)

    def _between(self, first: int, last: int, asked: list[Probe], searched: str) -> Bisection:
        probes, pair = first_flip(self._ask, first, last)
        # Both ends were asked again: they are among the new answers.
        taken = [*asked[:-2], *probes]
        if pair is None:
            return self._found(taken, None, searched)
        sessions = [self._session(place, trace=True) for place in pair]
        ends = [Probe(session.at, self._question.of(session)) for session in sessions]
        flip = Flip(*sides(self._question, ends, sessions), events=self._events(*pair))
        return self._found(taken, flip, searched)

    def _found(self, probes: list[Probe], flip: Flip | None, searched: str) -> Bisection:
        release, end = self._behaviours.release, self._span.end
        first = None if self._span.by_position else self._span.first
        unknown = tuple(unknown_between(self._log, first, end, SCHEDULING))
        return Bisection(
            self._question,
            probes,
            flip,
            searched,
            release,
            unsure=end.unsure,
            not_known=unknown,
            doubtful=self._doubtful(probes, unknown),
            left_out=left_out(self._log, self._span),
            sessions=recorded_sessions_count(self._log, end),
            there=None if flip is not None else there(self._log, self._question, end),
        )

    def _doubtful(self, probes: Sequence[Probe], unknown: Sequence[Unknown]) -> int:
        """Return how many answers are at moments where the log lacks what sessions need."""
        if self._span.by_position:
            return len(probes) if any(lack.gap.why is UnknownCause.NEVER for lack in unknown) else 0
        clock = self._log.clock(self._span.end)
        revisions = [int(probe.at.rpartition(":")[2]) for probe in probes]
        return sum(doubtful(unknown, revision, clock.time_of(revision)) for revision in revisions)

    def _along(self, places: Sequence[int], jobs: int) -> Iterator[Probe]:
        """Yield the answers at many places in order, computed by several processes."""
        runs = list(_stretches(places, jobs))
        earlier = [None, *(run[-1] for run in runs)]
        stretches = [
            PlaceRun(self._given, run, before) for run, before in zip(runs, earlier, strict=False)
        ]
        if len(stretches) == 1:
            yield from answers_along(self._log, stretches[0], self._progress)
            return
        ends = list(accumulate((len(stretch.places) for stretch in stretches), initial=0))

        def tell(done: int, _: int) -> None:
            if self._progress is not None:
                self._progress(ends[done], len(places))

        for probes in parallel.run_all(until_change, stretches, jobs=jobs, progress=tell):
            yield from probes

    def _ask(self, place: int) -> Probe:
        self._asked += 1
        # So many sessions halve the range, and two are at its ends.
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
        """Return the events that happened, or became known, between two neighbours."""
        end = self._span.end
        query = Query(branch=end.branch, cluster=end.cluster, until=end.known)
        if self._span.by_position:
            query = msgspec.structs.replace(query, after=before, until=after)
        else:
            query = msgspec.structs.replace(query, revisions=(before + 1, after))
        return list(self._log.store.read(query))


def asked_places(log: Log, span: LogRange) -> tuple[bool, list[int]]:
    """Return the places that a scan checks, and whether recorded sessions are among them.

    They are every recorded session, or if the log records none, every change of an object that
    sessions read; and both ends of the range.
    """
    if span.by_position:
        moments = session_places(log, span.end)
        places = {place.position for place in moments.found}
    else:
        moments = session_places(log, span.end, since=span.first)
        places = {
            moment.moment.revision for moment in moments.found if moment.moment.revision is not None
        }
    inside = {place for place in places if span.first <= place <= span.last}
    return moments.logged, sorted(inside | {span.first, span.last})


def left_out(log: Log, span: LogRange) -> LeftOut | None:
    """Return what is left out before a range that begins with the first complete lists."""
    if span.skipped is None:
        return None
    count = session_places(log, span.end).left_out
    lists = beginning_of(log, span.end).latest
    return LeftOut(count, f"rv:{span.first}", f"rv:{span.skipped}", lists) if count else None


def there(log: Log, question: SessionClaim, end: Moment) -> ObjectRange | None:
    """Return the range in which a log holds a question's object; None if it holds no version."""
    if question.kind == PANIC:
        return None
    kind = _POD if question.kind in {BOUND, PENDING} else PODGROUP
    namespace, _, name = question.about.partition("/")
    query = Query(
        branch=end.branch,
        cluster=end.cluster,
        until=end.known,
        objects=(kind,),
        namespace=namespace,
        name=name,
    )
    dated = [
        recorded.event for recorded in log.store.read(query) if recorded.event.revision is not None
    ]
    if not dated:
        return None
    dated.sort(key=lambda event: event.revision or 0)
    revisions = [event.revision or 0 for event in dated]
    gone = KINDS[dated[-1].kind].effect is Effect.DELETED
    return ObjectRange(f"{plain_name(*kind)}/{question.about}", revisions[0], revisions[-1], gone)


def _stretches(places: Sequence[int], jobs: int) -> Iterator[tuple[int, ...]]:
    """Yield places in runs; each is worth a process, which must read the log up to there."""
    # Several for each process, as some end early; none so short that to read the log costs more.
    size = len(places) if jobs <= 1 else max(STRETCH, -(-len(places) // (jobs * STRETCHES_PER_JOB)))
    for start in range(0, len(places), size):
        yield tuple(places[start : start + size])


def until_change(stretch: PlaceRun) -> list[Probe]:
    """Return the answers in a range up to the first that differs from the one before it."""
    end = stretch.asked.span.end
    with opened(stretch.asked.place, read_only=True, branch=end.branch, cluster=end.cluster) as log:
        return first_change(answers_along(log, stretch))[0]


def answers_along(log: Log, stretch: PlaceRun, progress: Progress | None = None) -> Iterator[Probe]:
    """Yield the answers at the places of a range; revisions are read once.

    :param progress: called with (answers given, total).
    """
    asked, places, before = stretch
    behaviours = resolve(asked.release)
    moments = [asked.span.moment(place) for place in places]
    if asked.span.by_position:
        along = ((moment, belief_at(log.store, moment, behaviours)) for moment in moments)
    else:
        earlier = [] if before is None else [asked.span.moment(before)]
        # A crash since the place before is only seen if its cache is made as well.
        caches = beliefs_along(log.store, [*earlier, *moments], behaviours)
        along = ((moment, cache) for moment, (cache,) in islice(caches, len(earlier), None))
    for number, (moment, cache) in enumerate(along):
        if number % MOMENTS_KEPT == 0:
            gc.collect()
        scene = scene_at(log, moment, asked.conf)
        answer = session_in(scene, behaviours, cache)
        yield Probe(answer.at, asked.question.of(answer))
        if progress is not None:
            progress(number + 1, len(places))


def over_case(subject: CaseSubject, question: SessionClaim, release: str) -> Bisection:
    """Run the sessions of a scenario in order until the answer changes.

    :param subject: the last session to check.
    """
    behaviours = resolve(release)
    case = msgspec.structs.replace(subject.case, steps=subject.case.steps[: subject.step])
    probes, steps_by_session = [], []
    for answer in answers_of(case, behaviours):
        probes.append(Probe(answer.at, question.of(answer)))
        steps_by_session.append(question.steps(answer))
        if probes[-1].answer.holds != probes[0].answer.holds:
            pair = zip(probes[-2:], steps_by_session[-2:], strict=True)
            before, after = (FlipSide(probe, steps) for probe, steps in pair)
            return Bisection(question, probes, Flip(before, after), STEPS, behaviours.release)
    return Bisection(question, probes, None, STEPS, behaviours.release)
