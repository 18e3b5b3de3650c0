"""The log in Python: everything that the command line answers, with typed results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...engine.kubernetes.resources import GroupKind
from ...engine.log import MAIN, open_log
from ..demo import recorded_inputs
from ..logs.given_confs import Conf
from ..logs.log import Progress
from ..questions.compare import ComparisonQuestion
from ..questions.compare_moments import MomentsComparisonQuestion
from ..questions.defaults import DEFAULT_RELEASE
from ..questions.drift import DriftQuestion
from ..questions.fields import Names, several
from ..questions.forecast import ForecastQuestion
from ..questions.session import SessionQuestion
from ..questions.sessions import SessionListQuestion
from ..questions.upgrade_check import UpgradeCheckQuestion
from ..questions.what_if import WhatIfQuestion
from ..sessions.assumed import accepted_conf
from ..truth.points import Point
from .answering import AnsweringLog
from .options import FilePath, release_of
from .question_method import method_of

if TYPE_CHECKING:
    from ..compare.bisection import Bisection
    from ..fidelity.report import Fidelity
    from ..invariants.check_task import CheckReport
    from ..lint.lint_task import Report
    from ..logs.log_status import Status
    from ..series.series_tables import Row
    from ..tabular.tabular import Records
    from .believed import Belief


class Log(AnsweringLog):
    """An open log of one cluster on one branch; use it in a ``with`` block, or close it.

    Moments (``at``, ``before``, ``since`` …) are strings as on the command line, datetimes with a
    time zone, or a :class:`Moment` of :meth:`moment`. Options have the names of the command line's;
    a repeatable one is a sequence here, with a plural name.

    :param place: the path or URL of the log. :param store: the log underneath.
    :param branch: the branch of points that do not name one.
    :param cluster: the cluster; may be None if the log holds only one.
    """

    session = method_of(SessionQuestion)

    def status(self, *, as_known_at: str | None = None) -> Status:
        """Return what the log holds of its cluster: inputs, range, what it knows completely.

        :param as_known_at: ``@POSITION``; ignore events appended later.
        :raises UsageError: the log holds several clusters, and none is chosen.
        """
        from ..logs.log_status import status_of  # noqa: PLC0415

        return status_of(self, self.moment(as_known_at=as_known_at))

    def assumptions(
        self, *, at: Point = "end", kinds: Sequence[str | GroupKind] | None = None
    ) -> tuple[str, ...]:
        """Return as sentences what answers rest on that no input shows.

        These are the fields that objects lacked when they were ingested, and that were filled in as
        an API server or a webhook does, and identities that were generated.

        :param kinds: as in ``["nodes", "pods"]``; None is all.
        :raises UsageError: there is no such kind.
        """
        from ..logs.assumptions import assumptions_at  # noqa: PLC0415

        moment = self.moment(at)
        chosen = None
        if kinds is not None:
            named = (self.kind(one, moment) if isinstance(one, str) else one for one in kinds)
            chosen = list(named)
        return assumptions_at(self, moment, chosen)

    compare = method_of(ComparisonQuestion)

    compare_moments = method_of(MomentsComparisonQuestion)

    def bisect(
        self,
        *,
        bound: str | None = None,
        pending: str | None = None,
        enqueued: str | None = None,
        phase: str | None = None,
        panic: bool = False,
        releases: str | None = None,
        at: Point | None = None,
        from_: Point | None = None,
        to: Point | None = None,
        release: str | None = None,
        conf: Conf | None = None,
        halve: bool = False,
        jobs: int = 1,
        assume: bool = False,
        progress: Progress | None = None,
        strict: bool = False,
    ) -> Bisection:
        """Find the first moment of the log, or the first release, with another answer.

        Give one question: ``bound`` or ``pending`` (``namespace/pod``), ``enqueued``
        (``namespace/podgroup``), ``phase`` (``namespace/podgroup=Phase``) or ``panic``. The
        result's ``flip`` is None if the answer is the same everywhere.

        :param releases: ``R1..R2``: run the session ``at`` one moment as one release after the
            other. Without it, every session between ``from_`` and ``to`` is run as one ``release``,
            until the answer changes; the result is a :class:`LogAnswers`.
        :param release: by default v1.12.1; for ``panic``, the newest release that panics at a crash
            that the log records.
        :param halve: check few moments only; right if the answer changes once.
        :param jobs: processes. With more than one, the program must be importable: guard its start
            with ``if __name__ == "__main__":``.
        :param progress: called with (sessions run, expected total).
        :raises UsageError: there is not exactly one question, or options do not go together.
        :param strict: refuse to answer if the log lacks what sessions need.
        """
        from ..compare.session_claims import claim_of  # noqa: PLC0415
        from .searching import Search  # noqa: PLC0415

        question = claim_of(
            panic=panic, bound=bound, pending=pending, enqueued=enqueued, phase=phase
        )
        asked = to if releases is None else at
        self._check(self.moment("end" if asked is None else asked), conf, strict=strict)
        search = Search(self, self.place, question, conf, assume=assume, progress=progress)
        if releases is not None:
            search.refuse(from_=from_, to=to, release=release, halve=halve or None)
            return search.over_releases(releases, at="end" if at is None else at)
        search.refuse(at=at)
        return search.in_log(
            from_,
            "end" if to is None else to,
            release=release,
            halve=halve,
            jobs=jobs,
        )

    sessions = method_of(SessionListQuestion)

    def fidelity(
        self,
        *,
        at: Point | None = None,
        since: Point | None = None,
        until: Point | None = None,
        release: str = DEFAULT_RELEASE,
        conf: Conf | None = None,
        jobs: int = 1,
        assume: bool = False,
        progress: Progress | None = None,
        strict: bool = False,
    ) -> Fidelity:
        """Run recorded sessions again, and return how they came out, compared with the record.

        :param at: only the last session that was opened by this moment.
        :param since: and ``until``: only sessions opened between these moments.
        :param release: the release that ran.
        :param conf: a configuration instead of the log's.
        :param jobs: processes. With more than one, the program must be importable: guard its start
            with ``if __name__ == "__main__":``.
        :param progress: called with (sessions run, total).
        :raises UsageError: the release is not known, or it rejects the configuration.
        :param strict: refuse to answer if the log lacks what sessions need.
        """
        from .recorded import fidelity_of  # noqa: PLC0415

        name = release_of(release, assume=assume)
        given = accepted_conf(conf, [name], assume=assume)
        self._check(self.moment(), conf, strict=strict)
        bounds = {"at": at, "since": since, "until": until}
        return fidelity_of(self, name, given, bounds, jobs=jobs, progress=progress)

    def state(self, what: str, *, at: Point = "end") -> Records[Row]:
        """Return the state at a moment as rows: one for each object, or each resource of it.

        Amounts are numbers: cpu in cores, memory and storage in bytes, others as counted.

        :param what: ``queues``, ``nodes``, ``pods`` or ``podgroups``.
        :raises UsageError: there is no such table.
        """
        from .tables import state_at  # noqa: PLC0415

        return state_at(self, what, self.moment(at))

    def series(self, what: str, *, every: str = "10s") -> Records[Row]:
        """Return the state over time, in rows like those of :meth:`state`; as ``export --what``.

        :param every: the time between two samples.
        :raises UsageError: there is no such table, or the log has no times.
        """
        from .tables import series_of  # noqa: PLC0415

        return series_of(self, what, every)

    def belief(
        self,
        *,
        at: Point = "end",
        release: str = DEFAULT_RELEASE,
        assume: bool = False,
        progress: Progress | None = None,
        strict: bool = False,
    ) -> Belief:
        """Return the scheduler's cache at a moment, as a release builds it.

        :param progress: called with (events delivered, total).
        :raises UsageError: the release is not known.
        :param strict: refuse to answer if the log lacks what sessions need.
        """
        from ...engine.volcano.session.history import resolve  # noqa: PLC0415
        from ..belief.belief import belief_at  # noqa: PLC0415
        from .believed import Belief  # noqa: PLC0415

        moment, behaviours = self.moment(at), resolve(release_of(release, assume=assume))
        self._check(moment, "", strict=strict)
        cache = belief_at(
            self.store, moment, behaviours, recent=self.recent_beliefs, progress=progress
        )
        return Belief(moment.label, behaviours.release, cache)

    drift = method_of(DriftQuestion)
    upgrade_check = method_of(UpgradeCheckQuestion)
    what_if = method_of(WhatIfQuestion)
    forecast = method_of(ForecastQuestion)

    def check(
        self,
        *,
        at: Point | None = None,
        since: Point | None = None,
        until: Point | None = None,
        release: str = DEFAULT_RELEASE,
        invariants: Names = (),
        settle: str = "5s",
        conf: Conf | None = None,
        assume: bool = False,
        progress: Progress | None = None,
        strict: bool = False,
    ) -> CheckReport:
        """Check invariants at a moment, or over a range of the log, and return what is violated.

        :param at: only what is violated at this moment. Without it the whole log is checked.
        :param since: leave out violations that had ended by then. :param until: where to end.
        :param invariants: ids or names; by default all.
        :param settle: how long some invariants must be violated to count, as in ``5s``.
        :param conf: a configuration instead of the log's.
        :raises UsageError: an invariant or the release is not known, or options do not go together.
        :param strict: refuse to answer if the log lacks what sessions need at the end.
        """
        from .checking import Asked, checked  # noqa: PLC0415

        moment = self.moment(next((one for one in (at, until) if one is not None), "end"))
        self._check(moment, "", strict=strict)
        asked = Asked(at, since, until, release, tuple(several(invariants)), settle, conf)
        return checked(self, asked, moment, assume=assume, progress=progress)

    def lint(
        self,
        files: FilePath | Sequence[FilePath] = (),
        *,
        at: Point = "end",
        conf: FilePath | None = None,
        releases: Names = (),
        ignore: Names = (),
        namespace: str = "default",
        assume: bool = False,
    ) -> Report:
        """Check files against the cluster at a moment; without files, check the cluster's objects.

        Parameters and errors are those of :func:`lint`.
        """
        from ..lint.known_background import background_at  # noqa: PLC0415
        from .linting import checked  # noqa: PLC0415

        return checked(
            files,
            background_at(self, self.moment(at)),
            conf=conf,
            releases=releases,
            ignore=ignore,
            namespace=namespace,
            assume=assume,
        )


def opened(
    place: str, *, create: bool = False, read_only: bool = False, branch: str, cluster: str | None
) -> Log:
    """Open the log at a path or URL; parameters and errors are those of ``plinian.open``."""
    store = open_log(place, create=create, read_only=read_only)
    return Log(place, store, branch=branch, cluster=cluster)


def demonstration(place: str) -> Log:
    """Create the log of the demo; errors are those of ``plinian.demo``."""
    log = opened(place, create=True, branch=MAIN, cluster=None)
    with recorded_inputs() as paths:
        log.ingest(paths)
    return log
