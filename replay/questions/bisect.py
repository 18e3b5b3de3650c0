"""The moment, or the release, at which the answer of a session changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self

import msgspec

from .defaults import DEFAULT_RELEASE
from .fields import AT, CONF, JOBS, PROGRESS, RELEASE, Door, Field
from .question import Question, QuestionOfRelease, Remark, taken, unsaid

if TYPE_CHECKING:
    from ..compare.bisection import Bisection
    from ..compare.log_bisection import LogRange
    from ..compare.session_claims import SessionClaim
    from ..logs.given_confs import Conf
    from ..logs.log import Log, Progress
    from ..moments.moment import Moment
    from ..moments.unknown import Unknown
    from ..render.tables import Style
    from ..simulate.scenario_cases import Case
    from ..truth.points import Point

_NAMED, _FORM = "NS/NAME", "NAMESPACE/NAME"
_KINDS = ("bound", "pending", "enqueued", "phase", "panic")


_OF_SEARCHES_ALONG = ("step", "from_", "to", "release", "linear", "halve")


class QuestionOfChange(QuestionOfRelease["Bisection"], frozen=True, kw_only=True):
    """A question about where the answer of a session changes."""

    bound: Annotated[
        str | None, Field("Question: does the pod have a node?", _NAMED, form=_FORM)
    ] = None
    pending: Annotated[
        str | None, Field("Question: does the pod exist without a node?", _NAMED, form=_FORM)
    ] = None
    enqueued: Annotated[
        str | None, Field("Question: has the PodGroup left the phase Pending?", _NAMED, form=_FORM)
    ] = None
    phase: Annotated[
        str | None,
        Field(
            "Question: does the PodGroup have this phase?",
            "NS/NAME=PHASE",
            form=f"{_FORM}=PHASE",
        ),
    ] = None
    panic: Annotated[bool, Field("Question: does the scheduler panic?")] = False
    releases: Annotated[
        str | None,
        Field(
            "Find the first release with another answer, and the behaviour that causes it.",
            "R1..R2",
            form="R1..R2, as in v1.11.0..v1.12.1",
        ),
    ] = None

    @property
    def claim(self) -> SessionClaim:
        """Return what each session answers.

        :raises UsageError: there is not exactly one question, or it is malformed.
        """
        from ..compare.session_claims import claim_of  # noqa: PLC0415 -- doors read the fields only

        return claim_of(**{kind: getattr(self, kind) for kind in _KINDS})

    @property
    def ends(self) -> Sequence[str]:
        """Return the releases between which to search; none if a search is along a log.

        :raises UsageError: the form is wrong.
        """
        if self.releases is None:
            return ()
        from ...engine.errors import UsageError  # noqa: PLC0415

        ends = self.releases.split("..")
        if len(ends) != 2:
            message = f"--releases {self.releases}: expected R1..R2"
            raise UsageError(message, now="as in v1.11.0..v1.12.1")
        return ends

    def lines(self, bisection: Bisection, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.bisection import bisection_lines  # noqa: PLC0415

        return bisection_lines(bisection, getattr(bisection, "crashes", ()), style=style)

    def code(self, bisection: Bisection, *, asked: bool) -> int:  # noqa: ARG002 -- it always does
        """Return 1 if the answer is the same everywhere, 2 if that is not known."""
        return 0 if bisection.flip is not None else 1 if bisection.answered else 2


class BisectQuestion(QuestionOfChange, frozen=True, kw_only=True):
    """Find the first moment or release with another answer.

    A session at a moment answers one question: --bound, --pending, --enqueued, --phase or --panic.

    Without --releases, both ends and every recorded session between --from and --to are checked (if
    the log records no sessions: the state after every change), until the answer differs. So the
    first change is found even if the answer changes several times. With --releases, the session at
    --at is run as one release after the other. Then each behaviour in which the two neighbouring
    releases differ is set back alone, to name the one that causes the change, or the smallest set.

    Moments before the first complete lists of what sessions need are left out and counted; --from
    includes them.
    """

    command = "bisect"
    about = (
        "The first moment, or with releases the first release, at which a session answers a "
        "question otherwise, and the behaviour that causes it. Give one question: bound, pending, "
        "enqueued, phase or panic."
    )
    guide = (
        "For since when, or since which release, one pod or PodGroup is decided otherwise; `why` "
        "has since when something waits already. `flip` has both sides of the change."
    )
    in_terminal = """

