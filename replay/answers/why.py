"""Why an object waits at a moment: sessions, and what they say about that object."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.state.log_coverage import Pair
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ..belief.belief import beliefs_until
from ..coverage.coverage import SCHEDULING, NotListed, unknown_at
from ..logs.log import Log, Progress
from ..logs.logged_confs import ConfText, has_no_conf, runs_built_in
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from ..objects.kind_names import ObjectName, plain_name
from ..sessions.session_answer import SessionInputs, present, scene_at
from ..sessions.step_words import SessionStep, shown_step
from .answer import Why
from .answering_session import (
    CLOSELY,
    JOB,
    NODE,
    POD,
    PODGROUP,
    QUEUE,
    Run,
    closely_of_job,
    pending,
    run_of,
)
from .assumed_confs import marked, unnamed
from .carried import carried
from .contradicting import with_recorded
from .evidence import first_version, last_versions, of_the_last, versions_of
from .finding import ObjectKey, SessionFinding
from .job_reasons import SentenceSubject, job_finding
from .kubernetes_events import KubernetesEvents
from .makers import makers_of
from .node_reasons import node_finding, waiting_groups, waiting_pods
from .pod_reasons import pod_finding
from .queue_reasons import jobs_below, may_wait, queue_finding
from .records import Asked, Note
from .since import NO_PLAN, EarlierMoments, SampledSession, plan_of, stages_of
from .target import Target, target_of
from .tasks import job_spec, with_dependencies
from .undecoded import undecoded_finding, with_job_fault
from .ungrouped import without_group


class WhyAsked(msgspec.Struct, frozen=True):
    """What is asked, and the session that answers it.

    :param built_in: whether the configuration is the release's built-in one, as none is known.
    :param assumed: sentences about a release or a configuration that was not known.
    """

    target: Target
    scene: SessionInputs
    behaviours: Behaviours
    unknown: tuple[Unknown, ...]
    built_in: bool
    assumed: tuple[str, ...]


class Whys(NamedTuple):
    """Answers about one moment. :param cache: the scheduler's cache then."""

    answers: tuple[Why, ...]
    cache: SchedulerCache


def why_at(
    log: Log,
    named: ObjectName,
    at: str | Moment = "end",
    *,
    namespace: str | None = None,
    release: str,
    conf: ConfText | None = None,
    assumed: Sequence[str] = (),
) -> Why:
    """Return why an object waits at a moment, by the session of a release.

    :param namespace: by default that of the name, else ``default``.
    :param conf: a configuration instead of the log's.
    :param assumed: what the caller assumed, as sentences.
    :raises UsageError: it is no pod, job, podgroup, queue or node.
    :raises ObjectNotFound: there is no such object at that moment.
    """
    basis = (release, conf, assumed)
    return whys_at(log, [named], at, namespace=namespace, basis=basis).answers[0]


def whys_at(
    log: Log,
    named: Sequence[ObjectName],
    at: str | Moment = "end",
    *,
    namespace: str | None = None,
    basis: tuple[str, ConfText | None, Sequence[str]],
    progress: Progress | None = None,
) -> Whys:
    """Return why several objects wait at a moment: the log is read once for all of them.

    :param basis: the release, the configuration and what was assumed, as of :func:`why_at`.
    :param progress: called with (sessions run, all).
    :raises UsageError: one is no pod, job, podgroup, queue or node.
    :raises ObjectNotFound: there is no such object at that moment.
    """
    release, conf, assumed = basis
    scene = scene_at(log, at, conf)
    moment, sentences = scene.moment, list(assumed)
    built_in = conf is None and has_no_conf(log, moment)
    if built_in:
        sentences.append(runs_built_in(release))
    behaviours, events = resolve(release), KubernetesEvents(log, moment)
    unknown = unknown_at(log, moment, SCHEDULING)
    asking = [
        _Asking(
            log,
            WhyAsked(
                target,
                scene,
                behaviours,
                (*unknown, *_job_fault(log, target, moment)),
                built_in,
                tuple(sentences),
            ),
            events,
        )
        for object_name in named
        for target in (
            target_of(log, object_name, object_name.place(namespace) or "default", moment),
        )
    ]
    # Questions with a moment in common share the cache at it.
    earlier = {then.revision or 0: then for each in asking for _, then in each.plan.moments}
    done, total = 0, sum(len(each.plan.moments) + 1 for each in asking)
    moments = [earlier[revision] for revision in sorted(earlier)]
    along = beliefs_until(log.store, moments, moment, behaviours, recent=log.recent_beliefs)
    for then, cache in along:
        for each in asking:
            if each.looks_at(then):
                each.look(then, cache)
                done += 1
                if progress is not None:
                    progress(done, total)
    return Whys(tuple(each.answer() for each in asking), cache)


