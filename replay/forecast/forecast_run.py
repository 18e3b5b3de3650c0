"""What if, over time: a cluster that lives on from a moment, as it was and with each variant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ...engine.errors import NotKnown, UsageError
from ...engine.kubernetes.api_server import ObjectKey, place_of
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.log import open_log
from ...engine.machine.live import (
    LiveCluster,
    MachineClock,
    Observer,
    Rhythm,
    WrittenObject,
    server_of,
    write_to,
)
from ...engine.session.framework.process_parts import ProcessState
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ..belief.stored_belief import CacheBasis, believed
from ..coverage.coverage import GRACE_US, SCHEDULING, classes_known, unknown_at
from ..explore.written_branch import WrittenBranch as Branched
from ..explore.written_branch import check_branch
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..logs.readable_objects import undecodable_at
from ..moments.moment import Moment
from ..parallel import run_beside
from ..recorded.recorded_sessions import HowKnown
from ..recorded.session_list import listed_sessions
from ..sessions.logged_inputs import lend_inputs
from ..sessions.session_answer import ConfInForce, SessionInputs, conf_of, scene_at
from ..tabular.record_columns import Time
from ..what_if.changed_names import remarks
from ..what_if.changed_sessions import ORIGINAL, Variant
from ..what_if.changed_world import Beginning
from .arrivals import CARRIED, Arrivals, arrivals
from .forecast_course import Course, Recorder
from .forecast_outcome import Calibration, Forecast
from .keep import keep
from .live_world import Cast, LiveWorld, existing_at, followed_owners
from .pod_lives import PodLife, alike, recorded_lives
from .recorded_durations import RecordedTimes, Wish

PERIOD_US = SECOND_US
"""The default of the scheduler's flag ``--schedule-period``."""

_FEWEST = 5
"""So many sessions show a period."""


class SessionRhythm(NamedTuple):
    """When sessions run. :param text: a sentence that says why."""

    rhythm: Rhythm
    text: str


def rhythm_of(log: Log, moment: Moment, begin: int, period: int | None = None) -> SessionRhythm:
    """Return when sessions run from a time on.

    They run when the log's did, as far as the scheduler's log has them; a busy scheduler takes
    longer than its period. Then they run each median of these, else each default period.

    :param moment: the last position that counts. :param begin: microseconds since 1970.
    :param period: as given, in microseconds: then nothing else counts.
    """
    if period is not None:
        text = f"A session runs every {_seconds(period)} (as given)."
        return SessionRhythm(Rhythm(begin, period), text)
    listed = listed_sessions(log.store, moment)
    known = [session.begin for session in listed if session.how is HowKnown.LOGGED]
    pauses = [later - earlier for earlier, later in pairwise(known)]
    # A median of 0, as of times in whole seconds, is no period.
    if len(pauses) < _FEWEST or not median(pauses):
        text = f"A session runs every {_seconds(PERIOD_US)} (Volcano's default)."
        return SessionRhythm(Rhythm(_first(known, begin, PERIOD_US), PERIOD_US), text)
    every = round(median(pauses))
    then = f"every {_seconds(every)} (the median of {len(pauses)} recorded pauses)"
    later = tuple(opened for opened in known if opened >= begin)
    if not later:
        return SessionRhythm(Rhythm(_first(known, begin, every), every), f"A session runs {then}.")
    recorded = "the recorded one" if len(later) == 1 else f"the {len(later)} recorded ones"
    text = f"Sessions run when {recorded} did, then {then}."
    return SessionRhythm(Rhythm(later[-1] + every, every, later), text)


def _first(known: list[int], begin: int, period: int) -> int:
    """Return when the first session runs: a period after the last one, or at once."""
    last = max((opened for opened in known if opened <= begin), default=begin - period)
    return max(last + period, begin)


def _seconds(micros: int) -> str:
    return f"{micros / SECOND_US:.3g} s"


