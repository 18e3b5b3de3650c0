"""What would make a waiting object start, found by running the session with each change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...engine import events
from ...engine.cache.cache import SchedulerCache
from ...engine.errors import UsageError
from ...engine.volcano.session.history import resolve
from ..answers.answer import Why
from ..answers.answering_session import NODE, PODGROUP, QUEUE
from ..answers.evidence import versions_of
from ..answers.records import EvictionTry, Waiting
from ..answers.target import Target, target_of
from ..logs.log import Log
from ..logs.scheduler_confs import ConfText
from ..moments.moment import Moment
from ..objects.kinds import ObjectName
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.tabular import Tabular
from .changed_sessions import ORIGINAL, ChangedSessions, Variant
from .next_obstacle import next_pairs
from .pairs import Single, contains, distinct, pairs_of
from .release_faults import FaultSearch, TimeOver
from .suggestion import KINDS, MORE, PAIR, RELEASE, SWITCH, Suggestion, WaitingObject
from .suggestions import in_turns, suggestions_for
from .switches import Switches, factors_for
from .together import SETS, switched, together
from .trial import ENQUEUED, NOW, ChangeTrial, Remedy, TriedChange, sure

ASK_INSTEAD = "ask about a pod, a job or a podgroup that waits"
_NEVER_START = frozenset({QUEUE, NODE})


class WouldHelp(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """The changes that help, the cheapest first.

    :param tried: how many changes were tried. :param pairs: how many of them are pairs, which are
        tried if no single change helps. :param left: how many were not, for lack of time.
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
    pairs: int = 0

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the changes that help, also those that do so only by a fault."""
        return {"remedies": table_of(Remedy, (*self.found, *self.by_fault))}


class HelpedWhy(Why, frozen=True, kw_only=True):
    """Why an object waits, and what would help, if it waits and may start."""

    would_help: WouldHelp | msgspec.UnsetType = msgspec.UNSET


def startable(log: Log, named: ObjectName, namespace: str | None, moment: Moment) -> Target:
    """Return the object of a question that may start.

    :raises UsageError: it is a queue or a node.
    :raises ObjectNotFound: there is no such object at that moment.
    """
    target = target_of(log, named, named.place(namespace) or "default", moment)
    if target.pair in _NEVER_START:
        raise UsageError(starts_not(named.kind), now=ASK_INSTEAD)
    return target


def starts_not(kind: str) -> str:
    """Return that objects of a kind do not start, and what would help is not for them."""
    return (
        f"what would help says with which changes a pod or a job starts, and a {kind.lower()} does "
        "not start"
    )


def instead(why: Why) -> str:
    """Return what to ask instead about a queue or a node; empty if the object may start.

    It names one that waits there, if the answer does.
    """
    asked = why.asked
    if asked.kind not in {"queue", "node"}:
        return ""
    waiting = next(
        (name for link in why.chain if isinstance(link, Waiting) for name in link.names), ""
    )
    kind = "podgroup" if asked.kind == "queue" else "pod"
    ask = f"ask about one that waits, as {kind}/{waiting}" if waiting else ASK_INSTEAD
    return f"{starts_not(asked.kind)}: {ask}"


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

    If none but another release does, pairs of the most promising ones are tried.

    :param why: the answer for the object at the moment.
    :param conf: as for the answer. :param go_on: returns False when the time is over.
    :param progress: called with (changes tried, all).
    """
    sessions = ChangedSessions(log, moment, why.asked.release, conf)
    original = sessions.original()
    unchanged = sure(sessions, Variant(ORIGINAL), original, target)
    if unchanged in {NOW, ENQUEUED}:
        return WouldHelp(found=(), tried=0, left=0, unchanged=unchanged)
    was = _deleted_podgroup(log, moment, target, sessions.cache)
    settings = _settings(sessions, why, target)
    evictions = [link for link in why.chain if isinstance(link, EvictionTry)]
    switches = [
        one
        for rank, switch in enumerate((*settings.singles, *(settings.moves if evictions else ())))
        for one in switched(settings, (switch,), rank)
    ]
    placed = dict((*original.result.binds, *original.result.pipelined))
    asked = WaitingObject(why, target.podgroup, sessions.cache, settings.evicting, placed)
    suggestions = in_turns(suggestions_for(asked, was, switches))
    trial = ChangeTrial(sessions, target, original, unchanged)
    count = _Count(progress, len(suggestions))
    tried = list(count.through(_tried(trial, suggestions, go_on)))
    left, pairs = len(suggestions) - len(tried), 0
    if not left and not _any(tried, SWITCH):
        tried += together(trial, settings, go_on)
    if not left and not _any(tried):
        singles = [Single(one.suggestion, one.nearer) for one in tried]
        joined = distinct([*next_pairs(trial, asked, tried, go_on), *pairs_of(singles)])
        more = list(count.through(_tried(trial, joined, go_on), len(joined)))
        pairs, left = len(more), len(joined) - len(more) if not go_on() else 0
        tried += more
    return _would_help(tried, left, unchanged, pairs)