def _job_fault(log: Log, target: Target, moment: Moment) -> list[Unknown]:
    """Return that a job of Volcano cannot be decoded, which sessions do not notice."""
    if target.pair != JOB:
        return []
    unknowns = unknown_at(log, moment, [JOB], target.key.partition("/")[0])
    return [unknown for unknown in unknowns if unknown.fault and target.key in unknown.objects]


class _Asking:
    """A question while its sessions run: at earlier moments, ascending, and then at the present."""

    def __init__(self, log: Log, question: WhyAsked, events: KubernetesEvents) -> None:
        self._log, self._question, self._events = log, question, events
        self.plan = _plan(log, question)
        self._numbers = {earlier.revision: at for at, earlier in self.plan.moments}
        self._samples: list[SampledSession] = []

    def looks_at(self, then: Moment) -> bool:
        """Return whether the question needs the session at a moment."""
        return then is self._question.scene.moment or then.revision in self._numbers

    def look(self, then: Moment, cache: SchedulerCache) -> None:
        """Run the session at a moment."""
        self._run = _run(self._log, self._question, then, cache)
        self._finding = finding_of(self._run, self._question.target)
        if self._finding is not None:
            present = then is self._question.scene.moment
            place = self.plan.last if present else self._numbers[then.revision]
            if present:
                self._finding = _with_recorded(
                    self._run, self._finding, self._question.target, self._events
                )
            self._samples.append(SampledSession(then, place, self._finding))

    def answer(self) -> Why:
        """Put the answer together; the last session was that of the present."""
        log, question, run = self._log, self._question, self._run
        target, moment = question.target, question.scene.moment
        finding = _completed(run, self._finding, target, question.unknown)
        return Why(
            asked=Asked(
                kind=plain_name(*target.pair),
                name=target.key,
                at=moment.label,
                revision=moment.revision,
                release=question.behaviours.release,
                conf=run.answer.conf,
                assumed=question.assumed,
            ),
            sentence=marked(run, finding, built_in=question.built_in, assumed=question.assumed),
            waits=finding.waits,
            cause=finding.full_cause,
            chain=finding.chain,
            began=first_version(log, moment, (target.pair, target.key), target.uid),
            stages=stages_of(log, self.plan, self._samples) if finding.waits else (),
            made_by=makers_of(log, run, finding) if finding.waits else (),
            sessions=len(self._samples),
            events=tuple(last_versions(log, moment, finding.about)),
            steps=tuple(_steps(run, target)),
            not_known=question.unknown,
        )


def _with_recorded(
    run: Run, finding: SessionFinding, target: Target, events: KubernetesEvents
) -> SessionFinding:
    """Return the present answer with what the cluster recorded that contradicts it."""
    return with_recorded(run, finding, target, events.newest(_recording(run.cache, target)))


def _completed(
    run: Run, finding: SessionFinding | None, target: Target, unknown: Sequence[Unknown]
) -> SessionFinding:
    """Return what an answer says.

    :param finding: of the session; None if it sees no such object.
    """
    if finding is None:
        return _unread(target)
    return with_job_fault(with_dependencies(run, target, finding), target, unknown)


