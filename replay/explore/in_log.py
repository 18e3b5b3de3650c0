"""Which anomalies that a search found from a moment of a log are also in the log later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...engine.cache.projector import Projector
from ...engine.invariants.invariant import Invariant
from ...engine.invariants.view import ClusterView
from ...engine.machine.checks import checked_invariants, violations_of
from ...engine.volcano.releases import known_release
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import record
from ..invariants.task import CheckTask, check
from ..moments.belief import play
from ..moments.log import Log
from .recorded import on_branch_of
from .run import Anomaly, InLog

_Key = tuple[str, str]
"""An invariant, and what it says of an object."""


def compared_with_log(
    log: Log, at: str, release: str, anomalies: Iterable[Anomaly]
) -> tuple[Anomaly, ...]:
    """Return anomalies with what the log says of them, those first that it shows.

    Two violations are the same if the invariant and all that it says of other objects are the same.
    The object itself may be a pod, which has another name in a search.

    :param at: where the search began. It is compared with the end of that branch.
    """
    found = tuple(anomalies)
    asked = {one.violation.invariant for one in found}
    invariants = [one for one in checked_invariants() if one.id in asked]
    if not invariants:
        return found
    behaviours = record(known_release(release))
    shown = dict(_shown(on_branch_of(log, log.moment(at)), invariants, behaviours))
    told = [
        one._replace(in_log=shown.get(_key(one.violation.invariant, one.violation.sentence)))
        for one in found
    ]
    return tuple(sorted(told, key=lambda one: one.in_log is None))


def _shown(
    log: Log, invariants: Sequence[Invariant], behaviours: Behaviours
) -> Iterator[tuple[_Key, InLog]]:
    """Yield what is violated at the end of a log, in the words of that moment, and since when."""
    end = log.moment()
    ids = tuple(one.id for one in invariants)
    task = CheckTask(end=end, behaviours=behaviours, single=True, ids=ids, settle=0)
    since = {
        (one.invariant.id, f"{one.violation.kind} {one.violation.name}"): one.since
        for one in check(log, task).violations
    }
    view = ClusterView(play(log.store, end, Projector(behaviours)))
    for violation in violations_of(view, invariants):
        name = violation.sentence.partition(": ")[0]
        place = since.get((violation.invariant, name))
        if place is not None:
            key = _key(violation.invariant, violation.sentence)
            yield key, InLog(name, place.position, place.time)


def _key(invariant: str, sentence: str) -> _Key:
    return invariant, sentence.partition(": ")[2]
