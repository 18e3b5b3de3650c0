"""The list of sessions, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US, format_time
from ..recorded.recorded_sessions import HowKnown
from ..recorded.session_list import ListedSession
from .tables import NONE, Table

_HEADERS = (
    *("SESSION", "OPENED", "LASTS", "HOW KNOWN", "REVISION"),
    *("BINDS", "EVICTIONS", "PODGROUPS"),
)
_WIDE = ("ID", "POSITION", "JOBS", "QUEUES", "OPENED AFTER")


def session_table(sessions: Sequence[ListedSession], *, wide: bool = False) -> Table:
    """Return the table of sessions."""
    return Table(
        _HEADERS + _WIDE if wide else _HEADERS,
        [(*_row(one), *(_more(one) if wide else ())) for one in sessions],
        keep=("OPENED", "BINDS"),
    )


def _row(session: ListedSession) -> tuple[str, ...]:
    opened = NONE if session.opened is None else format_time(session.opened)
    return (
        f"session:{session.number}",
        f"by {opened}" if session.how is HowKnown.INFERRED else opened,
        _lasts(session),
        session.how.value,
        NONE if session.revision is None else f"rv:{session.revision}",
        str(session.binds),
        _or_none(session.evictions),
        str(session.podgroups),
    )


def _more(session: ListedSession) -> tuple[str, ...]:
    after = session.opened_after
    return (
        session.id or NONE,
        f"@{session.position}",
        _or_none(session.jobs),
        _or_none(session.queues),
        NONE if after is None else format_time(after),
    )


def _lasts(session: ListedSession) -> str:
    """Return how long a session took; of an inferred one only the least is known."""
    if session.closed is None:
        return NONE
    seconds = f"{(session.closed - session.begin) / SECOND_US:.3f}s"
    return f"≥{seconds}" if session.how is HowKnown.INFERRED else seconds


def _or_none(number: int | None) -> str:
    return NONE if number is None else str(number)


def what_is_known(known: Sequence[ListedSession]) -> Sequence[str]:
    """Return which sessions a reader may miss. :param known: all that the log shows."""
    inferred = sum(one.how is HowKnown.INFERRED for one in known)
    if not known:
        text = (
            "no sessions: the log has neither a scheduler's log, nor its bindings or PodGroups; "
            "ingest the scheduler's log (-v=3 or more) or the audit log"
        )
    elif inferred == len(known):
        text = (
            "all sessions are inferred from what they wrote: those that wrote nothing are not "
            "known; ingest the scheduler's log (-v=3 or more) to know them all"
        )
    elif inferred:
        sessions = counted(inferred, "session is", "sessions are")
        text = f"{sessions} inferred from what was written, as no log names them"
    else:
        return ()
    return (text,)
