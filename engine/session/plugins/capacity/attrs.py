"""The capacity plugin's account of a queue, and its formulas.

Source: pkg/scheduler/plugins/capacity/capacity.go queueAttr, updateShare, queueAllocatable,
jobEnqueueable.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ....model.queue import QueueInfo
from ....model.resource import INFINITY, Resource
from ....model.subtraction import Subtract
from ....volcano.session.queues import QueueComparison
from ...framework.vote_details import DeservedStep, LimitBasis, ShareStep
from ..shared.gauge_amounts import (
    enough_of_everything,
    fits,
    fits_in_everything,
    plain,
    unguaranteed,
)
from ..shared.queue_demand import QueueDemand


class QueueAttr:
    """A queue's account in one session; all amounts in the units of ``Resource``.

    ``elastic`` is what its jobs hold beyond their minResources, ``inqueue`` what enqueued jobs
    still reserve. ``capability`` is None if the queue has none and no tree needs it;
    ``real_capability`` is None until the limits are known.
    """

    __slots__ = (
        "_fixed_share",
        "_limits",
        "allocated",
        "ancestors",
        "basis",
        "capability",
        "children",
        "deserved",
        "deserving_first",
        "elastic",
        "guarantee",
        "inqueue",
        "lineage",
        "name",
        "priority",
        "real_capability",
        "request",
        "share",
        "steps",
        "subtract",
    )

    def __init__(
        self, queue: QueueInfo, *, deserving_first: bool, subtract: Subtract = Resource.sub
    ) -> None:
        self.subtract = subtract
        """How what is given back is taken off."""
        self.deserving_first = deserving_first
        """Queues that deserve nothing come after those that hold less than they deserve."""
        self.name = queue.name
        self.priority = queue.priority
        self.deserved = queue.deserved.clone()
        self.guarantee = queue.guarantee.clone()
        self.capability: Resource | None = None
        self.real_capability: Resource | None = None
        self.allocated = Resource()
        self.request = Resource()
        self.elastic = Resource()
        self.inqueue = Resource()
        self.share = 0.0
        self._limits: list[tuple[str, float]] | None = None
        self._fixed_share: float | None = None
        self.children: dict[str, QueueAttr] = {}
        self.ancestors: tuple[QueueAttr, ...] = ()
        """From the root down to the parent; empty in a flat configuration."""
        self.lineage: tuple[QueueAttr, ...] = (self,)
        """The queue itself, then its ancestors from the parent up to the root."""
        self.steps: list[DeservedStep] | None = None
        """How it came to deserve what it does, if the trace follows the queue."""
        self.basis: LimitBasis | None = None

    def follow(self, step: ShareStep = ShareStep.WRITTEN) -> None:
        """Keep from now on what the queue deserves after each step."""
        self.steps = []
        self.note(step)

    def note(self, step: ShareStep) -> None:
        """Keep what the queue deserves after a step, if it is followed."""
        if self.steps is not None:
            self.steps.append(DeservedStep(step, plain(self.deserved)))

    def note_limit(self, total: Resource | None, guarantees: Resource) -> None:
        """Keep what the queue's limit is made of, if it is followed."""
        if self.steps is not None and total is not None:
            capability = None if self.capability is None else plain(self.capability)
            self.basis = LimitBasis(plain(total), plain(guarantees), capability)

    def place_below(self, parent: QueueAttr) -> None:
        """Make the queue a child of another, whose ancestors are known."""
        assert not self.ancestors, "a queue is placed once, below one parent"
        parent.children[self.name] = self
        self.ancestors = (*parent.ancestors, parent)
        self.lineage = (self, *reversed(self.ancestors))

    def add_demand(self, demand: QueueDemand) -> None:
        """Add what jobs hold and ask for."""
        self.allocated.add(demand.allocated)
        self.request.add(demand.request)
        self.elastic.add(demand.elastic)
        self.inqueue.add(demand.inqueue)

    def update_share(self) -> None:
        """Set the share: the largest part that any deserved resource is used to.

        share = max over r in deserved of allocated[r] / deserved[r]; without any, 0 or always 1
        """
        limits = self._limits
        if limits is None:  # from here on, what is deserved does not change
            deserved = self.deserved
            # Always 1: such queues come after all that hold less than they deserve
            # (`updateQueueAttrShare`).
            self._fixed_share = 1.0 if self.deserving_first and deserved.is_empty() else None
            limits = [(name, deserved.get(name)) for name in deserved.resource_names()]
            self._limits = limits
        if self._fixed_share is not None:
            self.share = self._fixed_share
            return
        # `resource_names` leaves out what is below 0.1, so no limit is 0.
        share, allocated = 0.0, self.allocated
        for name, limit in limits:
            share = max(share, allocated.get(name) / limit)
        self.share = share

    def takes(self, request: Resource) -> bool:
        """Return whether a task still fits: allocated + request ≤ real capability."""
        return fits(self.allocated, request, self.real_capability)

    def deserves(self, request: Resource) -> bool:
        """Return whether a task is within what is deserved: allocated + request ≤ deserved."""
        return fits(self.allocated, request, self.deserved)

    def enqueues(self, min_resources: Resource) -> bool:
        """Return whether a job may be enqueued.

        minResources + allocated + inqueue − elastic ≤ real capability, in what the job names.

        :raises Panic: the jobs hold less than was elastic when the session opened.
        """
        needed = self._needed(min_resources)
        return needed.less_equal_with_dimension(self.real_capability, min_resources)

    def short_of(self, min_resources: Resource) -> list[str]:
        """Return what a job names of which it would have the queue exceed its real capability."""
        needed, limit = self._needed(min_resources), self.real_capability
        return needed.less_equal_with_dimension_and_resources_name(limit, min_resources)[1]

    def _needed(self, min_resources: Resource) -> Resource:
        """Return what the queue needs with a job: minResources + allocated + inqueue − elastic.

        :raises Panic: the jobs hold less than was elastic when the session opened.
        """
        needed = min_resources.clone().add(self.allocated).add(self.inqueue)
        self.subtract(needed, self.elastic)
        return needed


