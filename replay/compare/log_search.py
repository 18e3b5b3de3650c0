"""A claim asked of the sessions of a log: over time, as the release that the log may show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from ...engine.volcano.releases import RELEASES
from ..logs.log import Log, Progress
from ..sessions.assumed import rejections
from .bisection import Bisection, BisectionDocument, bisection_document
from .crashes import LoggedCrash, PanickingReleases, panicking_at, recorded_crashes
from .log_bisection import LogBisection, LogQuestion
from .session_claims import PANIC


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


def search_log(
    log: Log,
    asked: LogQuestion,
    *,
    is_named: bool,
    assume: bool,
    halve: bool,
    jobs: int,
    progress: Progress | None,
) -> LogAnswers:
    """Run the sessions of a range as one release.

    :param is_named: the release was named; else, of panics, it may be the newest one that has a
        crash which the log records.
    :param assume: a release that rejects the configuration runs with its built-in one.
    :param halve: check few moments only. :param jobs: processes.
    :raises UsageError: the release rejects the configuration, and nothing may be assumed.
    """
    crashes, panicking = [], None
    if asked.question.kind == PANIC:
        crashes = recorded_crashes(log, asked.span.end)
    if crashes and not is_named:
        known = [release for release in RELEASES if not release.ours]
        end, conf = asked.span.end, asked.conf
        panicking = panicking_at(log, end, crashes, known, conf=conf, progress=progress)
    if panicking is not None:
        asked = asked._replace(release=str(panicking.releases[-1]))
    list(rejections([asked.conf], [asked.release], assume=assume))
    bisection = LogBisection(log, asked, progress=progress)
    bisection_found = bisection.halve() if halve else bisection.scan(jobs=jobs)
    same = {field.name: getattr(bisection_found, field.name) for field in fields(bisection_found)}
    return LogAnswers(**same, crashes=crashes, panicking=panicking)
