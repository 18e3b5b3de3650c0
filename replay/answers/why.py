"""Why an object waits at a moment: one session, and what it says about that object."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.job_cache import job_of
from ...engine.errors import UsageError
from ...engine.kubernetes.objects import Pod, PodGroup
from ...engine.state.coverage import Pair
from ...engine.state.facts import JobFact
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ..moments.belief import belief_at
from ..moments.coverage import SCHEDULING, Unknown, document_of, unknown_at
from ..moments.kinds import ObjectName, plain_name
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.names import name_at, not_found
from ..moments.scheduler_confs import ConfText, has_no_conf
from ..sessions.session import SessionInputs, present, scene_at, step_document
from .evidence import first_version, last_versions
from .finding import Finding, ObjectKey
from .jobs import job_finding
from .makers import makers_of
from .nodes import node_finding, waiting_pods
from .pods import pod_finding
from .queues import jobs_below, queue_finding
from .records import Asked, Evidence, Note, Step, Why
from .run import CLOSELY, JOB, NODE, POD, PODGROUP, QUEUE, Run, closely_of_job, run_of
from .since import Past, Search, changes_of, past_of

KINDS: tuple[Pair, ...] = (POD, JOB, PODGROUP, QUEUE, NODE)
"""What ``why`` can be asked about."""


class Target(NamedTuple):
    """The object of a question, found at a moment.

    :param key: ``ns/name``, or the name. :param podgroup: of a pod or a job, ``ns/name``.
    """

    pair: Pair
    key: str
    podgroup: str = ""

    @property
    def title(self) -> str:
        """How sentences name it."""
        return f"{plain_name(*self.pair)} {self.key}"


class Question(NamedTuple):
    """What is asked, and the session that answers it.

    :param assumed: sentences about a release or a configuration that was not known.
    """

    named: ObjectName
    namespace: str
    scene: SessionInputs
    behaviours: Behaviours
    unknown: tuple[Unknown, ...]
    assumed: tuple[str, ...]


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
    :raises UsageError: the kind is not one of :data:`KINDS`.
    :raises ObjectNotFound: there is no such object at that moment.
    """
    question = question_of(
        log, named, at, namespace=namespace, release=release, conf=conf, assumed=assumed
    )
    cache = belief_at(log.store, question.scene.moment, question.behaviours)
    target = target_of(log, question, cache)
    run = run_for(question, cache, target)
    finding = finding_of(run, log, target)
    return answer_of(log, question, target, run, finding)


def question_of(
    log: Log,
    named: ObjectName,
    at: str | Moment,
    *,
    namespace: str | None,
    release: str,
    conf: ConfText | None,
    assumed: Sequence[str],
) -> Question:
    """Return a question with the inputs that its session needs."""
    if (named.group, named.kind) not in KINDS:
        raise UsageError(
            f"why does not answer about a {named.kind}",
            now="ask about a pod, a job, a podgroup, a queue or a node",
        )
    scene = scene_at(log, at, conf)
    moment = scene.moment
    sentences = list(assumed)
    if conf is None and has_no_conf(log, moment):
        sentences.append(
            f"the log holds no configuration of the scheduler: {release} runs with its built-in one"
        )
    return Question(
        named,
        named.place(namespace) or "default",
        scene,
        resolve(release),
        tuple(unknown_at(log, moment, SCHEDULING)),
        tuple(sentences),
    )


def target_of(log: Log, question: Question, cache: SchedulerCache) -> Target:
    """Return the object that a question means.

    :raises ObjectNotFound: there is none at that moment.
    """
    named, moment = question.named, question.scene.moment
    pair = (named.group, named.kind)
    if pair in {QUEUE, NODE}:
        return _cluster_target(log, pair, named.name, moment, cache)
    place = question.namespace
    if pair == JOB:
        return _job_target(log, place, named.name, moment, cache)
    key = f"{place}/{named.name}"
    if cache.stores.get(named.kind, key) is None:
        key = f"{place}/{name_at(log, pair, named.name, place, moment)}"
    item = cache.stores.get(named.kind, key)
    if item is None:
        raise not_found(log, pair, named.name, place, moment)
    group = job_of(item) if isinstance(item, Pod) else key
    return Target(pair, key, group)


def _cluster_target(
    log: Log, pair: Pair, name: str, moment: Moment, cache: SchedulerCache
) -> Target:
    if cache.stores.get(pair[1], name) is None:
        raise not_found(log, pair, name, None, moment)
    return Target(pair, name)


def _job_target(log: Log, place: str, name: str, moment: Moment, cache: SchedulerCache) -> Target:
    key = f"{place}/{name}"
    for group, item in sorted(cache.stores.of("PodGroup").items()):
        owner = item.metadata.controller if isinstance(item, PodGroup) else None
        if item.namespace == place and owner is not None and owner.kind == "Job":
            found = owner.name == name and owner.api_version.startswith(JOB[0])
            if found:
                return Target(JOB, key, group)
    if log.truth(moment).find(*JOB, place, name) is None:
        raise not_found(log, JOB, name, place, moment)
    return Target(JOB, key)


def run_for(question: Question, cache: SchedulerCache, target: Target) -> Run:
    """Run the session of a question, and follow what its object needs."""
    return run_of(
        question.scene,
        question.behaviours,
        cache,
        closely(cache, target),
        question.unknown,
    )


