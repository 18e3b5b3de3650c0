"""One question to many sessions of a log: over time, or as one release after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from ...engine.errors import UsageError
from ...engine.volcano.releases import RELEASES
from ..compare.bisection import (
    Bisection,
    BisectionDocument,
    bisection_document,
    over_releases,
    releases_between,
)
from ..compare.crashes import LoggedCrash, PanickingReleases, panicking_at, recorded_crashes
from ..compare.log_bisection import LogBisection, LogQuestion, span_of
from ..compare.session_claims import PANIC, SessionClaim
from ..compare.subjects import LogSubject
from ..logs.given_confs import Conf, conf_text
from ..logs.log import Log, Progress
from ..questions.defaults import DEFAULT_RELEASE
from ..sessions.assumed import accepted_conf
from ..truth.points import Point
from .cases import span
from .options import release_of


@dataclass(frozen=True, slots=True)
class LogAnswers(Bisection):
    """A bisection of a log.

    :param crashes: for ``panic``: the crashes that the log records.
    :param panicking: why this release was run, if none was given: the crash that it has.
    """

    crashes: Sequence[LoggedCrash] = ()
    panicking: PanickingReleases | None = None

    @property
    def document(self) -> BisectionDocument:
        """What answers show of it."""
        return bisection_document(self, self.crashes, self.panicking)


class Search:
    """A question to the sessions of a log.

    :param place: the log's place, for processes that open it themselves.
    :param conf: a configuration instead of the log's.
    :param assume: use the nearest release for an unknown one.
    """

    def __init__(
        self,
        log: Log,
        place: str,
        question: SessionClaim,
        conf: Conf | None,
        *,
        assume: bool,
        progress: Progress | None,
    ) -> None:
        self._log, self._place = log, place
        self._question, self._conf = question, conf
        self._assume, self._progress = assume, progress

    def refuse(self, **given: object) -> None:
        """Refuse options that would have no effect, so that a user does not rely on them.

        :raises UsageError: one of them is given.
        """
        idle = [name for name, value in given.items() if value is not None]
        if idle:
            of = "a search along the log" if "at" in idle else "a search over releases"
            raise UsageError(f"{', '.join(idle)} has no effect on {of}", now="leave it out")

    def over_releases(self, releases: str, at: Point) -> Bisection:
        """Run the session at a moment as one release of ``R1..R2`` after the other."""
        asked = releases_between(span(releases, assume=self._assume))
        conf = accepted_conf(self._conf, list(map(str, asked)), assume=self._assume)
        subject = LogSubject(self._log, self._log.moment(at), conf)
        return over_releases(subject, self._question, asked)

    def in_log(
        self, start: Point | None, end: Point, *, release: str | None, halve: bool, jobs: int
    ) -> LogAnswers:
        """Run the sessions between two moments as one release.

        :param release: None is the default; for ``panic``, the newest one that has a recorded
            crash.
        """
        name = release_of(release or DEFAULT_RELEASE, assume=self._assume)
        conf = conf_text(self._conf)
        asked = LogQuestion(self._place, span_of(self._log, start, end), self._question, name, conf)
        crashes: list[LoggedCrash] = []
        panicking = None
        if self._question.kind == PANIC:
            crashes = recorded_crashes(self._log, asked.span.end)
        if crashes and release is None:
            known = [one for one in RELEASES if not one.ours]
            panicking = panicking_at(self._log, asked.span.end, crashes, known, conf=conf)
            asked = (
                asked if panicking is None else asked._replace(release=str(panicking.releases[-1]))
            )
        accepted_conf(conf, [asked.release], assume=self._assume)
        bisection = LogBisection(self._log, asked, progress=self._progress)
        found = bisection.halve() if halve else bisection.scan(jobs=jobs)
        same = {field.name: getattr(found, field.name) for field in fields(found)}
        return LogAnswers(**same, crashes=crashes, panicking=panicking)
