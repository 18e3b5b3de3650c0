"""A queue's account as details of a trace: see :mod:`...framework.vote_details`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import msgspec

from ....model.resource import Resource
from ....volcano.session.queues import QueueComparison
from ...framework.session import Session
from ...framework.vote_details import Amounts, LimitBasis, OpenedAccount, QueueHolder, QueueLevel
from .gauge_amounts import ENOUGH, FITS, plain
from .inqueue import reserved_by_job

JOB_ENQUEUEABLE, ALLOCATABLE, OVERUSED = "JobEnqueueable", "Allocatable", "Overused"
ACCOUNT = "account"
"""The account of a queue at the end of a session; nothing is compared with it."""
DIVISION = "division"
"""How what all nodes have was divided."""
REAL_CAPABILITY, DESERVED = "realCapability", "deserved"
_ALWAYS = ("cpu", "memory")
"""What is compared even if a queue deserves nothing of it."""


class QueueAccount(Protocol):
    """A plugin's account of a queue."""

    allocated: Resource
    deserved: Resource
    elastic: Resource
    guarantee: Resource
    inqueue: Resource


class OpenedQueueAccount(QueueAccount, Protocol):
    """The same, with what its jobs request, and its place in the order of queues."""

    request: Resource
    share: float


def opened(plugin: str) -> str:
    """Return what the account of a queue at the beginning of a session is kept under."""
    return f"opened by {plugin}"


def opened_account(
    plugin: str,
    queue: str,
    account: OpenedQueueAccount,
    limit: Resource | None,
    basis: LimitBasis | None,
) -> OpenedAccount:
    """Return a queue's account as the session opens."""
    return OpenedAccount(
        plugin=plugin,
        queue=queue,
        limit=None if limit is None else plain(limit),
        basis=basis,
        guarantee=plain(account.guarantee),
        deserved=plain(account.deserved),
        request=plain(account.request),
        allocated=plain(account.allocated),
        inqueue=plain(account.inqueue),
        elastic=plain(account.elastic),
        share=account.share,
    )


class CheckedDemand(msgspec.Struct, frozen=True):
    """What a plugin checks.

    :param point: the extension point. :param compared: the name of the limit.
    :param wanted: what is requested; of OVERUSED, nothing.
    """

    point: str
    compared: str
    comparison: QueueComparison
    wanted: Resource


def queue_level(
    ssn: Session,
    queue: str,
    account: QueueAccount,
    limit: Resource | None,
    demand: CheckedDemand,
    *,
    checked: bool = True,
) -> QueueLevel:
    """Return a queue's account as it is compared with a limit."""
    needed, wanted = demand.wanted.clone().add(account.allocated), demand.wanted
    if demand.point == JOB_ENQUEUEABLE:
        needed = needed.add(account.inqueue).sub_unchecked(account.elastic)
    return QueueLevel(
        queue,
        demand.compared,
        limit=None if limit is None else plain(limit),
        capability=_capability(ssn, queue),
        deserved=plain(account.deserved),
        guarantee=plain(account.guarantee),
        allocated=plain(account.allocated),
        inqueue=plain(account.inqueue),
        elastic=plain(account.elastic),
        wanted=plain(wanted),
        left=_left(needed, limit, demand),
        exceeded=() if limit is None else _exceeded(account, needed, limit, demand),
        checked=checked,
    )


def _capability(ssn: Session, queue: str) -> Amounts | None:
    """Return the amounts that a queue's capability names; None if it has none."""
    info = ssn.queues[queue]
    named = info.queue.spec.capability
    if not named:
        return None
    return {name: amount for name, amount in plain(info.capability).items() if name in named}


def _left(needed: Resource, limit: Resource | None, demand: CheckedDemand) -> dict[str, float]:
    """Return what a limit leaves of what is wanted, beside all else that counts against it."""
    if limit is None:
        return {}
    wanted = demand.wanted
    named = limit if demand.point == OVERUSED else wanted
    return {
        name: limit.get(name) - needed.get(name) + wanted.get(name)
        for name in named.resource_names()
    }


def _exceeded(
    account: QueueAccount, needed: Resource, limit: Resource, demand: CheckedDemand
) -> tuple[str, ...]:
    """Return the resources of which there is not enough, each compared by itself."""
    wanted, names = demand.wanted, needed.resource_names()
    if demand.point == OVERUSED:
        limited = limit.resource_names() or _ALWAYS
        return tuple(name for name in limited if account.allocated.get(name) >= limit.get(name))
    if demand.point == ALLOCATABLE:
        fits = FITS[demand.comparison]
        used = account.allocated
        return tuple(
            name for name in names if not fits(_only(used, name), _only(wanted, name), limit)
        )
    enough = ENOUGH[demand.comparison]
    return tuple(
        name for name in names if not enough(_only(needed, name), limit, _only(wanted, name))
    )


def _only(resource: Resource, name: str) -> Resource:
    """Return one resource of several, the others 0."""
    only = Resource()
    only.set(name, resource.get(name))
    return only


def holdings(ssn: Session, queues: Collection[str]) -> tuple[QueueHolder, ...]:
    """Return the jobs in some queues that hold resources now, or have some reserved.

    Of a job that this session enqueued, the minResources are reserved.
    """
    jobs, before = ssn.jobs, ssn.snapshot.jobs.phase
    reserved = dict(reserved_by_job(ssn, lacking=ssn.behaviours.inqueue_jobs_reserve_missing_only))
    holders = []
    for job, queue in enumerate(jobs.queue):
        if queue not in queues:
            continue
        if jobs.phase[job] == "Inqueue" and before[job] != "Inqueue":
            reserved[job] = jobs.deduct_sch_gated_resources(job, jobs.min_resources(job))
        allocated, more = jobs.allocated_resource(job), reserved.get(job, Resource())
        if not (allocated.is_empty() and more.is_empty()):
            holders.append(QueueHolder(jobs.keys[job], queue, plain(allocated), plain(more)))
    return tuple(holders)
