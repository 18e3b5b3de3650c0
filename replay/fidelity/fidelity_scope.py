"""Which sessions of a log to run again, and as what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..recorded.recorded_sessions import RecordedSession
from ..recorded.session_list import listed_sessions, within
from .nearest_run import SearchLimits


class FidelityQuestion(NamedTuple):
    """What to run.

    :param place: of the log, for processes that open it. :param end: the position and the last
        revision that are known.
    :param first: number of the first session, and ``last`` of the last one; None is any.
    :param conf: a configuration instead of the log's. :param limits: how long to search.
    """

    place: str
    end: Moment
    release: str
    conf: ConfText | None = None
    first: int | None = None
    last: int | None = None
    limits: SearchLimits = SearchLimits()

    def includes(self, number: int) -> bool:
        """Return whether the session of a number is asked about."""
        early = self.first is not None and number < self.first
        late = self.last is not None and number > self.last
        return not early and not late


def question_in(
    log: Log,
    place: str,
    end: Moment,
    release: str,
    *,
    conf: ConfText | None = None,
    at: Moment | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
) -> FidelityQuestion:
    """Return the question about the sessions in a range.

    :param at: only the last session opened by this moment, in place of a range.
    :param since: and ``until``: the range.
    """
    question = FidelityQuestion(place, end, release, conf)
    if at is None and since is None and until is None:
        return question
    sessions = within(listed_sessions(log.store, end), at=at, since=since, until=until)
    numbers = [session.number for session in sessions]
    # Without any session the range is empty: no number is in it.
    first, last = (min(numbers), max(numbers)) if numbers else (1, 0)
    return question._replace(first=first, last=last)


def numbered(sessions: Sequence[RecordedSession], question: FidelityQuestion) -> dict[int, int]:
    """Return the numbers of the sessions that are asked about, by the identity of their record.

    A scenario asks for sessions, and records nothing of what they decide: these are left out.
    """
    return {
        id(session): number
        for number, session in enumerate(sessions, start=1)
        if question.includes(number) and session.revision is None
    }


def only_requested(sessions: Sequence[RecordedSession], question: FidelityQuestion) -> int:
    """Return how many sessions that are asked about a scenario only asks for."""
    return sum(
        question.includes(number) and session.revision is not None
        for number, session in enumerate(sessions, start=1)
    )
