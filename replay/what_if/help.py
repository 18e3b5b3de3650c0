"""What would make a waiting object start, found by running the session with each change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.errors import PlinianError, UsageError
from ...engine.events import KINDS, Effect
from ...engine.model.job import JobInfo
from ...engine.model.status import READY_STATUS, Status
from ...engine.volcano.session.history import resolve
from ..answers.answer import Why
from ..answers.evidence import versions_of
from ..answers.records import EvictionTry
from ..answers.run import NODE, POD, PODGROUP, QUEUE
from ..answers.target import Target, target_of
from ..compare.causes import Cause, smallest
from ..moments.kinds import ObjectName
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.scheduler_confs import ConfText
from ..sessions.session import SessionAnswer
from ..tabular.table import Table, table_of
from ..tabular.tabular import Tabular
from .faults import FaultSearch, TimeOver
from .run import ORIGINAL, Sessions, Variant
from .suggestions import RELEASE, SWITCH, Suggestion, suggestions_for
from .switches import Switch, Switches, said

NOW, AFTER_EVICTIONS, ENQUEUED = "now", "after evictions", "enqueued"


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """A change with which the object starts.

    :param kind: of change: ``uncordon``, ``untaint``, ``open``, ``restore``, ``limit``,
        ``topology``, ``gang``, ``move`` to another queue, ``switch`` in the configuration,
        ``node``, ``gone``, ``release``.
    :param starts: ``now``; ``after evictions``, when evicted pods are gone; or ``enqueued``: its
        pods can be created.
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