class QueueAttrOfEverything(QueueAttr):
    """An account that compares all resources, not only the requested ones."""

    __slots__ = ()

    def takes(self, request: Resource) -> bool:
        """Return whether a task still fits: request ≤ real capability − allocated."""
        return fits_in_everything(self.allocated, request, self.real_capability)

    def enqueues(self, min_resources: Resource) -> bool:
        """Return whether a job may be enqueued, as for :class:`QueueAttr`, in all resources."""
        needed = self._needed(min_resources)
        return enough_of_everything(needed, self.real_capability, min_resources)


ATTRS: Mapping[QueueComparison, type[QueueAttr]] = MappingProxyType(
    {QueueComparison.REQUESTED: QueueAttr, QueueComparison.EVERYTHING: QueueAttrOfEverything}
)


def compare_shares(queue_attr: QueueAttr, other: QueueAttr) -> int:
    """Put the smaller share first; of equal ones, queues that deserve something, if that counts.

    Source: capacity.go compareShareWithDeserved.
    """
    if queue_attr.share != other.share or not queue_attr.deserving_first:
        return (queue_attr.share > other.share) - (queue_attr.share < other.share)
    return queue_attr.deserved.is_empty() - other.deserved.is_empty()


def real_capability(
    total: Resource | None,
    guarantees: Resource,
    own: Resource,
    capability: Resource | None,
    *,
    crashes: bool = False,
) -> Resource:
    """Return what a queue may use at most.

    max(total − all guarantees, 0) + its own guarantee, and at most its capability, if that names
    the resource.

    :param total: what all together may use.
    :param crashes: whether the guarantees must not exceed it.
    :raises Panic: they do.
    """
    assert total is not None
    limit = unguaranteed(total, guarantees, crashes=crashes).add(own)
    if capability is not None:
        # INFINITY: a scalar that the capability does not name stays unbounded by it.
        limit.min_dimension_resource(capability, INFINITY)
    return limit
