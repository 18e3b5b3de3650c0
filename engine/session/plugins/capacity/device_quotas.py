"""Quotas of queues for device classes, and their use, as numbers of devices.

Only a capability limits; capacities within devices need a feature gate that is off.

Source: pkg/scheduler/plugins/capacity/capacity.go newDRAQuotaAttr, checkDRAAllocatable,
incrementalTaskDRA, addTaskDRAAllocated, removeTaskDRAAllocated, getDRADelta;
pkg/scheduler/api/job_info.go GetMinDRAResources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ....kubernetes.go.int64 import WRAPPING, Counting, counting, wrap
from ....kubernetes.objects import ResourceList
from ....kubernetes.quantity import parse
from ....model.device_claims import TaskDeviceClaim
from ....model.queue import QueueInfo
from ....model.session_tables import IS_ALLOCATED
from ...framework.queue_devices import PREFIX
from ...framework.session import Session
from .attrs import QueueAttr

_WITHIN = f".{PREFIX}"

Demand = Mapping[str, int]
"""Numbers of devices by class."""


def _limits(queue: QueueInfo) -> Demand | None:
    """Return the numbers that a capability allows; None if the queue names no class at all."""
    spec = queue.queue.spec
    named = [_classes(each) for each in (spec.capability, spec.deserved, spec.guarantee.resource)]
    return named[0] if any(named) else None


def _classes(resources: ResourceList) -> dict[str, int]:
    """Return numbers of devices by class; 0, which is no limit, if only their capacity is given."""
    counts: dict[str, int] = {}
    for name, quantity in resources.items():
        at = name.find(_WITHIN)
        if at > 0:
            of = name[at + len(_WITHIN) :]
            if of:
                counts.setdefault(of, 0)
        elif name.startswith(PREFIX) and name != PREFIX:
            counts[name.removeprefix(PREFIX)] = parse(quantity).value()
    return counts


class DeviceAccount:
    """One queue's limits by class, what it holds, and what enqueued jobs reserve.

    ``holders`` are, by claim, the tasks of the queue that hold it: it counts once.
    """

    __slots__ = ("_counting", "allocated", "holders", "inqueue", "limits")

    def __init__(self, limits: Demand, counting: Counting) -> None:
        self.limits = limits
        self.allocated: dict[str, int] = {}
        self.inqueue: dict[str, int] = {}
        self.holders: dict[str, int] = {}
        self._counting = counting

    def takes(self, demand: Demand, *, reserved: bool) -> bool:
        """Return whether allocated + demand ≤ limit, in classes that have one.

        :param reserved: what enqueued jobs reserve counts too.
        """
        add = self._counting.add
        for name, count in demand.items():
            limit = self.limits.get(name, 0)
            waiting = self.inqueue.get(name, 0) if reserved else 0
            if 0 < limit < add(add(self.allocated.get(name, 0), waiting), count):
                return False
        return True

    def lacking(self, claims: Iterable[TaskDeviceClaim]) -> Demand:
        """Return the requests of claims that no task of the queue holds yet."""
        demand: dict[str, int] = {}
        for claim in claims:
            if claim.key not in self.holders:
                self._counting.merge(demand, claim.counts)
        return demand

    def reserve(self, demand: Demand) -> None:
        """Reserve devices for a job that was enqueued."""
        self._counting.merge(self.inqueue, demand.items())

    def add(self, demand: Demand) -> None:
        """Add to what the queue holds."""
        self._counting.merge(self.allocated, demand.items())

    def hold(self, claims: Iterable[TaskDeviceClaim]) -> None:
        """Count a task's claims, each with its first holder."""
        for claim in claims:
            holders = self.holders.get(claim.key, 0)
            if not holders:
                self._counting.merge(self.allocated, claim.counts)
            self.holders[claim.key] = holders + 1

    def release(self, claims: Iterable[TaskDeviceClaim]) -> None:
        """Remove a task's claims, each with its last known holder; counts do not fall below 0."""
        for claim in claims:
            holders = self.holders.pop(claim.key, 0)
            if holders > 1:
                self.holders[claim.key] = holders - 1
                continue
            for name, count in claim.counts:
                if name in self.allocated:
                    self.allocated[name] = max(0, wrap(self.allocated[name] - count))


