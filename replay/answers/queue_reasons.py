"""Why jobs of a queue wait: its state, its account, and what keeps each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.counts import counted
from ...engine.model.task_status import TaskStatus
from ...engine.session.framework.vote_details import QueueCheck, QueueLevel
from ...engine.session.plugins.shared.queue_details import ACCOUNT
from .amounts import apart, in_order, joined, words
from .answering_session import POD, PODGROUP, QUEUE, Run
from .awaited import with_evictions
from .drifted_evidence import differences
from .enqueueing import QUEUE_CLOSED, state_words
from .evicting import eviction_links
from .finding import Blocked, ObjectKey, SessionFinding
from .job_reasons import first_waiting, job_blocked, panics
from .queue_words import account_of, held_of
from .records import Link, QueuePath, QueueState, Waiting
from .undecoded import undecoded_groups

NAMED = 2
"""How many different reasons a sentence names."""


def queue_finding(run: Run, name: str) -> SessionFinding:
    """Return why jobs of a queue, or of queues below it, wait, or that none does."""
    info, subject = run.cache.queues.get(name), f"queue {name}"
    about: tuple[ObjectKey, ...] = ((QUEUE, name),)
    if info is None:
        text = f"{subject} exists, but the scheduler's cache does not have it"
        stale = tuple(differences(run, [("Queue", name)]))
        return SessionFinding(text, True, "stale-cache", stale, about, (name,))
    state = QueueState(
        text=f"{subject} exists: {info.state or 'no state'}",
        queue=name,
        exists=True,
        state=info.state,
        parent=info.parent,
    )
    crash = panics(run)
    if crash is not None:
        return crash.finding(f"every job of {subject}").after([state], *about)
    blocked = {key: reason for key in waiting_jobs(run, name) if (reason := _blocked(run, key))}
    links: list[Link] = [state, *_account_links(run, name), *_waiting_links(run, blocked)]
    links += _evictions(run, blocked)
    links += differences(run, [("Queue", name)])
    if not blocked:
        return _idle(run, subject, name).after(links, *about)
    # Some may wait for something else, as jobs that were enqueued before the queue closed.
    if info.state != "Open" and all(
        (reason.cause, *reason.of) == (QUEUE_CLOSED, name) for reason in blocked.values()
    ):
        text = f"it is {state_words(run, name)}"
        many = counted(len(blocked), "job")
        sentence = f"{subject} lets {many} wait: {text} ({joined(_titles(run, blocked))})"
        return SessionFinding(sentence, True, QUEUE_CLOSED, tuple(links), about, (name,))
    return _waits(run, subject, blocked).after(links, *about)


def waiting_jobs(run: Run, name: str) -> list[str]:
    """Return the PodGroups of a queue, and of queues below it, that are not all placed."""
    return [key for key in jobs_below(run.cache, name) if may_wait(run.cache, key)]


def jobs_below(cache: SchedulerCache, name: str) -> list[str]:
    """Return the PodGroups of a queue and of the queues below it, by name."""
    within = {name}
    # No queue is deeper than there are queues; queues in a circle end here, too.
    for _ in range(len(cache.queues)):
        more = {queue.name for queue in cache.queues.values() if queue.parent in within} - within
        if not more:
            break
        within |= more
    keys = (key for key, job in cache.jobs.items() if job.queue in within)
    return sorted(key for key in keys if cache.jobs[key].pod_group is not None)


def may_wait(cache: SchedulerCache, key: str) -> bool:
    """Return whether a job has not started, or has pods without a node."""
    job = cache.jobs[key]
    phase = "" if job.pod_group is None else job.pod_group.status.phase
    return phase in {"", "Pending", "Inqueue"} or bool(job.index.get(TaskStatus.PENDING))


def _blocked(run: Run, key: str) -> Blocked | None:
    """Return why a job waits; of one followed fully, also what stops actions that evict for it."""
    group = run.group(key)
    reason = None if group is None else job_blocked(run, key, group)
    if reason is None or group is None or key not in run.trace.fully:
        return reason
    return with_evictions(run, reason, first_waiting(run, key, group), key)


def _evictions(run: Run, blocked: Mapping[str, Blocked]) -> Iterator[Link]:
    """Yield what the actions that evict did for the first job of each cause, each thing once."""
    said = set()
    # Backwards, so that of each cause the first job stays.
    firsts = {(reason.cause, *reason.of): key for key, reason in reversed(list(blocked.items()))}
    for key in sorted(run.trace.fully.intersection(firsts.values())):
        group = run.group(key)
        waiting = "" if group is None else first_waiting(run, key, group)
        for link in eviction_links(run, waiting, key, named=True) if waiting else ():
            attempt = (link.action, link.gate, link.by, str(link.compared))
            if not link.gate or attempt not in said:
                yield link
            said.add(attempt)


def _waits(run: Run, subject: str, blocked: dict[str, Blocked]) -> SessionFinding:
    """Return the finding about jobs that wait: those with the same reason are counted together.

    Reasons of one cause may have other numbers, and then they are other reasons; they come after
    those of other causes.
    """
    by_cause: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for key, kept_by in blocked.items():
        same_cause = by_cause.setdefault((kept_by.cause, *kept_by.of), {})
        same_cause.setdefault(kept_by.because, []).append(key)
    causes = sorted(by_cause, key=lambda cause: (-_count(by_cause[cause]), cause))
    groups = [
        sorted(by_cause[cause].items(), key=lambda reason: (-len(reason[1]), reason[1]))
        for cause in causes
    ]
    order = [group[0] for group in groups] + list(
        chain.from_iterable(group[1:] for group in groups)
    )
    parts = []
    for because, keys in order[:NAMED]:
        more = f" and {counted(len(keys) - 1, 'more', 'more')}" if len(keys) > 1 else ""
        verb = "wait" if more else "waits"
        parts.append(f"{run.title(keys[0])}{more} {verb} because {because}")
    rest = sum(len(keys) for _, keys in order[NAMED:])
    if rest:
        parts.append(f"{counted(rest, 'more waits', 'more wait')} for other reasons")
    text = f"{counted(len(blocked), 'job')} of {subject} wait: {'; '.join(parts)}"
    if len(blocked) == 1:
        ((key, only),) = blocked.items()
        text = f"{run.title(key)} of {subject} waits because {only.because}"
    shown_causes = order[: max(NAMED, len(causes))]
    about = tuple(object_key for _, keys in shown_causes for object_key in blocked[keys[0]].about)
    cause, *of = chain.from_iterable(causes[:NAMED])
    return SessionFinding(text, True, cause, (), about, tuple(of))


def _count(reasons: Mapping[str, Sequence[str]]) -> int:
    return sum(map(len, reasons.values()))


def _waiting_links(run: Run, blocked: dict[str, Blocked]) -> Iterator[Link]:
    for key, reason in blocked.items():
        text = f"{run.title(key)} waits because {reason.because}"
        yield Waiting(text=text, names=(key,), blocks=True)


def _titles(run: Run, blocked: dict[str, Blocked]) -> list[str]:
    names = [run.title(key) for key in blocked]
    return [*names[:3], f"{len(names) - 3} more"] if len(names) > 3 else names


def _account_links(run: Run, name: str) -> Iterator[Link]:
    check = run.detail(QueueCheck, ACCOUNT, name)
    if check is not None:
        yield QueuePath(
            text=f"{check.plugin}'s account of queue {name}: {_held(run, check.levels[0])}",
            action="close",
            point=ACCOUNT,
            plugin=check.plugin,
            permits=True,
            accounts=tuple(map(account_of, check.levels)),
            holders=tuple(held_of(run, holder) for holder in check.holders),
        )


def _held(run: Run, level: QueueLevel) -> str:
    """Return how much of its limit a queue holds; without lists of pods, nothing is not known."""
    limit, parts = level.limit, []
    unknown = run.not_listed(POD) or run.not_listed(PODGROUP)
    nothing = "an amount that is not known" if unknown else "nothing"
    if limit is None:
        names = [name for name in level.allocated if level.allocated[name]]
        return f"{words(level.allocated, names) or nothing} (no limit was computed)"
    for name in in_order({*level.allocated, *limit}):
        if level.allocated.get(name) or (name in {"cpu", "memory"} and limit.get(name)):
            pair = (level.allocated.get(name, 0.0), limit.get(name, 0.0))
            has, of = apart(*pair, name)
            has = "an unknown part" if unknown and not pair[0] else has
            parts.append(f"{has} of {of} {name}")
    return joined(parts) or nothing


def _idle(run: Run, subject: str, name: str) -> SessionFinding:
    check = run.detail(QueueCheck, ACCOUNT, name)
    holds = "" if check is None else f"; it holds {_held(run, check.levels[0])}"
    jobs = len(jobs_below(run.cache, name))
    text = f"{subject} lets no job wait: it has {counted(jobs, 'job')}{holds}"
    undecoded = undecoded_groups(run, name)
    if undecoded is not None:
        text = f"{text}; {undecoded.because}"
    links = () if undecoded is None else undecoded.links
    return SessionFinding(text, False, "idle", links, () if undecoded is None else undecoded.about)
