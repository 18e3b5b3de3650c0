"""Why a job waits: its PodGroup, its queue, its enqueueing, its gang, its pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.objects import PodGroup
from ...engine.model.job import JobInfo
from ...engine.model.task_status import STATUS_NAMES, TaskStatus
from ...engine.session.framework.vote_details import GangCounts
from .action_order import unplaced
from .amounts import amounts_of, joined
from .answering_session import NODE, POD, PODGROUP, QUEUE, Run
from .awaited import with_evictions
from .carried import carries
from .drifted_evidence import drift_links
from .enqueueing import enqueue_links, not_enqueued
from .evicting import eviction_links
from .finding import Blocked, ObjectKey, SessionFinding, causes_of
from .further_reasons import lacking_pods, with_further
from .gates import GATED, gates_of
from .hypernodes import no_hypernode
from .other_schedulers import OTHER_SCHEDULER, schedulers_of, whose_they_are
from .outlook import releasing
from .placing_reasons import (
    NO_NODE,
    REASONS,
    gang_short,
    no_nodes,
    node_links,
    not_placed,
    of_nodes,
    overused,
    placed,
    reasons_of,
)
from .records import Crash, Gang, Link, Note, PodGroupState, QueueState, Recorded
from .rejected import none_admitted, not_known_whether
from .undecoded import absence, undecoded_pods, words_about

_PLACEMENTS = 16
"""Of how many pods at most an answer says where the session places them."""


class SentenceSubject(msgspec.Struct, frozen=True):
    """What a sentence begins with.

    :param name: before what becomes of the job. :param because: before the reason for which it
        waits. :param rests: before the words that it does not wait.
    """

    name: str
    because: str
    rests: str

    @classmethod
    def of(cls, name: str) -> SentenceSubject:
        """Return the subject of a sentence about a job itself."""
        return cls(name, f"{name} waits because", name)


def job_finding(run: Run, key: str, subject: SentenceSubject) -> SessionFinding:
    """Return why the job of a PodGroup waits, or that it does not.

    :param key: ``ns/podgroup``.
    """
    group, about = run.group(key), (PODGROUP, key)
    if group is None:
        return missing_group(run, key).finding(subject.because, verb="")
    # The panic ends the session for all jobs, so it is the reason whatever else holds.
    crash = panics(run)
    if crash is not None:
        return crash.finding(subject.because, verb="").after(podgroup_links(run, key, group), about)
    blocked = job_blocked(run, key, group)
    blocked = None if blocked is None else with_further(run, key, blocked)
    links = [*podgroup_links(run, key, group), *enqueue_links(run, key)]
    if blocked is not None:
        blocked = with_evictions(run, blocked, first_waiting(run, key, group), key)
        tail = (*blocked.links, *_tail(run, key, group))
        partly = _partly(run, key)
        begin = f"{subject.name} {partly}" if partly else subject.because
        return (
            msgspec.structs.replace(blocked, links=tail).finding(begin, verb="").after(links, about)
        )
    finding = _unblocked(run, key, subject)
    said = tuple(recorded_links(run, key)) if finding.waits else ()
    return msgspec.structs.replace(finding, chain=(*finding.chain, *said)).after(links, about)


def _partly(run: Run, key: str) -> str:
    """Return how a job is said to wait whose gang runs already; empty if its gang does not run."""
    job = run.cache.jobs.get(key)
    if job is None or job.pod_group is None or job.pod_group.status.phase != "Running":
        return ""
    running = len(job.index.get(TaskStatus.RUNNING, {}))
    waiting = sum(placed(run, pod) is None for pod in run.waiting_pods(key))
    # A gang below minMember does not run, whatever its phase says: its reason comes first then.
    if not waiting or running < job.pod_group.spec.min_member:
        return ""
    more = "more waits" if waiting == 1 else "more wait"
    return f"runs with {counted(running, 'pod')}, and {waiting} {more} because"


def job_blocked(run: Run, key: str, group: PodGroup) -> Blocked | None:
    """Return what keeps the pods of a PodGroup from being placed; None if nothing does."""
    job = run.job(key)
    if job is None or job.pod_group is None:
        return _not_in_cache(key, group)
    if job.queue not in run.cache.queues:
        return _no_queue(run, job)
    phase = job.pod_group.status.phase
    if phase in {"", "Pending"}:
        enqueued = key in run.answer.result.enqueued
        # Its pods are made once it is enqueued: in this session nothing keeps it.
        return None if enqueued and not job.tasks else _still_pending(run, key, enqueued=enqueued)
    return _not_running(run, key, job)


def missing_group(run: Run, key: str) -> Blocked:
    """Return why pods of a PodGroup wait that does not exist, or cannot be decoded."""
    undecoded = words_about(run, "PodGroup", key)
    text = f"its PodGroup {key} {undecoded}; the scheduler ignores the pods, too"
    if not undecoded:
        text = f"its PodGroup {key} does not exist, and without it the scheduler ignores the pods"
    link = PodGroupState(text=text, blocks=True, podgroup=key, exists=False)
    return Blocked(text, "no-podgroup", (link,), ((PODGROUP, key),), (key,))


def panics(run: Run) -> Blocked | None:
    """Return the crash of the session; None if it has none."""
    crash = run.answer.result.panic
    if crash is None:
        return None
    when = f"while {crash.during}" if crash.during else "in this session"
    text = f"the scheduler of {run.answer.release} panics {when}: {crash.message}"
    place = tuple(map(str, crash.place))
    link = Crash(text=text, blocks=True, message=crash.message, place=place, during=crash.during)
    return Blocked(text, "panic", (link,))


def podgroup_links(run: Run, key: str, group: PodGroup) -> Iterator[Link]:
    """Yield the state of a PodGroup and of its queue."""
    phase, spec = group.status.phase or "without a phase yet", group.spec
    queue = spec.queue or run.cache.options.default_queue
    text = f"PodGroup {key} exists: {phase}, queue {queue}, minMember {spec.min_member}"
    job = run.job(key)
    least = None if job is None else job.min_resources
    plain = {} if least is None else {"cpu": least.cpu, "memory": least.memory}
    yield PodGroupState(
        text=text,
        podgroup=key,
        exists=True,
        phase=group.status.phase,
        queue=queue,
        min_member=spec.min_member,
        min_resources=amounts_of({**plain, **((least and least.scalars) or {})}, zeros=False),
    )
    info = run.cache.queues.get(queue)
    if info is not None:
        yield QueueState(
            text=f"queue {queue} exists: {info.state or 'no state'}",
            queue=queue,
            exists=True,
            state=info.state,
            parent=info.parent,
        )


def _tail(run: Run, key: str, group: PodGroup) -> Iterator[Link]:
    """Yield what is said beside the reason: the gang, evictions, drift, recorded conditions."""
    gang = run.detail(GangCounts, "gang", key)
    if gang is not None:
        yield gang_link(run, key, gang)
    tried = _first_refused(run, key, group)
    if tried:
        yield from eviction_links(run, tried, key)
    nodes = set(run.pipelined.values())
    yield from drift_links(run, key, sorted(nodes))
    yield from recorded_links(run, key)


def first_waiting(run: Run, key: str, group: PodGroup) -> str:
    """Return the pod as which a job waits: the first that is refused, or without a place."""
    left = (pod for pod in run.waiting_pods(key) if placed(run, pod) is None)
    return _first_refused(run, key, group) or next(left, "")


def _first_refused(run: Run, key: str, group: PodGroup) -> str:
    """Return the first pod of a job that a queue or the nodes refuse; empty if they refuse none.

    Those do not count for which an action makes room in the end.
    """
    queue = group.spec.queue or run.cache.options.default_queue
    left = (pod for pod in run.waiting_pods(key) if placed(run, pod) is None)
    return next((pod for pod in left if not_placed(run, pod, queue, key)), "")


def gang_link(run: Run, key: str, gang: GangCounts) -> Gang:
    """Return the counts of a gang as a record."""
    states = joined(f"{n} {name}" for name, n in gang.statuses.items()) or _no_members(run, key)
    text = f"gang: minMember {gang.least}; pods: {states}"
    return Gang(
        text=text,
        least=gang.least,
        ready=gang.ready,
        waiting=gang.waiting,
        valid=gang.valid,
        statuses=dict(gang.statuses),
        planned={pod: node for pod, (_, node) in gang.planned.items()},
        lacking=dict(gang.lacking),
    )


def _no_members(run: Run, key: str) -> str:
    """Return that a gang has no pods in sessions, and whether the log holds any."""
    if run.unseen.get(key) or undecoded_pods(run, key) is not None:
        return "none that sessions see"
    if not run.cache.stores.of("Pod") and not run.cache.stores.has_undecoded("Pod"):
        return "none, as the log holds no pods"
    return "none"


def recorded_links(run: Run, key: str) -> Iterator[Link]:
    """Yield what the cluster's own scheduler wrote: conditions of a PodGroup and of its pods."""
    group = run.group(key)
    for condition in () if group is None else group.status.conditions:
        if condition.type == "Unschedulable" and condition.status == "True":
            yield _recorded(f"podgroup {key}", condition.message, condition.last_transition_time)
    # One pod stands for all, or a job of hundreds would fill the answer.
    for name in run.waiting_pods(key)[:1]:
        yield from pod_conditions(run, name)


