"""One change that is tried: whether an object starts with it, and what else the session does."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ...engine.errors import PlinianError
from ...engine.model.job import JobInfo
from ...engine.model.task_status import READY_STATUS, TaskStatus
from ..answers.answering_session import POD
from ..answers.target import Target
from ..sessions.session_answer import SessionAnswer
from .changed_sessions import ChangedSessions, Variant
from .ignored import Ignored, ignored_in
from .made_pods import made_pods
from .suggestion import Suggestion

NOW, AFTER_EVICTIONS, ENQUEUED = "now", "after evictions", "enqueued"


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """A change with which the object starts.

    :param kind: of change: ``uncordon``, ``untaint``, ``open``, ``restore``, ``limit`` of a queue,
        ``topology``, ``gang``, ``pods`` without a constraint of theirs, ``victims`` that are less
        protected, ``move`` to another queue, ``switch`` in the configuration, ``node``, ``gone``,
        ``pair`` of changes neither of which helps alone, ``release``.
    :param starts: ``now``; ``after evictions``, when evicted pods are gone; or ``enqueued``: its
        pods can be created, and the next sessions start it.
    :param evicts: pods that the session then evicts, and the original one does not.
    :param no_longer: pods that the original session binds, and this one does not.
    :param faults: of a release, in words, without which the object would not start.
    """

    kind: str
    text: str
    starts: str
    evicts: tuple[str, ...] = ()
    no_longer: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class TriedChange(NamedTuple):
    """A change that was tried.

    :param nearer: it does not help, but the session says something else of the object.
    """

    suggestion: Suggestion
    remedy: Remedy | None
    nearer: bool = False


class ChangeTrial(NamedTuple):
    """Runs the session with changes, and says whether the object starts then.

    :param unchanged: when it starts without any.
    """

    sessions: ChangedSessions
    target: Target
    original: SessionAnswer
    unchanged: str

    def helps(self, variant: Variant) -> bool:
        """Return whether the object starts, or starts sooner, with changes."""
        return self._sooner(variant, self.sessions.run(variant)) != ""

    def ignored_in(self, release: str) -> tuple[Ignored, ...]:
        """Return what the object asks for and a release does not read."""
        return ignored_in(release, self.target.podgroup, self.sessions.cache)

    def tried(self, suggestion: Suggestion) -> TriedChange:
        """Return what a change does; no remedy if it does not help, or cannot be made."""
        try:
            answer = self.sessions.run(suggestion.variant)
        except PlinianError:
            return TriedChange(suggestion, None)  # For instance because the log lacks the object.
        starts = self._sooner(suggestion.variant, answer)
        if not starts:
            nearer = _said_of(answer, self.target) != _said_of(self.original, self.target)
            return TriedChange(suggestion, None, nearer)
        binds, evicted = dict(answer.result.binds), dict(self.original.result.evictions)
        remedy = Remedy(
            kind=suggestion.kind,
            text=suggestion.text,
            starts=starts,
            evicts=tuple(pod for pod, _ in answer.result.evictions if pod not in evicted),
            no_longer=tuple(pod for pod, _ in self.original.result.binds if pod not in binds),
        )
        return TriedChange(suggestion, remedy)

    def _sooner(self, variant: Variant, answer: SessionAnswer) -> str:
        starts = sure(self.sessions, variant, answer, self.target)
        # A change that costs the job more of its pods than it places is no help.
        worse = loses_more(answer, self.original, self.target.podgroup)
        return "" if worse or starts == self.unchanged else starts


def loses_more(answer: SessionAnswer, original: SessionAnswer, podgroup: str) -> bool:
    """Return whether a session evicts more pods of a job than it places, beyond the original."""
    job, result = answer.cache.jobs.get(podgroup), answer.result
    own = set() if job is None else {task.key for task in job.tasks.values()}
    before = dict(original.result.evictions)
    lost = {pod for pod, _ in result.evictions if pod in own and pod not in before}
    gained = {pod for pod, _ in (*result.binds, *result.pipelined) if pod in own}
    return len(lost) > len(gained)


def _said_of(answer: SessionAnswer, target: Target) -> object:
    """Return what a session decides and writes of an object and its job."""
    result, job = answer.result, answer.cache.jobs.get(target.podgroup)
    pods = sorted(task.key for task in job.tasks.values()) if job is not None else []
    status = result.pod_groups.get(target.podgroup)
    placed = result.binds, result.pipelined
    return (
        target.podgroup in result.enqueued,
        sorted(pod for pairs in placed for pod, _ in pairs if pod in pods),
        [result.fit_errors[pod] for pod in pods if pod in result.fit_errors],
        None if status is None else (status.phase, status.conditions),
        [result.pod_conditions[pod].message for pod in pods if pod in result.pod_conditions],
        [event for event in result.events if event[0] == target.podgroup],
    )


def starts_in(answer: SessionAnswer, target: Target) -> str:
    """Return when a session lets an object start; empty if it does not.

    A job starts when enough of its pods for its gang have a node. If it has no pods yet, it must be
    enqueued first: then they are created.
    """
    result = answer.result
    if result.panic is not None:
        return ""
    refused = {bind.pod for bind in answer.refused}
    bound = {pod: node for pod, node in result.binds if pod not in refused}
    later = dict(result.pipelined)
    if target.pair == POD:
        return NOW if target.key in bound else AFTER_EVICTIONS if target.key in later else ""
    job = answer.cache.jobs.get(target.podgroup)
    if job is None:
        return ""
    pending = [task.key for task in job.index.get(TaskStatus.PENDING, {}).values()]
    if not pending:
        return ENQUEUED if target.podgroup in result.enqueued else ""
    now = sum(pod in bound for pod in pending)
    ready = now + _ready(job)
    if now and ready >= job.min_available:
        return NOW
    waits = sum(pod in later for pod in pending)
    return AFTER_EVICTIONS if waits and ready + waits >= job.min_available else ""


def sure(sessions: ChangedSessions, variant: Variant, answer: SessionAnswer, target: Target) -> str:
    """Return when an object starts, if the next sessions let it; else nothing.

    They are run to see whether what a session keeps for it suffices, and whether they place the
    pods that a job gets which is enqueued. In a large cluster, or if these pods are not known, what
    the session says is believed.
    """
    starts = starts_in(answer, target)
    if starts == ENQUEUED:
        return starts if _starts_with_pods(sessions, variant, answer, target) else ""
    if starts != AFTER_EVICTIONS:
        return starts
    ahead = list(sessions.next_after(variant, answer))
    later = dict(answer.result.pipelined)
    bound = {pod for session in ahead for pod, _ in session.answer.result.binds}
    return starts if not ahead or not bound.isdisjoint(later) else ""


def _starts_with_pods(
    sessions: ChangedSessions, variant: Variant, answer: SessionAnswer, target: Target
) -> bool:
    """Return whether the next sessions start a job that one enqueues and that has no pods yet."""
    release = variant.release or sessions.release
    log, moment = sessions.log, sessions.moment
    pods = made_pods(log, moment, release, answer.cache, target.podgroup, find=sessions.find)
    if pods is None:
        return True
    if not pods:
        return False
    none = True
    for session in sessions.next_after(variant, answer, pods):  # The next one changes the cache.
        if starts_in(session.answer, target) == NOW:
            return True
        none = False
    # If no next session can be run, the word of this one has to do.
    return none


def _ready(job: JobInfo) -> int:
    return sum(len(job.index.get(status, {})) for status in sorted(READY_STATUS))