Exits with 1 if the answer is the same everywhere or the log never held the object, and with 2
if it lacks what sessions need at every moment."""
    examples = (
        "plinian bisect --enqueued ml/bert",
        "plinian bisect --bound ml/train-0 --releases v1.11.0..v1.12.1 --at rv:1042",
    )
    work = "sessions"
    forms = "text|wide|json"
    reads_all = "changes of an answer"
    names_inputs = True
    takes_release = False

    at: Annotated[Point | None, AT] = None
    from_: Annotated[
        Point | None,
        Field(
            "Where to begin; by default the first revision. A position (@7) makes the search go by "
            "positions: by what was known, not by what had happened.",
            "POINT",
            name="from",
        ),
    ] = None
    to: Annotated[Point | None, Field("Where to end; by default the end.", "POINT")] = None
    release: Annotated[
        str | None,
        RELEASE._replace(
            help=f"The release of Volcano. By default {DEFAULT_RELEASE}; with --panic on a log "
            "that records crashes, the newest release that panics at a recorded crash."
        ),
    ] = None
    conf: Annotated[Conf | None, CONF._replace(help="A configuration instead of the log's.")] = None
    halve: Annotated[
        bool, Field("Check few moments, by halving. Right only if the answer changes once.")
    ] = False
    jobs: Annotated[int, JOBS] = 1
    case: Annotated[
        str | None,
        Field(
            "A scenario file (.case.json) instead of a log.",
            "[CASE]",
            only=Door.COMMAND,
            is_argument=True,
        ),
    ] = None
    step: Annotated[
        int | None,
        Field(
            "Of a scenario: the last step to run; by default all.", "N", only=Door.COMMAND, least=1
        ),
    ] = None
    linear: Annotated[
        bool, Field("Check every session: the default.", only=Door.COMMAND, is_hidden=True)
    ] = False
    progress: Annotated[Progress | None, PROGRESS] = None

    @classmethod
    def of_command(cls, given: Mapping[str, Any]) -> Question[Any]:
        """Return the question: to a log, or to a scenario.

        :raises UsageError: options do not go together.
        """
        question = cls(**given)
        question.refuse()
        if question.case is None:
            return question
        asked = {name: given[name] for name in QuestionOfChange.__struct_fields__}
        of = question.release or DEFAULT_RELEASE
        return CaseBisectQuestion(**asked, case=question.case, step=question.step, release=of)

    def refuse(self) -> None:
        """Refuse options that would have no effect, so that a user does not rely on them.

        :raises UsageError: one of them is given, or the question is malformed.
        """
        from ...engine.errors import UsageError  # noqa: PLC0415 -- doors read the fields only

        # Both raise if they are malformed.
        _ = self.claim, self.ends
        if self.halve and self.linear:
            raise UsageError("--halve and --linear are opposites", now="leave one out")
        idle: Sequence[str] = ("step", "at")
        of = "a search along the log"
        if self.case is not None:
            of, idle = "a scenario", ("from_", "to", "conf", "at", "linear", "halve")
        elif self.releases is not None:
            of, idle = "a search over releases", _OF_SEARCHES_ALONG
        given = {name: getattr(self, name) for name in idle}
        # None and False are what an option has that was not given.
        wrong = [name for name, value in given.items() if value is not None and value is not False]
        if wrong:
            names = ", ".join(f"--{name.rstrip('_')}" for name in wrong)
            raise UsageError(
                f"{names} has no effect on {of}",
                now="see which options go together: plinian bisect --help",
            )

    def ask(self, log: Log) -> Bisection:
        """Return the answer.

        :raises UsageError: parameters do not go together.
        """
        self.refuse()
        return super().ask(log)

    def prepared(self, _log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with known releases, and a configuration that they accept."""
        from ..compare.bisection import releases_between  # noqa: PLC0415
        from ..logs.given_confs import conf_text  # noqa: PLC0415 -- doors read the fields only
        from ..sessions.assumed import rejections  # noqa: PLC0415

        names = [taken(name, remark, assume=self.assume) for name in self.named_releases]
        conf = conf_text(self.conf)
        if self.releases is None:
            release = None if self.release is None else names[0]
            return msgspec.structs.replace(self, release=release, conf=conf)
        span = "..".join(names)
        for text in rejections([conf], list(map(str, releases_between(span))), assume=self.assume):
            remark(text)
        return msgspec.structs.replace(self, releases=span, conf=conf)

    @property
    def named_releases(self) -> Sequence[str]:
        """Return both ends, or its release."""
        return self.ends or (self.release or DEFAULT_RELEASE,)

    def span(self, log: Log) -> LogRange:
        """Return the range of the log in which to search."""
        from ..compare.log_bisection import span_of  # noqa: PLC0415 -- doors read the fields only

        return span_of(log, self.from_, "end" if self.to is None else self.to)

    def moment(self, log: Log) -> Moment:
        """Return the moment of the session, or the end of the range."""
        point = self.to if self.releases is None else self.at
        return log.moment("end" if point is None else point)

    def unknown(self, log: Log) -> Sequence[Unknown]:
        """Return what sessions need and the log lacks anywhere in the range."""
        if self.releases is not None:
            return super().unknown(log)
        from ..coverage.coverage import SCHEDULING, unknown_between  # noqa: PLC0415

        span = self.span(log)
        first = None if span.by_position else span.first
        return unknown_between(log, first, span.end, SCHEDULING)

    def answer(self, log: Log) -> Bisection:
        """Return where the answer changes.

        :raises UsageError: there is not exactly one question, or options do not go together.
        """
        from ..compare import complete_names, log_search  # noqa: PLC0415
        from ..compare.bisection import over_releases, releases_between  # noqa: PLC0415
        from ..compare.log_bisection import LogQuestion  # noqa: PLC0415
        from ..compare.subjects import LogSubject  # noqa: PLC0415
        from ..logs.given_confs import conf_text  # noqa: PLC0415 -- doors read the fields only

        moment, conf = self.moment(log), conf_text(self.conf)
        claim = complete_names.named(log, self.claim, moment)
        if self.releases is not None:
            subject = LogSubject(log, moment, conf)
            return over_releases(subject, claim, releases_between(self.releases))
        asked = LogQuestion(log.place, self.span(log), claim, self.named_releases[0], conf)
        return log_search.search_log(
            log,
            asked,
            is_named=self.release is not None,
            assume=self.assume,
            halve=self.halve,
            jobs=self.jobs,
            progress=self.progress,
        )

    def notes(self, found: Bisection) -> Sequence[str]:
        """Return why this release was run, and which moments were left out."""
        from ..compare.log_search import LogAnswers  # noqa: PLC0415
        from ..logs.given_confs import conf_text  # noqa: PLC0415
        from ..render.bisection import left_out_text, release_choice_text  # noqa: PLC0415
        from ..sessions.assumed import rejections  # noqa: PLC0415
        from ..sessions.remarks import release_text  # noqa: PLC0415

        texts = [left_out_text(found)]
        if isinstance(found, LogAnswers):
            runs = [found.release or ""]
            # They are remarks here: what may not be assumed was refused before.
            texts[:0] = rejections([conf_text(self.conf)], runs, assume=True)
        if isinstance(found, LogAnswers) and self.release is None:
            release, crashes = found.release or "", found.crashes
            placed = any(crash.revision is not None for crash in crashes)
            chosen = f"sessions as {release_text(release, named=False)}"
            if crashes:
                chosen = release_choice_text(len(crashes), found.panicking, release, placed=placed)
            texts.insert(0, chosen)
        return list(filter(None, texts))