def pod_conditions(run: Run, name: str) -> Iterator[Link]:
    """Yield what the cluster's own scheduler wrote into a pod."""
    pod = run.pod(name)
    for condition in () if pod is None else pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            yield _recorded(f"pod {name}", condition.message, condition.last_transition_time)


def _recorded(about: str, message: str, time: str | None) -> Recorded:
    text = f'the cluster\'s scheduler wrote into {about}: "{message}"'
    return Recorded(text=text, about=about, message=message, time=time or "")


def _not_in_cache(key: str, group: PodGroup) -> Blocked:
    text = (
        f"the scheduler's cache does not have its PodGroup {key}, which exists since "
        f"{group.metadata.creation_timestamp or 'an unknown time'}: sessions do not see the job"
    )
    state = PodGroupState(text=text, blocks=True, podgroup=key, exists=True)
    return Blocked(text, "stale-cache", (state,), ((PODGROUP, key),), (key,))


def _no_queue(run: Run, job: JobInfo) -> Blocked:
    text = f"its queue {job.queue} {absence(run, 'Queue', job.queue)}"
    link = QueueState(text=text, blocks=True, queue=job.queue, exists=False)
    return Blocked(text, "no-queue", (link,), ((QUEUE, job.queue),), (job.queue,))


def _still_pending(run: Run, key: str, *, enqueued: bool) -> Blocked | None:
    refused = None if enqueued else not_enqueued(run, key)
    if refused is not None:
        return refused
    # Without the action enqueue, allocate itself makes Pending jobs Inqueue, and goes on with them.
    if enqueued or "enqueue" not in run.conf.actions:
        return _not_running(run, key, run.cache.jobs[key])
    text = "the session does not come to it: its PodGroup stays Pending"
    return Blocked(text, "not-reached", (Note(text=text, blocks=True),), ((PODGROUP, key),))


