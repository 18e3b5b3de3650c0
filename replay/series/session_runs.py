"""Sessions over time: how many ran, how long they took, what they bound and evicted."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..logs.log import Log
from ..recorded.recorded_sessions import HowKnown
from ..recorded.session_list import ListedSession, listed_sessions
from .incidents import Incident, scheduler_incidents
from .period import Period, ShownPeriod


class SessionRuns(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions of a period, summed up by its parts.

    :param logged: sessions that the scheduler's log has. :param inferred: sessions that are known
        only from what they wrote. :param longest: microseconds; None if no session has an end.
    :param bound: pods that they bound. :param evicted: pods that they evicted, as far as that is
        known.
    :param sessions: how many there are in all.
    """

    period: Period
    logged: tuple[int, ...]
    inferred: tuple[int, ...]
    longest: tuple[int | None, ...]
    bound: tuple[int, ...]
    evicted: tuple[int, ...]
    incidents: tuple[Incident, ...]
    sessions: int


def session_runs(log: Log, span: ShownPeriod) -> SessionRuns:
    """Return the sessions that were opened in a period."""
    period = span.period
    sessions = [
        listed_session
        for listed_session in listed_sessions(log.store, span.end)
        if period.begin <= listed_session.begin <= period.end
    ]
    parts: list[list[ListedSession]] = [[] for _ in range(period.parts)]
    for session in sessions:
        parts[period.part_of(session.begin)].append(session)
    return SessionRuns(
        period=period,
        logged=tuple(sum(session.how is HowKnown.LOGGED for session in part) for part in parts),
        inferred=tuple(sum(session.how is HowKnown.INFERRED for session in part) for part in parts),
        longest=tuple(map(_longest, parts)),
        bound=tuple(sum(session.binds for session in part) for part in parts),
        evicted=tuple(sum(session.evictions or 0 for session in part) for part in parts),
        incidents=tuple(scheduler_incidents(log, span)),
        sessions=len(sessions),
    )


def _longest(sessions: Sequence[ListedSession]) -> int | None:
    known = (session.closed - session.begin for session in sessions if session.closed is not None)
    return max(known, default=None)
