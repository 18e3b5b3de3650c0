"""The sessions of several releases, or configurations, at one moment: where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Self

import msgspec

from .defaults import DEFAULT_RELEASE
from .fields import AT, CONF, LOCAL, RELEASE, Field, Names, several
from .question import QuestionOfRelease, Remark, running, taken, unsaid

if TYPE_CHECKING:
    from ..compare.compared_sessions import Comparison, ComparisonDocument
    from ..logs.given_confs import Conf
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..render.tables import Style
    from ..sessions.session_answer import SessionRun
    from ..truth.points import Point


class QuestionOfDecisions(QuestionOfRelease["Comparison"], frozen=True, kw_only=True):
    """A question about what several sessions decide differently."""

    releases: Annotated[Names, RELEASE._replace(name="release")] = DEFAULT_RELEASE

    @property
    def is_traced(self) -> bool:
        """Return whether the answer has all steps of each session."""
        return False

    @property
    def named_releases(self) -> Sequence[str]:
        """Return the releases."""
        return several(self.releases)

    def document(self, comparison: Comparison) -> ComparisonDocument:
        """Return what ``-o json`` prints of the answer."""
        return comparison.shown(trace=self.is_traced)

    def lines(self, comparison: Comparison, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.comparison import comparison_lines  # noqa: PLC0415

        return comparison_lines(comparison, style=style, trace=self.is_traced)

    def notes(self, comparison: Comparison) -> Sequence[str]:
        """Return what each session was run on."""
        from ..sessions.remarks import session_remarks  # noqa: PLC0415

        answers = [side.answer for side in comparison.sides]
        recorded = self.needs_conf
        return [text for answer in answers for text in session_remarks(answer, recorded=recorded)]

    def code(self, comparison: Comparison, *, asked: bool) -> int:
        """Return 1 if the sessions decide differently, 2 if that is not known."""
        return (1 if comparison else 2 if comparison.not_known else 0) if asked else 0


class ComparisonQuestion(QuestionOfDecisions, frozen=True, kw_only=True):
    """Run every release with every configuration at one moment, and return what differs."""

    command = "session"
    name = "compare"
    about = "The sessions of several releases at one moment, and the first difference."
    guide = (
        "For one moment, as of `session`; all sessions of the log are in `upgrade_check`. Where "
        "they differ, the numbers compared and the behaviour that is the cause are there."
    )

    at: Annotated[Point, AT] = "end"
    confs: Annotated[Conf | Sequence[Conf | None] | None, CONF._replace(only=LOCAL)] = None
    trace: Annotated[
        bool,
        Field("Keep all steps of each session; else those at the first difference.", only=LOCAL),
    ] = False

    @property
    def is_traced(self) -> bool:
        """Return whether it says so."""
        return self.trace

    def prepared(self, log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with its moment, known releases, and configurations as texts."""
        from ..logs.given_confs import conf_texts  # noqa: PLC0415 -- doors read the fields only
        from ..sessions.assumed import rejections  # noqa: PLC0415

        moment = log.moment(self.at)
        names = several(self.releases) or [running(log, moment, remark) or DEFAULT_RELEASE]
        releases = [taken(name, remark, assume=self.assume) for name in names]
        confs = conf_texts(self.confs)
        for text in rejections(confs, releases, assume=self.assume):
            remark(text)
        return msgspec.structs.replace(self, at=moment, releases=releases, confs=confs)

    def moment(self, log: Log) -> Moment:
        """Return the moment of the sessions."""
        return log.moment(self.at)

    @property
    def needs_conf(self) -> bool:
        """Return whether any session runs with the log's, once the question is prepared."""
        return not isinstance(self.confs, list) or None in self.confs

    @property
    def caches(self) -> Sequence[str]:
        """Return the releases."""
        return several(self.releases)

    def answer(self, log: Log) -> Comparison:
        """Return the sessions, compared: :func:`..compare.compared_sessions.compare_variants`."""
        from ..compare.compared_sessions import compare_variants  # noqa: PLC0415 -- loads much
        from ..logs.given_confs import conf_texts  # noqa: PLC0415

        moment, confs = log.moment(self.at), conf_texts(self.confs)
        return compare_variants(log, moment, self.caches, confs, trace=self.trace)

    def sessions(self, comparison: Comparison) -> Sequence[SessionRun]:
        """Return the sessions."""
        return [side.answer for side in comparison.sides]
