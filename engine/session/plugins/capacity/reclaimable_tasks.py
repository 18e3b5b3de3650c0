"""Which tasks a task may reclaim: those of queues that use more than they deserve.

Source: pkg/scheduler/plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn),
shouldSkipReclaimee, checkGuaranteeConstraint, isImmediateVictim, checkDeservedExceedance,
getReclaimeeAncestorToCheck, sharesAnyNonRootAncestorWithinLevel, AddUnifiedEvictableFn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import msgspec

from ....model.resource import INFINITY, ZERO, Resource
from ....volcano.session.reclaim import CapacityVictims
from ...framework.framework_orders import victims_queue
from ...framework.session import Session
from ...framework.vote_details import Spares
from ..shared.gauge_amounts import plain
from .attrs import QueueAttr
from .dimensions import exceeds_partly, intersect

ROOT = "root"


class Reclaim(msgspec.Struct, frozen=True):
    """A task that reclaims, and the candidates for it.

    :param level: how many levels of ancestors must also use too much; 0 for none.
    """

    ssn: Session
    attrs: Mapping[str, QueueAttr]
    reclaimer: int
    candidates: list[int]
    level: int

    @property
    def asked(self) -> Resource:
        """What the reclaimer requests."""
        return self.ssn.tasks.info[self.reclaimer].request

    def queue_of(self, task: int) -> str:
        """Return the queue of a task."""
        return self.ssn.jobs.queue[self.ssn.tasks.job.item(task)]

    def spare(
        self,
        spares: Spares,
        queue: str,
        has: Resource,
        limit: Resource,
        request: Resource | None = None,
    ) -> None:
        """Keep why a candidate of a queue stays, while the vote is explained.

        :param request: only what it names was compared; None if all was.
        """
        _spare(self.ssn, spares, queue, (has, limit), request)


def over_deserved(reclaim: Reclaim) -> list[int]:
    """Return tasks of queues that use more than they deserve and keep their guarantee without them.

    A candidate is skipped if allocated ≤ deserved (scalars that one of the two lacks count as
    infinite) or guarantee > allocated − request; each victim lessens allocated.

    :raises Panic: a candidate holds more than its queue.
    """
    tasks, attrs = reclaim.ssn.tasks, reclaim.attrs
    victims: list[int] = []
    allocations: dict[str, Resource] = {}
    skips_small = reclaim.ssn.behaviours.reclaim_skips_small_queues
    for candidate in reclaim.candidates:
        queue = reclaim.queue_of(candidate)
        attr = attrs[queue]
        if queue not in allocations:
            allocations[queue] = attr.allocated.clone()
        allocated = allocations[queue]
        if skips_small and allocated.less_partly(reclaim.asked, ZERO):
            reclaim.spare(Spares.LESS_THAN_ASKED, queue, allocated, reclaim.asked)
            continue
        rest = reclaim.ssn.subtract(allocated.clone(), tasks.info[candidate].request)
        # INFINITY: a scalar such as pods that is not deserved does not make a queue overused.
        if allocated.less_equal(attr.deserved, INFINITY):
            reclaim.spare(Spares.WITHIN_DESERVED, queue, allocated, attr.deserved)
            continue
        if not attr.guarantee.less_equal(rest, ZERO):
            reclaim.spare(Spares.GUARANTEE, queue, rest, attr.guarantee)
            continue
        allocations[queue] = rest
        victims.append(candidate)
    return victims


def by_dimension(reclaim: Reclaim) -> list[int]:
    """Return tasks with a resource of which their queues use more than they deserve.

    They must hold a resource that the reclaimer requests. A resource of which a queue deserves
    nothing may always be reclaimed, as long as its guarantee is kept.

    :raises Panic: a candidate holds more than its queue.
    """
    return _by_dimension(reclaim, reclaim.candidates)


def in_order_by_dimension(reclaim: Reclaim) -> list[int]:
    """Return the same, the least important first; also the nearest ancestors must use too much.

    :raises Panic: a candidate holds more than its queue.
    """
    if reclaim.queue_of(reclaim.reclaimer) not in reclaim.attrs:
        return []
    # The order matters, as each victim lessens what its queue holds beyond what it deserves.
    waiting = victims_queue(reclaim.ssn, reclaim.candidates, reclaim.reclaimer)
    return _by_dimension(reclaim, (waiting.pop() for _ in range(len(waiting))))


def of_gangs(ssn: Session, attrs: Mapping[str, QueueAttr], candidates: list[int]) -> list[int]:
    """Return the candidates that a gang may reclaim, in their order.

    Neither the gang's requests nor the ancestors are checked.

    :raises Panic: a candidate holds more than its queue.

    Source: capacity.go OnSessionOpen (AddUnifiedEvictableFn).
    """
    victims: list[int] = []
    allocations: dict[str, Resource] = {}
    for candidate in candidates:
        attr = attrs[ssn.jobs.queue[ssn.tasks.job.item(candidate)]]
        request = ssn.tasks.info[candidate].request
        allocated = allocations.setdefault(attr.name, attr.allocated.clone())
        # Before the guarantee is looked at: `Sub` panics for a task that may not even become a
        # victim.
        rest = allocated.clone().sub(request)
        if not attr.guarantee.less_equal(rest, ZERO):
            _spare(ssn, Spares.GUARANTEE, attr.name, (rest, attr.guarantee))
            continue
        deserves_some = intersect(request, attr.deserved, pods=True)
        if not deserves_some or exceeds_partly(allocated, attr.deserved, request):
            allocated.sub(request)
            victims.append(candidate)
        else:
            _spare(ssn, Spares.WITHIN_DESERVED, attr.name, (allocated, attr.deserved), request)
    return victims


def _spare(
    ssn: Session,
    spares: Spares,
    queue: str,
    compared: tuple[Resource, Resource],
    request: Resource | None = None,
) -> None:
    if ssn.trace.staying is None:
        return
    every = compared if request is None else (request,)
    named = {name for resource in every for name, amount in plain(resource).items() if amount}
    sides = ({name: amounts.get(name) for name in sorted(named)} for amounts in compared)
    ssn.trace.spare(spares, queue, *sides)


def _by_dimension(reclaim: Reclaim, candidates: Iterable[int]) -> list[int]:
    victims: list[int] = []
    allocations: dict[str, Resource] = {}
    subtract = reclaim.ssn.subtract
    for candidate in candidates:
        attr = reclaim.attrs.get(reclaim.queue_of(candidate))
        if attr is None:
            continue
        request = reclaim.ssn.tasks.info[candidate].request
        if not intersect(request, reclaim.asked, pods=False):
            reclaim.spare(Spares.OTHER_RESOURCES, attr.name, request, reclaim.asked)
            continue
        allocated = allocations.setdefault(attr.name, attr.allocated.clone())
        rest = subtract(allocated.clone(), request)
        if not attr.guarantee.less_equal(rest, ZERO):
            reclaim.spare(Spares.GUARANTEE, attr.name, rest, attr.guarantee)
            continue
        if not _gives(reclaim, attr, allocated, request):
            deserves_some = intersect(request, attr.deserved, pods=True)
            spares = Spares.WITHIN_DESERVED if deserves_some else Spares.RELATED
            reclaim.spare(spares, attr.name, allocated, attr.deserved, request)
            continue
        above = _ancestors_to_give(reclaim, attr, request, allocations)
        if above is None:
            continue
        # Only a victim lessens the accounts: one that stays leaves them to the next candidate.
        for amount in (allocated, *above):
            subtract(amount, request)
        victims.append(candidate)
    return victims


def _gives(reclaim: Reclaim, attr: QueueAttr, allocated: Resource, request: Resource) -> bool:
    """Return whether a task may be reclaimed from a queue."""
    if intersect(request, attr.deserved, pods=True):
        return exceeds_partly(allocated, attr.deserved, request)
    if not reclaim.level:
        return True
    own = reclaim.attrs[reclaim.queue_of(reclaim.reclaimer)]
    return intersect(reclaim.asked, own.deserved, pods=True) or not _related(reclaim, own, attr)


def _ancestors_to_give(
    reclaim: Reclaim, attr: QueueAttr, request: Resource, allocations: dict[str, Resource]
) -> list[Resource] | None:
    """Return the ancestors' accounts that allow it too, ``None`` if one does not."""
    own = reclaim.attrs[reclaim.queue_of(reclaim.reclaimer)] if reclaim.level else attr
    accounts = []
    for level in range(1, reclaim.level + 1):
        ancestor = ancestor_at(attr, level)
        # What a shared ancestor loses with the victim comes back with the reclaimer.
        if ancestor is None or ancestor.name == ROOT or ancestor is ancestor_at(own, level):
            continue
        allocated = allocations.setdefault(ancestor.name, ancestor.allocated.clone())
        accounts.append(allocated)
        if intersect(request, ancestor.deserved, pods=True) and not exceeds_partly(
            allocated, ancestor.deserved, request
        ):
            name, limit = ancestor.name, ancestor.deserved
            reclaim.spare(Spares.WITHIN_DESERVED, name, allocated, limit, request)
            return None
    return accounts


def _related(reclaim: Reclaim, own: QueueAttr, theirs: QueueAttr) -> bool:
    """Return whether two queues share one of their nearest ancestors, other than the root."""
    names = [
        {ancestor.name for ancestor in attr.ancestors[-reclaim.level :]} for attr in (own, theirs)
    ]
    return bool((names[0] & names[1]) - {ROOT})


def ancestor_at(attr: QueueAttr, level: int) -> QueueAttr | None:
    """Return the ancestor at a depth; ``None`` if there is none.

    Source: capacity.go queueAncestorAtDepth.
    """
    return attr.ancestors[-level] if level <= len(attr.ancestors) else None


VICTIMS: Mapping[CapacityVictims, Callable[[Reclaim], list[int]]] = MappingProxyType(
    {
        CapacityVictims.OVER_DESERVED: over_deserved,
        CapacityVictims.BY_DIMENSION: by_dimension,
        CapacityVictims.IN_ORDER_BY_DIMENSION: in_order_by_dimension,
    }
)
