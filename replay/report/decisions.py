"""The decisions in a report that the log records: what the scheduler did from the moment on."""

from __future__ import annotations

from collections.abc import Sequence

from ..logs.log import Log
from ..moments.moment import Moment
from ..recorded.recorded_sessions import RecordedSession
from ..recorded.session_list import ListedSession, listing, within
from ..render.short_names import short
from ..render.tables import Table
from .commands import MomentCommands
from .records import Bounded, Later

MOST_SESSIONS = 12
MOST_DECISIONS = 60

_HEADS = ("DECISION", "OBJECT", "NODE", "REASON")


def later_sessions(
    log: Log, moment: Moment, sessions: Sequence[RecordedSession], commands: MomentCommands
) -> Later:
    """Return the sessions that were opened at the moment or after it.

    :param sessions: all sessions of the log, in order of their opening.
    """
    found = within(listing(sessions, log.clock(moment)), since=moment)
    number = _first(found, sessions)
    rows = _decisions(sessions[number - 1]) if number else []
    return Later(
        sessions=tuple(found[:MOST_SESSIONS]),
        more=len(found[MOST_SESSIONS:]),
        number=number,
        decided=Bounded(
            f"What session:{number} decided, as recorded",
            short(Table(_HEADS, rows[:MOST_DECISIONS])),
            len(rows),
            commands.of_log("fidelity", "--at", f"session:{number}", "--all", *commands.session),
        ),
        command=commands.of_log("session", "list", "--since", commands.at),
    )


def _first(found: Sequence[ListedSession], sessions: Sequence[RecordedSession]) -> int:
    """Return the number of the first session that bound or evicted, else of one that wrote."""
    some = [(one.number, sessions[one.number - 1]) for one in found]
    placed = (number for number, one in some if one.binds or one.evictions)
    wrote = (number for number, one in some if one.groups)
    return next(placed, 0) or next(wrote, 0)


def _decisions(session: RecordedSession) -> list[tuple[str, ...]]:
    """Return what a recorded session did: pods bound and evicted, PodGroups written."""
    rows: list[tuple[str, ...]] = [
        ("bind", pod, node, "") for pod, node in sorted(session.binds.items())
    ]
    rows += [("evict", pod, "", reason) for pod, reason in sorted(session.evictions.items())]
    rows += [("phase", name, "", status[0]) for name, status in sorted(session.groups.items())]
    return rows
