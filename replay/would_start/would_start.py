"""Whether manifests that are not applied yet would start at a moment, and when; else why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.kubernetes.api_server import place_of
from ...engine.kubernetes.units import format_time
from ...engine.machine.live import LiveCluster, MachineClock
from ...engine.volcano.session.history import resolve
from ..answers.answer import Why
from ..answers.answering_session import JOB, POD, PODGROUP
from ..answers.assumed_confs import marked
from ..answers.records import Asked
from ..answers.target import Target
from ..answers.tasks import with_dependencies
from ..answers.why import finding_of
from ..coverage.coverage import SCHEDULING, unknown_at
from ..forecast.forecast_run import NOT_MODELLED, Loops
from ..forecast.live_world import LiveWorld
from ..forecast.recorded_durations import Wish
from ..lint.findings import FindingSubject
from ..lint.lint_inputs import Configuration
from ..lint.manifest_reading import WrittenFiles
from ..logs.log import Log, Progress
from ..logs.logged_confs import ConfText, has_no_conf, runs_built_in
from ..moments.moment import Moment
from ..objects.kind_names import plain_name
from ..what_if.changed_sessions import ORIGINAL, ChangedSessions, LaterState, Variant
from ..what_if.help import WouldHelp, what_would_help
from .lint_verdict import LintVerdict, lint_verdict, missing_classes, refused_by_queue
from .start_records import (
    LATER,
    NO,
    NOW,
    TriedObject,
    TriedPlacement,
    WouldStart,
    WouldStartAsked,
)
from .start_watch import StartCourse, StartWatch
from .start_words import sentence_of, starts_of
from .submission import Submission, filled, submission_of


class TryTask(NamedTuple):
    """What to try.

    :param namespace: of objects that name none. :param conf: instead of the log's at the moment.
    :param assumed: what the caller assumed, as sentences.
    :param helps: also find changes with which what does not start now would; asked between two of
        them whether to go on. None does not look for any.
    """

    written: WrittenFiles
    moment: Moment
    release: str
    wish: Wish
    conf: ConfText | None = None
    namespace: str | None = None
    assumed: tuple[str, ...] = ()
    helps: Callable[[], bool] | None = None


def webhooks_of(release: str) -> str:
    """Return the sentence that says that the webhooks of a release are assumed."""
    return f"the admission webhooks of {release} run in the cluster"


def would_start(log: Log, task: TryTask, progress: Progress | None = None) -> WouldStart:
    """Return whether manifests would start if they were applied at a moment.

    The cluster lives on from the moment, as in a forecast, with the objects; nothing is written.

    :param progress: called with (microseconds run, all).
    :raises NotKnown: the log does not have all that a cluster needs to live on.
    :raises UsageError: an object exists already, is for another scheduler, or of a kind whose pods
        nothing makes here; or the moment has no time.
    """
    return _Trying(log, task).answer(progress)


class _Trying:
    def __init__(self, log: Log, task: TryTask) -> None:
        self._log, self._task = log, task
        given = submission_of(task.written, task.namespace)
        self._loops = Loops(log, task.moment, task.release, task.wish, task.conf)
        self._check_new(given)
        self._given = given
        self._built_in = task.conf is None and has_no_conf(log, task.moment)
        self._unknown = tuple(unknown_at(log, task.moment, SCHEDULING))

    def _check_new(self, given: Submission) -> None:
        """Refuse objects that exist.

        :raises UsageError: one does.
        """
        known = set(self._loops.places)
        for each in given.objects:
            if each.key in known:
                raise UsageError(
                    f"{each.title} exists at {self._task.moment.label}",
                    now="give it another name; plinian what-if -f tries a change of one that "
                    "exists, and plinian why says why it waits",
                )

    def answer(self, progress: Progress | None) -> WouldStart:
        verdict = self._verdict()
        by_queue = tuple(refused_by_queue(self._given, self._queue_states()))
        refused = tuple(dict.fromkeys((*verdict.refused, *by_queue)))
        said = {(each.object, each.rule) for each in by_queue}
        # What the webhook refuses is said once: a finding of the same rule is left out.
        others = tuple(each for each in verdict.others if (each.object, each.rule) not in said)
        verdict = LintVerdict(refused, others)
        # What a webhook refuses may lack what the rest needs.
        if verdict.refused:
            return self._answered(verdict, ())
        submission = filled(self._given, self._task.release, self._loops.schedulers)
        missing = tuple(missing_classes(submission, self._classes()))
        # Without a list of the classes, the log may lack one that the cluster has.
        if missing and self._loops.classes_known:
            return self._answered(verdict._replace(refused=missing), ())
        course = _LiveCourse(self._loops, submission, progress)
        objects = [self._tried(course, each) for each in course.watch.courses]
        return self._answered(verdict, objects, course)

    def _queue_states(self) -> dict[str, str]:
        """Return the states of the queues that exist, by name."""
        queues = (each for each in self._loops.existing if place_of(each).kind == "Queue")
        return {
            each["metadata"]["name"]: str((each.get("status") or {}).get("state") or "")
            for each in queues
        }

    def _classes(self) -> list[str]:
        return [place.key for place in self._loops.places if place.kind == "PriorityClass"]

    def _verdict(self) -> LintVerdict:
        task, conf = self._task, None
        if task.conf is not None:
            subject = FindingSubject("", "SchedulerConfiguration", task.conf.source)
            conf = Configuration(task.conf.text, subject)
        return lint_verdict(
            self._log,
            task.moment,
            task.written,
            release=task.release,
            conf=conf,
            namespace=task.namespace or "default",
        )

    def _answered(
        self,
        verdict: LintVerdict,
        objects: Sequence[TriedObject],
        course: _LiveCourse | None = None,
    ) -> WouldStart:
        task, loops = self._task, self._loops
        panics = () if course is None else course.panics
        return WouldStart(
            asked=WouldStartAsked(
                at=task.moment.label,
                time=format_time(loops.begin),
                until=format_time(loops.until),
                release=task.release,
                conf=loops.in_force(Variant(ORIGINAL), resolve(task.release)).source,
                assumed=self._sentences,
            ),
            sentence=sentence_of(verdict.refused, objects, loops.wish.lasts, panics),
            starts=starts_of(verdict.refused, objects),
            refused=verdict.refused,
            objects=tuple(objects),
            beside=tuple(each.title for each in self._given.objects if not each.is_tried),
            left_out=self._given.left_out,
            lint=verdict.others,
            panics=panics,
            resting_on=() if verdict.refused else tuple(loops.assumed()),
            not_modelled=NOT_MODELLED,
            not_known=self._unknown,
        )

    @property
    def _sentences(self) -> tuple[str, ...]:
        task = self._task
        built_in = (runs_built_in(task.release),) if self._built_in else ()
        return (*task.assumed, *built_in, webhooks_of(task.release))

    def _tried(self, course: _LiveCourse, each: StartCourse) -> TriedObject:
        loops, begin = self._loops, self._loops.begin
        why = at_end = None
        helps: WouldHelp | msgspec.UnsetType = msgspec.UNSET
        if each.waited is not None:
            why, helps = self._why(course, each, each.waited)
        if each.started is None:
            # Only of the first wait is it asked what would help: each answer takes many sessions.
            last, _ = self._why(course, each, course.watch.state(loops.until), help_too=False)
            at_end = last if why is None or last.sentence != why.sentence else None
        now = NOW if each.waited is None else LATER
        return TriedObject(
            object=each.submitted.title,
            queue=course.queue_of(each),
            starts=NO if each.started is None else now,
            at=None if each.started is None else format_time(each.started),
            after=None if each.started is None else each.started - begin,
            enqueued_after=None if each.enqueued is None else each.enqueued - begin,
            needs=each.needs,
            pods=len(each.pods),
            placements=tuple(
                TriedPlacement(pod=pod, node=node, after=each.bound[pod] - begin)
                for pod, node in sorted(each.pods.items())
                if node
            ),
            waiting=tuple(sorted(pod for pod, node in each.pods.items() if not node)),
            evicts=tuple(each.evicts),
            waits_after=None if each.waited is None else each.waited.now - begin,
            why=why,
            why_at_end=at_end,
            would_help=helps,
        )

    def _why(
        self, course: _LiveCourse, each: StartCourse, state: LaterState, *, help_too: bool = True
    ) -> tuple[Why, WouldHelp | msgspec.UnsetType]:
        """Return why an object waits in a state, and with which changes it would not."""
        task = self._task
        sessions = ChangedSessions(self._log, task.moment, task.release, task.conf, state)
        target = course.target_of(each)
        run = sessions.followed(Variant(ORIGINAL), target, goes_on=True)
        finding = finding_of(run, target)
        asked = Asked(
            kind=plain_name(*target.pair),
            name=target.key,
            at=format_time(state.now),
            revision=None,
            release=task.release,
            conf=run.answer.conf,
            assumed=self._sentences,
        )
        if finding is None:
            text = f"{each.submitted.title} has no PodGroup, so no session sees it"
            why = Why(asked=asked, sentence=text, waits=True, cause="no-podgroup", chain=())
            return why, msgspec.UNSET
        finding = with_dependencies(run, target, finding)
        why = Why(
            asked=asked,
            sentence=marked(run, finding, built_in=self._built_in, assumed=task.assumed),
            waits=finding.waits,
            cause=finding.full_cause,
            chain=finding.chain,
            not_known=self._unknown,
        )
        if task.helps is None or not help_too or not finding.waits:
            return why, msgspec.UNSET
        helps = what_would_help(
            self._log,
            task.moment,
            target,
            why,
            conf=task.conf,
            go_on=task.helps,
            sessions=sessions,
        )
        return why, helps


class _LiveCourse:
    """A live cluster into which objects are put, until all of them started or the time is over."""

    def __init__(self, loops: Loops, submission: Submission, progress: Progress | None) -> None:
        self._loops, self._progress = loops, progress
        self._clock = MachineClock(loops.begin)
        self.watch = StartWatch(submission.tried)
        variant = Variant(ORIGINAL)
        self._cluster, _ = loops.cluster(variant, self._clock, loops.times(self._clock), self.watch)
        world = LiveWorld(self._cluster.server, self._cluster.write, loops.moment.label)
        for each in submission.objects:
            world.put(each.document)
        own = {each.key for each in submission.objects}
        # The log may record that one of them was applied later: here it is there already.
        writes = [
            timed for timed in loops.arrivals.writes if place_of(timed.act.document) not in own
        ]
        self._cluster.run(loops.until, writes, self._after_session, lambda: self.watch.all_placed)

    def _after_session(self) -> None:
        cluster: LiveCluster = self._cluster
        self.watch.after_session(cluster.scheduler.result, self._clock.now)
        if self._progress is not None:
            self._progress(self._clock.now - self._loops.begin, self._loops.wish.lasts)

    @property
    def panics(self) -> tuple[str, ...]:
        """When processes panicked, and the messages."""
        return tuple(f"{format_time(at)}: {text}" for at, text in self._cluster.panics)

    def queue_of(self, each: StartCourse) -> str:
        """Return the queue of an object."""
        for key in each.groups:
            group = self._cluster.server.find("PodGroup", key)
            if group is not None:
                return str((group.get("spec") or {}).get("queue") or "default")
        spec = each.submitted.document.get("spec") or {}
        return str(spec.get("queue") or "default")

    def target_of(self, each: StartCourse) -> Target:
        """Return the object as why asks about it."""
        submitted = each.submitted
        group = _waiting_group(each)
        uid = submitted.document["metadata"]["uid"]
        if submitted.pair == JOB:
            job = self._cluster.server.find(*submitted.key) or {}
            phase = str(((job.get("status") or {}).get("state") or {}).get("phase") or "")
            return Target(JOB, submitted.key.key, uid, podgroup=group, phase=phase)
        if submitted.pair == POD:
            return Target(POD, submitted.key.key, uid, podgroup=group)
        if submitted.pair == PODGROUP or not group:
            return Target(PODGROUP, group or submitted.key.key, uid, podgroup=group)
        document = self._cluster.server.find("PodGroup", group) or {"metadata": {"uid": ""}}
        return Target(PODGROUP, group, document["metadata"]["uid"], podgroup=group)


def _waiting_group(each: StartCourse) -> str:
    """Return the last of the PodGroups of an object; empty if it has none."""
    return each.groups[-1] if each.groups else ""