def calibrated(
    course: Course,
    lives: Mapping[str, PodLife],
    schedulers: Collection[str],
    *,
    begin: int,
    recorded_until: int,
) -> Calibration | None:
    """Compare a course with the record, until the earlier of their ends; None if that is nothing.

    Pods are compared by their names, of several of one name in order; those of ReplicaSets, whose
    names are picked at random, by what has made them.

    :param schedulers: only pods of these are compared.
    """
    until = min(course.until, recorded_until)
    if until <= begin:
        return None
    recorded: dict[str, list[_Bound]] = {}
    for life in lives.values():
        bound = life.bound
        if bound is not None and begin < bound <= until and life.scheduler in schedulers:
            like = alike(life.key, life.template)
            recorded.setdefault(like, []).append(_Bound(bound, life.node))
    predicted: dict[str, list[_Bound]] = {}
    for placement in course.placements:
        if placement.at <= until:
            predicted.setdefault(placement.like, []).append(_Bound(placement.at, placement.node))
    pairs = list(_pairs(recorded, predicted))
    off = sorted(abs(real.at - run.at) for real, run in pairs)
    return Calibration(
        until=Time(until),
        recorded=sum(map(len, recorded.values())),
        predicted=len(pairs),
        same_node=sum(real.node == run.node for real, run in pairs),
        off=round(median(off)) if off else None,
        # Rounded up, so that at least nine in ten are not further off.
        off_most=off[-(-len(off) * 9 // 10) - 1] if off else None,
        invented=sum(map(len, predicted.values())) - len(pairs),
    )


class _Bound(NamedTuple):
    at: int
    node: str


def _pairs(
    recorded: Mapping[str, list[_Bound]], predicted: Mapping[str, list[_Bound]]
) -> Iterator[tuple[_Bound, _Bound]]:
    """Yield what is in both, in order of time."""
    for like, bounds in sorted(recorded.items()):
        # What one side has more often has no partner.
        yield from zip(sorted(bounds), sorted(predicted.get(like, ())), strict=False)


Progress = Callable[[int, int], None]


class Loops:
    """Runs clusters from one moment of a log.

    :param conf: instead of that in the log at the moment.
    :raises NotKnown: the log does not have all that a cluster needs to live on.
    :raises UsageError: the moment has no time.
    """

    def __init__(
        self, log: Log, moment: Moment, release: str, wish: Wish, conf: ConfText | None = None
    ) -> None:
        self.log, self.moment, self.release, self.wish = log, moment, release, wish
        self._scene = scene_at(log, moment, conf)
        self.begin = self._scene.now
        if not self.begin:
            raise UsageError(
                f"{moment.label} has no time, so no cluster can live on from it",
                now="ingest inputs with times, as an audit log, or give another moment",
            )
        self._end = log.on_branch_of(moment).moment()
        # Shortly after the last event the state is taken to be the same.
        if self.begin > self.recorded_until + GRACE_US:
            raise NotKnown(
                f"the log ends at {format_time(self.recorded_until)}: what there is at "
                f"{moment.label} is not known",
                now="give a moment of the log",
            )
        self.until = self.begin + wish.lasts
        self.existing = existing_at(log, moment)
        self._classes_known = classes_known(log, moment)
        self._owners = followed_owners(log, moment)
        self.lives = recorded_lives(log, self._end)
        self.rhythm: SessionRhythm = rhythm_of(log, self._end, self.begin, wish.period)
        self._beginnings: dict[CacheBasis, Beginning] = {}
        # Each course makes others: these only say in sentences what is assumed.
        self._times = self.times(MachineClock(self.begin))
        self.arrivals = self._arrivals()

    @property
    def recorded_until(self) -> int:
        """The time of the last thing in the log."""
        return self.log.clock(self._end).last() or 0

    @property
    def schedulers(self) -> tuple[str, ...]:
        """The names of the scheduler that lives on: its pods name one of them."""
        cache = self._beginning(resolve(self.release)).cache
        return tuple(cache.options.scheduler_names)

    def times(self, clock: MachineClock) -> RecordedTimes:
        """Return how long pods take, in one run."""
        wish = self.wish
        return RecordedTimes(
            self.lives, self.begin, clock, start_after=wish.start_after, given=wish.runs
        )

    def _arrivals(self) -> Arrivals:
        if not self.wish.arrivals:
            return Arrivals(())
        return arrivals(self.log, self.moment, self.until, self.existing, self.schedulers)

    def _beginning(self, behaviours: Behaviours) -> Beginning:
        basis = believed(behaviours)
        if basis not in self._beginnings:
            self._beginnings[basis] = Beginning(self.log, self.moment, behaviours)
        return self._beginnings[basis]

    def check(self, variant: Variant) -> None:
        """Make the changes of a variant where nothing lives, to see whether they can be made.

        :raises ObjectNotFound: a change is of an object that does not exist.
        :raises UsageError: a change has no effect, or its result is no valid object.
        """
        clock = MachineClock(self.begin)
        server = server_of(self.existing, clock, classes_known=self._classes_known)
        world = LiveWorld(server, partial(write_to, server), self.moment.label)
        for change in variant.changes:
            change.apply(world)

    def run(
        self,
        variant: Variant,
        progress: Progress | None = None,
        written: list[WrittenObject] | None = None,
    ) -> Course:
        """Let the cluster live on with some changes, which can be made.

        :param progress: called with (microseconds run, all).
        :param written: gets everything that is written.
        """
        return _Run(self, variant, written).course(progress)

    def keep(
        self, place: str, name: str, variant: Variant, written: Sequence[WrittenObject]
    ) -> Branched:
        """Write a course to the log as a branch.

        :raises UsageError: there is such a branch, or it cannot have this name.
        """
        confs = self._scene.confs if variant.conf is None else (variant.conf,)
        conf = next(iter(confs), None)
        cluster = self.moment.cluster
        return keep(
            place, name, self.existing, written, begin=self.begin, conf=conf, cluster=cluster
        )

    @property
    def places(self) -> Iterator[ObjectKey]:
        """The objects that exist in the beginning."""
        return map(place_of, self.existing)

    @property
    def classes_known(self) -> bool:
        """Whether a priority class that does not exist at the beginning is known not to."""
        return self._classes_known

    def in_force(self, variant: Variant, behaviours: Behaviours) -> ConfInForce:
        """Return the configuration of a variant."""
        confs = self._scene.confs if variant.conf is None else (variant.conf,)
        return conf_of(confs, behaviours)

    def process(self, in_force: ConfInForce) -> ProcessState:
        """Return what a scheduler's process has at the beginning."""
        process = ProcessState()
        scene: SessionInputs = self._scene
        lend_inputs(self.log, self.moment, process, in_force.conf, scene.now)
        return process

    def cluster(
        self, variant: Variant, clock: MachineClock, times: RecordedTimes, observer: Observer
    ) -> tuple[LiveCluster, ConfInForce]:
        """Return a cluster that begins to live, with nothing changed yet."""
        behaviours = resolve(variant.release or self.release)
        in_force = self.in_force(variant, behaviours)
        # A copy of the cache, as the cluster goes on with it.
        projector = self._beginning(behaviours).world().projector
        cast = Cast(behaviours, in_force.conf, clock, self._owners)
        members = cast.members(projector, self.process(in_force), times)
        cluster = LiveCluster(
            clock,
            members,
            self.existing,
            self.rhythm.rhythm,
            observer,
            classes_known=self._classes_known,
        )
        return cluster, in_force

    def assumed(self) -> list[str]:
        """Return in sentences what the answer rests on."""
        sentences = [self.rhythm.text, *self._times.texts()]
        writes = self.arrivals
        if not self.wish.arrivals:
            sentences.append("Nothing is written from outside: what users wrote then is left out.")
        elif writes.writes:
            come = "comes at its" if len(writes.writes) == 1 else "come at their"
            sentences.append(
                f"{counted(len(writes.writes), 'recorded write')} of users, and of what no "
                f"component here makes, {come} recorded times."
            )
        if writes.unknown:
            sentences.append(
                f"Of {writes.unknown} of them the log does not say who wrote: they are of objects "
                "that no controller has."
            )
        if writes.foreign:
            sentences.append(
                f"Pods of {', '.join(writes.foreign)} come and go as recorded: no component here "
                "makes them."
            )
        if self.wish.arrivals and self.until > self.recorded_until:
            after = max(self.recorded_until - self.begin, 0) / SECOND_US
            sentences.append(
                f"The log ends {after:.0f} s after the moment: nothing is written then."
            )
        return sentences


NOT_MODELLED = (
    "Image pulls, volumes, probes, autoscalers, cron jobs and taints that evict are not modelled.",
    "Sessions take no time, and everything that is written is delivered before the next one.",
    "Among equal nodes the first by name is taken, where a scheduler picks one at random.",
)


class _Run:
    """One course."""

    def __init__(
        self, loops: Loops, variant: Variant, written: list[WrittenObject] | None = None
    ) -> None:
        self._loops, self._variant = loops, variant
        self._clock = MachineClock(loops.begin)
        self._times = loops.times(self._clock)
        self._recorder = Recorder(loops.begin, written)
        self._cluster, self._conf = loops.cluster(variant, self._clock, self._times, self._recorder)

    def course(self, progress: Progress | None) -> Course:
        """Make the changes, run until the end, and return what happened."""
        loops, cluster = self._loops, self._cluster
        world = LiveWorld(cluster.server, cluster.write, loops.moment.label)
        for change in self._variant.changes:
            change.apply(world)

        def report() -> None:
            if progress is not None:
                progress(self._clock.now - loops.begin, loops.wish.lasts)

        cluster.run(loops.until, loops.arrivals.writes, report)
        recorder = self._recorder
        recorder.end()
        return Course(
            name=self._variant.name,
            texts=self._variant.texts,
            release=self._variant.release or loops.release,
            conf=self._conf.source,
            until=self._clock.now,
            works=recorder.works,
            placements=tuple(recorder.placements),
            evictions=tuple(recorder.evictions),
            queues=recorder.usage.uses(self._clock.now),
            sessions=cluster.sessions,
            ran=cluster.ran,
            endless=len(self._times.endless),
            panics=tuple(cluster.panics),
        )


class ForecastRequest(NamedTuple):
    """A question, in a form that other processes can get.

    :param release: of the original. :param conf: instead of that in the log at the moment.
    :param place: of the log, for other processes and for a branch; empty if there are none.
    :param keep: the branch that the last course is written to; empty if it is not kept.
    """

    moment: Moment
    variants: tuple[Variant, ...]
    wish: Wish
    release: str
    conf: ConfText | None = None
    place: str = ""
    keep: str = ""


def forecast(
    log: Log, question: ForecastRequest, *, jobs: int = 1, progress: Progress | None = None
) -> Forecast:
    """Let a cluster live on from a moment as it was, and with each variant.

    An interrupt ends the courses that are not finished; the others are returned.

    :param jobs: processes. :param progress: called with (microseconds run, all).
    :raises NotKnown: the log does not have all that a cluster needs to live on.
    :raises ObjectNotFound: a change is of an object that does not exist then.
    :raises UsageError: a change has no effect or is not valid, or the moment has no time; or a
        branch cannot be written.
    :raises KeyboardInterrupt: the cluster as it was is not finished, or the branch not written.
    """
    moment = question.moment
    loops = Loops(log, moment, question.release, question.wish, question.conf)
    wanted = [Variant(ORIGINAL), *question.variants]
    # A change that cannot be made is refused before the first course takes its time.
    for variant in question.variants:
        loops.check(variant)
    done: dict[int, Course] = {}
    try:
        if question.keep:
            _run_and_keep(loops, question, wanted, done, progress)
        else:
            _run_beside(loops, question, wanted, done, jobs=jobs, progress=progress)
    except KeyboardInterrupt:
        branch_lacks = question.keep and len(done) == len(wanted)
        if 0 not in done or branch_lacks:
            raise
    return _forecast(loops, wanted, done)


def _run_beside(
    loops: Loops,
    question: ForecastRequest,
    wanted: Sequence[Variant],
    done: dict[int, Course],
    *,
    jobs: int,
    progress: Progress | None,
) -> None:
    """Run all courses, in several processes if there is a place of the log for them.

    :param done: gets the courses by their number, as soon as they are finished.
    """
    count = max(min(jobs, len(wanted)), 1) if question.place else 1

    def own() -> list[Course]:
        courses = []
        numbers = range(0, len(wanted), count)
        for at, number in enumerate(numbers):
            done[number] = loops.run(wanted[number], _part(progress, at, len(numbers)))
            courses.append(done[number])
        return courses

    def others(place: int, courses: list[Course]) -> None:
        # Courses are dealt out in turns, so those of one process are not beside each other.
        done.update(zip(range(place + 1, len(wanted), count), courses, strict=True))

    tasks = [question._replace(variants=tuple(wanted[number::count])) for number in range(1, count)]
    run_beside(own, _other_courses, tasks, finished=others)


def _run_and_keep(
    loops: Loops,
    question: ForecastRequest,
    wanted: Sequence[Variant],
    done: dict[int, Course],
    progress: Progress | None,
) -> None:
    """Run all courses, and write the last one to a branch.

    :raises UsageError: there are several variants, or there is such a branch.
    """
    if len(wanted) > 2:
        raise UsageError("only one course can be kept", now="leave out --each")
    check_branch(question.place, question.keep)
    written: list[WrittenObject] = []
    for number, variant in enumerate(wanted):
        last = written if number == len(wanted) - 1 else None
        done[number] = loops.run(variant, _part(progress, number, len(wanted)), last)
    loops.keep(question.place, question.keep, wanted[-1], written)


def _forecast(loops: Loops, wanted: Sequence[Variant], done: Mapping[int, Course]) -> Forecast:
    return Forecast(
        at=loops.moment.label,
        begin=loops.begin,
        until=loops.until,
        courses=tuple(done[number] for number in sorted(done)),
        assumed=tuple(loops.assumed()),
        not_modelled=NOT_MODELLED,
        calibration=calibrated(
            done[0],
            loops.lives,
            loops.schedulers,
            begin=loops.begin,
            recorded_until=loops.recorded_until,
        ),
        not_known=tuple(
            dict.fromkeys(
                (
                    *unknown_at(loops.log, loops.moment, SCHEDULING),
                    *undecodable_at(loops.log, loops.moment, CARRIED),
                )
            )
        ),
        missing=tuple(variant.name for number, variant in enumerate(wanted) if number not in done),
        unread=remarks(
            loops.log, loops.moment, (change for variant in wanted for change in variant.changes)
        ),
    )


def _part(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """Return what reports progress of one of several equal parts as that of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, parts * total)


def _other_courses(question: ForecastRequest) -> list[Course]:
    """Run courses in another process."""
    moment = question.moment
    with open_log(question.place, read_only=True) as store:
        log = Log(store, branch=moment.branch, cluster=moment.cluster)
        loops = Loops(log, moment, question.release, question.wish, question.conf)
        return [loops.run(variant) for variant in question.variants]