def _not_running(run: Run, key: str, job: JobInfo) -> Blocked | None:
    """Return why an enqueued job's pods have no nodes."""
    waiting = run.waiting_pods(key)
    left = [pod for pod in waiting if placed(run, pod) is None]
    # `JobValid` comes before any placing, so the session asks nothing else about such a gang.
    short = too_few_pods(run, key, job)
    if short is not None:
        return short
    if not left:
        return _no_pods(run, key) if not job.tasks else None
    gated = gates_of(run, left)
    gang = run.detail(GangCounts, "gang", key)
    partly = None if gang is None else gang_short(run, key, gang)
    # A queue may become overused after a pod of it was refused: that refusal is the reason.
    reason = partly or _of_pods(run, left, job.queue, key) or overused(run, job.queue, key)
    # Under a hard topology, that no hypernode holds the job says more than what single nodes say.
    if reason is None or of_nodes(reason):
        reason = no_hypernode(run, key) or reason
    # The gates may be named already, as what the rest of the gang waits for.
    if reason is not None and gated is not None and causes_of(reason)[1:] != (GATED,):
        return reason.and_also(gated)
    return reason or gated or _not_tried(run, key, left[0])


def _of_pods(run: Run, pods: list[str], queue: str, key: str) -> Blocked | None:
    """Return why none of a job's pods has a node: for different reasons, each with a pod."""
    reasons = reasons_of(run, pods, queue, key)[:REASONS]
    if not reasons:
        return None
    # The first reason stays even if the data do not carry it: `carried` says so of the answer.
    (_, first), *others = reasons
    for who, reason in others:
        if not carries(run, reason):
            continue
        first = first.and_also(reason, f"pod {who} waits because {reason.because}")
    return first


def too_few_pods(run: Run, key: str, job: JobInfo) -> Blocked | None:
    """Return which pods a gang lacks; None if the session found it valid."""
    seen = run.detail(dict, "JobValid", key)
    return None if seen is None or not job.tasks else lacking_pods(run, key)


