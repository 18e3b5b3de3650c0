"""Plugin ``overcommit``: jobs are enqueued while reservations are within idle times a factor.

Source: pkg/scheduler/plugins/overcommit/overcommit.go.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ...model.panic import Panic
from ...model.resource import ZERO, Resource
from ...volcano.conf import Arguments
from ...volcano.session.queues import QueueComparison
from ..framework.session import Session
from ..framework.trace import PERMITTED, REJECT, Vote
from ..framework.vote_details import ReservationCheck
from .shared.enqueue_refusals import OVERUSED, record_refusal
from .shared.gauge_amounts import plain
from .shared.inqueue import reserved_by_job
from .shared.queue_details import holdings

_OPEN = "plugins/overcommit.(*overcommitPlugin).OnSessionOpen"
FACTOR = "overcommit-factor"
DEFAULT_FACTOR = 1.2


class Overcommit:
    """Limits enqueued jobs to a multiple of the cluster.

    Argument ``overcommit-factor`` (default 1.2, at least 1): the multiple.
    """

    name: ClassVar[str] = "overcommit"

    def __init__(self, arguments: Arguments) -> None:
        factor = arguments.get_float(FACTOR, DEFAULT_FACTOR)
        self._factor = factor if factor >= 1.0 else DEFAULT_FACTOR

    def on_session_open(self, ssn: Session) -> None:
        """Compute what is idle and what is reserved, and register the votes on enqueueing.

        idle = total × factor − used, of all nodes.
        """
        jobs = ssn.jobs
        used = _used(ssn)
        # The factor makes more of the total, not of what is left: used amounts count in full.
        idle = ssn.total.clone().multi(self._factor)
        try:
            idle = idle.sub(used) if ssn.behaviours.overcommit_crashes else idle.sub_unchecked(used)
        except Panic as panic:
            raise panic.through(_OPEN, "framework.OpenSession") from None
        inqueue = Resource()
        for _, reserved in reserved_by_job(ssn):
            inqueue.add(reserved)

        def enqueueable(job: int) -> Vote:
            if jobs.info[job].min_resources is None:
                return PERMITTED
            least = jobs.min_resources(job)
            wanted = inqueue.clone().add(least)
            enough, short = (
                wanted.less_equal_with_dimension_and_resources_name(idle, least)
                if ssn.behaviours.compared_resources is QueueComparison.REQUESTED
                else wanted.less_equal_with_resources_name(idle, ZERO)
            )
            key = jobs.keys[job]
            if ssn.trace.follows(key) and (not enough or ssn.trace.keeps_path(key)):
                check = self._check(ssn, least, wanted, idle)
                seen = msgspec.structs.replace(check, exceeded=()) if enough else check
                ssn.trace.detail(self.name, key, seen)
            if enough:
                return PERMITTED
            record_refusal(ssn, job, OVERUSED, short)
            return Vote(REJECT, OVERUSED.text, {"inqueue": plain(wanted), "idle": plain(idle)})

        # Reserved here and not in the vote: a job that a later plugin refuses reserves nothing.
        def enqueued(job: int) -> None:
            if jobs.info[job].min_resources is not None:
                least = jobs.min_resources(job)
                inqueue.add(jobs.deduct_sch_gated_resources(job, least))

        ssn.registry.add_job_enqueueable(self.name, enqueueable)
        ssn.registry.add_job_enqueued(self.name, enqueued)

    def _check(
        self, ssn: Session, least: Resource, reserved: Resource, idle: Resource
    ) -> ReservationCheck:
        """Return what was compared for a job, with who reserved it."""
        dims, everything = least.resource_names(), reserved.resource_names()
        over = [name for name in everything if reserved.get(name) > idle.get(name)]
        holders = holdings(ssn, ssn.queues)
        return ReservationCheck(
            self._factor,
            plain(least),
            plain(reserved),
            plain(idle),
            tuple(name for name in over if name in dims) or tuple(over),
            tuple(holder for holder in holders if any(holder.reserved.values())),
        )

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""


def _used(ssn: Session) -> Resource:
    """Return what is used on all nodes; a scalar is named if a pod on a node names it."""
    used = Resource.from_vector(ssn.dims, ssn.nodes.used.sum(axis=0).tolist())
    amounts = used.scalars or {}
    if not all(amounts.values()):
        named = {name for info in ssn.nodes.info for name in info.used.scalars or ()}
        used.scalars = {name: amount for name, amount in amounts.items() if name in named}
    return used
