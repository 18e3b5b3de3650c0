"""Plugin ``capacity``: what a queue may use, what it deserves, and from which queues it reclaims.

A queue may use up to its real capability. It deserves a part of that, and may reclaim it from
queues that use more than they deserve; a queue's guarantee is never reclaimed.

Source: pkg/scheduler/plugins/capacity/capacity.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from ....model.panic import NIL_POINTER, Panic
from ....model.resource import MIN_RESOURCE, ZERO, Resource
from ....volcano.conf import Arguments
from ....volcano.session.reclaim import CapacityVictims, ReclaimsFor
from ...framework.plugin_registry import PREEMPT, GangEviction
from ...framework.session import Session
from ...framework.session_outcome import StoppedByQueues
from ...framework.trace import NOTHING, PERMIT, PERMITTED, REJECT, REJECTED, Vote
from ...framework.vote_details import PluginRefusal, Spares
from ..shared.enqueue_refusals import DEVICES, QUOTA_INSUFFICIENT, record_refusal
from ..shared.gauge_amounts import gauge_setter, plain
from ..shared.queue_details import ACCOUNT, ALLOCATABLE, JOB_ENQUEUEABLE
from .attrs import QueueAttr, compare_shares
from .capacity_details import TREE, CapacityCheck, follow, keep_opened, tree_fault
from .device_quotas import DeviceQuotas
from .dimensions import fits_partly
from .flat import build_queue_attrs, record_flat_gauges
from .hierarchy import NO_QUEUE, ROOT, Hierarchy, HierarchyError
from .reclaimable_tasks import VICTIMS, Reclaim, of_gangs

OPEN = "Open"
DEVICE_QUOTAS = "capacity.DynamicResourceAllocationEnable"
_CLOSURE = "plugins/capacity.(*capacityPlugin).OnSessionOpen.func"


class Capacity:
    """Limits queues by capability, guarantee and deserved; flat, or as a tree."""

    name: ClassVar[str] = "capacity"

    def __init__(self, arguments: Arguments) -> None:
        """Keep the arguments; the enable flag ``enableHierarchy`` makes a tree of the queues.

        Argument ``ancestorReclaimLevel`` (0), which newer releases read: how many levels above a
        queue are checked too when it reclaims or is reclaimed from; and, if devices count,
        ``capacity.DynamicResourceAllocationEnable`` (true): whether they do.
        """
        self._arguments = arguments
        self._level = 0
        self._attrs: dict[str, QueueAttr] = {}
        self._hierarchical = False
        self._ready = True

    def on_session_open(self, ssn: Session) -> None:
        """Build the queues' accounts and register the functions for queues."""
        self._ssn = ssn
        self._set_gauges = gauge_setter(ssn.behaviours)
        self._behaviours = ssn.behaviours
        self._hierarchical = ssn.behaviours.root_queue and ssn.registry.hierarchy_enabled(self.name)
        if self._hierarchical:
            self._ready = self._open_tree()
            self._add_crash()
            if ssn.behaviours.capacity_victims is CapacityVictims.IN_ORDER_BY_DIMENSION:
                self._level = max(0, self._arguments.get_int("ancestorReclaimLevel", 0))
        else:
            self._open_flat()
        ssn.deserved = {name: attr.deserved for name, attr in self._attrs.items()}
        counts = ssn.behaviours.device_quotas and self._arguments.get_bool(DEVICE_QUOTAS, True)
        self._devices = DeviceQuotas(ssn, self._attrs if counts else {}, tree=self._hierarchical)
        ssn.registry.add_reclaimable(self.name, self._reclaimable)
        ssn.registry.add_unified_evictable(self.name, self._unified_evictable)
        if ssn.behaviours.preemptive_ignores_task:
            ssn.registry.add_preemptive(self.name, self._queue_preemptive)
        else:
            ssn.registry.add_preemptive(self.name, self._preemptive)
        ssn.registry.add_allocatable(self.name, self._allocatable)
        ssn.expect_simulations(self.name)
        ssn.registry.add_job_enqueueable(self.name, self._job_enqueueable)
        ssn.registry.add_event_handler(
            allocate=self._task_allocated, deallocate=self._task_deallocated
        )
        ssn.registry.add_simulation_handler(
            back=self._task_allocated, removed=self._task_deallocated
        )
        # The accounts of an invalid tree are not finished: nothing in it is a share.
        for name in sorted(ssn.trace.closely & self._attrs.keys()) if self._ready else ():
            keep_opened(ssn, self._attrs[name])

    def on_session_close(self, ssn: Session) -> None:
        """Export which queues use more than they deserve, if the release does so at the close."""
        if ssn.behaviours.capacity_reclaims_for is ReclaimsFor.SOME_WITHIN_CAPABILITY:
            for name, attr in self._attrs.items():
                ssn.process.gauges.setdefault(name, {})["overused"] = float(attr.share > 1)
        for name in sorted(ssn.trace.closely & self._attrs.keys()):
            attr = self._attrs[name]
            follow(ssn, attr, CapacityCheck(ACCOUNT, name, Resource(), attr.lineage, attr))

    def _open_flat(self) -> None:
        ssn = self._ssn
        self._attrs, guarantees = build_queue_attrs(ssn)
        record_flat_gauges(ssn, self._attrs, guarantees)
        ssn.registry.add_queue_order(self.name, self._queue_order)

    def _open_tree(self) -> bool:
        """Build the tree; return whether it is valid, and log why not.

        :raises Panic: a queue has no limit, as the check from the root down does not reach it.
        """
        ssn = self._ssn
        tree = Hierarchy(ssn)
        self._attrs = tree.attrs
        try:
            tree.build()
        except HierarchyError as error:
            ssn.errors.append(str(error))
            ssn.stopped = StoppedByQueues(self.name, str(error))
            if ssn.trace.closely:
                ssn.trace.detail(TREE, ROOT, tree_fault(error, tree.complaints))
            return False
        for name in ssn.queues:
            attr = self._attrs[name]
            gauges = ssn.process.gauges.setdefault(name, {})
            gauges["share"] = attr.share
            self._set_gauges(gauges, "deserved", attr.deserved)
            self._set_gauges(gauges, "allocated", attr.allocated)
            self._set_gauges(gauges, "request", attr.request)
            if ssn.behaviours.tree_metrics_show_capability:
                self._set_gauges(gauges, "capacity", attr.capability or Resource())
                if attr.real_capability is None:
                    raise Panic(NIL_POINTER, NO_QUEUE)
                self._set_gauges(gauges, "real_capacity", attr.real_capability)
        ssn.total_guarantee, ssn.total_deserved = tree.total_guarantee, tree.total_deserved
        ssn.registry.add_queue_order(self.name, tree.queue_order)
        ssn.registry.add_victim_queue_order(self.name, tree.victim_queue_order)
        return True

    def _add_crash(self) -> None:
        """Make the preparation for a pod panic, if the accounts cannot be copied.

        Releases that can simulate victims then copy them all, each with its descendants. That fails
        if one has no limit, and does not end if queues form a cycle.
        """
        if not self._ssn.behaviours.topology_aware_preemption:
            return
        if any(attr.real_capability is None for attr in self._attrs.values()):
            self._ssn.registry.add_pre_predicate(self.name, _copy_accounts)
        elif any(map(self._is_below_itself, self._attrs)):
            self._ssn.registry.add_pre_predicate(self.name, _panic_on_copy)

    def _is_below_itself(self, name: str) -> bool:
        above, queues = set[str](), self._ssn.queues
        while name != ROOT and name in self._attrs and name not in above:
            above.add(name)
            name = queues[name].parent or ROOT
        return name in above

    def _queue_order(self, left: str, right: str) -> float:
        """Put higher priority first, then the smaller share."""
        left_attr, right_attr = self._attrs[left], self._attrs[right]
        by_priority = self._behaviours.queue_priority and right_attr.priority - left_attr.priority
        return by_priority or compare_shares(left_attr, right_attr)

    def _reclaimable(self, reclaimer: int, candidates: list[int]) -> tuple[list[int], int]:
        """Return which tasks a task may reclaim: see :mod:`.reclaimable_tasks`.

        :raises Panic: a candidate holds more than its queue.
        """
        if not self._ready:
            self._spare_all(candidates)
            return [], REJECT
        choose = VICTIMS[self._ssn.behaviours.capacity_victims]
        reclaim = Reclaim(self._ssn, self._attrs, reclaimer, candidates, self._level)
        return choose(reclaim), PERMIT

    def _unified_evictable(
        self, eviction: GangEviction, candidates: list[int]
    ) -> tuple[list[int], int]:
        """Return which tasks a gang may reclaim: see :func:`.of_gangs`; to preempt, it may all.

        :raises Panic: a candidate holds more than its queue.
        """
        if eviction.action == PREEMPT:
            return candidates, PERMIT
        if not self._ready:
            self._spare_all(candidates)
            return [], REJECT
        return of_gangs(self._ssn, self._attrs, candidates), PERMIT

    def _spare_all(self, candidates: list[int]) -> None:
        if self._ssn.trace.staying is not None:
            for _ in candidates:
                self._ssn.trace.spare(Spares.UNSOUND, "")

    def _preemptive(self, queue: str, tasks: Sequence[int]) -> Vote:
        """Permit if a queue deserves the sum of the tasks' requests: see :meth:`_may_reclaim`."""
        if not self._ready:
            return _NOT_READY
        if self._ssn.queues[queue].state != OPEN and not self._behaviours.closed_queues_schedule:
            return _NOT_OPEN
        attr = self._attrs[queue]
        request = self._ssn.jobs.sum_requests(tasks)
        permits = self._may_reclaim(attr, request)
        vote = PERMIT if permits else REJECT
        if not permits and self._within_capability() and not attr.takes(request):
            return self._verdict(vote, attr, "realCapability", attr.real_capability, request)
        return self._verdict(vote, attr, "deserved", attr.deserved, request)

    def _queue_preemptive(self, queue: str, _: Sequence[int]) -> Vote:
        """Permit if the queue does not hold all that it deserves."""
        attr = self._attrs[queue]
        has_all = attr.deserved.less_equal(attr.allocated, ZERO)
        self._ssn.process.gauges.setdefault(queue, {})["overused"] = float(has_all)
        vote = REJECT if has_all else PERMIT
        return self._verdict(vote, attr, "deserved", attr.deserved, Resource())

    def _may_reclaim(self, attr: QueueAttr, request: Resource) -> bool:
        """Return whether allocated + request ≤ deserved, in all or in some of what is requested.

        Newer releases require only some of them, and also permit what nearby ancestors deserve,
        if that does not exceed the queue's real capability.
        """
        how = self._ssn.behaviours.capacity_reclaims_for
        if self._within_capability() and not attr.takes(request):
            return False
        if how is ReclaimsFor.ALL:
            # All that is requested must fit, though the note in `AddPreemptiveFn` speaks of one
            # resource; newer releases do as it says.
            permits = attr.deserves(request)
        else:
            permits = fits_partly(attr.allocated.clone().add(request), attr.deserved, request)
        if how is not ReclaimsFor.SOME_WITHIN_CAPABILITY:
            self._ssn.process.gauges.setdefault(attr.name, {})["overused"] = float(not permits)
        return permits or any(
            fits_partly(ancestor.allocated.clone().add(request), ancestor.deserved, request)
            for ancestor in attr.ancestors[max(len(attr.ancestors) - self._level, 0) :]
            if self._level and ancestor.name != ROOT
        )

    def _within_capability(self) -> bool:
        """Return whether what is reclaimed must also be within the real capability."""
        how = self._ssn.behaviours.capacity_reclaims_for
        return how is ReclaimsFor.SOME_WITHIN_CAPABILITY

    def _allocatable(self, queue: str, task: int) -> Vote:
        """Permit if the queue and its ancestors have room for the task: see ``QueueAttr.takes``.

        While evictions are simulated, it is not checked whether the queue is open.
        """
        ignores_state = self._behaviours.closed_queues_schedule or self._ssn.registry.simulating
        if self._ssn.queues[queue].state != OPEN and not ignores_state:
            return _NOT_OPEN
        if not self._ready:
            return _NOT_READY
        attr = self._attrs[queue]
        if self._hierarchical and attr.children:
            return _NOT_LEAF
        info = self._ssn.tasks.info[task]
        if info.devices and (full := self._devices.full(attr, info.devices)) is not None:
            return _no_devices(full)
        request = info.request
        # From the leaf up (`checkQueueAllocatableHierarchically`): the first that is full is named.
        full = next(
            (queue_attr for queue_attr in attr.lineage if not queue_attr.takes(request)), None
        )
        if self._ssn.trace.on:
            name, group = self._ssn.task_name(task), self._ssn.jobs.keys[self._ssn.tasks.job[task]]
            follow(
                self._ssn,
                attr,
                CapacityCheck(ALLOCATABLE, name, request, attr.lineage, full),
                group,
            )
        if full is not None:
            return self._verdict(REJECT, full, "realCapability", full.real_capability, request)
        return self._verdict(PERMIT, attr, "realCapability", attr.real_capability, request)

    def _job_enqueueable(self, job: int) -> Vote:
        """Permit if the queue and its ancestors have room for the job's minResources.

        It is reserved in all of them or, if one has none, in none.
        """
        if not self._ready:
            return _NOT_READY
        ssn = self._ssn
        queue = ssn.jobs.queue[job]
        attr = self._attrs[queue]
        if self._hierarchical and attr.children:
            return _NOT_LEAF
        if ssn.queues[queue].state != OPEN and not self._behaviours.closed_queues_schedule:
            return _NOT_OPEN
        if attr.real_capability is None or ssn.jobs.info[job].min_resources is None:
            return PERMITTED
        wanted, devices = ssn.jobs.min_resources(job), self._devices.minimum(job)
        key = ssn.jobs.keys[job]
        accounts = attr.lineage if ssn.behaviours.enqueue_checks_ancestors else (attr,)
        for account in accounts:
            if not account.enqueues(wanted):
                record_refusal(ssn, job, QUOTA_INSUFFICIENT, account.short_of(wanted))
                follow(ssn, attr, CapacityCheck(JOB_ENQUEUEABLE, key, wanted, accounts, account))
                return self._verdict(
                    REJECT, account, "realCapability", account.real_capability, wanted
                )
            if not self._devices.enqueues(account, devices):
                record_refusal(ssn, job, QUOTA_INSUFFICIENT, [DEVICES])
                return _no_devices(account)
        follow(ssn, attr, CapacityCheck(JOB_ENQUEUEABLE, key, wanted, accounts))
        verdict = self._verdict(PERMIT, attr, "realCapability", attr.real_capability, wanted)
        reserved = ssn.jobs.deduct_sch_gated_resources(job, wanted)
        for account in accounts:
            account.inqueue.add(reserved)
        self._devices.reserve(attr, devices)
        if not ssn.behaviours.reservation_kept_after_refusal:
            ssn.reserved.setdefault(job, []).extend(
                partial(account.inqueue.sub_unchecked, reserved) for account in accounts
            )
            ssn.reserved[job].append(partial(self._devices.give_back, attr, devices))
        return verdict

    def _task_allocated(self, task: int, node: int) -> None:
        """Add the task to its queue and its ancestors; only the queue's share is updated."""
        attr = self._account(task, "5")
        if attr is None:
            return
        info = self._ssn.tasks.info[task]
        for account in attr.lineage:
            account.allocated.add(info.request)
        if info.devices:
            self._devices.hold(attr, info.devices)
        self._record(attr)

    def _task_deallocated(self, task: int, node: int) -> None:
        """Remove the task from its queue and its ancestors.

        :raises Panic: they hold less.
        """
        attr = self._account(task, "6")
        if attr is None:
            return
        info = self._ssn.tasks.info[task]
        try:
            for account in attr.lineage:
                self._ssn.subtract(account.allocated, info.request)
                assert not account.allocated.cpu <= -MIN_RESOURCE, "no more goes than is there"
        except Panic as panic:
            raise panic.through(f"{_CLOSURE}6") from None
        if info.devices:
            self._devices.release(attr, info.devices)
        self._record(attr)

    def _account(self, task: int, closure: str) -> QueueAttr | None:
        """Return the account of a task's queue; an incomplete tree may lack it.

        :raises Panic: it lacks it, and the release reads it all the same.
        """
        attr = self._attrs.get(self._ssn.jobs.queue[self._ssn.tasks.job[task]])
        if attr is None and not self._ssn.behaviours.unbuilt_queues_skipped:
            raise Panic(
                NIL_POINTER,
                (f"{_CLOSURE}{closure}",),
            )
        return attr

    def _record(self, attr: QueueAttr) -> None:
        """Work out a queue's share, and set its gauges; the original simulates without them."""
        attr.update_share()
        if self._ssn.registry.simulating:
            return
        gauges = self._ssn.process.gauges.setdefault(attr.name, {})
        self._set_gauges(gauges, "allocated", attr.allocated)
        gauges["share"] = attr.share

    def _verdict(
        self, vote: int, attr: QueueAttr, limit_name: str, limit: Resource | None, request: Resource
    ) -> Vote:
        if not self._ssn.trace.on:
            return PERMITTED if vote == PERMIT else REJECTED
        numbers = {
            "queue": attr.name,
            limit_name: NOTHING if limit is None else plain(limit),
            "allocated": plain(attr.allocated),
            "inqueue": plain(attr.inqueue),
            "elastic": plain(attr.elastic),
            "requested": plain(request),
        }
        return Vote(vote, "", numbers)


def _no_devices(attr: QueueAttr) -> Vote:
    return Vote(REJECT, f"queue {attr.name} may not use so many devices of a class")


_NOT_READY = Vote(REJECT, refused=PluginRefusal.UNSOUND)
_NOT_OPEN = Vote(REJECT, refused=PluginRefusal.NOT_OPEN)
_NOT_LEAF = Vote(REJECT, refused=PluginRefusal.NOT_LEAF)


def _copy_accounts(_: int) -> str | None:
    """Panic, as copying an account without a limit does."""
    raise Panic(
        NIL_POINTER,
        (
            "api.(*Resource).Clone",
            "plugins/capacity.(*queueAttr).Clone",
            "plugins/capacity.(*capacityPlugin).OnSessionOpen.func5",
            "framework.(*Session).PrePredicateFn",
        ),
    )


def _panic_on_copy(_: int) -> str | None:
    """Panic, as copying an account does that is its own descendant."""
    clone = "plugins/capacity.(*queueAttr).Clone"
    raise Panic(
        "stack overflow",
        (clone, clone, "framework.(*Session).PrePredicateFn"),
        fatal=True,
    )
