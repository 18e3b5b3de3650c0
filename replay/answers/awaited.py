"""Evictions that a job waits for: what stops the actions that would make room for it."""

from __future__ import annotations

import msgspec

from ...engine.model.task_status import TaskStatus
from ...engine.session.framework.vote_details import (
    Gate,
    Gated,
    NodesChecked,
    QueueCheck,
    QueueLevel,
    ReservationCheck,
)
from .action_order import before, does_not_run, not_run
from .answering_session import PLACING, Run
from .evicting import EVICTING, PREEMPTING, EvictingAction, NoRoom, asking_of, why_no_room
from .finding import Blocked, causes_of
from .limit_sources import on_nodes
from .placing_reasons import placed
from .queue_words import ALLOCATE, ENQUEUE, OVERUSED, first_full
from .records import Note

_OF_ACCOUNTS = frozenset({Gate.OVERUSED, Gate.MAY_NOT_RECLAIM, Gate.NOT_ALLOCATABLE})
_ACCOUNTS = frozenset({"queue-full", "queue-overused"})
_WOULD_EVICT = ("preempt", "reclaim")


def with_evictions(run: Run, blocked: Blocked, pod: str, job: str) -> Blocked:
    """Return why a pod waits, with what stops the actions that would make room for it.

    They are named where they could: what is short is held by running pods, reclaim has some in
    other queues, and preempt some of less important jobs in the same queue.

    :param pod: as which the job waits; empty if it has none yet. :param job: key of its PodGroup.
    """
    if placed(run, pod) is not None:
        return blocked
    for action in run.conf.actions:
        asked = asking_of(run, action, pod, job)
        if (
            action in EVICTING
            # Whether room helps depends on the pod that waits, not on the one that was tried.
            and _could_help(run, blocked, EvictingAction(action, pod, job))
            and _others_run(run, asked)
        ):
            why = why_no_room(run, asked)
            if not _known(why.gated, blocked):
                text = f"{blocked.because}; {action} makes no room for it: {why.text}"
                blocked = msgspec.structs.replace(
                    blocked, because=f"{text}{_too_early(run, action, why)}"
                )
    for action in _WOULD_EVICT if _is_enqueued(run, job) else ():
        asked = EvictingAction(action, pod, job)
        if not_run(run, action) and _could_help(run, blocked, asked) and _others_run(run, asked):
            text = does_not_run(run, action, pod)
            if text:
                links = (*blocked.links, Note(text=text))
                blocked = msgspec.structs.replace(
                    blocked, because=f"{blocked.because}; {text}", links=links
                )
    return blocked


def _is_enqueued(run: Run, job: str) -> bool:
    """Return whether a job could evict others: only those that are enqueued may."""
    group = run.group(job)
    pending = group is None or group.status.phase in {"", "Pending"}
    return not pending or job in run.answer.result.enqueued


def _too_early(run: Run, action: str, why: NoRoom) -> str:
    """Return that an action runs before the one that lets it evict for a job."""
    pending = why.gated is not None and why.gated.gate is Gate.NOT_ENQUEUED
    early = before(run, action, "enqueue") if pending else ""
    return f"; {early}" if early else ""


def _could_help(run: Run, blocked: Blocked, asked: EvictingAction) -> bool:
    """Return whether evictions could free what a pod waits for."""
    # Of a gang placed in part, what keeps the pods that have no place.
    cause = causes_of(blocked)[-1]
    if cause == "no-node":
        return _on_nodes(run, asked.pod)
    if cause == "overcommitted":
        seen = run.detail(ReservationCheck, "overcommit", asked.job)
        return seen is not None and all(
            _is_held(run, asked.job, name, seen.wanted.get(name, 0.0)) for name in seen.exceeded
        )
    if cause == "not-reached":
        return any(pod in run.pipelined for pod in run.waiting_pods(asked.job))
    return cause in _ACCOUNTS and _in_queue(run, asked)


def _on_nodes(run: Run, pod: str) -> bool:
    """Return whether nodes lack resources for a pod that they have when they are empty."""
    for action in PLACING:
        seen = run.detail(NodesChecked, action, pod, action)
        if seen is not None:
            short = any(near.missing for group in seen.groups for near in group.nearest)
            # No eviction makes a node larger than it is when empty.
            return short and all(
                run.largest.get(name) >= amount for name, amount in seen.request.items()
            )
    return False


def _is_held(run: Run, key: str, name: str, wanted: float) -> bool:
    """Return whether all nodes, and the queue of a job, could have as much of a resource."""
    job = run.job(key)
    info = None if job is None else run.cache.queues.get(job.queue)
    if info is None:
        return False
    # A capability that the spec does not name limits nothing.
    named = name in info.queue.spec.capability
    return on_nodes(run.cache, name) >= wanted and (
        not named or info.capability.get(name) >= wanted
    )


def _in_queue(run: Run, asked: EvictingAction) -> bool:
    """Return whether evictions could make room in the queue that is full.

    In a queue that is at its capability, reclaim from other queues cannot.
    """
    job = run.job(asked.job)
    abouts = {ALLOCATE: asked.pod, ENQUEUE: asked.job, OVERUSED: "" if job is None else job.queue}
    for point, about in abouts.items():
        check = run.detail(QueueCheck, point, about)
        full = None if check is None else first_full(check)
        if full is not None:
            return all(_could_have(full, name, asked.action) for name in full.exceeded)
    return False


def _could_have(full: QueueLevel, name: str, action: str) -> bool:
    # At its capability a queue gets no more from others; only its own pods can make room.
    limit = (full.limit or {}).get(name, 0.0)
    at_capability = (full.capability or {}).get(name) == limit
    return full.wanted.get(name, 0.0) <= limit and (action in PREEMPTING or not at_capability)


def _known(gated: Gated | None, blocked: Blocked) -> bool:
    """Return whether a sentence says already what keeps an action from looking for victims."""
    full = blocked.cause in _ACCOUNTS
    return full and gated is not None and gated.gate in _OF_ACCOUNTS


def _others_run(run: Run, asked: EvictingAction) -> bool:
    """Return whether pods run that an action may make room with, by their queue and priority."""
    own = run.job(asked.job)
    if own is None:
        return False
    same = asked.action in PREEMPTING
    return any(
        key != asked.job
        # reclaim takes Running pods only; newer preempt also Bound ones, which soon run.
        and bool(job_beside.index.get(TaskStatus.RUNNING))
        and (job_beside.queue == own.queue) is same
        and (not same or run.cache.priority_of(job_beside) < run.cache.priority_of(own))
        for key, job_beside in run.cache.jobs.items()
    )