def _settings(sessions: ChangedSessions, why: Why, target: Target) -> Switches:
    """Return the changes of the configuration that may matter to an object."""
    job = sessions.cache.jobs.get(target.podgroup)
    group = None if job is None else job.pod_group
    return Switches(
        sessions.confs,
        resolve(why.asked.release),
        factors_for(why.chain, sessions.cache),
        enqueueing=group is None or group.status.phase in {"", "Pending"},
    )


def _any(tried: Sequence[TriedChange], *kinds: str) -> bool:
    """Return whether a change helps that is of some kinds; by default, of any but releases."""
    helping = (one.suggestion.kind for one in tried if one.remedy is not None)
    return any(kind in kinds if kinds else kind != RELEASE for kind in helping)


class _Count:
    """Says how far a search is."""

    def __init__(self, progress: Callable[[int, int], None] | None, whole: int) -> None:
        self._progress, self._done, self._whole = progress, 0, whole

    def through(self, tried: Iterator[TriedChange], more: int = 0) -> Iterator[TriedChange]:
        """Yield what is tried, and count it; ``more`` of them are added to the whole."""
        self._whole += more
        for one in tried:
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._whole)
            yield one


def _tried(
    trial: ChangeTrial, suggestions: Sequence[Suggestion], go_on: Callable[[], bool]
) -> Iterator[TriedChange]:
    """Yield what each change does, until the time is over.

    Of pairs, those are left out that make all the changes of one that helps, and more.
    """
    search = FaultSearch(trial.helps, go_on, trial.ignored_in)
    helping: list[Suggestion] = []
    for suggestion in suggestions:
        if suggestion.kind == PAIR and any(contains(suggestion, one) for one in helping):
            continue
        if not go_on():
            return
        one = trial.tried(suggestion)
        if one.remedy is not None:
            try:
                faults = search.needed(suggestion.variant)
            except TimeOver:
                return
            one = one._replace(remedy=msgspec.structs.replace(one.remedy, faults=faults))
            helping.append(suggestion)
        yield one


def _would_help(tried: Sequence[TriedChange], left: int, unchanged: str, pairs: int) -> WouldHelp:
    """Return what was found: the easiest kinds first, releases after all else."""
    ordered = sorted(tried, key=lambda one: _ease(one.suggestion))
    helping = [one.remedy for one in ordered if one.remedy is not None]
    return WouldHelp(
        found=tuple(one for one in helping if not one.faults),
        tried=len(tried),
        left=left,
        unchanged=unchanged,
        by_fault=tuple(one for one in helping if one.faults),
        in_vain=tuple(one.suggestion.text for one in ordered if one.remedy is None),
        pairs=pairs,
    )


def _ease(one: Suggestion) -> int:
    """Return how easily a change is made: several of the configuration as easily as a new node."""
    several = one.kind == SWITCH and one.size >= SETS
    return KINDS.index(MORE if several else one.kind)


def _deleted_podgroup(
    log: Log, moment: Moment, target: Target, cache: SchedulerCache
) -> dict[str, Any] | None:
    """Return the last version of an object's PodGroup that was deleted; None if it exists."""
    if not target.podgroup or cache.stores.get("PodGroup", target.podgroup) is not None:
        return None
    versions = [
        one.event.payload
        for one in versions_of(log, moment, (PODGROUP, target.podgroup))
        if events.KINDS[one.event.kind].effect is events.Effect.VERSION
    ]
    return msgspec.json.decode(versions[-1], type=dict[str, Any]) if versions else None
