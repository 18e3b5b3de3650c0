"""Recorded sessions run again, and compared with the record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from .defaults import DEFAULT_RELEASE
from .fields import JOBS, LAST_SESSION, UNTIL_SESSION, Door, Field
from .question import QuestionOfRange, bounds

if TYPE_CHECKING:
    from ..fidelity.report import Fidelity
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..render.tables import Style
    from ..review.review_records import Review
    from ..truth.points import Point


class RerunQuestion(QuestionOfRange["Fidelity"], frozen=True, kw_only=True):
    """Run recorded sessions again, and compare them with the record.

    Every session that the log records is run again on the scheduler's cache at that moment. Its
    bindings, evictions, and the phases and conditions that it wrote to PodGroups are compared.

    A log does not say when an informer delivered a change, and in which order the scheduler went
    through Go's maps. Where a session differs at the moment that the times of writes give, the
    nearest deliveries are searched at which it comes out as recorded: first of all informers
    together, then of each kind alone. Each difference has a cause: a tie between equal nodes, the
    order of a map, a change not yet delivered, sampling of nodes, missing input, or unexplained.
    """

    command = "fidelity"
    about = "The sessions that the scheduler ran, run again and compared with the record."
    guide = (
        "For how far answers about this log can be trusted: whether the sessions that it records "
        "come out again as they did."
    )
    in_terminal = """

Exits with 2 if there is nothing to compare. Otherwise exits with 0; with --exit-code, with 1 if
a difference is unexplained, or input is missing."""
    examples = (
        "plinian fidelity --log cluster.db --release v1.12.1",
        "plinian fidelity --at session:12 --all",
    )
    work = "sessions"
    forms = "text|wide|json|sarif|junit"
    is_drawn = True
    exit_code = "Exit with 1 if a difference is not explained."
    reads_all = "differences from the record"
    names_inputs = True

    at: Annotated[Point | None, LAST_SESSION] = None
    since: Annotated[
        Point | None, Field("Only sessions from this point on: rv:7, a time, session:3.", "POINT")
    ] = None
    until: Annotated[Point | None, UNTIL_SESSION] = None
    release: Annotated[
        str | None,
        Field(
            "The release of Volcano that ran; by default that of the image of the scheduler's "
            f"pods, if the log has them, else {DEFAULT_RELEASE}.",
            "RELEASE",
        ),
    ] = None
    jobs: Annotated[int, JOBS] = 1
    unfold: Annotated[
        bool,
        Field(
            "List all differences, also those with a known cause.", name="all", only=Door.COMMAND
        ),
    ] = False

    def moment(self, log: Log) -> Moment:
        """Return the end of the log."""
        return log.moment()

    def remarks(self, log: Log) -> Iterator[str]:
        """Yield which configurations of the log the release rejects."""
        from ..sessions.assumed import rejected_in_log  # noqa: PLC0415 -- seldom needed

        if self.needs_conf:
            yield from rejected_in_log(log, log.moment(), [self.as_release])

    def answer(self, log: Log) -> Fidelity:
        """Return how they came out: :func:`plinian.replay.fidelity.fidelity_run.fidelity`.

        :raises UsageError: both a moment and a range are given.
        """
        from ..fidelity.fidelity_run import fidelity  # noqa: PLC0415 -- doors read the fields only
        from ..fidelity.fidelity_scope import question_in  # noqa: PLC0415
        from ..logs.given_confs import conf_text  # noqa: PLC0415

        between = bounds(log, at=self.at, since=self.since, until=self.until)
        conf, release = conf_text(self.conf), self.as_release
        scope = question_in(log, log.place, log.moment(), release, conf=conf, **between)
        return fidelity(log, scope, jobs=self.jobs, progress=self.progress)

    def lines(self, report: Fidelity, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.fidelity import fidelity_lines  # noqa: PLC0415

        return fidelity_lines(report, unfold=self.unfold, style=style)

    def notes(self, report: Fidelity) -> list[str]:
        """Return what the sessions were run as, and which are left out or inferred."""
        from ..render.fidelity import fidelity_notes  # noqa: PLC0415

        return list(fidelity_notes(report, named=self.release is not None))

    def review(self, report: Fidelity) -> Review:
        """Return the answer as a review."""
        from ..review.fidelity_review import fidelity_review  # noqa: PLC0415

        return fidelity_review(report, unfold=self.unfold)

    def code(self, report: Fidelity, *, asked: bool) -> int:
        """Return 2 if nothing is compared; else 1 if a session differs, and that is asked."""
        return 2 if not report.sessions else int(asked and not report.exact)