class WouldHelp(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """The changes that help, the cheapest first.

    :param tried: how many changes were tried. :param left: how many were not, for lack of time.
    :param by_fault: releases with which the object starts only because of what they fail to check
        or to count.
    :param in_vain: the changes that were tried and do not help.
    :param unchanged: when the object starts without any change: ``now``, ``after evictions`` or
        ``enqueued``; empty if it does not. Only changes with which it starts sooner help then.
    """

    found: tuple[Remedy, ...]
    tried: int
    left: int
    unchanged: str = ""
    by_fault: tuple[Remedy, ...] = ()
    in_vain: tuple[str, ...] = ()

    def tables(self) -> Mapping[str, Table]:
        """Return the changes that help, also those that do so only by a fault."""
        return {"remedies": table_of(Remedy, (*self.found, *self.by_fault))}


_Tried = tuple[Suggestion, Remedy | None]


def startable(log: Log, named: ObjectName, namespace: str | None, moment: Moment) -> Target:
    """Return the object of a question that may start.

    :raises UsageError: it is a queue or a node.
    :raises ObjectNotFound: there is no such object at that moment.
    """
    target = target_of(log, named, named.place(namespace) or "default", moment)
    if target.pair in {QUEUE, NODE}:
        raise UsageError(
            f"no change makes a {named.kind} start: only pods and jobs do",
            now="ask about a pod, a job or a podgroup",
        )
    return target


def what_would_help(
    log: Log,
    moment: Moment,
    target: Target,
    why: Why,
    *,
    conf: ConfText | None = None,
    go_on: Callable[[], bool] = lambda: True,
    progress: Callable[[int, int], None] | None = None,
) -> WouldHelp:
    """Run the session with each single change that may help a pod, a job or a PodGroup.

    :param why: the answer for the object at the moment.
    :param conf: as for the answer. :param go_on: returns False when the time is over.
    :param progress: called with (changes tried, all).
    """
    sessions = Sessions(log, moment, why.asked.release, conf)
    original = sessions.original()
    unchanged = _sure(sessions, Variant(ORIGINAL), original, starts_in(original, target))
    if unchanged in {NOW, ENQUEUED}:
        return WouldHelp(found=(), tried=0, left=0, unchanged=unchanged)
    was = _deleted_podgroup(log, moment, target, sessions.cache)
    settings = Switches(sessions.confs, resolve(why.asked.release))
    evicts = any(isinstance(link, EvictionTry) for link in why.chain)
    switches = [
        one
        for rank, switch in enumerate((*settings.singles, *(settings.moves if evicts else ())))
        for one in _switched(settings, (switch,), rank)
    ]
    suggestions = suggestions_for(why, target.podgroup, sessions.cache, was, switches)
    trial = _Trial(sessions, target, original, unchanged)
    tried: list[_Tried] = []
    for remedy in _remedies(trial, suggestions, go_on):
        tried.append((suggestions[len(tried)], remedy))
        if progress is not None:
            progress(len(tried), len(suggestions))
    left = len(suggestions) - len(tried)
    if not left and not any(found for one, found in tried if one.kind == SWITCH):
        tried += _together(trial, settings)
    return _would_help(tried, left, unchanged)


def _remedies(
    trial: _Trial, suggestions: Sequence[Suggestion], go_on: Callable[[], bool]
) -> Iterator[Remedy | None]:
    """Yield what each change does, until the time is over; None if it does not help."""
    search = FaultSearch(trial.helps, go_on)
    for suggestion in suggestions:
        if not go_on():
            return
        remedy = trial.remedy(suggestion)
        if remedy is not None:
            try:
                faults = search.needed(suggestion.variant)
            except TimeOver:
                return
            remedy = msgspec.structs.replace(remedy, faults=faults)
        yield remedy


def _would_help(tried: Sequence[_Tried], left: int, unchanged: str) -> WouldHelp:
    """Return what was found: releases after all else."""
    ordered = sorted(tried, key=lambda one: one[0].kind == RELEASE)
    helping = [remedy for _, remedy in ordered if remedy is not None]
    return WouldHelp(
        found=tuple(one for one in helping if not one.faults),
        tried=len(tried),
        left=left,
        unchanged=unchanged,
        by_fault=tuple(one for one in helping if one.faults),
        in_vain=tuple(suggestion.text for suggestion, remedy in tried if remedy is None),
    )


def _switched(settings: Switches, some: Sequence[Switch], rank: int) -> Iterator[Suggestion]:
    """Yield the configuration with some changes, unless it is rejected then."""
    conf = settings.changed(some)
    if conf is not None:
        yield Suggestion(SWITCH, rank, said(some), Variant(said(some), conf=conf))


def _together(trial: _Trial, settings: Switches) -> Iterator[_Tried]:
    """Yield the smallest set of changes of the configuration with which the object starts.

    All are made at once; if that helps, those are left out without which it still does.
    """
    known = {one.text: one for one in settings.singles if one.combines}
    ran: dict[Cause, _Tried] = {}

    def helps(names: Cause) -> bool:
        for one in _switched(settings, [known[name] for name in names], len(known)):
            ran[names] = one, trial.remedy(one)
            return ran[names][1] is not None
        return False

    least = smallest(tuple(known), helps) if len(known) > 1 else ()
    if least:
        yield ran[least]


def _deleted_podgroup(
    log: Log, moment: Moment, target: Target, cache: SchedulerCache
) -> dict[str, Any] | None:
    """Return the last version of an object's PodGroup that was deleted; None if it exists."""
    if not target.podgroup or cache.stores.get("PodGroup", target.podgroup) is not None:
        return None
    versions = [
        one.event.payload
        for one in versions_of(log, moment, (PODGROUP, target.podgroup))
        if KINDS[one.event.kind].effect is Effect.VERSION
    ]
    return msgspec.json.decode(versions[-1], type=dict[str, Any]) if versions else None


class _Trial(NamedTuple):
    """Runs the session with changes, and says whether the object starts then.

    :param unchanged: when it starts without any.
    """

    sessions: Sessions
    target: Target
    original: SessionAnswer
    unchanged: str

    def helps(self, variant: Variant) -> bool:
        """Return whether the object starts, or starts sooner, with changes."""
        return self._sooner(variant, self.sessions.run(variant)) != ""

    def remedy(self, suggestion: Suggestion) -> Remedy | None:
        """Return what a change does; None if it does not help, or cannot be made."""
        try:
            answer = self.sessions.run(suggestion.variant)
        except PlinianError:
            return None  # For instance because the log lacks the object.
        starts = self._sooner(suggestion.variant, answer)
        if not starts:
            return None
        binds, evicted = dict(answer.result.binds), dict(self.original.result.evictions)
        return Remedy(
            kind=suggestion.kind,
            text=suggestion.text,
            starts=starts,
            evicts=tuple(pod for pod, _ in answer.result.evictions if pod not in evicted),
            no_longer=tuple(pod for pod, _ in self.original.result.binds if pod not in binds),
        )

    def _sooner(self, variant: Variant, answer: SessionAnswer) -> str:
        starts = _sure(self.sessions, variant, answer, starts_in(answer, self.target))
        return "" if starts == self.unchanged else starts


def starts_in(answer: SessionAnswer, target: Target) -> str:
    """Return when a session lets an object start; empty if it does not.

    A job starts when enough of its pods for its gang have a node. If it has no pods yet, it must be
    enqueued first: then they are created.
    """
    result = answer.result
    if result.panic is not None:
        return ""
    bound, later = dict(result.binds), dict(result.pipelined)
    if target.pair == POD:
        return NOW if target.key in bound else AFTER_EVICTIONS if target.key in later else ""
    job = answer.cache.jobs.get(target.podgroup)
    if job is None:
        return ""
    pending = [task.key for task in job.index.get(Status.PENDING, {}).values()]
    if not pending:
        return ENQUEUED if target.podgroup in result.enqueued else ""
    now = sum(pod in bound for pod in pending)
    ready = now + _ready(job)
    if now and ready >= job.min_available:
        return NOW
    waits = sum(pod in later for pod in pending)
    return AFTER_EVICTIONS if waits and ready + waits >= job.min_available else ""


def _sure(sessions: Sessions, variant: Variant, answer: SessionAnswer, starts: str) -> str:
    """Return when an object starts, if what a session keeps for it suffices; else nothing.

    The next sessions are run for that; in a large cluster, what the session keeps is believed.
    """
    if starts != AFTER_EVICTIONS:
        return starts
    ahead = list(sessions.next_after(variant, answer))
    later = dict(answer.result.pipelined)
    bound = {pod for one in ahead for pod, _ in one.answer.result.binds}
    return starts if not ahead or not bound.isdisjoint(later) else ""


def _ready(job: JobInfo) -> int:
    return sum(len(job.index.get(status, {})) for status in sorted(READY_STATUS))


def would_help_document(found: WouldHelp) -> dict[str, Any]:
    """Return the changes for JSON."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    return document
