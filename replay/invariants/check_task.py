"""From a log and options to a report: the check as the command line runs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events import Recorded
from ...engine.invariants.catalogue import INVARIANTS, in_order
from ...engine.invariants.controller_invariants import JOB
from ...engine.invariants.invariant import RUNS, SESSION, VERSION, Invariant, Severity
from ...engine.invariants.view import ClusterView, SessionView
from ...engine.invariants.violation_timeline import SETTLE_US, Breach, HappeningPlace, has_settled
from ...engine.kubernetes.units import parse_duration
from ...engine.log.store import NO_REVISION, Query
from ...engine.session.framework.session_outcome import SessionResult
from ...engine.state.clock import TimeSpan
from ...engine.volcano.session.behaviours import Behaviours
from ..lint.findings import FindingSubject
from ..lint.lint_inputs import Configuration
from ..logs.log import Log
from ..logs.logged_confs import ConfText, conf_at
from ..moments.actors import attributed
from ..moments.moment import Moment
from ..moments.ordered_events import OrderedEvents
from ..moments.unknown import Unknown
from ..sessions.session_moments import at_revision, recorded_sessions_count, session_places
from .blast_radius import ID as BLAST_RADIUS
from .blast_radius import blast_radius
from .check_report import (
    CheckReport,
    NotChecked,
    beginning,
    severity_of,
)
from .checked_sessions import session_view
from .known_objects import Knowledge
from .log_walk import LogWalk, Progress, SessionsOnTheWay
from .queue_tree_invariant import ID as QUEUE_TREE
from .queue_tree_invariant import queue_tree
from .ranges import Ranges
from .starts import CheckBegin, begins, is_exact
from .watch_starts import sources_of_watches

_SEVERITIES = tuple(Severity)
_LIFETIME = "I-13"
_OF_AUDIT = MappingProxyType({_LIFETIME: "deleted a PodGroup", "I-23": "wrote a status"})
_OF_CONF = frozenset({QUEUE_TREE, BLAST_RADIUS})


def _no_conf() -> Configuration | None:
    return None


ALL: tuple[Invariant, ...] = in_order(
    (*INVARIANTS, queue_tree(_no_conf), blast_radius(queue_tree(_no_conf)))
)
"""All invariants, by number; for the list alone."""


class CheckTask(NamedTuple):
    """What to check.

    :param end: the last moment. :param single: check only what holds at this moment.
    :param since: leave out violations that had ended by then.
    :param ids: of invariants; empty for all. :param settle: the window in microseconds.
    :param conf: a configuration of the scheduler instead of the log's.
    :param dated: at a single moment: find since when each violation holds; without it, since when
        is the last change of its objects at the latest, and less of the log is read.
    :param session: what the session of a single moment decides, with its steps, if it was run.
    """

    end: Moment
    behaviours: Behaviours
    single: bool = False
    since: Moment | None = None
    ids: tuple[str, ...] = ()
    settle: int = SETTLE_US
    conf: ConfText | None = None
    dated: bool = True
    session: SessionResult | None = None


def chosen_invariants(ids: Iterable[str]) -> tuple[Invariant, ...]:
    """Return the invariants of some ids or names, by number.

    Without any, the result is all but those that no log shows, and those that must be named.


    :raises UsageError: there is no such invariant.
    """
    by_name = {name: invariant for invariant in ALL for name in (invariant.id, invariant.name)}
    lower = {name.lower(): invariant for name, invariant in by_name.items()}
    for text in (asked := list(ids)):
        if text.lower() not in lower:
            # People write I-4 for I-04.
            padded = lower.get(text.lower().replace("-", "-0", 1))
            like = [padded.id] if padded else get_close_matches(text, list(by_name), n=1)
            now = f"did you mean {like[0]}?" if like else "list them with plinian check --list"
            raise UsageError(f"no invariant {text!r}", now=now)
    if not asked:
        return tuple(invariant for invariant in ALL if not (invariant.named or invariant.unseen))
    wanted = {lower[text.lower()].id for text in asked}
    return tuple(invariant for invariant in ALL if invariant.id in wanted)


def settle_window(text: str) -> int:
    """Return a settle window in microseconds.

    :param text: a duration, as in ``5s``.
    :raises UsageError: it is none.
    """
    try:
        return parse_duration(text)
    except ValueError as fault:
        raise UsageError(f"--settle: {fault}", now="write a duration, such as 5s or 0s") from fault


def check(log: Log, task: CheckTask, progress: Progress | None = None) -> CheckReport:
    """Check invariants at a moment, or from the begin of a log to a moment.

    :param progress: called with (position reached, last position) from time to time.
    :raises UsageError: there is no such invariant.
    """
    return _Check(log, task).report(progress)


class _Check:
    """One check of a log."""

    def __init__(self, log: Log, task: CheckTask) -> None:
        self._log, self._task = log, task
        self._clock = log.clock(task.end)
        self._known = Knowledge(log, task.end, self._clock)
        # Both depend on the configuration that is in force at the moment.
        tree = queue_tree(self._conf)
        with_conf = {QUEUE_TREE: tree, BLAST_RADIUS: blast_radius(tree)}
        self._asked = tuple(
            with_conf.get(invariant.id, invariant) for invariant in chosen_invariants(task.ids)
        )
        self._refused = tuple(self._not_checked())
        refused = {unchecked.invariant.id for unchecked in self._refused}
        self._checked = tuple(invariant for invariant in self._asked if invariant.id not in refused)

    def report(self, progress: Progress | None) -> CheckReport:
        """Walk the log, and return what was found."""
        task, end = self._task, self._task.end
        walk = self._walked(progress)
        last = self._last(walk.place)
        breaches = [
            self._until_silence(breach) for breach in walk.timeline.holding(last, walk.seen)
        ]
        # At a single moment, neither what has ended nor a range matters.
        if not task.single:
            ranges = Ranges(self._log, end, self._clock, task.behaviours.release)
            breaches += [*walk.timeline.ended, *ranges.breaches(self._checked)]
            breaches = [breach for breach in breaches if self._in_range(breach)]
        sure = [breach for breach in breaches if has_settled(breach, task.settle)]
        kinds = dict.fromkeys(pair for invariant in self._asked for pair in invariant.kinds)
        return CheckReport(
            at=end.label,
            since="" if task.since is None else task.since.label,
            release=task.behaviours.release,
            settle=task.settle,
            violations=tuple(sorted(sure, key=_rank)),
            unsettled=tuple(
                sorted((breach for breach in breaches if breach not in sure), key=_rank)
            ),
            checked=self._checked,
            not_checked=self._refused,
            sessions=walk.sessions_run,
            not_known=tuple(self._unknown(kinds)),
            events=self._events(sure),
            spans=self._spans(breaches),
        )

    def _spans(self, breaches: Sequence[Breach]) -> dict[int, TimeSpan]:
        """Return between which times the revisions of violations happened."""
        places = [
            place
            for breach in breaches
            for place in (breach.since, breach.until)
            if place is not None
        ]
        revisions = sorted(
            {
                happening_place.revision
                for happening_place in places
                if happening_place.revision is not None
            }
        )
        return dict(zip(revisions, self._clock.spans(revisions), strict=True))

    def _walked(self, progress: Progress | None) -> LogWalk:
        """Walk to the end: from a stored cache if that gives the same, else from the begin."""
        task, actors = self._task, self._actors()
        if task.single and not self._checked:
            return self._begun(actors, None)  # There is nothing to look at on the way.
        if task.single:
            for begin in begins(self._log, task.end, task.behaviours, self._known, self._checked):
                walk = self._walk(actors, progress, begin)
                if self._is_enough(walk):
                    return walk
                del begin, walk  # before the next cache is opened
        return self._walk(actors, progress, None)

    def _is_enough(self, walk: LogWalk) -> bool:
        """Return whether a walk from a stored cache finds what one from the first event finds."""
        breaches = list(walk.timeline.holding(self._last(walk.place), walk.seen))
        if is_exact(breaches, walk.view):
            return True
        # What holds so long at least has settled, whenever it began.
        return not self._task.dated and all(
            has_settled(breach, self._task.settle)
            and not (breach.invariant.remembers and walk.view.is_presumed(breach.violation))
            for breach in breaches
        )

    def _walk(
        self, actors: dict[int, str], progress: Progress | None, begin: CheckBegin | None
    ) -> LogWalk:
        end, walk = self._task.end, self._begun(actors, begin)
        after = NO_REVISION if begin is None else begin.revision
        # No scheduler watches Jobs, but invariants look at the owners of PodGroups.
        events = OrderedEvents(self._log.store, end, after, more=(JOB,))
        walk.follow(
            events, end, SessionsOnTheWay(self._session_revisions(), self._session), progress
        )
        return walk

    def _begun(self, actors: dict[int, str], begin: CheckBegin | None) -> LogWalk:
        """Return a walk that has not yet followed any event."""
        return LogWalk(
            self._task.behaviours,
            self._checked,
            self._known,
            self._clock,
            actors=actors,
            settle=self._task.settle,
            begin=begin,
        )

    def _unknown(self, kinds: Iterable[tuple[str, str]]) -> list[Unknown]:
        if not self._task.single:
            return self._known.not_known(kinds)
        from ..coverage.coverage import unknown_at  # noqa: PLC0415 -- only here

        return unknown_at(self._log, self._task.end, kinds)

    def _events(self, breaches: Iterable[Breach]) -> Mapping[int, Recorded]:
        """Return the events with which violations began."""
        end = self._task.end
        wanted = sorted({at for breach in breaches for at in beginning(breach)})
        query = Query(branch=end.branch, cluster=end.cluster)
        return {
            at: recorded
            for at in wanted
            for recorded in self._log.store.read(
                msgspec.structs.replace(query, after=at - 1, until=at)
            )
        }

    def _conf(self) -> Configuration | None:
        given = self._task.conf or conf_at(self._log.store, self._task.end)
        if given is None:
            return None
        return Configuration(given.text, FindingSubject("", "SchedulerConfiguration", given.source))

    def _not_checked(self) -> Iterator[NotChecked]:
        """Yield the invariants for which the log never knows enough."""
        for invariant in self._asked:
            reason = self._reason(invariant)
            if reason:
                yield NotChecked(invariant, reason)

    def _reason(self, invariant: Invariant) -> str:
        single = self._task.single
        if invariant.unseen:
            return f"no log shows it: {invariant.unseen}"
        if invariant.ranged and single:
            return "it is about a range of the log: leave out --at"
        if invariant.kinds and self._known.begin(invariant.kinds) is None:
            return self._known.lacking(invariant.kinds)
        if (
            single
            and invariant.kinds
            and not self._known.at(invariant.kinds, self._last_revision())
        ):
            return self._known.lacking(invariant.kinds)
        if invariant.id in _OF_CONF and self._conf() is None:
            return "the log holds no configuration of the scheduler; give one with --conf"
        return self._reason_of_source(invariant)

    def _reason_of_source(self, invariant: Invariant) -> str:
        """Return what kind of input an invariant needs and the log does not have."""
        log, end, single = self._log, self._task.end, self._task.single
        if invariant.id in _OF_AUDIT and not self._has("audit.covered"):
            return f"the log holds no audit log: it does not know who {_OF_AUDIT[invariant.id]}"
        if invariant.unit == VERSION and not sources_of_watches(log, end):
            return "the log holds no watch"
        if invariant.unit == RUNS and not self._has("session.opened"):
            return "the log holds no scheduler's log"
        if invariant.unit == SESSION and not single and not recorded_sessions_count(log, end):
            return "the log records no sessions; check one moment with --at"
        return ""

    def _has(self, kind: str) -> bool:
        end = self._task.end
        source_infos = self._log.store.sources(
            known=end.known, cluster=end.cluster, branch=end.branch
        )
        return any(kind in source_info.kinds for source_info in source_infos)

    def _last_revision(self) -> int | None:
        end = self._task.end
        if end.revision is not None:
            return end.revision
        extent = self._log.store.extent(known=end.known, cluster=end.cluster, branch=end.branch)
        return extent.last_revision

    def _last(self, place: HappeningPlace) -> HappeningPlace:
        """Return the last place: violations last until then."""
        revision = self._last_revision()
        time = self._task.end.time or self._clock.time_of(revision)
        return place._replace(revision=revision, time=time)

    def _until_silence(self, breach: Breach) -> Breach:
        """Return a violation that holds at the end, as long as watches show that it lasted."""
        silent = self._known.silent_until(breach.invariant.kinds)
        if silent is None or breach.began is None:
            return breach
        return breach._replace(lasted=max(breach.lasted or 0, silent - breach.began))

    def _session_revisions(self) -> Sequence[int]:
        if not any(invariant.unit == SESSION for invariant in self._checked):
            return ()
        last = self._last_revision()
        if self._task.single:
            return () if last is None else (last,)
        since = 0 if self._task.since is None else self._task.since.revision or 0
        moments = session_places(self._log, self._task.end, since=since)
        if not moments.logged:
            return ()
        return [
            moment.moment.revision for moment in moments.found if moment.moment.revision is not None
        ]

    def _session(self, revision: int, view: ClusterView) -> SessionView:
        task = self._task
        moment = task.end if task.single else at_revision(task.end, revision)
        ran = task.session if task.single else None
        return session_view(self._log, moment, task.behaviours, view.cache, conf=task.conf, ran=ran)

    def _actors(self) -> dict[int, str]:
        """Return who deleted PodGroups, by position of the deletion."""
        end = self._task.end
        if not any(invariant.id == _LIFETIME for invariant in self._checked):
            return {}
        query = Query(
            branch=end.branch, cluster=end.cluster, until=end.known, kinds=("podgroup.deleted",)
        )
        read = self._log.store.read(query)
        events = attributed(self._log.store, self._clock, read, branch=end.branch)
        return {event.position: event.actor for event in events}

    def _in_range(self, breach: Breach) -> bool:
        since = self._task.since
        if since is None or breach.until is None:
            return True
        if since.revision is None or breach.until.revision is None:
            return breach.until.position > since.known
        return breach.until.revision >= since.revision


def _rank(breach: Breach) -> tuple[object, ...]:
    severity = _SEVERITIES.index(severity_of(breach))
    since = breach.since
    revision = -1 if since.revision is None else since.revision
    return severity, breach.invariant.id, revision, since.time or 0, breach.violation.place
