"""The sessions that a log records, in Python."""

from __future__ import annotations

from collections.abc import Mapping

from ..fidelity.fidelity_run import fidelity
from ..fidelity.fidelity_scope import question_in
from ..fidelity.report import Fidelity
from ..logs.log import Log, Progress
from ..logs.scheduler_confs import ConfText
from ..moments.moment import Moment
from ..truth.points import Point


def fidelity_of(
    log: Log,
    release: str,
    conf: ConfText | None,
    bounds: Mapping[str, Point | None],
    *,
    jobs: int,
    progress: Progress | None,
) -> Fidelity:
    """Run the sessions of a log again; parameters and errors are those of ``Log.fidelity``.

    :param bounds: ``at``, ``since`` and ``until``.
    """
    given = _moments(log, bounds)
    question = question_in(log, log.place, log.moment(), release, conf=conf, **given)
    return fidelity(log, question, jobs=jobs, progress=progress)


def _moments(log: Log, points: Mapping[str, Point | None]) -> dict[str, Moment]:
    return {name: log.moment(point) for name, point in points.items() if point is not None}