def present_finding(
    run: Run, target: Target, events: KubernetesEvents, unknown: Sequence[Unknown]
) -> SessionFinding:
    """Return what the session of the moment says about an object, as :func:`why_at` does."""
    finding = finding_of(run, target)
    if finding is not None:
        finding = _with_recorded(run, finding, target, events)
    return _completed(run, finding, target, unknown)


def _plan(log: Log, question: WhyAsked) -> EarlierMoments:
    """Return which earlier moments to look at: none for what certainly does not wait."""
    target, moment = question.target, question.scene.moment
    settled = _settled(target)
    if not target.waits or (settled is not None and not settled.waits):
        return NO_PLAN
    if target.pair == JOB and not target.podgroup:
        return NO_PLAN
    versions = versions_of(log, moment, target.scheduled)
    # Of a job without a PodGroup sessions see nothing: its own versions say since when it waits.
    versions = versions or versions_of(log, moment, (target.pair, target.key))
    return plan_of(log, moment, of_the_last(versions))


def _run(log: Log, question: WhyAsked, then: Moment, cache: SchedulerCache) -> Run:
    """Run the session at a moment, and follow what the object needs."""
    scene, goes_on = question.scene, then is question.scene.moment
    if not goes_on:
        # Plugins that read the clock see the time of that moment, and not that of the question.
        scene = msgspec.structs.replace(scene, moment=then, now=present(log.store, then))
    names, fully = closely(cache, question.target), _fully(cache, question.target)
    return run_of(
        scene,
        question.behaviours,
        cache,
        names,
        NotListed(log, then),
        fully=fully,
        goes_on=goes_on,
        job_specs=partial(job_spec, log, then),
    )


def _fully(cache: SchedulerCache, target: Target) -> Collection[str]:
    """Return the PodGroups of which also that is kept what a session does not ask."""
    if target.pair == QUEUE:
        return [key for key in jobs_below(cache, target.key) if may_wait(cache, key)][:_FEW]
    return {target.podgroup} - {""}


def closely(cache: SchedulerCache, target: Target) -> Collection[str]:
    """Return the names that a trace follows for an object."""
    if target.pair == QUEUE:
        jobs = [key for key in jobs_below(cache, target.key) if may_wait(cache, key)][:CLOSELY]
        return {target.key}.union(*(closely_of_job(cache, key, most=_FEW) for key in jobs))
    if target.pair == NODE:
        # Any pod that waits may be one that this node refuses.
        return {target.key, *waiting_pods(cache), *waiting_groups(cache)}
    pods = [target.key] if target.pair == POD else []
    return closely_of_job(cache, target.podgroup, *pods)


def _recording(cache: SchedulerCache, target: Target) -> dict[ObjectKey, str]:
    """Return the objects whose Events matter for an object, with their uids."""
    about: dict[ObjectKey, str] = {(target.pair, target.key): target.uid}
    groups = [target.podgroup] if target.podgroup else []
    if target.pair == QUEUE:
        groups = [key for key in jobs_below(cache, target.key) if may_wait(cache, key)][:CLOSELY]
    about |= {(PODGROUP, key): _uid(cache, PODGROUP, key) for key in groups}
    if target.pair in {JOB, PODGROUP}:
        about |= {(POD, key): _uid(cache, POD, key) for key in pending(cache, target.podgroup)}
    return about


def _uid(cache: SchedulerCache, pair: Pair, key: str) -> str:
    item = cache.stores.get(pair[1], key)
    return "" if item is None else item.metadata.uid


def finding_of(run: Run, target: Target) -> SessionFinding | None:
    """Return what a session says about an object; None if it does not exist then."""
    pair, key = target.scheduled
    # Its controller's phase decides, so no store of the scheduler is asked.
    settled = _settled(target)
    if settled is not None:
        return settled
    # No store of the cache has it, so further down it would look as if it did not exist.
    undecoded = undecoded_finding(run, target)
    if undecoded is not None:
        return undecoded
    if target.pair == PODGROUP and target.phase in _ENDED:
        return _of_ended(target)
    if run.cache.stores.get(pair[1], key) is None:
        return without_group(run, target) if target.ungrouped else None
    return carried(run, _FINDERS[target.pair](run, target), target)


