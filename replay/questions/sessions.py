"""The sessions that a scheduler ran, as far as a log shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from .fields import LAST_SESSION, LOCAL, UNTIL_SESSION, Field
from .question import Question, bounds

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..plot.asked import PlotRequest
    from ..recorded.session_list import ListedSession
    from ..render.tables import Style, Table
    from ..tabular.tabular import Records
    from ..truth.points import Point


class SessionListQuestion(Question["Records[ListedSession]"], frozen=True, kw_only=True):
    """List the sessions that the scheduler ran, as far as the log shows them.

    They are numbered in the order in which they were opened; session:N is a moment for every
    command. The scheduler's log has all of its sessions. Without it, sessions are inferred from
    what they wrote: bindings, and PodGroups whose conditions name a session. A session that wrote
    nothing is then unknown. OPENED of an inferred session is the time of its first write.
    """

    command = "session list"
    name = "sessions"
    about = "The scheduling sessions that the scheduler ran, as far as the log shows them."
    guide = (
        "For the points session:N that all tools take, and for how many pods each session bound "
        "and evicted."
    )
    examples = ("plinian session list --since -5m", "plinian session list -o wide")
    is_long = True
    is_table = True
    is_drawn = True
    is_list = True
    point = "until"
    reads_all = "the sessions"

    at: Annotated[Point | None, LAST_SESSION._replace(only=LOCAL)] = None
    since: Annotated[
        Point | None, Field("Only sessions from this point on: @7, rv:7, a time, -5m.", "POINT")
    ] = None
    until: Annotated[Point | None, UNTIL_SESSION] = None

    def answer(self, log: Log) -> Records[ListedSession]:
        """Return the sessions: :func:`plinian.replay.recorded.session_list.listed_sessions`.

        :raises UsageError: both a moment and a range are given.
        """
        from ..recorded.session_list import (  # noqa: PLC0415 -- doors read the fields only
            ListedSession,
            listed_sessions,
            within,
        )
        from ..tabular.tabular import Records  # noqa: PLC0415

        between = bounds(log, at=self.at, since=self.since, until=self.until)
        sessions = within(listed_sessions(log.store, log.moment()), **between)
        return Records(sessions, "sessions", ListedSession)

    def document(self, records: Records[ListedSession]) -> Mapping[str, Any]:
        """Return the answer as ``-o json`` prints it."""
        return {"apiVersion": "v1", "kind": "SessionList", "items": records}

    def tables(self, records: Records[ListedSession], style: Style) -> Iterable[Table]:
        """Return a row for each session."""
        from ..render.listed_sessions import session_table  # noqa: PLC0415

        return (session_table(records, wide=style.wide),)

    def remarks(self, log: Log) -> Sequence[str]:
        """Return which sessions a reader may miss."""
        from ..recorded.session_list import listed_sessions  # noqa: PLC0415
        from ..render.listed_sessions import what_is_known  # noqa: PLC0415

        return what_is_known(listed_sessions(log.store, log.moment()))

    def drawing(self, log: Log) -> PlotRequest:
        """Return the picture of the sessions."""
        from ..plot.asked import SESSIONS, PlotRequest  # noqa: PLC0415

        last = next(point for point in (self.until, self.at, log.moment()) if point is not None)
        return PlotRequest(SESSIONS, (), self.since, last)
