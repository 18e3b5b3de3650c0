"""Plugin ``proportion``: the cluster is divided between queues by weight, up to their requests.

    deserved += remaining × weight / (weights of all that are not met)
    deserved = max(min(deserved, real capability, request), guarantee)    until nothing remains
    share = max over r in deserved of allocated[r] / deserved[r]

Source: pkg/scheduler/plugins/proportion/proportion.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from sys import float_info
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...model.panic import Panic
from ...model.queue import QueueInfo
from ...model.resource import INFINITY, MIN_RESOURCE, ZERO, Resource, maximum, minimum
from ...model.session_tables import Rows
from ...volcano.conf import Arguments
from ..framework import map_orders
from ..framework.session import Session
from ..framework.trace import NOTHING, PERMIT, PERMITTED, REJECT, REJECTED, Vote
from ..framework.vote_details import (
    DeservedStep,
    DivisionRound,
    LimitBasis,
    PluginRefusal,
    QueueCheck,
    QueueDivision,
    ShareStep,
    Spares,
)
from .shared.enqueue_refusals import QUOTA_INSUFFICIENT, record_refusal
from .shared.gauge_amounts import (
    ENOUGH,
    FITS,
    SetGauges,
    gauge_setter,
    plain,
    set_gauges,
    unguaranteed,
)
from .shared.queue_demand import QueueDemand, queue_demands
from .shared.queue_details import (
    ACCOUNT,
    ALLOCATABLE,
    DESERVED,
    DIVISION,
    JOB_ENQUEUEABLE,
    OVERUSED,
    REAL_CAPABILITY,
    CheckedDemand,
    holdings,
    opened,
    opened_account,
    queue_level,
)

OPEN = "Open"
NOT_OPEN = Vote(REJECT, refused=PluginRefusal.NOT_OPEN)


_OPENING = ("plugins/proportion.(*proportionPlugin).OnSessionOpen", "framework.OpenSession")


class ProportionAttr:
    """A queue's account in one session."""

    __slots__ = (
        *("allocated", "basis", "deserved", "elastic", "gauges", "guarantee", "inqueue", "limits"),
        *("priority", "real_capability", "request", "rounds", "set_gauges", "share", "weight"),
    )

    def __init__(
        self,
        queue: QueueInfo,
        demand: QueueDemand,
        real_capability: Resource,
        gauges: dict[str, float],
        set_gauges: SetGauges = set_gauges,
    ) -> None:
        self.weight = queue.weight
        self.priority = queue.priority
        self.allocated, self.request, self.elastic, self.inqueue = demand
        self.real_capability = real_capability
        self.guarantee = queue.guarantee
        self.deserved = Resource()
        self.limits: list[tuple[str, float]] = []
        """The resources of which the queue deserves something, and how much."""
        self.share = 0.0
        self.gauges = gauges
        self.set_gauges = set_gauges
        self.basis: LimitBasis | None = None
        self.rounds: list[DivisionRound] | None = None
        """Kept if the trace follows the queue."""

    def settle(self) -> None:
        """Note what the queue deserves after the division, and its share of that."""
        deserved = self.deserved
        self.limits = [(name, deserved.get(name)) for name in deserved.resource_names()]
        self.set_gauges(self.gauges, "deserved", deserved)
        self.update_share()

    def update_share(self) -> None:
        """Compute the share of what is deserved that is allocated."""
        allocated = self.allocated
        share = 0.0
        for name, limit in self.limits:
            share = max(share, allocated.get(name) / limit)
        self.share = self.gauges["share"] = share