class DeviceQuotas:
    """The accounts of a session's queues; a queue without classes has none, and is skipped.

    :param attrs: the queues' accounts of other resources, with their ancestors.
    :param tree: whether what queues hold counts in their ancestors.
    """

    def __init__(self, ssn: Session, attrs: Mapping[str, QueueAttr], *, tree: bool) -> None:
        self._ssn = ssn
        self._counting = counting(saturates=ssn.behaviours.device_counts_saturate)
        self._accounts = {
            name: DeviceAccount(limits, self._counting)
            for name in attrs
            if (limits := _limits(ssn.queues[name])) is not None
        }
        if self._accounts:
            self._add_jobs(attrs, tree=tree)

    def _add_jobs(self, attrs: Mapping[str, QueueAttr], *, tree: bool) -> None:
        """Count what tasks hold as the session opens.

        In a tree the queues above count what is in their own capability, each job's part, but not
        whose it is.
        """
        tasks, jobs = self._ssn.tasks, self._ssn.jobs
        for job, queue in enumerate(jobs.queue):
            attr, own = attrs.get(queue), self._accounts.get(queue)
            if attr is None or own is None:
                continue
            before = dict(own.allocated)
            for task in jobs.tasks[job]:
                if IS_ALLOCATED[tasks.status.item(task)]:
                    own.hold(tasks.info[task].devices)
            more = {
                name: count - before.get(name, 0) for name, count in own.allocated.items() if tree
            }
            for account in self._of(attr.lineage[1:]):
                account.add({name: more[name] for name in more if name in account.limits})

    def full(self, attr: QueueAttr, claims: Iterable[TaskDeviceClaim]) -> QueueAttr | None:
        """Return the queue, of this one and its ancestors, whose limit a task's claims exceed."""
        for each in attr.lineage:
            account = self._accounts.get(each.name)
            if account is not None and not account.takes(account.lacking(claims), reserved=False):
                return each
        return None

    def enqueues(self, attr: QueueAttr, demand: Demand) -> bool:
        """Return whether a queue has room for a job's minimum."""
        account = self._accounts.get(attr.name)
        return account is None or account.takes(demand, reserved=True)

    def reserve(self, attr: QueueAttr, demand: Demand) -> None:
        """Reserve devices in a queue and its ancestors; in none if the queue names no class."""
        if attr.name in self._accounts:
            for account in self._of(attr.lineage):
                account.reserve(demand)

    def give_back(self, attr: QueueAttr, demand: Demand) -> None:
        """Take back what :meth:`reserve` reserved."""
        if attr.name in self._accounts:
            for account in self._of(attr.lineage):
                account.reserve({name: -count for name, count in demand.items()})

    def hold(self, attr: QueueAttr, claims: Iterable[TaskDeviceClaim]) -> None:
        """Count a placed task, in its queue and its ancestors."""
        for account in self._of(attr.lineage):
            account.hold(claims)

    def release(self, attr: QueueAttr, claims: Iterable[TaskDeviceClaim]) -> None:
        """Remove a task that was evicted, or whose placement was undone."""
        for account in self._of(attr.lineage):
            account.release(claims)

    def minimum(self, job: int) -> Demand:
        """Return a job's minimum of devices.

        These are the requests of its first ``minMember`` pods by name, in any
        status; or, if roles have minima, those of as many pods of each role. A
        claim that pods share counts for each.
        """
        if not self._accounts:
            return {}
        jobs, info = self._ssn.jobs, self._ssn.tasks.info
        claiming = [task for task in jobs.tasks[job] if info[task].devices]
        demand: dict[str, int] = {}
        minima = jobs.info[job].task_min_available
        if not minima:
            claiming.sort(key=lambda task: (info[task].namespace, info[task].name, info[task].uid))
            for task in claiming[: max(0, jobs.min_available[job])]:
                self._add(demand, info[task].devices, 1)
            return demand
        seen: set[str] = set()
        for task in claiming:
            role = info[task].role
            if minima.get(role, 0) > 0 and role not in seen:
                seen.add(role)
                self._add(demand, info[task].devices, minima[role])
        return demand

    def _add(self, demand: dict[str, int], claims: Iterable[TaskDeviceClaim], times: int) -> None:
        of_task: dict[str, int] = {}
        for claim in claims:
            WRAPPING.merge(of_task, claim.counts)
        for name, count in of_task.items():
            product = self._counting.multiply(count, times)
            demand[name] = self._counting.add(demand.get(name, 0), product)

    def _of(self, lineage: Sequence[QueueAttr]) -> Iterable[DeviceAccount]:
        return [self._accounts[each.name] for each in lineage if each.name in self._accounts]