class CaseBisectQuestion(QuestionOfChange, frozen=True, kw_only=True):
    """Find the first session of a scenario, or the first release, with another answer."""

    command = "bisect"
    about = "The first session of a scenario, or the first release, with another answer."
    needs_log = False
    warns = False

    case: str | Case
    step: int | None = None
    release: str = DEFAULT_RELEASE

    def ask(self, log: Log | None = None) -> Bisection:
        """Return the answer. :raises UsageError: parameters do not go together."""
        nothing: Any = log
        return self.prepared(nothing).answer(nothing)

    def prepared(self, _log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with known releases."""
        names = [taken(name, remark, assume=self.assume) for name in self.named_releases]
        releases = "..".join(names) if self.ends else None
        return msgspec.structs.replace(self, releases=releases, release=names[0], strict=False)

    @property
    def named_releases(self) -> Sequence[str]:
        """Return both ends, or its release."""
        return self.ends or (self.release,)

    def moment(self, _log: Log) -> Any:
        """Return nothing: a scenario has no moments."""
        return None

    def answer(self, _log: Log) -> Bisection:
        """Return where the answer changes.

        :raises UsageError: there is no such step.
        """
        from pathlib import Path  # noqa: PLC0415 -- doors read the fields only

        from ..compare.bisection import over_releases, releases_between  # noqa: PLC0415
        from ..compare.log_bisection import over_case  # noqa: PLC0415
        from ..compare.subjects import case_subject  # noqa: PLC0415
        from ..simulate.scenario_cases import read_case  # noqa: PLC0415

        case = read_case(Path(self.case)).case if isinstance(self.case, str) else self.case
        subject = case_subject(case, self.step)
        if self.releases is None:
            return over_case(subject, self.claim, self.release)
        return over_releases(subject, self.claim, releases_between(self.releases))
