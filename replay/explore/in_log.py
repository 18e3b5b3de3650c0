"""Which anomalies that a search found from a moment of a log are also in the log later."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ...engine.cache.projector import Projector
from ...engine.invariants.invariant import Invariant
from ...engine.invariants.view import ClusterView
from ...engine.machine.checks import checked_invariants, violations_of
from ...engine.volcano.releases import known_release
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import record
from ..belief.belief import play
from ..invariants.check_task import CheckTask, check
from ..logs.log import Log
from ..moments.moment import Moment
from .exploration import Anomaly, InLog


class LoggedFault(NamedTuple):
    """What is wrong at the end of a log. :param key: of the object, as in ``default/web-0``."""

    invariant: str
    kind: str
    key: str
    message: str
    sentence: str
    in_log: InLog


def shown_later(
    log: Log, moment: Moment, release: str, ids: Collection[str] = ()
) -> list[LoggedFault]:
    """Return what is wrong at the end of the branch of a moment, in the words of that end.

    :param ids: the only invariants to check; by default all that a search checks.
    """
    asked = [invariant for invariant in checked_invariants() if not ids or invariant.id in ids]
    if not asked:
        return []
    behaviours = record(known_release(release))
    return list(_shown(log.on_branch_of(moment), asked, behaviours))


def compared_with_log(
    log: Log, at: str, release: str, anomalies: Iterable[Anomaly]
) -> tuple[Anomaly, ...]:
    """Return anomalies with what the log says of them, those first that it shows.

    Two violations are the same if the invariant and all that it says of other objects are the same.
    The object itself may be a pod, which has another name in a search.

    :param at: where the search began. It is compared with the end of that branch.
    """
    given = tuple(anomalies)
    if not given:
        return given
    asked = {anomaly.violation.invariant for anomaly in given}
    shown = {
        (fault.invariant, fault.message): fault.in_log
        for fault in shown_later(log, log.moment(at), release, asked)
    }
    compared = [
        anomaly._replace(in_log=shown.get((anomaly.violation.invariant, anomaly.violation.message)))
        for anomaly in given
    ]
    return tuple(sorted(compared, key=lambda anomaly: anomaly.in_log is None))


def _shown(
    log: Log, invariants: Sequence[Invariant], behaviours: Behaviours
) -> Iterator[LoggedFault]:
    """Yield what is violated at the end of a log, in the words of that moment, and since when."""
    end = log.moment()
    ids = tuple(invariant.id for invariant in invariants)
    task = CheckTask(end=end, behaviours=behaviours, single=True, ids=ids, settle=0)
    report = check(log, task)
    since = {
        (breach.invariant.id, f"{breach.violation.kind} {breach.violation.name}"): breach.since
        for breach in report.violations
    }
    # The report says since when, and a view of the same moment gives the words of a search.
    view = ClusterView(play(log.store, end, Projector(behaviours)))
    for violation in violations_of(view, invariants):
        invariant, message, kind, key = violation
        name = f"{kind} {key}"
        place = since.get((invariant, name))
        if place is not None:
            shown = InLog(name, place.position, report.span_of(place))
            yield LoggedFault(invariant, kind, key, message, violation.sentence, shown)
