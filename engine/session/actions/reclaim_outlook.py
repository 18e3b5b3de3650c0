"""What each queue could reclaim, for a trace that follows queues fully.

A session looks for victims only for the pods that it comes to, and on one node after the other.
Here the first pod of each queue that may evict is asked about all candidates at once, before any
action: nothing that the session decides or writes depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...model.panic import Panic
from ...model.resource import Resource
from ..framework import voting
from ..framework.session import Session
from ..framework.vote_details import Gate, Gated, ReclaimedQueue, ReclaimOutlook
from ..nodes.eviction_candidates import EvictionCandidates
from ..plugins.shared.gauge_amounts import plain
from .eligibility import never_preempts
from .eviction_details import gate_of_vote
from .eviction_victims import starving_jobs
from .reclaim import STARVES

RECLAIM = "reclaim"
OUTLOOK = "reclaim outlook"
"""What the details are kept under."""


def keep_outlook(ssn: Session) -> None:
    """Keep what the queues that are followed fully could reclaim."""
    trace, queues = ssn.trace, sorted(ssn.trace.fully & ssn.queues.keys())
    if not queues or RECLAIM not in ssn.conf.actions:
        return
    steps, errors = len(trace.steps), len(ssn.errors)
    gauges = {name: dict(values) for name, values in ssn.process.gauges.items()}
    try:
        for queue, outlook in _outlooks(ssn, queues):
            trace.detail(OUTLOOK, queue, outlook)
    except Panic:
        pass  # The session itself does not ask all of this, so it does not panic here.
    # Only the details stay: some votes write gauges, which only those of the session may.
    for name, values in list(ssn.process.gauges.items()):
        values.clear()
        values.update(gauges.get(name, {}))
        if not values and name not in gauges:
            del ssn.process.gauges[name]
    del trace.steps[steps:], ssn.errors[errors:]


def _outlooks(ssn: Session, queues: list[str]) -> Iterator[tuple[str, ReclaimOutlook]]:
    starves = STARVES[ssn.behaviours.reclaiming_jobs](ssn)
    _, jobs_of, tasks_of = starving_jobs(ssn, starves)
    candidates = EvictionCandidates(ssn)
    for queue in queues:
        jobs = jobs_of.get(queue)
        while jobs:
            tasks = tasks_of[jobs.pop()]
            if tasks:
                yield queue, _outlook(ssn, candidates, queue, tasks.pop())
                break


def _outlook(ssn: Session, candidates: EvictionCandidates, queue: str, task: int) -> ReclaimOutlook:
    gated = _gated(ssn, queue, task)
    rows = candidates.reclaimable_by(queue).nonzero()[0].tolist()
    return ReclaimOutlook(
        pod=ssn.task_name(task),
        job=ssn.jobs.keys[ssn.tasks.job.item(task)],
        request=plain(ssn.tasks.info[task].request),
        gated=gated,
        queues=() if gated is not None else tuple(_reclaimed(ssn, task, rows)),
    )


def _gated(ssn: Session, queue: str, task: int) -> Gated | None:
    """Return why ``reclaim`` would not look for victims for a task, in the order of its checks."""
    how = ssn.behaviours
    if voting.overused(ssn, queue):
        return gate_of_vote(ssn, Gate.OVERUSED)
    if how.preemptive_ignores_task and not voting.preemptive(ssn, queue, ()):
        return gate_of_vote(ssn, Gate.MAY_NOT_RECLAIM)
    if never_preempts(ssn, task):
        return Gated(Gate.POLICY)
    if how.reclaim_checks_allocatable and not voting.allocatable(ssn, queue, task):
        return gate_of_vote(ssn, Gate.NOT_ALLOCATABLE)
    if not how.preemptive_ignores_task and not voting.preemptive(ssn, queue, (task,)):
        return gate_of_vote(ssn, Gate.MAY_NOT_RECLAIM)
    return None


def _reclaimed(ssn: Session, task: int, candidates: list[int]) -> Iterator[ReclaimedQueue]:
    """Yield what the plugins choose of the candidates of each queue."""
    chosen_by: dict[str, set[int]] = {}
    for plugin, entry in ssn.registry.flat("Reclaimable") if candidates else ():
        chosen, vote = entry.function(task, candidates)
        if vote:
            chosen_by[plugin] = set(chosen or ())
    agreed = set(voting.reclaimable(ssn, task, candidates)) if candidates else set[int]()
    by_queue: dict[str, list[int]] = {}
    for candidate in candidates:
        by_queue.setdefault(ssn.jobs.queue[ssn.tasks.job.item(candidate)], []).append(candidate)
    for queue, rows in sorted(by_queue.items()):
        amounts = Resource()
        for row in agreed.intersection(rows):
            amounts.add(ssn.tasks.info[row].request)
        yield ReclaimedQueue(
            queue=queue,
            candidates=len(rows),
            by_plugin={plugin: len(rows_of & set(rows)) for plugin, rows_of in chosen_by.items()},
            chosen=len(agreed.intersection(rows)),
            amounts=plain(amounts),
        )
