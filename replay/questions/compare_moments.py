"""What sessions decide differently at two moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Self

import msgspec

from .compare import QuestionOfDecisions
from .fields import AFTER, BEFORE, several
from .question import Remark, taken, unsaid

if TYPE_CHECKING:
    from ..compare.compared_sessions import Comparison
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..moments.unknown import Unknown
    from ..truth.points import Point


class MomentsComparisonQuestion(QuestionOfDecisions, frozen=True):
    """Show what sessions decide differently at two moments.

    One release runs at both, or the first one at the first and the second one at the second.
    """

    command = "diff"
    name = "compare-moments"
    about = "What sessions decide differently at two moments."
    is_tool = False
    point = "after"

    before: Annotated[Point, BEFORE]
    after: Annotated[Point, AFTER] = "end"

    def prepared(self, log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with its moments and known releases."""
        from ...engine.errors import UsageError  # noqa: PLC0415 -- doors read the fields only

        names = several(self.releases)
        if len(names) not in {1, 2}:
            raise UsageError(
                f"two moments, but {len(names)} releases",
                now="to compare more releases at one moment: plinian session --at POINT",
            )
        releases = [taken(name, remark, assume=self.assume) for name in names]
        before, after = log.moment(self.before), log.moment(self.after)
        return msgspec.structs.replace(self, before=before, after=after, releases=releases)

    @property
    def needs_conf(self) -> bool:
        """Return that sessions run with the configuration of the log."""
        return True

    def moment(self, log: Log) -> Moment:
        """Return the first moment."""
        return log.moment(self.before)

    def unknown(self, log: Log) -> Sequence[Unknown]:
        """Return what sessions need and the log does not know at one of the moments."""
        from ..coverage.coverage import SCHEDULING, unknown_at_ends  # noqa: PLC0415

        return unknown_at_ends(log, (log.moment(self.before), log.moment(self.after)), SCHEDULING)

    def answer(self, log: Log) -> Comparison:
        """Return both sessions: :func:`plinian.replay.compare.compared_sessions.compare_moments`.

        :raises UsageError: there are more than two releases, or one is not known.
        """
        from ..compare.compared_sessions import compare_moments  # noqa: PLC0415

        moments, releases = (log.moment(self.before), log.moment(self.after)), self.named_releases
        return compare_moments(log, moments, (releases[0], releases[-1]))
