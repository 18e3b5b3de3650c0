"""What would make a waiting object start, found by running the session with each change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...engine import events
from ...engine.cache.cache import SchedulerCache
from ...engine.errors import PlinianError, UsageError
from ...engine.model.panic import Panic
from ...engine.volcano.session.faults import faults_of
from ...engine.volcano.session.history import resolve
from ..answers.answer import Why
from ..answers.answering_session import NODE, PODGROUP, QUEUE
from ..answers.evidence import versions_of
from ..answers.records import EvictionTry, Waiting
from ..answers.target import Target, target_of
from ..answers.why import finding_of
from ..compare.causes import Cause, smallest
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.tabular import Tabular
from .changed_sessions import ORIGINAL, ChangedSessions, Variant
from .ignored import Ignored
from .pairs import Single, contains, distinct, joined, pairs_of
from .suggestion import (
    KINDS,
    LIMIT,
    MORE,
    MOVE,
    OPEN,
    PAIR,
    RELEASE,
    RESTORE,
    SWITCH,
    Suggestion,
    WaitingObject,
)
from .suggestions import in_turns, suggestions_for
from .switches import Switch, Switches, factors_for, said
from .trial import ENQUEUED, NOW, ChangeTrial, Remedy, TriedChange, sure


class TimeOver(Exception):
    """There is no time for another session."""


class FaultSearch:
    """Finds the faults without which a release would not help.

    Releases mostly share faults: those that were found are tried first.
    """

    def __init__(
        self,
        helps: Callable[[Variant], bool],
        go_on: Callable[[], bool],
        ignored_in: Callable[[str], Sequence[Ignored]] = lambda _: (),
    ) -> None:
        self._helps, self._go_on, self._ignored_in = helps, go_on, ignored_in
        self._found: list[Cause] = []
        self._starts_without: dict[Ignored, bool] = {}

    def needed(self, variant: Variant) -> tuple[str, ...]:
        """Return the faults of a release that helps, in words, if it does not help without them.

        :raises TimeOver: it could not be found out.
        """
        if variant.release is None:
            return ()
        faults = faults_of(variant.release)

        def goes(names: Cause) -> bool:
            if not self._go_on():
                raise TimeOver
            # A cause is what the release needs to help: without these faults it does not.
            return not self._helps(variant._replace(mended=names))

        known = (cause for cause in self._found if faults.keys() >= set(cause))
        helping = next((names for names in known if goes(names)), None)
        cause = helping or smallest(tuple(faults), goes)
        if cause and cause not in self._found:
            self._found.append(cause)
        said = dict.fromkeys(faults[name].fault for name in cause)
        return tuple(said) or tuple(self._ignored(variant.release))

    def _ignored(self, release: str) -> Iterator[str]:
        """Yield the fields that a release ignores, if the object starts in its own without one."""
        for ignored in self._ignored_in(release):
            if ignored not in self._starts_without:
                if not self._go_on():
                    raise TimeOver
                self._starts_without[ignored] = self._helps(Variant(ORIGINAL, (ignored.without,)))
            if self._starts_without[ignored]:
                yield ignored.fault


SETS = 1_000
"""The size of several changes of the configuration: after single ones."""


def switched(settings: Switches, some: Sequence[Switch], rank: int) -> Iterator[Suggestion]:
    """Yield the configuration with some changes, unless it is rejected then."""
    conf = settings.changed(some)
    if conf is not None:
        text = said(some) + settings.blind(conf)
        yield Suggestion(SWITCH, rank, text, Variant(text, conf=conf))


def together(
    trial: ChangeTrial, settings: Switches, go_on: Callable[[], bool]
) -> Iterator[TriedChange]:
    """Yield the smallest set of changes of the configuration with which the object starts.

    All are made at once; if that helps, those are left out without which it still does. If it does
    not, they are made with each plugin moved to another tier, with gangs that protect their pods
    and without: where a plugin comes to decide, it matters which others choose victims beside it.
    """
    every = [single for single in settings.singles if single.combines]
    protected = [switch for switch in every if not switch.exposes]
    sets = [every]
    for move in settings.moves if settings.evicting else ():
        sets += [[move, *protected], *([[move, *every]] if protected != every else [])]
    for switches in sets:
        least = _least(trial, settings, switches) if len(switches) > 1 and go_on() else {}
        if least:
            yield from least.values()
            return


def _least(
    trial: ChangeTrial, settings: Switches, switches: Sequence[Switch]
) -> dict[Cause, TriedChange]:
    """Return the smallest part of some changes that helps, and a milder form; none if none does."""
    known = {switch.text: switch for switch in (*switches, *settings.singles)}
    ran: dict[Cause, TriedChange] = {}

    def helps(names: Cause) -> bool:
        for suggestion in switched(settings, [known[name] for name in names], SETS):
            ran[names] = trial.tried(suggestion)
            return ran[names].remedy is not None
        return False

    least = smallest(tuple(switch.text for switch in switches), helps)
    if not least:
        return {}
    milder = {single.milder_than: single.text for single in settings.singles if single.milder_than}
    milder_names = tuple(milder.get(name, name) for name in least)
    wanted = dict.fromkeys(
        (least, *((milder_names,) if milder_names != least and helps(milder_names) else ()))
    )
    return {names: ran[names] for names in wanted}


_FIRST = (OPEN, RESTORE, LIMIT, MOVE, SWITCH)
"""The kinds of changes with which an object may meet another obstacle."""

_FOLLOWED = 3
"""After so many changes it is asked what keeps the object waiting then."""

_EACH = 12
"""So many pairs are tried with each of them."""


def next_pairs(
    trial: ChangeTrial,
    asked: WaitingObject,
    tried: Sequence[TriedChange],
    go_on: Callable[[], bool],
) -> list[Suggestion]:
    """Return pairs to try: a change that does not suffice, and one for what it uncovers.

    :param tried: single changes, of which none helps.
    """
    firsts = [
        tried_change.suggestion
        for tried_change in tried
        if tried_change.nearer and tried_change.suggestion.kind in _FIRST
    ]
    firsts.sort(key=lambda suggestion: (_FIRST.index(suggestion.kind), suggestion.size))
    by_text: dict[str, Suggestion] = {}
    for first in firsts[:_FOLLOWED]:
        if go_on():
            for pair in _after(trial, asked, first):
                by_text.setdefault(pair.text, pair)
    return list(by_text.values())


def _after(trial: ChangeTrial, asked: WaitingObject, first: Suggestion) -> Iterator[Suggestion]:
    """Yield pairs of a change with those that the answer after it suggests."""
    try:
        run = trial.sessions.followed(first.variant, trial.target)
    # Also if a handler of the scheduler's cache panics on the change: then no session begins.
    except (PlinianError, Panic):
        return
    finding = finding_of(run, trial.target)
    if finding is None or finding.full_cause == asked.why.cause:
        return
    why = msgspec.structs.replace(asked.why, cause=finding.full_cause, chain=finding.chain)
    placed = {**run.binds, **run.pipelined}
    then = asked._replace(why=why, cache=run.cache, placed=placed)
    # Two queues may be full, one above the other, so a limit may follow a limit.
    left_out = {RELEASE, first.kind} - {LIMIT}
    others = [suggestion for suggestion in suggestions_for(then) if suggestion.kind not in left_out]
    for rank, second in enumerate(others[:_EACH]):
        if second.text != first.text:
            yield joined(first, second, rank)


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
    sessions: ChangedSessions | None = None,
) -> WouldHelp:
    """Run the session with each single change that may help a pod, a job or a PodGroup.

    If none but another release does, pairs of the most promising ones are tried.

    :param why: the answer for the object at the moment.
    :param conf: as for the answer. :param go_on: returns False when the time is over.
    :param progress: called with (changes tried, all).
    :param sessions: of a state that follows the moment; by default those of the moment.
    """
    sessions = sessions or ChangedSessions(log, moment, why.asked.release, conf)
    original = sessions.original()
    unchanged = sure(sessions, Variant(ORIGINAL), original, target)
    # It starts as soon as it can, so no change makes it start sooner.
    if unchanged in {NOW, ENQUEUED}:
        return WouldHelp(found=(), tried=0, left=0, unchanged=unchanged)
    was = _deleted_podgroup(log, moment, target, sessions.cache)
    settings = _settings(sessions, why, target)
    evictions = [link for link in why.chain if isinstance(link, EvictionTry)]
    switches = [
        suggestion
        for rank, switch in enumerate((*settings.singles, *(settings.moves if evictions else ())))
        for suggestion in switched(settings, (switch,), rank)
    ]
    placed = dict((*original.result.binds, *original.result.pipelined))
    asked = WaitingObject(why, target.podgroup, sessions.cache, settings.evicting, placed)
    suggestions = in_turns(suggestions_for(asked, was, switches))
    trial = ChangeTrial(sessions, target, original, unchanged)
    count = _Count(progress, len(suggestions))
    tried = list(count.through(_tried(trial, suggestions, go_on)))
    left, pairs = len(suggestions) - len(tried), 0
    # Several changes of the configuration only where no single one suffices.
    if not left and not _any(tried, SWITCH):
        tried += together(trial, settings, go_on)
    # Two changes are tried only where no single one is enough, as there are many pairs.
    if not left and not _any(tried):
        singles = [Single(tried_change.suggestion, tried_change.nearer) for tried_change in tried]
        joined = distinct([*next_pairs(trial, asked, tried, go_on), *pairs_of(singles)])
        more = list(count.through(_tried(trial, joined, go_on), len(joined)))
        # Pairs that contain one which helps are skipped; only without time are others left.
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
    helping = (
        tried_change.suggestion.kind for tried_change in tried if tried_change.remedy is not None
    )
    return any(kind in kinds if kinds else kind != RELEASE for kind in helping)


class _Count:
    """Says how far a search is."""

    def __init__(self, progress: Callable[[int, int], None] | None, whole: int) -> None:
        self._progress, self._done, self._whole = progress, 0, whole

    def through(self, tried: Iterator[TriedChange], more: int = 0) -> Iterator[TriedChange]:
        """Yield what is tried, and count it; ``more`` of them are added to the whole."""
        self._whole += more
        for tried_change in tried:
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._whole)
            yield tried_change


def _tried(
    trial: ChangeTrial, suggestions: Sequence[Suggestion], go_on: Callable[[], bool]
) -> Iterator[TriedChange]:
    """Yield what each change does, until the time is over.

    Of pairs, those are left out that make all the changes of one that helps, and more.
    """
    search = FaultSearch(trial.helps, go_on, trial.ignored_in)
    helping: list[Suggestion] = []
    for suggestion in suggestions:
        if suggestion.kind == PAIR and any(contains(suggestion, helper) for helper in helping):
            continue
        if not go_on():
            return
        tried_change = trial.tried(suggestion)
        if tried_change.remedy is not None:
            try:
                faults = search.needed(suggestion.variant)
            except TimeOver:
                return
            tried_change = tried_change._replace(
                remedy=msgspec.structs.replace(tried_change.remedy, faults=faults)
            )
            helping.append(suggestion)
        yield tried_change


def _would_help(tried: Sequence[TriedChange], left: int, unchanged: str, pairs: int) -> WouldHelp:
    """Return what was found: the easiest kinds first, releases after all else."""
    ordered = sorted(tried, key=lambda tried_change: _ease(tried_change.suggestion))
    helping = [tried_change.remedy for tried_change in ordered if tried_change.remedy is not None]
    return WouldHelp(
        found=tuple(remedy for remedy in helping if not remedy.faults),
        tried=len(tried),
        left=left,
        unchanged=unchanged,
        by_fault=tuple(remedy for remedy in helping if remedy.faults),
        in_vain=tuple(
            tried_change.suggestion.text for tried_change in ordered if tried_change.remedy is None
        ),
        pairs=pairs,
    )


def _ease(suggestion: Suggestion) -> int:
    """Return how easily a change is made: several of the configuration as easily as a new node."""
    several = suggestion.kind == SWITCH and suggestion.size >= SETS
    return KINDS.index(MORE if several else suggestion.kind)


def _deleted_podgroup(
    log: Log, moment: Moment, target: Target, cache: SchedulerCache
) -> dict[str, Any] | None:
    """Return the last version of an object's PodGroup that was deleted; None if it exists."""
    if not target.podgroup or cache.stores.get("PodGroup", target.podgroup) is not None:
        return None
    versions = [
        version.event.payload
        for version in versions_of(log, moment, (PODGROUP, target.podgroup))
        if events.KINDS[version.event.kind].effect is events.Effect.VERSION
    ]
    return msgspec.json.decode(versions[-1], type=dict[str, Any]) if versions else None