def _no_pods(run: Run, key: str) -> Blocked:
    # Pods that exist and are not seen come first: else a controller would be blamed for them.
    unseen = run.unseen.get(key)
    if unseen:
        text = f"sessions see none of its pods: {whose_they_are(run, unseen)}"
        about = ((POD, unseen[0].key),)
        note = Note(text=text, blocks=True)
        return Blocked(text, OTHER_SCHEDULER, (note,), about, schedulers_of(unseen))
    undecoded = undecoded_pods(run, key)
    if undecoded is not None:
        text = f"sessions see none of its pods: {undecoded.because}"
        return msgspec.structs.replace(
            undecoded, because=text, links=(Note(text=text, blocks=True),)
        )
    rejected = none_admitted(run, key)
    if rejected is not None:
        return rejected
    group = run.group(key)
    owner = None if group is None else group.metadata.controller
    maker = f"the controller of its {owner.kind}" if owner else "a controller"
    text = f"none of its pods exists: it is enqueued, and {maker} has to make them"
    text += not_known_whether(run, key)
    return Blocked(text, "no-pods", (Note(text=text, blocks=True),), ((PODGROUP, key),))


def _not_tried(run: Run, key: str, pod: str) -> Blocked:
    group = run.group(key)
    text = unplaced(run, "" if group is None else group.status.phase)
    if not text and not run.has_nodes:
        text = no_nodes(run)
        return Blocked(text, NO_NODE, (Note(text=text, blocks=True),), ((NODE, ""),))
    text = text or f"the session does not come to its pod {pod}"
    return Blocked(text, "not-reached", (Note(text=text, blocks=True),), ((POD, pod),))


def _unblocked(run: Run, key: str, subject: SentenceSubject) -> SessionFinding:
    """Return what becomes of a job that nothing keeps waiting."""
    job = run.cache.jobs[key]
    binds = [pod for pod in run.waiting_pods(key) if _decision(run, pod) == "bind"]
    later = [pod for pod in run.waiting_pods(key) if _decision(run, pod) == "pipeline"]
    links = _placements(run, [*binds, *later])
    about: tuple[ObjectKey, ...] = tuple((POD, pod) for pod in (*binds, *later)[:2])
    links += [link for pod in binds[:1] for link in node_links(run, pod)]
    if later:
        return releasing(run, subject.name, later, tuple(links), about)
    refused = [bind.pod for bind in run.answer.refused if bind.pod in binds]
    gated = gates_of(run, refused)
    if gated is not None and len(refused) == len(binds):
        release = run.answer.release
        but = f"{release} reads no gates and binds the pods, and the API server refuses that"
        whole = msgspec.structs.replace(
            gated, because=f"{gated.because}; {but}", links=tuple(links)
        )
        return whole.finding(subject.name)
    binds = [pod for pod in binds if pod not in refused]
    if binds:
        text = f"{subject.name} waits only for the next session, which binds {_few(run, binds)}"
        return SessionFinding(text, True, "next-session", tuple(links), about)
    if key in run.answer.result.enqueued:
        text = f"{subject.name} waits only for the next session, which enqueues it"
        return SessionFinding(text, True, "next-session", tuple(links), about)
    counts = [f"{len(tasks)} {STATUS_NAMES[status]}" for status, tasks in sorted(job.index.items())]
    phase = "" if job.pod_group is None else job.pod_group.status.phase
    states = f", pods: {joined(counts)}" if counts else ""
    return SessionFinding(
        f"{subject.rests} does not wait: its PodGroup is {phase}{states}", False, "runs"
    )


def _placements(run: Run, pods: Sequence[str]) -> list[Link]:
    """Return which nodes the session gives to pods; of many pods, for some."""
    links: list[Link] = [
        placement for pod in pods[:_PLACEMENTS] if (placement := placed(run, pod)) is not None
    ]
    rest = len(pods) - _PLACEMENTS
    if rest > 0:
        links.append(Note(text=f"the session places {counted(rest, 'more pod')} of it"))
    return links


def _decision(run: Run, pod: str) -> str:
    link = placed(run, pod)
    return "" if link is None else link.decision


def _few(run: Run, pods: list[str]) -> str:
    named = [f"{pod} to {run.binds[pod]}" for pod in pods[:3]]
    rest = len(pods) - 3
    return joined([*named, f"{rest} more"] if rest > 0 else named)
