"""What sessions decide differently at two moments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self

import msgspec

from .defaults import DEFAULT_RELEASE
from .question import (
    AFTER,
    BEFORE,
    RELEASE,
    Names,
    QuestionOfRelease,
    Remark,
    several,
    taken,
    unsaid,
)

if TYPE_CHECKING:
    from ..compare.sessions import Comparison
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..moments.unknown import Unknown
    from ..render.tables import Style
    from ..truth.points import Point


class MomentsComparisonQuestion(QuestionOfRelease["Comparison"], frozen=True):
    """Show what sessions decide differently at two moments.

    One release runs at both, or the first one at the first and the second one at the second.
    """

    command = "diff"
    name = "compare-moments"
    about = "What sessions decide differently at two moments."
    is_tool = False
    point = "after"
    at_end = True

    before: Annotated[Point, BEFORE]
    after: Annotated[Point, AFTER] = "end"
    releases: Annotated[Names, RELEASE._replace(name="release")] = DEFAULT_RELEASE

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
    def named_releases(self) -> Sequence[str]:
        """Return its releases."""
        return several(self.releases)

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
        """Return both sessions: :func:`plinian.replay.compare.sessions.compare_moments`.

        :raises UsageError: there are more than two releases, or one is not known.
        """
        from ..compare.sessions import compare_moments  # noqa: PLC0415

        moments, releases = (log.moment(self.before), log.moment(self.after)), self.named_releases
        return compare_moments(log, moments, (releases[0], releases[-1]))

    def document(self, found: Comparison) -> Mapping[str, Any]:
        """Return the answer as ``-o json`` prints it."""
        from ..compare.sessions import comparison_document  # noqa: PLC0415

        return comparison_document(found)

    def lines(self, found: Comparison, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.comparison import comparison_lines  # noqa: PLC0415

        return comparison_lines(found, style=style, wide=style.wide)

    def notes(self, found: Comparison) -> Sequence[str]:
        """Return what both sessions were run on."""
        from ..sessions.remarks import session_remarks  # noqa: PLC0415

        return [text for one in found.sides for text in session_remarks(one.answer, recorded=True)]

    def code(self, found: Comparison, *, asked: bool) -> int:
        """Return 1 if the sessions decide differently, 2 if that is not known."""
        return (1 if found else 2 if found.not_known else 0) if asked else 0