class Proportion:
    """Limits queues to what they deserve, and lets them reclaim it."""

    name: ClassVar[str] = "proportion"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments."""
        self._attrs: dict[str, ProportionAttr] = {}

    def on_session_open(self, ssn: Session) -> None:
        """Open the accounts of queues that have jobs, divide the cluster, and register."""
        self._ssn = ssn
        self._behaviours = ssn.behaviours
        self._fits = FITS[ssn.behaviours.compared_resources]
        try:
            self._open_accounts(ssn)
            attrs = list(self._attrs.values())
            walk = ssn.map_order(map_orders.DESERVED, len(attrs), lambda: list(self._attrs))
            remaining = divide(
                [attrs[place] for place in walk.tolist()],
                ssn.total,
                zeros=ssn.behaviours.deserved_keeps_zero_scalars,
                crashes=ssn.behaviours.guarantees_above_remaining_crash,
            )
        except Panic as panic:
            raise panic.through(*_OPENING) from None
        ssn.deserved = {name: attr.deserved for name, attr in self._attrs.items()}
        ssn.registry.add_queue_order(self.name, self._queue_order)
        ssn.registry.add_reclaimable(self.name, self._reclaimable, may=self._may_reclaim)
        ssn.registry.add_overused(self.name, self._overused)
        ssn.registry.add_allocatable(self.name, self._allocatable)
        ssn.expect_simulations(self.name)
        if not ssn.behaviours.reclaim_checks_allocatable:
            # The change that made reclaim ask this alone also made the plugin answer it.
            ssn.registry.add_preemptive(self.name, self._preemptive)
        ssn.registry.add_job_enqueueable(self.name, self._enqueueable)
        ssn.registry.add_event_handler(allocate=self._on_allocate, deallocate=self._on_deallocate)
        ssn.registry.add_simulation_handler(back=self._on_allocate, removed=self._on_deallocate)
        if ssn.trace.closely:
            self._keep_shares(remaining)

    def _keep_shares(self, remaining: Sequence[Resource]) -> None:
        """Keep how the cluster was divided, and the accounts of queues that the trace follows."""
        trace, left = self._ssn.trace, tuple(map(plain, remaining))
        trace.detail(DIVISION, self.name, QueueDivision(plain(self._ssn.total), left))
        for name in sorted(trace.closely & self._attrs.keys()):
            attr = self._attrs[name]
            account = opened_account(self.name, name, attr, attr.real_capability, attr.basis)
            rounds = tuple(attr.rounds or ())
            trace.detail(opened(self.name), name, msgspec.structs.replace(account, rounds=rounds))

    def on_session_close(self, ssn: Session) -> None:
        """Keep the accounts of queues that the trace follows."""
        for name in sorted(ssn.trace.closely & self._attrs.keys()):
            self._detail(ACCOUNT, name, name, Resource(), permits=False)

    def _open_accounts(self, ssn: Session) -> None:
        guaranteed = Resource()
        for queue in ssn.queues.values():
            guaranteed.add(queue.guarantee)
        demands = queue_demands(ssn)
        set_gauges = gauge_setter(ssn.behaviours)
        for name, queue in ssn.queues.items():
            gauges = ssn.process.gauges.setdefault(name, {})
            demand = demands.get(name)
            if demand is not None:
                # Built again for each queue, because `real_capability` adds the queue's guarantee
                # in place.
                left = unguaranteed(
                    ssn.total, guaranteed, crashes=ssn.behaviours.excess_guarantees_crash
                )
                endless = ssn.behaviours.unnamed_capability_unlimited
                limit = real_capability(queue, left, unnamed_endless=endless)
                attr = self._attrs[name] = ProportionAttr(queue, demand, limit, gauges, set_gauges)
                gauges["weight"] = float(queue.weight)
                if ssn.trace.follows(name):
                    attr.rounds, attr.basis = [], limit_basis(queue, ssn.total, guaranteed)
            set_gauges(gauges, "allocated", demand.allocated if demand else Resource())
            set_gauges(gauges, "request", demand.request if demand else Resource())

    def _queue_order(self, left: str, right: str) -> float:
        """Higher priority first, then the smaller share."""
        left_attr, right_attr = self._attrs[left], self._attrs[right]
        by_priority = self._behaviours.queue_priority and right_attr.priority - left_attr.priority
        return by_priority or left_attr.share - right_attr.share

    def _reclaimable(self, reclaimer: int, candidates: list[int]) -> tuple[list[int], int]:
        """Choose tasks whose queue, without those chosen before, has more than it deserves."""
        tasks, queue_of = self._ssn.tasks, self._ssn.jobs.queue
        left: dict[str, Resource] = {}
        victims = []
        skips_small = self._ssn.behaviours.reclaim_skips_small_queues
        request, trace = tasks.info[reclaimer].request, self._ssn.trace
        for task in candidates:
            queue = queue_of[tasks.job.item(task)]
            attr = self._attrs[queue]
            if queue not in left:
                left[queue] = attr.allocated.clone()
            allocated = left[queue]
            if skips_small and allocated.less_partly(request, ZERO):
                if trace.staying is not None:
                    sides = partial(plain, allocated), partial(plain, request)
                    trace.spare(Spares.LESS_THAN_ASKED, queue, *sides)
                continue
            if not allocated.less_equal(attr.deserved, ZERO):
                self._ssn.subtract(allocated, tasks.info[task].request)
                victims.append(task)
            elif trace.staying is not None:
                sides = partial(plain, allocated), partial(plain, attr.deserved)
                trace.spare(Spares.WITHIN_DESERVED, queue, *sides)
        return victims, PERMIT

    def _may_reclaim(self, _: int, candidates: Rows) -> NDArray[np.bool_]:
        """Return the candidates whose queues have more than they deserve."""
        rich = {
            name: not attr.allocated.less_equal(attr.deserved, ZERO)
            for name, attr in self._attrs.items()
        }
        jobs = np.array([rich[queue] for queue in self._ssn.jobs.queue], dtype=np.bool_)
        mask: NDArray[np.bool_] = jobs[self._ssn.tasks.job[candidates]]
        return mask

    def _overused(self, queue: str) -> Vote:
        """Permit (it is overused) if deserved ≤ allocated in every resource deserved."""
        attr = self._attrs[queue]
        # Every resource must be used up; with one left the queue goes on, and `_takes` refuses by
        # task.
        overused = attr.deserved.less_equal(attr.allocated, ZERO)
        attr.gauges["overused"] = float(overused)
        if self._ssn.trace.follows(queue):
            self._detail(OVERUSED, queue, queue, Resource(), permits=not overused)
        return self._verdict(overused, deserved=attr.deserved, allocated=attr.allocated)

    def _allocatable(self, queue: str, task: int) -> Vote:
        ssn = self._ssn
        request, name = ssn.tasks.info[task].request, ssn.task_name(task)
        verdict = self._takes(queue, request)
        permits = verdict.vote > 0
        if verdict.refused is PluginRefusal.NOT_OPEN:
            return verdict  # No amounts were compared.
        if ssn.trace.follows_check(name, ssn.jobs.keys[ssn.tasks.job[task]], permits=permits):
            self._detail(ALLOCATABLE, name, queue, request, permits=permits)
        return verdict

    def _preemptive(self, queue: str, tasks: Sequence[int]) -> Vote:
        return self._takes(queue, self._ssn.jobs.sum_requests(tasks))

    def _takes(self, queue: str, request: Resource) -> Vote:
        """Permit if allocated + request ≤ deserved in what is requested.

        While evictions are simulated, it is not checked whether the queue is open.
        """
        ssn = self._ssn
        ignores_state = self._behaviours.closed_queues_schedule or ssn.registry.simulating
        if ssn.queues[queue].state != OPEN and not ignores_state:
            return NOT_OPEN
        attr = self._attrs[queue]
        takes = self._fits(attr.allocated, request, attr.deserved)
        if not self._ssn.trace.on:
            return PERMITTED if takes else REJECTED
        return self._verdict(
            takes, deserved=attr.deserved, allocated=attr.allocated, request=request
        )

    def _enqueueable(self, job: int) -> Vote:
        """Permit if minResources + allocated + inqueue − elastic ≤ real capability.

        A permitted job counts as inqueue; in some releases even if another plugin rejects it.
        """
        ssn = self._ssn
        queue = ssn.jobs.queue[job]
        if ssn.queues[queue].state != OPEN and not self._behaviours.closed_queues_schedule:
            return NOT_OPEN
        if ssn.jobs.info[job].min_resources is None:
            return PERMITTED
        attr = self._attrs[queue]
        least = ssn.jobs.min_resources(job)
        wanted = least.clone().add(attr.allocated).add(attr.inqueue)
        ssn.subtract(wanted, attr.elastic)
        enough = ENOUGH[ssn.behaviours.compared_resources](wanted, attr.real_capability, least)
        if ssn.trace.follows(ssn.jobs.keys[job]):
            self._detail(JOB_ENQUEUEABLE, ssn.jobs.keys[job], queue, least, permits=enough)
        verdict = self._verdict(
            enough,
            minResources=least,
            allocated=attr.allocated,
            inqueue=attr.inqueue,
            elastic=attr.elastic,
            realCapability=attr.real_capability,
        )
        if enough:
            # Compared with gated pods, reserved without them: gated pods keep no other job out.
            reserved = ssn.jobs.deduct_sch_gated_resources(job, least)
            attr.inqueue.add(reserved)
            if not ssn.behaviours.reservation_kept_after_refusal:
                give_back = partial(attr.inqueue.sub_unchecked, reserved)
                ssn.reserved.setdefault(job, []).append(give_back)
        else:
            limit = attr.real_capability
            _, short = wanted.less_equal_with_dimension_and_resources_name(limit, least)
            record_refusal(ssn, job, QUOTA_INSUFFICIENT, short)
        return verdict

    def _detail(
        self, point: str, about: str, queue: str, wanted: Resource, *, permits: bool
    ) -> None:
        """Keep the account of a queue as it was compared."""
        attr, comparison = self._attrs[queue], self._ssn.behaviours.compared_resources
        enqueues = point == JOB_ENQUEUEABLE
        limit = attr.real_capability if enqueues else attr.deserved
        demand = CheckedDemand(point, REAL_CAPABILITY if enqueues else DESERVED, comparison, wanted)
        level = queue_level(self._ssn, queue, attr, limit, demand)
        holders = () if permits else holdings(self._ssn, {queue})
        self._ssn.trace.detail(point, about, QueueCheck(self.name, permits, (level,), holders))

    def _on_allocate(self, task: int, node: int) -> None:
        attr = self._attr_of(task)
        attr.allocated.add(self._ssn.tasks.info[task].request)
        attr.set_gauges(attr.gauges, "allocated", attr.allocated)
        attr.update_share()

    def _on_deallocate(self, task: int, node: int) -> None:
        attr = self._attr_of(task)
        self._ssn.subtract(attr.allocated, self._ssn.tasks.info[task].request)
        assert not attr.allocated.cpu <= -MIN_RESOURCE, "no more is taken off than is there"
        attr.set_gauges(attr.gauges, "allocated", attr.allocated)
        attr.update_share()

    def _attr_of(self, task: int) -> ProportionAttr:
        return self._attrs[self._ssn.jobs.queue[self._ssn.tasks.job.item(task)]]

    def _verdict(self, holds: bool, **compared: Resource) -> Vote:  # noqa: FBT001 -- the answer
        numbers: Mapping[str, object] = NOTHING
        if self._ssn.trace.on:
            numbers = {name: plain(amount) for name, amount in compared.items()}
        return Vote(PERMIT if holds else REJECT, numbers=numbers)


def real_capability(queue: QueueInfo, left: Resource, *, unnamed_endless: bool = True) -> Resource:
    """Return what a queue may use: min(left + its guarantee, capability).

    :param left: what is guaranteed to no queue; it is changed.
    :param unnamed_endless: whether a capability does not bound scalars that it does not name; else
        it does if it names any.
    """
    limit = left.add(queue.guarantee)
    capability = queue.capability.clone()
    if capability.cpu <= 0:
        capability.cpu = float_info.max
    if capability.memory <= 0:
        capability.memory = float_info.max
    if unnamed_endless or not queue.queue.spec.capability:
        return limit.min_dimension_resource(capability, INFINITY)
    return minimum(limit, capability)


def limit_basis(queue: QueueInfo, total: Resource, guaranteed: Resource) -> LimitBasis:
    """Return what the limit of a queue is made of."""
    named = queue.queue.spec.capability
    capability = plain(queue.capability) if named else None
    return LimitBasis(plain(total), plain(guaranteed), capability)


def divide(
    queues: Iterable[ProportionAttr], total: Resource, *, zeros: bool = False, crashes: bool = False
) -> list[Resource]:
    """Give each queue what it deserves of the total; ``zeros`` as in ``maximum``.

    In every round the queues that are not met get their part, by weight, of what remains. A queue
    is met when it deserves all that it requests, or a round changes nothing for it.

    :param crashes: whether more than what remains must not be given away.
    :returns: what remains before each round, and in the end.
    :raises Panic: more was given away.
    """
    attrs = list(queues)
    # The loop breaks before its first round: shares stay 0, and no gauge of deserved is set.
    if not sum(attr.weight for attr in attrs):
        return [total]
    try:
        return _divide(attrs, total, zeros=zeros, crashes=crashes)
    finally:  # also after a round that panics: amounts are stored before the remainder is reduced
        for attr in attrs:
            attr.settle()


def _divide(
    unmet: list[ProportionAttr], total: Resource, *, zeros: bool, crashes: bool
) -> list[Resource]:
    remaining = total.clone()
    course = [remaining]
    while weights := sum(attr.weight for attr in unmet):
        increased, decreased = Resource(), Resource()
        still = []
        for attr in unmet:
            before = attr.deserved
            # What remains falls only after the round: all queues of it divide the same amount.
            attr.deserved = _bounded(attr, remaining, weights, zeros=zeros)
            met = attr.request.less_equal(attr.deserved, ZERO)
            # A queue that a round did not change is met, too: its real capability bounds it.
            unchanged = _same(attr.deserved, before)
            if not met and not unchanged:
                still.append(attr)
            if attr.rounds is not None:
                attr.rounds[-1] = msgspec.structs.replace(
                    attr.rounds[-1], number=len(course), met=met, unchanged=unchanged
                )
            more, less = attr.deserved.diff(before, ZERO)
            increased.add(more)
            decreased.add(less)
        unmet = still
        before_round = remaining
        if crashes:
            remaining = remaining.clone().sub(increased).add(decreased)
        else:
            # More may be given than remains, as guarantees are given in any case: then it is 0.
            remaining = remaining.clone().add(decreased).diff(increased, ZERO)[0]
        course.append(remaining)
        if remaining.is_empty() or _same(remaining, before_round):
            break
    return course


def _bounded(attr: ProportionAttr, remaining: Resource, weights: int, *, zeros: bool) -> Resource:
    """Return what a queue deserves after a round: its part more, within its bounds."""
    part = remaining.clone().multi(attr.weight / weights)
    deserved = attr.deserved.clone().add(part)
    steps = None if attr.rounds is None else [DeservedStep(ShareStep.PART, plain(deserved))]
    deserved.min_dimension_resource(attr.real_capability, INFINITY)
    if steps is not None:
        steps.append(DeservedStep(ShareStep.LIMIT, plain(deserved)))
    # ZERO: no queue deserves a scalar that its jobs do not request.
    deserved.min_dimension_resource(attr.request, ZERO)
    if steps is not None:
        steps.append(DeservedStep(ShareStep.REQUEST, plain(deserved)))
    deserved = maximum(deserved, attr.guarantee, zeros=zeros)
    if steps is not None and attr.rounds is not None:
        steps.append(DeservedStep(ShareStep.GUARANTEE, plain(deserved)))
        attr.rounds.append(
            DivisionRound(
                number=0,
                remaining=plain(remaining),
                weights=weights,
                part=plain(part),
                steps=tuple(steps),
                met=False,
                unchanged=False,
            )
        )
    return deserved


def _same(left: Resource, right: Resource) -> bool:
    """Return whether amounts are equal and the same scalars present; none is as good as no map."""
    return (left.cpu, left.memory, left.scalars or {}) == (
        right.cpu,
        right.memory,
        right.scalars or {},
    )
