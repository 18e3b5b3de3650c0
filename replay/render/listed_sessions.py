"""The sessions of a log as a table: a question about one session does not load what finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US, format_time
from ..recorded.recorded_sessions import HowKnown
from ..recorded.session_list import ListedSession
from .tables import NONE, Table, TextColumn, table_of


def session_table(sessions: Sequence[ListedSession], *, wide: bool = False) -> Table:
    """Return the table of sessions."""
    return table_of(_LISTED, sessions, wide=wide)


def _opened(session: ListedSession) -> str:
    opened = _or_none(session.opened, format_time)
    return f"by {opened}" if session.how is HowKnown.INFERRED else opened


def _lasts(session: ListedSession) -> str:
    """Return how long a session took; of an inferred one only the least is known."""
    if session.closed is None:
        return NONE
    seconds = f"{(session.closed - session.begin) / SECOND_US:.3f}s"
    return f"≥{seconds}" if session.how is HowKnown.INFERRED else seconds


def _or_none(number: int | None, text: Callable[[int], str] = str) -> str:
    return NONE if number is None else text(number)


_LISTED: Sequence[TextColumn[ListedSession]] = (
    TextColumn("SESSION", lambda session: f"session:{session.number}"),
    TextColumn("OPENED", _opened, keep=True),
    TextColumn("LASTS", _lasts),
    TextColumn("HOW KNOWN", lambda session: session.how.value),
    TextColumn("REVISION", lambda session: _or_none(session.revision, "rv:{}".format)),
    TextColumn("BINDS", lambda session: str(session.binds), keep=True),
    TextColumn("EVICTIONS", lambda session: _or_none(session.evictions)),
    TextColumn("PODGROUPS", lambda session: str(session.podgroups)),
    TextColumn("ID", lambda session: session.id or NONE, wide=True),
    TextColumn("POSITION", lambda session: f"@{session.position}", wide=True),
    TextColumn("JOBS", lambda session: _or_none(session.jobs), wide=True),
    TextColumn("QUEUES", lambda session: _or_none(session.queues), wide=True),
    TextColumn(
        "OPENED AFTER", lambda session: _or_none(session.opened_after, format_time), wide=True
    ),
)


def what_is_known(known: Sequence[ListedSession]) -> Sequence[str]:
    """Return which sessions a reader may miss. :param known: all that the log shows."""
    inferred = sum(session.how is HowKnown.INFERRED for session in known)
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