def _settled(target: Target) -> SessionFinding | None:
    """Return the answer about a job of Volcano that its controller ends or has ended; else None.

    No session changes it, so the session of an earlier moment cannot say since when it holds.
    """
    if target.pair != JOB:
        return None
    about = ((JOB, target.key),)
    if target.phase in _ENDED:
        text = f"{target.title} does not wait: it is {target.phase}"
        if target.phase == "Aborted":
            text += ", until somebody resumes it"
        return SessionFinding(text, False, "ended", (Note(text=text),), about)
    if target.phase in _ENDING:
        text = f"{target.title} is {target.phase}: Volcano's job controller deletes its pods"
        if target.phase == _RESTARTING:
            text = f"{target.title} waits because it is {_RESTARTING}: {_AGAIN}"
        waits = target.phase == _RESTARTING
        note = Note(text=text, blocks=waits)
        return SessionFinding(text, waits, target.phase.lower(), (note,), about)
    return None


def _of_ended(target: Target) -> SessionFinding:
    """Return the answer about the PodGroup of a job that has ended: nothing places its pods."""
    text = f"{target.title} does not wait: its job {target.job} is {target.phase}"
    about = ((JOB, target.job), (PODGROUP, target.key))
    return SessionFinding(text, False, "ended", (Note(text=text),), about)


def _unread(target: Target) -> SessionFinding:
    """Return the answer about an object that the API server has, and the scheduler has not."""
    text = f"{target.title} exists, but the scheduler's informers do not have it"
    note = Note(text=text, blocks=target.waits)
    return SessionFinding(text, target.waits, "unread", (note,), (target.scheduled,))


def _of_pod(run: Run, target: Target) -> SessionFinding:
    pod = run.pod(target.key)
    assert pod is not None, "it was just looked up"
    return pod_finding(run, target.key, pod)


def _of_group(run: Run, target: Target) -> SessionFinding:
    if target.pair != JOB:
        return job_finding(run, target.podgroup, SentenceSubject.of(run.title(target.podgroup)))
    finding = job_finding(run, target.podgroup, SentenceSubject.of(target.title))
    return finding.after((), (JOB, target.key))


_FEW = 3
"""How many jobs of a queue are followed fully, and how many pending pods of each job."""

_ENDED = frozenset({"Completed", "Failed", "Aborted", "Terminated"})
_RESTARTING = "Restarting"
_ENDING = frozenset({_RESTARTING, "Completing", "Aborting", "Terminating"})
_AGAIN = "Volcano's job controller deletes its pods, and then creates them again"
_FINDERS: Mapping[Pair, Callable[[Run, Target], SessionFinding]] = MappingProxyType(
    {
        POD: _of_pod,
        PODGROUP: _of_group,
        JOB: _of_group,
        QUEUE: lambda run, target: queue_finding(run, target.key),
        NODE: lambda run, target: node_finding(run, target.key),
    }
)


def assumed_of(asked: str | None, used: str) -> list[str]:
    """Return, as sentences, what was assumed about the release.

    :param asked: the release that was named; None if none was. :param used: the one that is used.
    """
    if asked is None:
        return [unnamed(used)]
    return [] if asked == used else [f"release {asked} is taken as {used}"]


def _steps(run: Run, target: Target) -> Iterator[SessionStep]:
    """Yield the steps about an object and what belongs to it."""
    names = {target.key, target.podgroup} - {""}
    if target.pair in {JOB, PODGROUP}:
        names.update(run.waiting_pods(target.podgroup))
    for step in run.trace.steps:
        if not names.isdisjoint(step.about):
            yield shown_step(step)
