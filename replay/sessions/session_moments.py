"""The moments of a log at which sessions took place, or may have: those that commands check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from ...engine.events import Effect
from ...engine.kubernetes.counts import counted
from ...engine.log.store import NO_REVISION, LogStore, Query
from ...engine.state.clock import Unsure
from ..coverage.coverage import (
    SCHEDULING,
    beginning_of,
    doubtful,
    plurals,
    unknown_at,
    unknown_between,
)
from ..logs.log import Log
from ..logs.logged_confs import has_no_conf
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from ..moments.unknown import Unknown

_SESSIONS = ("session.opened", "session.requested")
_DECIDING = frozenset(
    {
        *(("", "Pod"), ("", "Node")),
        *(("scheduling.volcano.sh", kind) for kind in ("PodGroup", "Queue")),
    }
)
"""Kinds whose changes may make a session decide differently."""

_CHANGING = (Effect.VERSION, Effect.DELETED, Effect.BOUND)


class SessionMoment(msgspec.Struct, frozen=True):
    """A moment for a session.

    :param moment: a revision, or the end of a log that has none.
    :param position: of the event that makes it one: the session's, or the last one that changed
        something; 0 if there is none.
    :param known: the log knows all that a session needs there.
    """

    moment: Moment
    position: int
    known: bool = True


class SessionMoments(msgspec.Struct, frozen=True):
    """Moments in the order of happening.

    :param logged: they are moments of sessions that the log records; else of changes of objects.
    :param left_out: how many are left out, because the log does not know all kinds that sessions
        need yet.
    :param unsure: changes that may have happened before or after the last moment.
    :param not_known: what sessions need and the log does not know somewhere between the first place
        and that moment.
    :param unconfigured: the log has no configuration of the scheduler.
    :param whole: no later moment of the branch is known, so these are those of the whole log.
    """

    logged: bool
    found: list[SessionMoment]
    left_out: int = 0
    unsure: Unsure | None = None
    not_known: tuple[Unknown, ...] = ()
    unconfigured: bool = False
    whole: bool = True


def session_places(log: Log, end: Moment, *, since: int = 0) -> SessionMoments:
    """Return the moments of all sessions by a moment.

    A session in a component's log is at the last revision before its time; one in a scenario is at
    its own. Of several at one revision the last counts. Without recorded sessions, they are after
    each change, and where complete lists make known what sessions need. Sessions before the first
    complete lists are left out.

    :param since: only revisions from this one on.
    """
    logged = _of_sessions(log.store, end)
    revisions = logged or _of_changes(log, end)
    moments = [
        SessionMoment(at_revision(end, revision), position)
        for revision, position in sorted(revisions.items())
        if revision >= since and (end.revision is None or revision <= end.revision)
    ]
    bare = has_no_conf(log, end)
    whole = end.revision is None and end.known >= log.store.last(end.branch)
    if not revisions:
        unknown = unknown_at(log, end, SCHEDULING)
        last = SessionMoment(end, log.store.last(end.branch), not unknown)
        return SessionMoments(False, [last], 0, end.unsure, tuple(unknown), bare, whole)
    begin = beginning_of(log, end).revision or 0
    taken = [place for place in moments if (place.moment.revision or 0) >= begin]
    if taken:
        unknown = unknown_between(log, taken[0].moment.revision, end, SCHEDULING)
    else:
        unknown = unknown_at(log, end, SCHEDULING)
    left_out = len(moments) - len(taken)
    sure = list(_judged(log, end, taken, unknown)) if unknown else taken
    return SessionMoments(bool(logged), sure, left_out, end.unsure, tuple(unknown), bare, whole)


def left_out_text(log: Log, end: Moment, count: int) -> str:
    """Return how many sessions are left out because too little is known."""
    begin, be = beginning_of(log, end), "is" if count == 1 else "are"
    return (
        f"{counted(count, 'session')} before rv:{begin.revision} {be} left out: there is no "
        f"earlier complete list of {plurals(begin.latest)}"
    )


def session_revisions(log: Log, end: Moment, *, since: int) -> list[int]:
    """Return the revisions of :func:`session_places` alone, ascending; without reading all before.

    :param since: only revisions from this one on.
    """
    least = max(since, beginning_of(log, end).revision or 0)
    revisions = _of_sessions(log.store, end) or _of_changes(log, end, after=least - 1)
    until = end.revision
    return sorted(
        revision
        for revision in revisions
        if revision >= least and (until is None or revision <= until)
    )


def _judged(
    log: Log, end: Moment, places: Sequence[SessionMoment], unknown: Sequence[Unknown]
) -> Iterator[SessionMoment]:
    """Yield places, with whether the log knows all that a session needs there."""
    clock = log.clock(end)
    for place in places:
        revision = place.moment.revision or 0
        yield msgspec.structs.replace(
            place, known=not doubtful(unknown, revision, clock.time_of(revision))
        )


def recorded_sessions_count(log: Log, end: Moment) -> int:
    """Return how many sessions a log records, including those without a known place."""
    query = Query(branch=end.branch, cluster=end.cluster, until=end.known, kinds=_SESSIONS)
    return sum(1 for _ in log.store.read(query))


def at_revision(end: Moment, revision: int) -> Moment:
    """Return the moment of a revision, as known at another moment."""
    return msgspec.structs.replace(end, revision=revision, time=None, label=f"rv:{revision}")


def evenly(places: Sequence[SessionMoment], count: int) -> list[SessionMoment]:
    """Return a number of the places, evenly spread, with the first and the last."""
    if count <= 0 or count >= len(places):
        return list(places)
    if count == 1:
        return [places[-1]]
    last = len(places) - 1
    return [places[i * last // (count - 1)] for i in range(count)]


def sampled(places: Sequence[SessionMoment], count: int) -> list[SessionMoment]:
    """Return a number of the places, evenly spread, in order; in gaps only once no other is left.

    :param count: 0 is all.
    """
    if count <= 0 or count >= len(places):
        return list(places)
    # Answers in a gap may be wrong for want of an object, so sure places are taken first.
    sure, gaps = ([place for place in places if place.known is known] for known in (True, False))
    if len(sure) >= count:
        return evenly(sure, count)
    taken = {moment.moment.label for moment in (*sure, *evenly(gaps, count - len(sure)))}
    return [place for place in places if place.moment.label in taken]


def _of_sessions(store: LogStore, end: Moment) -> dict[int, int]:
    query = Query(branch=end.branch, cluster=end.cluster, until=end.known, kinds=_SESSIONS)
    positions: dict[int, int] = {}
    clock = clock_of(store, branch=end.branch, cluster=end.cluster)
    for recorded in store.read(query):
        event = recorded.event
        revision = event.revision
        if revision is None and event.observed_at is not None:
            revision = clock.revision_at(event.observed_at)
        if revision is not None and revision >= 0:
            positions[revision] = max(recorded.position, positions.get(revision, 0))
    return positions


def _of_changes(log: Log, end: Moment, *, after: int = NO_REVISION) -> dict[int, int]:
    """Return revisions after which sessions may decide differently, with their last positions."""
    positions: dict[int, int] = {}
    listed = [revision for revision in _becoming_known(log, end) if revision > after]
    for chunk in log.store.scan(end.window(after)):
        references = log.store.references(np.unique(chunk.objects).tolist())
        deciding = [
            number
            for number, reference in references.items()
            if (reference.group, reference.kind) in _DECIDING
        ]
        rows = np.isin(chunk.effects, _CHANGING) & np.isin(chunk.objects, deciding)
        # A list may change no object, and yet be the first to show what was there.
        rows |= np.isin(chunk.revisions, listed)
        rows &= chunk.revisions >= 0
        pairs = zip(chunk.revisions[rows].tolist(), chunk.positions[rows].tolist(), strict=True)
        for revision, position in pairs:
            positions[revision] = max(position, positions.get(revision, 0))
    return positions


def _becoming_known(log: Log, end: Moment) -> list[int]:
    """Return where a kind that sessions need begins to be known, once all of them were, ascending.

    Objects may have come and gone before it without a trace, so the state there is a new one.
    """
    begin = beginning_of(log, end).revision
    coverage = log.coverage(end)
    if begin is None or coverage.whole:
        return []
    begins = {
        span.first
        for pair in SCHEDULING
        for name in (None, *coverage.namespaces(pair))
        for span in coverage.spans(pair, name)
        if span.first >= begin
    }
    return sorted(begins)
