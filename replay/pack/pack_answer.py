"""What a session decided, in a form that two logs can be compared by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from blake3 import blake3

from ...engine.events import canonical_json
from ...engine.events.payloads import AnswerExpected
from ..compare.decisions import Decision, decisions_of
from ..logs.log import Log
from ..moments.moment import Moment
from ..sessions.session_answer import SessionAnswer, session_at

Decisions = Mapping[Decision, str]


class Answered:
    """A session at a moment of a log, with what it decided."""

    def __init__(self, log: Log, at: str | Moment, release: str) -> None:
        self.answer: SessionAnswer = session_at(log, at, release=release)
        self.decisions: Decisions = decisions_of(self.answer)

    def expected(self, *, at: str, question: str = "") -> AnswerExpected:
        """Return the answer as a pack keeps it.

        :param at: the moment, as a point that the pack understands.
        """
        return AnswerExpected(
            question=question,
            at=at,
            release=self.answer.release,
            conf=self.answer.conf,
            decisions=dict(sorted(Counter(kind for kind, _ in self.decisions).items())),
            digest=digest_of([self.decisions]),
        )


def digest_of(several: Sequence[Decisions]) -> str:
    """Return the hex BLAKE3 of the decisions of some sessions, in their order.

    It hashes a JSON array with one array a session: sorted arrays of kind, object and value.
    """
    rows = [sorted([*key, value] for key, value in decisions.items()) for decisions in several]
    return blake3(canonical_json(rows)).hexdigest()
