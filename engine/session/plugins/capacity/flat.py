"""The accounts of queues without parents.

Source: pkg/scheduler/plugins/capacity/capacity.go buildQueueAttrs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import float_info

from ....model.panic import Panic
from ....model.queue import QueueInfo
from ....model.resource import INFINITY, Resource, maximum
from ...framework.session import Session
from ...framework.vote_details import ShareStep
from ..shared.gauge_amounts import gauge_setter
from ..shared.queue_demand import queue_demands
from .attrs import ATTRS, QueueAttr, real_capability


def build_queue_attrs(ssn: Session) -> tuple[dict[str, QueueAttr], Resource]:
    """Return the accounts of the queues that have a job, and the sum of all queues' guarantees.

    deserved = max(min(spec.deserved, real capability), guarantee)
    """
    guarantees = total_guarantee(ssn.queues.values())
    attrs = {}
    # `buildQueueAttrs` finds the queues through the jobs: one without jobs has no account.
    for name, demand in queue_demands(ssn).items():
        attr = attrs[name] = ATTRS[ssn.behaviours.compared_resources](
            ssn.queues[name],
            deserving_first=ssn.behaviours.zero_deserved_share_is_one,
            subtract=ssn.subtract,
        )
        if ssn.trace.follows(name):
            attr.follow()
        attr.add_demand(demand)
        attr.capability = flat_capability(ssn.queues[name])
        attr.real_capability = _real_capability(ssn, guarantees, attr)
        attr.note_limit(ssn.total, guarantees)
        attr.deserved.min_dimension_resource(attr.real_capability, INFINITY)
        attr.note(ShareStep.LIMIT)
        if ssn.behaviours.deserved_capped_by_request:
            attr.deserved.min_dimension_resource(attr.request, INFINITY)
            attr.note(ShareStep.REQUEST)
        attr.deserved = maximum(
            attr.deserved, attr.guarantee, zeros=ssn.behaviours.deserved_keeps_zero_scalars
        )
        attr.note(ShareStep.GUARANTEE)
        attr.update_share()
    return attrs, guarantees


def _real_capability(ssn: Session, guarantees: Resource, attr: QueueAttr) -> Resource:
    try:
        return real_capability(
            ssn.total,
            guarantees,
            attr.guarantee,
            attr.capability,
            crashes=ssn.behaviours.excess_guarantees_crash,
        )
    except Panic as panic:
        raise panic.through(
            "plugins/capacity.(*capacityPlugin).OnSessionOpen", "framework.OpenSession"
        ) from None


def total_guarantee(queues: Iterable[QueueInfo]) -> Resource:
    """Return the sum of all queues' guarantees, with jobs or without."""
    total = Resource()
    for queue in queues:
        total.add(queue.guarantee)
    return total


def flat_capability(queue: QueueInfo) -> Resource | None:
    """Return a queue's capability, if it has one; cpu and memory not named there are unlimited."""
    if not queue.queue.spec.capability:
        return None
    capability = queue.capability.clone()
    if capability.cpu <= 0:
        capability.cpu = float_info.max
    if capability.memory <= 0:
        capability.memory = float_info.max
    return capability


def record_flat_gauges(ssn: Session, attrs: Mapping[str, QueueAttr], guarantees: Resource) -> None:
    """Set the gauges of all queues; those without jobs get the values for no jobs.

    Their capability is exported as written: resources that it does not name are 0.
    """
    set_gauges = gauge_setter(ssn.behaviours)
    for name, queue in ssn.queues.items():
        gauges = ssn.process.gauges.setdefault(name, {})
        attr = attrs.get(name)
        if attr is not None:
            gauges["share"] = attr.share
            deserved, allocated, request = attr.deserved, attr.allocated, attr.request
            capability, limit = attr.capability, attr.real_capability
        else:
            deserved, allocated, request = queue.deserved, Resource(), Resource()
            capability = queue.capability if queue.queue.spec.capability else None
            limit = real_capability(ssn.total, guarantees, queue.guarantee, capability)
        set_gauges(gauges, "deserved", deserved)
        set_gauges(gauges, "allocated", allocated)
        set_gauges(gauges, "request", request)
        if capability is not None:
            set_gauges(gauges, "capacity", capability)
        if limit is not None:
            set_gauges(gauges, "real_capacity", limit)
