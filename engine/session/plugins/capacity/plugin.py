"""Plugin ``capacity``: what a queue may use, what it deserves, and who must give back.

A queue may use up to its real capability. It deserves a part of that, and may reclaim it from
queues that use more than they deserve; what a queue is guaranteed is never taken from it.

Source: pkg/scheduler/plugins/capacity/capacity.go.
"""

from __future__ import annotations

from typing import ClassVar

from ....belief.panic import Panic
from ....belief.resource import INFINITY, ZERO, Resource
from ....volcano.conf import Arguments
from ...session import Session
from ...trace import NOTHING, PERMIT, PERMITTED, REJECT, REJECTED, Verdict
from ..amounts import gauge_setter, plain
from .attrs import QueueAttr
from .flat import build_queue_attrs, record_flat_gauges
from .hierarchy import Hierarchy, HierarchyError

OPEN = "Open"
UNSCHEDULABLE = "Unschedulable"
QUOTA_INSUFFICIENT = "queue resource quota insufficient"
_CLOSURE = "plugins/capacity.(*capacityPlugin).OnSessionOpen.func"


class Capacity:
    """Bounds queues by capability, guarantee and what they deserve; flat, or as a tree."""

    name: ClassVar[str] = "capacity"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments; the enable flag ``enableHierarchy`` makes a tree of the queues."""
        self._attrs: dict[str, QueueAttr] = {}
        self._hierarchical = False
        self._ready = True

    def on_session_open(self, ssn: Session) -> None:
        """Build the queues' accounts and register on all that concerns queues."""
        self._ssn = ssn
        self._set_gauges = gauge_setter(ssn.behaviours)
        self._closed_queues_schedule = ssn.behaviours.closed_queues_schedule
        self._hierarchical = hierarchy_enabled(ssn)
        if self._hierarchical:
            self._ready = self._open_tree()
        else:
            self._open_flat()
        ssn.add_reclaimable(self.name, self._reclaimable)
        ssn.add_preemptive(self.name, self._preemptive)
        ssn.add_allocatable(self.name, self._allocatable)
        ssn.add_job_enqueueable(self.name, self._job_enqueueable)
        ssn.add_event_handler(allocate=self._task_allocated, deallocate=self._task_deallocated)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _open_flat(self) -> None:
        ssn = self._ssn
        self._attrs, guarantees = build_queue_attrs(ssn)
        record_flat_gauges(ssn, self._attrs, guarantees)
        ssn.add_queue_order(self.name, self._queue_order)

    def _open_tree(self) -> bool:
        """Build the tree; return whether it is sound, and log why not."""
        ssn = self._ssn
        tree = Hierarchy(ssn)
        self._attrs = tree.attrs
        try:
            tree.build()
        except HierarchyError as error:
            ssn.errors.append(str(error))
            return False
        for name, attr in self._attrs.items():
            gauges = ssn.gauges.setdefault(name, {})
            gauges["share"] = attr.share
            self._set_gauges(gauges, "deserved", attr.deserved)
            self._set_gauges(gauges, "allocated", attr.allocated)
            self._set_gauges(gauges, "request", attr.request)
        ssn.total_guarantee = tree.total_guarantee
        ssn.add_queue_order(self.name, tree.queue_order)
        ssn.add_victim_queue_order(self.name, tree.victim_queue_order)
        return True

    def _queue_order(self, left: str, right: str) -> float:
        """Put higher priority first, then the smaller share."""
        one, other = self._attrs[left], self._attrs[right]
        if one.priority != other.priority:
            return other.priority - one.priority
        return (one.share > other.share) - (one.share < other.share)

    def _reclaimable(self, reclaimer: int, candidates: list[int]) -> tuple[list[int], int]:
        """Return whose queue uses more than it deserves and keeps its guarantee without them.

        A candidate is passed over if allocated ≤ deserved (scalars that one of the two lacks count
        as infinite) or guarantee > allocated − request; each victim lessens allocated.

        :raises Panic: a candidate holds more than its queue.
        """
        victims: list[int] = []
        if not self._ready:
            return victims, REJECT
        tasks, queues = self._ssn.tasks, self._ssn.jobs.queue
        allocations: dict[str, Resource] = {}
        spared = self._ssn.behaviours.reclaim_spares_small_queues
        for candidate in candidates:
            queue = queues[tasks.job[candidate]]
            attr = self._attrs[queue]
            if queue not in allocations:
                allocations[queue] = attr.allocated.clone()
            allocated = allocations[queue]
            if spared and allocated.less_partly(tasks.info[reclaimer].request, ZERO):
                continue
            rest = allocated.clone().sub(tasks.info[candidate].request)
            if allocated.less_equal(attr.deserved, INFINITY):
                continue
            if not attr.guarantee.less_equal(rest, ZERO):
                continue
            allocations[queue] = rest
            victims.append(candidate)
        return victims, PERMIT

    def _preemptive(self, queue: str, task: int) -> Verdict:
        """Permit if allocated + request ≤ deserved, in what the task requests."""
        if not self._ready:
            return _NOT_READY
        if self._ssn.queues[queue].state != OPEN and not self._closed_queues_schedule:
            return _NOT_OPEN
        attr = self._attrs[queue]
        request = self._ssn.tasks.info[task].request
        deserves = attr.deserves(request)
        self._ssn.gauges.setdefault(queue, {})["overused"] = float(not deserves)
        return self._verdict(
            PERMIT if deserves else REJECT, attr, "deserved", attr.deserved, request
        )

    def _allocatable(self, queue: str, task: int) -> Verdict:
        """Permit if the queue, and all above it, can take the task: see ``QueueAttr.takes``."""
        if self._ssn.queues[queue].state != OPEN and not self._closed_queues_schedule:
            return _NOT_OPEN
        if not self._ready:
            return _NOT_READY
        attr = self._attrs[queue]
        if self._hierarchical and attr.children:
            return _NOT_LEAF
        request = self._ssn.tasks.info[task].request
        for account in attr.lineage:
            if not account.takes(request):
                return self._verdict(
                    REJECT, account, "realCapability", account.real_capability, request
                )
        return self._verdict(PERMIT, attr, "realCapability", attr.real_capability, request)

    def _job_enqueueable(self, job: int) -> Verdict:
        """Permit if the queue, and all above it, have room for the job's minResources."""
        if not self._ready:
            return _NOT_READY
        ssn = self._ssn
        queue = ssn.jobs.queue[job]
        attr = self._attrs[queue]
        if self._hierarchical and attr.children:
            return _NOT_LEAF
        if ssn.queues[queue].state != OPEN and not self._closed_queues_schedule:
            return _NOT_OPEN
        if attr.real_capability is None or ssn.jobs.info[job].min_resources is None:
            return PERMITTED
        wanted = ssn.jobs.min_resources(job)
        accounts = attr.lineage if ssn.behaviours.enqueue_asks_ancestors else (attr,)
        for account in accounts:
            if not account.enqueues(wanted):
                ssn.record_event(job, UNSCHEDULABLE, QUOTA_INSUFFICIENT)
                return self._verdict(
                    REJECT, account, "realCapability", account.real_capability, wanted
                )
        reserved = ssn.jobs.deduct_sch_gated_resources(job, wanted)
        for account in accounts:
            account.inqueue.add(reserved)
        return self._verdict(PERMIT, attr, "realCapability", attr.real_capability, wanted)

    def _task_allocated(self, task: int, node: int) -> None:
        """Add the task to its queue and to all above; only the queue's own share moves."""
        attr = self._account(task, "5")
        request = self._ssn.tasks.info[task].request
        for account in attr.lineage:
            account.allocated.add(request)
        self._record(attr)

    def _task_deallocated(self, task: int, node: int) -> None:
        """Take the task from its queue and from all above.

        :raises Panic: they hold less.
        """
        attr = self._account(task, "6")
        request = self._ssn.tasks.info[task].request
        try:
            for account in attr.lineage:
                account.allocated.sub(request)
        except Panic as panic:
            raise panic.through(f"{_CLOSURE}6") from None
        self._record(attr)

    def _account(self, task: int, closure: str) -> QueueAttr:
        """Return the account of a task's queue; a tree that was not finished may lack it."""
        attr = self._attrs.get(self._ssn.jobs.queue[self._ssn.tasks.job[task]])
        if attr is None:
            raise Panic(
                "runtime error: invalid memory address or nil pointer dereference",
                (f"{_CLOSURE}{closure}",),
            )
        return attr

    def _record(self, attr: QueueAttr) -> None:
        gauges = self._ssn.gauges.setdefault(attr.name, {})
        self._set_gauges(gauges, "allocated", attr.allocated)
        attr.update_share()
        gauges["share"] = attr.share

    def _verdict(
        self, vote: int, attr: QueueAttr, what: str, limit: Resource | None, request: Resource
    ) -> Verdict:
        if not self._ssn.trace.on:
            return PERMITTED if vote == PERMIT else REJECTED
        numbers = {
            "queue": attr.name,
            what: NOTHING if limit is None else plain(limit),
            "allocated": plain(attr.allocated),
            "inqueue": plain(attr.inqueue),
            "elastic": plain(attr.elastic),
            "requested": plain(request),
        }
        return Verdict(vote, "", numbers)


_NOT_READY = Verdict(REJECT, "the tree of queues is not sound")
_NOT_OPEN = Verdict(REJECT, "the queue is not Open")
_NOT_LEAF = Verdict(REJECT, "the queue has queues below it")


def hierarchy_enabled(ssn: Session) -> bool:
    """Return the flag ``enableHierarchy`` where the configuration names the plugin first.

    Source: capacity.go HierarchyEnabled.
    """
    for tier in ssn.tiers:
        for option in tier:
            if option.name == Capacity.name:
                return option.enabled_hierarchy
    return False
