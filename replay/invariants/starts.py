"""Where a check of one moment may begin: at a stored scheduler's cache, if the answer is the same.

Since when an invariant is violated is known only from a moment at which it was not. So a check
begins at the last stored cache; if a violation held there already, at an earlier one, and at last
at the first event. An invariant that remembers earlier moments is presumed violated at the begin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ...engine.cache.projector import Projector
from ...engine.events import Event
from ...engine.invariants.controllers import JOB
from ...engine.invariants.invariant import Invariant
from ...engine.invariants.timeline import Breach
from ...engine.invariants.view import ClusterView, Deletion
from ...engine.log.store import NO_REVISION, LogStore, Query
from ...engine.volcano.session.behaviours import Behaviours
from ..moments.clock import clock_of, placed
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.stored_belief import start_of
from .known import Knowledge

_TRIES = 4
_FARTHER = 4
"""Each try begins so many times as far before the moment as the one before."""


class Begin:
    """A moment at which a check may begin, with the scheduler's cache.

    :ivar revision: the last revision that the cache has.
    """

    def __init__(self, log: Log, end: Moment, projector: Projector, revision: int) -> None:
        self.projector, self.revision = projector, revision
        self._log = log
        self._moment = msgspec.structs.replace(
            end, revision=revision, time=None, label=f"rv:{revision}"
        )

    def fill(self, view: ClusterView, actors: dict[int, str]) -> None:
        """Give a view what the cache does not have: Jobs, and deletions of PodGroups."""
        view.presume_history()
        view.owners.presumed = _replaced(self._log.store, self._moment.cluster)
        entries = self._log.entries(JOB, at=self._moment)
        positions = [entry.position for entry in entries]
        payloads = self._log.store.payloads(positions, self._moment.branch)
        for entry in entries:
            event = Event(
                kind="job.observed",
                reference=entry.reference,
                payload=payloads[entry.position],
                revision=entry.revision,
            )
            view.owners.take(event, lambda _: False)
        for position, event in _deletions(self._log.store, self._moment):
            actor = actors.get(position, event.actor)
            view.note_deletion(event.reference, Deletion(event.reference.uid, position, actor))


def begins(
    log: Log,
    end: Moment,
    behaviours: Behaviours,
    knowledge: Knowledge,
    checked: Sequence[Invariant],
) -> Iterator[Begin]:
    """Yield moments to begin at, the last first; none if only the first event will do."""
    if JOB in knowledge.listed_without_revision:
        return
    last = end.revision
    if last is None:
        extent = log.store.extent(known=end.known, cluster=end.cluster, branch=end.branch)
        last = extent.last_revision or 0
    then, distance = end, 0
    for _ in range(_TRIES):
        start = start_of(log.store, then, behaviours)
        if start is None or start.revision <= 0:
            return
        known = all(knowledge.at(one.kinds, start.revision) for one in checked if one.kinds)
        if known:
            yield Begin(log, end, start.projector, start.revision)
        distance = max(distance, last - start.revision, 1) * _FARTHER
        if last - distance <= 0:
            return
        then = msgspec.structs.replace(end, revision=last - distance, time=None)


def is_exact(found: Iterable[Breach], view: ClusterView) -> bool:
    """Return whether violations are as they would be from the first event on.

    They are if none of them held at the begin, or depends on what was before it.
    """
    return not any(
        one.since.position < 0 or (one.invariant.remembers and view.is_presumed(one.violation))
        for one in found
    )


def _replaced(store: LogStore, cluster: str) -> frozenset[str]:
    """Return the names, as ``namespace/name``, that several Jobs of a log had."""
    known = store.objects_of(*JOB, cluster=cluster)
    count = Counter(f"{one.namespace}/{one.name}" for one in known if one.uid)
    return frozenset(name for name, uids in count.items() if uids > 1)


def _deletions(store: LogStore, until: Moment) -> Iterator[tuple[int, Event]]:
    """Yield the deletions of PodGroups up to a moment, in their order.

    Some have no revision, as in an audit log: the clock places them.
    """
    query = Query(
        branch=until.branch, cluster=until.cluster, until=until.known, kinds=("podgroup.deleted",)
    )
    clock = clock_of(store, branch=until.branch, cluster=until.cluster)
    loose = placed(clock, until, after=NO_REVISION, until=until.revision)
    keys = dict(zip(loose.positions.tolist(), loose.keys.tolist(), strict=True))
    found: list[tuple[int, int, Event]] = []
    for one in store.read(query):
        revision = one.event.revision
        key = keys.get(one.position) if revision is None else revision * 2
        if key is not None and key <= (until.revision or 0) * 2:
            found.append((key, one.position, one.event))
    for _, position, event in sorted(found, key=lambda one: one[:2]):
        yield position, event
