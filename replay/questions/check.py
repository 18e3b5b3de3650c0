"""Which invariants are violated at a moment, or over a whole log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from .fields import LOCAL, RELEASE_OF_IMAGE, Door, Field, Names, several
from .question import Question, QuestionOfRange

if TYPE_CHECKING:
    from ...engine.invariants.invariant import Invariant
    from ..invariants.check_report import CheckReport
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..render.tables import Style, Table
    from ..review.review_records import Review
    from ..truth.points import Point


class CheckQuestion(QuestionOfRange["CheckReport"], frozen=True, kw_only=True):
    """Check invariants at a moment, or over a whole log.

    Invariants are sentences that hold of every sound cluster: about objects, the scheduler's cache,
    and sessions. The cache is that of the release, with informers that are never late. Over a log,
    sessions are run where the log records one; with --at, one session is run. Some invariants may
    be violated while components catch up: these violations count after --settle. An invariant whose
    kinds the log does not know is not checked, and a line says so. --list says which ones no log
    shows.
    """

    command = "check"
    about = "Which invariants are violated at a moment, or over a range of the log."
    guide = (
        "For faults of the cluster or the scheduler when it is not known what is wrong. "
        "`violations` has them; what `not_checked` lists was not looked at. Mistakes in queues "
        "and jobs are found by `lint`, races that may still happen by `explore`."
    )
    examples = (
        "plinian check --release v1.8.2",
        "plinian check --at -5m --invariant I-04 --invariant gang-atomicity",
        "plinian check --list",
    )
    work = "check"
    is_table = True
    forms = "table|wide|json|sarif|junit"
    reads_inputs = True
    exit_code = "Exit with 1 if an invariant is violated."
    reads_all = "violations"
    names_inputs = True
    warns = False

    at: Annotated[
        Point | None,
        Field(
            "Check only this moment: @POSITION, rv:REVISION, a time, -5m or end. Without it, the "
            "whole log is checked.",
            "POINT",
            form="",
        ),
    ] = None
    since: Annotated[
        Point | None, Field("Leave out violations that had ended by then.", "POINT", begins=True)
    ] = None
    until: Annotated[
        Point | None, Field("Check up to this point; by default to the end.", "POINT")
    ] = None
    release: Annotated[str | None, RELEASE_OF_IMAGE] = None
    invariants: Annotated[
        Names,
        Field(
            "Only this invariant, as in I-04 or podgroup-reference; repeatable.",
            "ID",
            name="invariant",
        ),
    ] = ()
    settle: Annotated[
        str,
        Field(
            "How long invariants must be violated that components restore with a delay.",
            "DURATION",
            only=LOCAL,
        ),
    ] = "5s"
    listed: Annotated[
        bool, Field("List the invariants and check nothing.", name="list", only=Door.COMMAND)
    ] = False

    @classmethod
    def of_command(cls, given: Mapping[str, Any]) -> Question[Any]:
        """Return the question, or that for the list of invariants.

        :raises UsageError: there is no such invariant, or ``--settle`` is no duration.
        """
        if given["listed"]:
            return InvariantListQuestion()
        from ..invariants.check_task import chosen_invariants, settle_window  # noqa: PLC0415

        chosen_invariants(given["invariants"])
        settle_window(given["settle"])
        return cls(**given)

    def moment(self, log: Log) -> Moment:
        """Return the moment, or the end of the range."""
        return log.moment(
            next(point for point in (self.at, self.until, "end") if point is not None)
        )

    @property
    def needs_conf(self) -> bool:
        """Return that no configuration is needed: invariants that need one say so."""
        return False

    @property
    def caches(self) -> Sequence[str]:
        """Return its release, if it is about one moment."""
        return () if self.at is None else (self.as_release,)

    def answer(self, log: Log) -> CheckReport:
        """Return what is violated: :func:`plinian.replay.invariants.check_task.check`.

        :raises UsageError: an invariant or the release is not known, or options do not go together.
        """
        from ...engine.volcano.session.history import resolve  # noqa: PLC0415
        from ..invariants.check_task import CheckTask, check, settle_window  # noqa: PLC0415
        from ..logs.given_confs import conf_text  # noqa: PLC0415 -- doors read the fields only

        task = CheckTask(
            end=self.moment(log),
            behaviours=resolve(self.as_release),
            single=self.at is not None,
            since=None if self.since is None else log.moment(self.since),
            ids=tuple(several(self.invariants)),
            settle=settle_window(self.settle),
            conf=conf_text(self.conf),
        )
        return check(log, task, self.progress)

    def tables(self, report: CheckReport, style: Style) -> Iterable[Table]:
        """Return a row for each violation."""
        from ..render.check import check_table  # noqa: PLC0415

        return (check_table(report, wide=style.wide),)

    def nothing(self, _found: CheckReport) -> str:
        """Return nothing: the lines below say it."""
        return ""

    def beside_lines(self, report: CheckReport) -> Iterator[str]:
        """Yield what was found, left out, not checked and not known."""
        from ..render.check import check_notes  # noqa: PLC0415

        return check_notes(report)

    def review(self, report: CheckReport) -> Review:
        """Return the answer as a review."""
        from ..review.check_review import check_review  # noqa: PLC0415

        return check_review(report)

    def code(self, report: CheckReport, *, asked: bool) -> int:
        """Return 1 if anything is violated, and the command is asked to."""
        return int(asked and bool(report.violations))


class InvariantListQuestion(Question["Sequence[Invariant]"], frozen=True):
    """List the invariants; they are the same for all logs."""

    command = "check --list"
    about = "All invariants."
    needs_log = False

    def answer(self, _log: Log) -> Sequence[Invariant]:
        """Return them by number."""
        from ..invariants.check_task import ALL  # noqa: PLC0415 -- doors read the fields only

        return ALL

    def document(self, invariants: Sequence[Invariant]) -> Any:
        """Return the answer as ``-o json`` prints it."""
        from ..invariants.check_report import invariant_document  # noqa: PLC0415

        return [invariant_document(invariant) for invariant in invariants]

    def lines(self, _found: Sequence[Invariant], style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.check import invariant_lines  # noqa: PLC0415

        return invariant_lines(style=style)
