"""Changes with which a ResourceQuota leaves room for a job that waits to be enqueued."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import ResourceQuota
from ...engine.kubernetes.quantity_lists import Amounts, add, amounts, written
from ...engine.model.job import JobInfo
from ..answers.amounts import amounts_of
from ..answers.records import Link, Refusal
from ..objects.kind_names import ObjectName
from .cluster_changes import SetField
from .holders import MOST_GONE, holding, without
from .suggestion import LIMIT, Suggestion, instead_of, single

PLUGIN = "resourcequota"


def of_quotas(chain: Iterable[Link], podgroup: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield quotas with more room: a higher limit, or a job less in the namespace.

    The plugin compares the status of quotas with the minResources of the PodGroup.
    """
    job = cache.jobs.get(podgroup)
    refused = any(isinstance(link, Refusal) and link.plugin == PLUGIN for link in chain)
    if job is None or job.pod_group is None or not refused:
        return
    wanted = amounts(job.pod_group.spec.min_resources)
    for _, quota in sorted(cache.stores.of("ResourceQuota").items()):
        if isinstance(quota, ResourceQuota) and quota.namespace == job.namespace:
            hard, used = amounts(quota.status.hard), amounts(quota.status.used)
            needed = {
                name: amount.plus(used.get(name, amount.times(0)))
                for name, amount in wanted.items()
            }
            over = {
                name: amount
                for name, amount in needed.items()
                if name in hard and amount.billionths > hard[name].billionths
            }
            if over:
                yield _higher(quota, over)
                yield from _less(quota, over, job, cache)


def _higher(quota: ResourceQuota, needed: Amounts) -> Suggestion:
    amount = written(needed)
    before = {name: str(quota.status.hard[name]) for name in amount}
    text = f"hard of ResourceQuota {quota.name}: {instead_of(amount, before)}"
    # The plugin reads the status, and here no controller copies the spec into it.
    fields = (("spec", "hard"), ("status", "hard"))
    named = _named(quota)
    return single(LIMIT, 0, text, *(SetField(named, field, amount) for field in fields))


def _less(
    quota: ResourceQuota, needed: Amounts, own: JobInfo, cache: SchedulerCache
) -> Iterator[Suggestion]:
    """Yield each job of the namespace as gone that uses as much of a quota as is lacking."""
    hard, used = amounts(quota.status.hard), amounts(quota.status.used)
    candidates = []
    for key, job in sorted(cache.jobs.items()):
        if job.namespace != quota.namespace or job is own or job.pod_group is None:
            continue
        used_by_job: Amounts = {}
        for task in holding(job):
            add(used_by_job, amounts(amounts_of({name: task.request.get(name) for name in needed})))
        if used_by_job and all(
            used_by_job[name].billionths >= amount.billionths - hard[name].billionths
            for name, amount in needed.items()
        ):
            rest = {
                name: used[name]._replace(
                    # The status may lag behind the pods, and then names less than they request.
                    billionths=max(0, used[name].billionths - amount.billionths)
                )
                for name, amount in used_by_job.items()
                if name in used
            }
            candidates.append(
                (sum(amount.billionths for amount in used_by_job.values()), key, written(rest))
            )
    for rank, (_, key, left) in enumerate(sorted(candidates)[:MOST_GONE]):
        change = SetField(_named(quota), ("status", "used"), left)
        yield without(key, cache, rank, change)


def _named(quota: ResourceQuota) -> ObjectName:
    return ObjectName("", "ResourceQuota", quota.name, quota.namespace)
