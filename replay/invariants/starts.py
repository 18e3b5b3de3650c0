"""Where a check of one moment may begin: at a stored scheduler's cache, if the answer is the same.

Since when an invariant is violated is known only from a moment at which it was not. So a check
begins at the last stored cache; if a violation held there already, at an earlier one, and at last
at the first event. An invariant that remembers earlier moments is presumed violated at the begin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from ...engine.cache.projector import Projector
from ...engine.events import Event, Reference
from ...engine.invariants.controller_invariants import JOB
from ...engine.invariants.invariant import Invariant
from ...engine.invariants.view import ClusterView, PodGroupDeletion
from ...engine.invariants.violation_timeline import Breach
from ...engine.log.store import NO_REVISION, LogStore, Query
from ...engine.volcano.session.behaviours import Behaviours
from ..belief.stored_belief import last_stored, start_of
from ..logs.log import Log
from ..moments.log_clock import clock_of, placed
from ..moments.moment import Moment
from .known_objects import Knowledge

_TRIES = 4
_FARTHER = 4
"""Each try begins so many times as far before the moment as the one before."""

_AT_ONCE = 1024
"""Payloads of Jobs that are read together."""


class _Job(NamedTuple):
    """The last version of a Job, by the position of its event."""

    position: int
    reference: Reference
    revision: int | None


class CheckBegin:
    """A moment at which a check may begin, with the scheduler's cache.

    :ivar revision: the last revision that the cache has.
    :param jobs: those that exist then.
    """

    def __init__(
        self, log: Log, moment: Moment, projector: Projector, jobs: Sequence[_Job]
    ) -> None:
        assert moment.revision is not None, "a stored cache has a revision"
        self.projector, self.revision = projector, moment.revision
        self._log, self._moment, self._jobs = log, moment, jobs

    def fill(self, view: ClusterView, actors: dict[int, str]) -> None:
        """Give a view what the cache does not have: Jobs, and deletions of PodGroups."""
        view.presume_history()
        store, branch = self._log.store, self._moment.branch
        view.owners.presumed = _replaced(store, self._moment.cluster)
        for start in range(0, len(self._jobs), _AT_ONCE):
            block = self._jobs[start : start + _AT_ONCE]
            payloads = store.payloads([job.position for job in block], branch)
            for position, reference, revision in block:
                event = Event(
                    kind="job.observed",
                    reference=reference,
                    payload=payloads[position],
                    revision=revision,
                )
                view.owners.take(event, lambda _: False)
        for position, event in _deletions(store, self._moment):
            actor = actors.get(position, event.actor)
            view.note_deletion(
                event.reference, PodGroupDeletion(event.reference.uid, position, actor)
            )


def begins(
    log: Log,
    end: Moment,
    behaviours: Behaviours,
    knowledge: Knowledge,
    checked: Sequence[Invariant],
) -> Iterator[CheckBegin]:
    """Yield moments to begin at, the last first; none if only the first event will do."""
    if JOB in knowledge.listed_without_revision:
        return
    last = end.revision
    if last is None:
        extent = log.store.extent(known=end.known, cluster=end.cluster, branch=end.branch)
        last = extent.last_revision or 0
    then, distance = end, 0
    for _ in range(_TRIES):
        begin = _last_begin(log, then, behaviours)
        if begin is None:
            return
        distance = max(distance, last - begin.revision, 1) * _FARTHER
        if all(
            knowledge.at(invariant.kinds, begin.revision)
            for invariant in checked
            if invariant.kinds
        ):
            yield begin
        del begin  # Before the next one is opened: a cache can be large.
        if last - distance <= 0:
            return
        then = msgspec.structs.replace(end, revision=last - distance, time=None)


def _last_begin(log: Log, until: Moment, behaviours: Behaviours) -> CheckBegin | None:
    """Return the last stored cache up to a moment, if there is one.

    The Jobs are read before it, so that it is not in memory together with the state of the log.
    """
    moment = _at(until, last_stored(log.store, until, behaviours))
    jobs = _jobs(log, moment)
    start = start_of(log.store, until, behaviours)
    if start is None or start.revision <= 0:
        return None
    if start.revision != moment.revision:  # What is stored after it is no longer valid.
        moment = _at(until, start.revision)
        jobs = _jobs(log, moment)
    return CheckBegin(log, moment, start.projector, jobs)


def _at(moment: Moment, revision: int) -> Moment:
    return msgspec.structs.replace(moment, revision=revision, time=None, label=f"rv:{revision}")


def _jobs(log: Log, moment: Moment) -> list[_Job]:
    """Return the last versions of all Jobs, and drop the state that has them."""
    if moment.revision is None or moment.revision <= 0:
        return []
    entries = log.entries(JOB, at=moment)
    jobs = [_Job(entry.position, entry.reference, entry.revision) for entry in entries]
    log.make_room()
    return jobs


def is_exact(breaches: Iterable[Breach], view: ClusterView) -> bool:
    """Return whether violations are as they would be from the first event on.

    They are if none of them held at the begin, or depends on what was before it.
    """
    return not any(
        breach.since.position < 0
        or (breach.invariant.remembers and view.is_presumed(breach.violation))
        for breach in breaches
    )


def _replaced(store: LogStore, cluster: str) -> frozenset[str]:
    """Return the names, as ``namespace/name``, that several Jobs of a log had."""
    known = store.objects_of(*JOB, cluster=cluster)
    count = Counter(
        f"{reference.namespace}/{reference.name}" for reference in known if reference.uid
    )
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
    deletions: list[tuple[int, int, Event]] = []
    for deletion in store.read(query):
        revision = deletion.event.revision
        # A deletion that the clock does not place up to the moment had not happened by then.
        key = keys.get(deletion.position) if revision is None else revision * 2
        if key is not None and key <= (until.revision or 0) * 2:
            deletions.append((key, deletion.position, deletion.event))
    for _, position, event in sorted(deletions, key=lambda deletion: deletion[:2]):
        yield position, event
