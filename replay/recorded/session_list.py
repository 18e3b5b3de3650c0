"""The sessions of a log by number, and the moment at which each was opened: ``session:N``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from ...engine.errors import PointMalformed, PointUnknown
from ...engine.kubernetes.units import format_time
from ...engine.log.store import LogStore
from ...engine.state.clock import UNDATED, Clock, TimeSpan
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from ..moments.store_key import StoreKey
from ..tabular.record_columns import Time
from .recorded_sessions import HowKnown, RecordedSession, last_known, recorded_sessions

PREFIX = "session:"
_NUMBER = re.compile(r"[0-9]{1,18}")


class ListedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that a scheduler ran.

    :param session: as points name it. :param number: counted from 1 in order of their opening, over
        the whole log.
    :param id: as the scheduler logs it; empty if it is not known. :param how: how it is known.
    :param opened: None without times, as in a scenario; of an inferred one, when it wrote first: it
        was opened by then. :param opened_after: of an inferred one, and after this; None if it is
        not known.
    :param closed: None if it is not known.
    :param revision: the last that it may have known: the last by its opening, and before what it
        wrote itself; None if no revision is known. :param position: of the event that shows it.
    :param jobs: and :param queues: as the scheduler counted them; None if it is not known.
    :param binds: how many pods it bound. :param evictions: and evicted; None if it is not known.
    :param podgroups: how many PodGroups it wrote.
    """

    session: str
    number: int
    id: str
    how: HowKnown
    opened: Time | None
    opened_after: Time | None
    closed: Time | None
    revision: int | None
    position: int
    jobs: int | None
    queues: int | None
    binds: int
    evictions: int | None
    podgroups: int

    @property
    def begin(self) -> int:
        """When it was opened, in microseconds since 1970; 0 if it has no time."""
        return int(self.opened or 0)

    @property
    def when(self) -> TimeSpan:
        """Between which times it was opened."""
        if self.opened is None:
            return UNDATED
        inferred = self.how is HowKnown.INFERRED
        return TimeSpan(self.opened_after if inferred else self.opened, self.opened, self.opened)


def listed_sessions(store: LogStore, moment: Moment) -> Sequence[ListedSession]:
    """Return the sessions that are known by a moment's position, in order of their opening.

    The result is kept for the next question until something is appended: much of the log is read.
    """
    return _listed_sessions(
        StoreKey(store), moment.branch, moment.cluster, moment.known, store.last(moment.branch)
    )


@lru_cache(maxsize=2)
def _listed_sessions(
    opened: StoreKey,
    branch: str,
    cluster: str,
    known: int,
    last: int,  # noqa: ARG001 # times come from the clock, which what is appended may change
) -> Sequence[ListedSession]:
    store = opened.store
    end = Moment(
        branch=branch, cluster=cluster, known=known, revision=None, time=None, label=f"@{known}"
    )
    clock = clock_of(store, branch=branch, cluster=cluster)
    return tuple(listing(recorded_sessions(store, end), clock))


def listing(sessions: Sequence[RecordedSession], clock: Clock) -> list[ListedSession]:
    """Return the list of all sessions of a log, which are given in order of their opening."""
    return [
        _listed(number, session, last_known(session, clock))
        for number, session in enumerate(sessions, start=1)
    ]


def _listed(number: int, session: RecordedSession, revision: int) -> ListedSession:
    return ListedSession(
        session=f"{PREFIX}{number}",
        number=number,
        id=session.uid,
        how=session.how,
        opened=Time(session.opened) if session.opened else None,
        opened_after=Time.of(session.after),
        closed=Time.of(session.closed),
        revision=revision if revision >= 0 else None,
        position=session.position,
        jobs=session.jobs,
        queues=session.queues,
        binds=len(session.binds),
        evictions=len(session.evictions) if session.evictions_known else None,
        podgroups=len(session.groups),
    )


def within(
    sessions: Sequence[ListedSession],
    *,
    at: Moment | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
) -> list[ListedSession]:
    """Return those of the sessions in a range.

    :param at: only the last session that was opened by this moment.
    :param since: and ``until``: opened between these moments, inclusive.
    """
    if at is not None:
        return [session for session in sessions if _by(session, at)][-1:]
    by_then = (
        sessions if until is None else [session for session in sessions if _by(session, until)]
    )
    if since is None:
        return list(by_then)
    return [session for session in by_then if not _by(session, since) or _at(session, since)]


def _by(session: ListedSession, moment: Moment) -> bool:
    """Return whether a session was opened by a moment, or learned of by a position."""
    if moment.time is not None:
        return session.begin <= moment.time
    if moment.revision is None:
        return session.position <= moment.known
    return session.revision is None or session.revision <= moment.revision


def _at(session: ListedSession, moment: Moment) -> bool:
    if moment.time is not None:
        return session.begin == moment.time
    if moment.revision is None:
        return session.position == moment.known
    return session.revision == moment.revision


def at_session(store: LogStore, moment: Moment, text: str) -> Moment:
    """Return the moment at which a session was opened: what it may have known.

    :param text: ``session:N``.
    :raises PointMalformed: it has no number. :raises PointUnknown: there is no such session.
    """
    digits = text.removeprefix(PREFIX)
    known = listed_sessions(store, moment)
    if not _NUMBER.fullmatch(digits) or not 1 <= int(digits) <= len(known):
        count = f"{len(known)} session{'' if len(known) == 1 else 's'}"
        wrong = PointUnknown if digits.isdecimal() else PointMalformed
        raise wrong(
            f"there is no {text}: the log records {count}",
            now=f"choose session:1 to session:{len(known)}; plinian session list shows them"
            if known
            else "sessions are known from the scheduler's log, bindings and PodGroups; choose a "
            "time or a revision instead",
        )
    session = known[int(digits) - 1]
    note = ""
    if session.how is HowKnown.INFERRED:
        note = f"{text} is inferred: it was opened by {format_time(session.begin)}"
    return msgspec.structs.replace(
        moment, revision=session.revision, time=session.begin, label=text, note=note
    )
