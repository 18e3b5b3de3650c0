"""Which anomalies that a search found from a moment of a log are also in the log later."""

from __future__ import annotations

from collections.abc import Iterable

from ...engine.invariants.timeline import Breach
from ...engine.machine.checks import checked_invariants
from ...engine.volcano.session.history import resolve
from ..invariants.task import CheckTask, check
from ..moments.log import Log
from .run import Anomaly, InLog


def compared_with_log(
    log: Log, end: str, release: str, anomalies: Iterable[Anomaly]
) -> tuple[Anomaly, ...]:
    """Return anomalies with what the log says of them, those first that it shows.

    Two violations are the same if the invariant and all that it says of other objects are the same.
    The object itself may be a pod, which has another name in a search.

    :param end: the moment of the log to look at.
    """
    found = tuple(anomalies)
    known = {one.id for one in checked_invariants()}
    ids = sorted({one.violation.invariant for one in found} & known)
    if not ids:
        return found
    task = CheckTask(end=log.moment(end), behaviours=resolve(release), single=True, ids=tuple(ids))
    shown = {
        (one.invariant.id, one.violation.message): _in_log(one)
        for one in check(log, task).violations
    }
    told = [one._replace(in_log=shown.get(_key(one))) for one in found]
    return tuple(sorted(told, key=lambda one: one.in_log is None))


def _key(anomaly: Anomaly) -> tuple[str, str]:
    """Return the invariant, and what it says of an object."""
    violation = anomaly.violation
    return violation.invariant, violation.sentence.partition(": ")[2]


def _in_log(breach: Breach) -> InLog:
    violation = breach.violation
    return InLog(f"{violation.kind} {violation.name}", breach.since.position, breach.since.time)
