"""Changes with which an action that evicts may find victims: what keeps others in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import PodGroup, Queue
from ...engine.kubernetes.quantity_lists import Amount, amounts, written
from ...engine.model.resource import Resource
from ...engine.model.task_status import ALLOCATED_STATUS
from ...engine.session.framework.vote_details import Gate, Spares
from ..answers.amounts import amounts_of
from ..answers.answering_session import title_of
from ..answers.records import EvictionTry, Gang, Link
from ..objects.kind_names import object_named
from .cluster_changes import Delete, SetField, WhatIfChange
from .queue_room import heavier, less
from .suggestion import (
    LIMIT,
    VICTIMS,
    Suggestion,
    group_name,
    limit,
    queue_spec,
    single,
    words,
)

_MOST = 3
"""So many queues, jobs or budgets of one reason are tried."""

_DESERVED = 500
"""Before the limits of other queues."""

RECLAIMING = frozenset({"reclaim", "gangreclaim"})
_NOT_BY_SHARE = frozenset({Gate.INVALID, Gate.STARVES_NOT, Gate.TOPOLOGY, Gate.POLICY})
"""What keeps an action from looking for victims whatever the queue deserves."""

_PROPORTION, _CAPACITY = "proportion", "capacity"
_ROOT = "root"


def of_victims(
    chain: Iterable[Link], podgroup: str, cache: SchedulerCache, evicting: Sequence[str]
) -> Iterator[Suggestion]:
    """Yield changes of what keeps others from being evicted, as the actions that evict name it.

    :param evicting: the actions of the configuration that evict. What is not enqueued yet comes to
        none of them, so no reason names them, but the queue may stand in their way.
    """
    links, job = list(chain), cache.jobs.get(podgroup)
    if job is None:
        return
    gang = next((link for link in links if isinstance(link, Gang)), None)
    least = 1 if gang is None else max(1, gang.least - gang.ready)
    needed = _needed(podgroup, least, cache)
    tries = [link for link in links if isinstance(link, EvictionTry)]
    for link in tries:
        yield from _less_protected(link, needed, cache)
    gates = [(link.gate, link.by) for link in tries if link.action in RECLAIMING]
    if not tries and RECLAIMING & set(evicting):
        gates = [(Gate.NOT_ENQUEUED, "")]
    for gate, by in gates:
        yield from _reclaimable(job.queue, cache)
        if needed and gate not in _NOT_BY_SHARE:
            yield from _deserves_more(by, job.queue, needed, cache)


def _needed(podgroup: str, least: int, cache: SchedulerCache) -> dict[str, Amount]:
    """Return what the pods request that a job needs next; before it has pods, its minResources."""
    job = cache.jobs[podgroup]
    unplaced = (task for task in job.tasks.values() if task.status not in ALLOCATED_STATUS)
    waiting = sorted(unplaced, key=lambda task: task.key)[:least]
    total = Resource()
    for task in waiting:
        total.add(task.request)
    # A job gets its pods once it is enqueued; until then only this says what it needs.
    if not waiting and job.min_resources is not None:
        total = job.min_resources
    names = [name for name in total.resource_names() if name != "pods" and total.get(name) > 0]
    return amounts(amounts_of({name: total.get(name) for name in names}))


def _less_protected(
    link: EvictionTry, needed: Mapping[str, Amount], cache: SchedulerCache
) -> Iterator[Suggestion]:
    """Yield jobs with a smaller gang, budgets that are gone, and queues that deserve less."""
    by_reason: dict[str, list[str]] = {}
    for stay in sorted(link.stays, key=lambda stay: (-stay.pods, stay.about)):
        by_reason.setdefault(stay.reason, []).append(stay.about)
    for name in by_reason.get(Spares.MIN_MEMBER, ())[:_MOST]:
        group = cache.stores.get("PodGroup", name)
        if isinstance(group, PodGroup) and group.spec.min_member > 1:
            title = title_of(name, group)
            text = f"minMember of {title}: 1 instead of {group.spec.min_member}"
            yield single(VICTIMS, 1, text, SetField(group_name(name), ("spec", "minMember"), 1))
    for name in by_reason.get(Spares.BUDGET, ())[:_MOST]:
        text = f"PodDisruptionBudget {name} is gone"
        yield single(VICTIMS, 2, text, Delete(object_named(f"poddisruptionbudget/{name}")))
    for name in by_reason.get(Spares.WITHIN_DESERVED, ())[:_MOST]:
        queue = cache.stores.get("Queue", name)
        if isinstance(queue, Queue):
            yield from less(
                queue, "deserved", {name: amount.billionths for name, amount in needed.items()}
            )


def _reclaimable(own: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield other queues that hold something and may not be reclaimed, as reclaimable."""
    holding = {job.queue for job in cache.jobs.values() if not job.allocated.is_empty()} - {own}
    closed = [
        name for name in sorted(holding & cache.queues.keys()) if not cache.queues[name].reclaimable
    ]
    for name in closed[:_MOST]:
        change = queue_spec(name, {"reclaimable": True})
        yield single(LIMIT, 0, f"reclaimable: true of queue {name}", change)


