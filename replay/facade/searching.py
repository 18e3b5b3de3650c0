"""One question to many sessions of a log: along its course, or as one release after the other."""

from __future__ import annotations

from ...engine.errors import UsageError
from ...engine.volcano.history import resolve
from ..comparison.bisection import Bisection, over_releases, releases_between
from ..comparison.log_bisection import LogBisection, span_of
from ..comparison.questions import Question
from ..comparison.subjects import LogSubject
from ..log import Log, Point, Progress
from .cases import span
from .options import Conf, accepted_conf, release_of


class Search:
    """A question that is asked of the sessions of a log.

    :param conf: a configuration in place of the log's.
    :param assume: take the nearest release for one that is not known.
    """

    def __init__(
        self,
        log: Log,
        question: Question,
        conf: Conf | None,
        *,
        assume: bool,
        progress: Progress | None,
    ) -> None:
        self._log, self._question, self._conf = log, question, conf
        self._assume, self._progress = assume, progress

    def refuse(self, **given: object) -> None:
        """Refuse options that would do nothing, so that nobody believes they did.

        :raises UsageError: one of them is given.
        """
        idle = [name for name, value in given.items() if value is not None]
        if idle:
            of = "a search along the log" if "at" in idle else "a search over releases"
            raise UsageError(f"{', '.join(idle)} means nothing to {of}", now="leave it out")

    def over_releases(self, releases: str, at: Point) -> Bisection:
        """Ask the session at a moment as one release of ``R1..R2`` after the other."""
        asked = releases_between(span(releases, assume=self._assume))
        conf = accepted_conf(self._conf, list(map(str, asked)), assume=self._assume)
        subject = LogSubject(self._log, self._log.moment(at), conf)
        return over_releases(subject, self._question, asked)

    def in_log(self, start: Point | None, end: Point, *, release: str, linear: bool) -> Bisection:
        """Ask the sessions between two moments as one release."""
        name = release_of(release, assume=self._assume)
        bisection = LogBisection(
            self._log,
            span_of(self._log, start, end),
            self._question,
            resolve(name),
            conf=accepted_conf(self._conf, [name], assume=self._assume),
            progress=self._progress,
        )
        return bisection.scan() if linear else bisection.halve()
