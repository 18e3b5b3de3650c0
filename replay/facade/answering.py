"""Answers of a log: why something waits, and what a number is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ..answers.answer import Why
from ..answers.why import assumed_of
from ..ingest.one_off import log_of
from ..logs.given_confs import Conf
from ..logs.log import Progress
from ..logs.scheduler_release import release_at
from ..moments.moment import Moment
from ..questions.blame import BlameQuestion
from ..questions.defaults import DEFAULT_RELEASE
from ..questions.fields import Names, several
from ..questions.question import Question, check_known
from ..questions.what_would_help import WouldHelpQuestion
from ..questions.why import WhyQuestion
from ..sessions.assumed import accepted_conf
from ..truth.points import Point
from .options import FilePath, paths_of, release_of
from .question_method import method_of
from .stored import StoredLog

if TYPE_CHECKING:
    from ..fidelity.report import Fidelity
    from ..forecast.forecast_run import Forecast
    from ..plot.plot_run import Plot

A = TypeVar("A")


class AnsweringLog(StoredLog):
    """A log that says why."""

    def ask(self, question: Question[A]) -> A:
        """Return the answer to a question.

        :raises NotKnown: the question is strict, and the log lacks what it needs.
        :raises PlinianError: as the question says.
        """
        return question.ask(self)

    blame = method_of(BlameQuestion)
    why = method_of(WhyQuestion)
    what_would_help = method_of(WouldHelpQuestion)

    def report(
        self,
        *,
        at: Point = "end",
        why: Names = (),
        from_: Point | None = None,
        namespace: str | None = None,
        release: str | None = None,
        conf: Conf | None = None,
        assume: bool = False,
        strict: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> str:
        """Return a report on a moment: one page of HTML that needs nothing else.

        The same log and the same question give the same page.

        :param why: objects that wait, as for :meth:`why`; by default those that wait longest.
        :param from_: an earlier moment to compare with; by default two minutes before.
        :param progress: called with (what is done, how much of it, how much in all).
        :raises ObjectNotFound: there is no such object at that moment.
        :raises UsageError: the earlier moment is after the moment; or as :meth:`why`.
        """
        from ..pages.report import report_page  # noqa: PLC0415 -- only needed here
        from ..report.collect import report_of  # noqa: PLC0415
        from ..report.question import ReportRequest, earlier  # noqa: PLC0415

        moment = self.moment(at)
        self._check(moment, conf, strict=strict)
        release = release or release_at(self, moment)
        name = release_of(release or DEFAULT_RELEASE, assume=assume)
        before, remarks = earlier(self, moment, from_)
        question = ReportRequest(
            log=self,
            place=self.place,
            moment=moment,
            named=[self.object(text, moment) for text in several(why)],
            namespace=namespace,
            before=before,
            remarks=remarks,
            release=name,
            conf=accepted_conf(conf, [name], assume=assume),
            assumed=assumed_of(release, name),
        )
        return report_page(report_of(question, progress))

    def _check(self, moment: Moment, conf: object, *, strict: bool) -> None:
        """Refuse a moment at which the log lacks what sessions need.

        :param conf: a configuration instead of the log's; None requires that the log has one.
        :raises NotKnown: anything is missing, and ``strict`` is set.
        """
        if strict:
            check_known(self, moment, is_configured=conf is not None)

    def plot(
        self,
        what: str,
        names: Names = (),
        *,
        from_: Point | None = None,
        to: Point | None = None,
        resource: str | None = None,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Plot:
        """Draw the log over time. Notebooks show the result; ``save`` writes PNG, SVG or HTML.

        :param what: ``queues``, ``nodes``, ``gang``, ``sessions`` or ``waits``.
        :param names: only these queues or nodes; of a gang the job or PodGroup, as in
            ``job/train``.
        :param from_: and ``to``: the period; by default the whole log.
        :param resource: of queues and nodes; by default ``cpu``.
        :param namespace: of the gang; None is any that has it.
        :param progress: called with (events read, total).
        :raises UsageError: there is no such plot, name or resource, or nothing in the period.
        :raises ObjectNotFound: there is no such gang.
        """
        from ..plot.asked import PlotRequest  # noqa: PLC0415 -- only needed here
        from ..plot.plot_run import plot  # noqa: PLC0415

        asked = PlotRequest(what, several(names), from_, to, resource, namespace)
        return plot(self, asked, place=self.place, progress=progress)

    def plot_of(
        self, found: Why | Fidelity | Forecast, *, progress: Progress | None = None
    ) -> Plot:
        """Draw an answer of this log over time.

        Of :meth:`why` the queue that is full or the gang, a queue or a node; of :meth:`fidelity`
        the sessions by how they came out; of :meth:`forecast` the queues, as they were and changed.

        :param progress: called with (events read, total).
        :raises UsageError: there is nothing to draw.
        :raises ObjectNotFound: the job has no pods and no PodGroup.
        """
        from ..plot.plot_run import plot_of  # noqa: PLC0415 -- only needed here

        return plot_of(self, found, place=self.place, progress=progress)


def why(
    named: str,
    inputs: FilePath | list[FilePath],
    *,
    namespace: str | None = None,
    release: str | None = None,
    conf: Conf | None = None,
    assume: bool = False,
) -> Why:
    """Return why an object waits, by files alone, as from ``kubectl get``, without a log.

    :param inputs: files, folders or archives. The other parameters are those of :meth:`Log.why`.
    :raises InputError: an input is missing, damaged or malformed.
    """
    with log_of(paths_of(inputs)) as log:
        asked = WhyQuestion(named, namespace=namespace, release=release, conf=conf, assume=assume)
        return asked.ask(log)