def _deserves_more(
    plugin: str, queue: str, needed: Mapping[str, Amount], cache: SchedulerCache
) -> Iterator[Suggestion]:
    """Yield a queue that deserves what it holds and what is needed, with the queues above it.

    :param plugin: that does not let it reclaim.
    """
    if plugin == _PROPORTION:
        yield from heavier(queue, _with_held(queue, needed, cache), cache)
        return
    if plugin != _CAPACITY and not any(
        queue_info.queue.spec.deserved for queue_info in cache.queues.values()
    ):
        return  # Nothing reads the field.
    raised: list[tuple[str, WhatIfChange]] = []
    for name in _path(queue, cache):
        more = _deserved(name, needed, cache)
        if more and (name == queue or cache.queues[name].queue.spec.deserved):
            text = f"deserved of queue {name}: {words(more)}"
            raised.append((text, limit(name, "deserved", more)))
    # The queue alone, and with all above it: a tree where children deserve more is invalid.
    for text, change in raised[:1]:
        yield single(LIMIT, _DESERVED, text, change)
    if len(raised) > 1:
        texts = "; ".join(text for text, _ in raised)
        yield single(LIMIT, _DESERVED + 1, texts, *(change for _, change in raised))


def _path(queue: str, cache: SchedulerCache) -> list[str]:
    """Return a queue and those above it but for the root."""
    path: list[str] = []
    while queue in cache.queues and queue not in {*path, _ROOT}:
        path.append(queue)
        queue = cache.queues[queue].parent
    return path


def _deserved(name: str, needed: Mapping[str, Amount], cache: SchedulerCache) -> dict[str, str]:
    """Return what a queue must deserve; empty if it does, or has no such field and need not."""
    own = amounts(cache.queues[name].queue.spec.deserved)
    with_held = _with_held(name, needed, cache)
    return written(
        {
            resource_name: with_held[resource_name]
            for resource_name in with_held
            if resource_name not in own
            or own[resource_name].billionths < with_held[resource_name].billionths
        }
    )


def _with_held(
    queue: str, needed: Mapping[str, Amount], cache: SchedulerCache
) -> dict[str, Amount]:
    """Return what the jobs of a queue, and of those below it, hold, with what is needed."""
    below = {queue}
    while (
        more := {
            queue_info.name for queue_info in cache.queues.values() if queue_info.parent in below
        }
        - below
    ):
        below |= more
    resource = Resource()
    for key in sorted(cache.jobs):
        if cache.jobs[key].queue in below:
            resource.add(cache.jobs[key].allocated)
    has = amounts(amounts_of({name: resource.get(name) for name in needed}))
    return {name: amount.plus(has[name]) for name, amount in needed.items()}