def closely(cache: SchedulerCache, target: Target) -> Collection[str]:
    """Return the names that a trace follows for an object."""
    if target.pair == QUEUE:
        jobs = jobs_below(cache, target.key)[:CLOSELY]
        return {target.key}.union(*(closely_of_job(cache, key) for key in jobs))
    if target.pair == NODE:
        return {target.key, *waiting_pods(cache)}
    pods = [target.key] if target.pair == POD else []
    return closely_of_job(cache, target.podgroup, *pods)


def finding_of(run: Run, log: Log, target: Target) -> Finding:
    """Return what a session says about an object."""
    return _FINDERS[target.pair](run, log, target)


def _of_pod(run: Run, _: Log, target: Target) -> Finding:
    pod = run.pod(target.key)
    assert pod is not None, "a target exists"
    return pod_finding(run, target.key, pod)


def _of_group(run: Run, _: Log, target: Target) -> Finding:
    return job_finding(run, target.key, run.title(target.key))


def _of_job(run: Run, log: Log, target: Target) -> Finding:
    entry = log.truth(run.moment).find(*JOB, *target.key.split("/"))
    fact = None if entry is None else entry.fact
    phase = fact.phase if isinstance(fact, JobFact) else ""
    if phase in _ENDED:
        text = f"{target.title} does not wait: it is {phase}"
        return Finding(text, False, "ended", (Note(text=text),), ((JOB, target.key),))
    if target.podgroup:
        return job_finding(run, target.podgroup, target.title).after((), (JOB, target.key))
    text = (
        f"{target.title} waits because it has no PodGroup yet: Volcano's job controller makes it, "
        f"and the job is {phase or 'without a phase'}"
    )
    return Finding(text, True, "no-podgroup", (Note(text=text),), ((JOB, target.key),))


_ENDED = frozenset({"Completed", "Failed", "Aborted", "Terminated"})
_Finder = Callable[[Run, Log, Target], Finding]
_FINDERS: Mapping[Pair, _Finder] = MappingProxyType(
    {
        POD: _of_pod,
        PODGROUP: _of_group,
        JOB: _of_job,
        QUEUE: lambda run, _, target: queue_finding(run, target.key),
        NODE: lambda run, _, target: node_finding(run, target.key),
    }
)


def answer_of(
    log: Log,
    question: Question,
    target: Target,
    run: Run,
    finding: Finding,
    *,
    searches: bool = True,
) -> Why:
    """Return the answer that a finding is, with since when it holds."""
    moment = question.scene.moment
    start = began(log, moment, target, run)
    past = Past((), 0)
    if finding.waits and searches:
        past = _past(log, question, target, run, finding)
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
        sentence=finding.sentence,
        waits=finding.waits,
        cause=finding.cause,
        chain=finding.chain,
        began=start,
        stages=past.stages,
        made_by=makers_of(log, run, finding) if searches else (),
        sessions=past.sessions + 1,
        events=tuple(last_versions(log, moment, finding.about)),
        steps=tuple(_steps(run, target)),
        not_known=question.unknown,
    )


def _past(log: Log, question: Question, target: Target, run: Run, finding: Finding) -> Past:
    """Return which answers held before, by the sessions at earlier moments."""
    moment = question.scene.moment
    about: ObjectKey = (PODGROUP, target.podgroup) if target.podgroup else (target.pair, target.key)
    item = run.cache.stores.get(about[0][1], about[1]) if about[0] != JOB else None
    start = first_version(log, moment, about, "" if item is None else item.uid)
    marks = changes_of(log, moment, about)

    def look(then: Moment, cache: SchedulerCache) -> Finding | None:
        if cache.stores.get(about[0][1], about[1]) is None:
            return None
        scene = question.scene._replace(moment=then, now=present(log.store, then))
        earlier = run_of(scene, question.behaviours, cache, closely(cache, target), run.unknown)
        return _earlier(earlier, target)

    return past_of(log, run, finding, Search(start, marks, look))


def _earlier(run: Run, target: Target) -> Finding | None:
    """Return what an earlier session says about an object; None if it did not exist then."""
    if target.pair == POD:
        pod = run.pod(target.key)
        return None if pod is None else pod_finding(run, target.key, pod)
    if target.pair in {JOB, PODGROUP}:
        return job_finding(run, target.podgroup, run.title(target.podgroup))
    if target.pair == QUEUE:
        return queue_finding(run, target.key)
    return node_finding(run, target.key)


def why_document(found: Why) -> dict[str, Any]:
    """Return an answer for JSON."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    document["not_known"] = [document_of(one) for one in found.not_known]
    return document


def _steps(run: Run, target: Target) -> Iterator[Step]:
    """Yield the steps about an object and what belongs to it."""
    names = {target.key, target.podgroup} - {""}
    if target.pair in {JOB, PODGROUP}:
        names.update(run.waiting_pods(target.podgroup))
    for step in run.trace.steps:
        if not names.isdisjoint(step.about.split()):
            yield msgspec.convert(step_document(step), Step)


def began(log: Log, moment: Moment, target: Target, run: Run) -> Evidence | None:
    """Return the event with which an object, or its PodGroup, came into being."""
    if target.pair == JOB:
        return first_version(log, moment, (JOB, target.key))
    item = run.cache.stores.get(target.pair[1], target.key)
    return first_version(log, moment, (target.pair, target.key), "" if item is None else item.uid)
