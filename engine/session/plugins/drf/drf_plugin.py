"""Plugin ``drf``: dominant resource fairness, between jobs or, as HDRF, between queues.

    share(job) = max over r of allocated[r] / total[r]

Source: pkg/scheduler/plugins/drf/drf.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from operator import sub, truediv
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ....model.panic import Panic
from ....model.resource import MIN_RESOURCE, Resource
from ....model.session_tables import Floats, Rows
from ....volcano.conf import Arguments
from ...framework.session import Session
from ...framework.trace import PERMIT
from ...framework.vote_details import Spares
from .hdrf import ShareTree, dominant_shares

_MANY = 32
"""From so many candidates on, arrays are faster than numbers one by one."""

SHARE_DELTA = 0.000001
"""Shares that differ by less are equal for preemption."""


class Drf:
    """Jobs of less share come first, and may preempt those that have more."""

    name: ClassVar[str] = "drf"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments."""

    def on_session_open(self, ssn: Session) -> None:
        """Compute the jobs' shares, and the tree of queues if the hierarchy is enabled."""
        self._dims = ssn.dims
        self._ssn, self._keys = ssn, ssn.jobs.keys
        self._job = ssn.tasks.job
        self._request = ssn.tasks.request
        self._queue = ssn.jobs.queue
        self._allocated = ssn.jobs.allocated.copy()
        self._off = ssn.subtract
        total = np.array(ssn.total.vector(ssn.dims))
        self._total: list[float] = np.where(total >= MIN_RESOURCE, total, np.inf).tolist()
        self._totals = total
        self._shares: list[float] = dominant_shares(self._allocated, total).tolist()

        assert len(self._shares) == len(ssn.jobs), "each job has one share"
        ssn.registry.add_preemptable(self.name, self._preemptable, may=self._may_preempt)
        if _hierarchy_enabled(ssn):
            self._open_hierarchy(ssn, total)
            ssn.registry.add_queue_order(self.name, self._queue_order)
            ssn.registry.add_reclaimable(self.name, self._reclaimable)
        ssn.registry.add_job_order(self.name, self._shares.__getitem__)
        ssn.registry.add_event_handler(allocate=self._on_allocate, deallocate=self._on_deallocate)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _open_hierarchy(self, ssn: Session, total: Floats) -> None:
        self._tree = ShareTree(total, ssn.jobs.total_request)
        for job, name in enumerate(ssn.jobs.queue):
            queue = ssn.queues[name]
            try:
                self._tree.add(job, name, queue.hierarchy, queue.weights)
            except Panic as panic:
                raise panic.through(
                    "plugins/drf.(*drfPlugin).UpdateHierarchicalShare",
                    "plugins/drf.(*drfPlugin).OnSessionOpen",
                    "framework.OpenSession",
                ) from None
        self._stale = True

    def _share(self, allocated: Floats) -> float:
        return self._share_of(allocated.tolist())

    def _share_of(self, amounts: list[float]) -> float:
        share: float = max(0.0, *map(truediv, amounts, self._total))
        return share

    def _preemptable(self, preemptor: int, candidates: list[int]) -> tuple[list[int], int]:
        """Choose tasks of jobs that without them still have as much as the preemptor with its own.

        What a candidate frees counts for those of its job that follow, chosen or not.
        """
        ours = self._share(self._allocated[self._job[preemptor]] + self._request[preemptor])
        many = self._shares_of_many(candidates) if len(candidates) > _MANY else None
        shares = many or [*self._shares_left(candidates)]
        goes = [ours < theirs or abs(ours - theirs) <= SHARE_DELTA for theirs in shares]
        if self._ssn.trace.staying is not None:
            self._spare(np.array(candidates), np.array(shares), np.logical_not(goes), ours)
        return [*compress(candidates, goes)], PERMIT

    def _spare(
        self, candidates: Rows, shares: Floats, stays: NDArray[np.bool_], ours: float
    ) -> None:
        """Keep of each job the share without the first candidate that stays, and how many do."""
        jobs, shares = self._job[candidates[stays]], shares[stays]
        _, first, pods = np.unique(jobs, return_index=True, return_counts=True)
        for place in np.argsort(first).tolist():
            job, theirs = jobs.item(first[place]), shares.item(first[place])
            about = self._keys[job]
            self._ssn.trace.spare(Spares.SHARE, about, theirs, ours, pods=pods.item(place))

    def _shares_left(self, candidates: list[int]) -> Iterator[float]:
        """Yield the share of each candidate's job without it, and without those before it."""
        left: dict[int, list[float]] = {}
        for task in candidates:
            job = self._job.item(task)
            if job not in left:
                left[job] = self._allocated[job].tolist()
            # Taken off before the comparison and never given back: `allocations[...].Sub` changes
            # in place.
            left[job] = self._less(left[job], task)
            yield self._share_of(left[job])

    def _shares_of_many(self, candidates: list[int]) -> list[float] | None:
        """Return the same shares, for the first candidates of all jobs at once, then the second.

        The subtractions of a job are those of :meth:`_shares_left`, in the same order. None if a
        job has less than a candidate requests.
        """
        rows = np.array(candidates)
        _, job_of = np.unique(self._job[rows], return_inverse=True)
        by_job = np.argsort(job_of, kind="stable")
        first = np.searchsorted(job_of[by_job], np.arange(job_of.max() + 1))
        turn = np.empty(len(rows), dtype=np.intp)
        turn[by_job] = np.arange(len(rows)) - first[job_of[by_job]]
        shares, left = np.empty(len(rows)), self._allocated[self._job[rows[by_job[first]]]]
        for number in range(turn.max() + 1):
            places = np.flatnonzero(turn == number)
            request, jobs = self._request[rows[places]], job_of[places]
            if (request - left[jobs]).max() >= MIN_RESOURCE:
                return None
            left[jobs] -= request
            shares[places] = dominant_shares(left[jobs], self._totals)
        each: list[float] = shares.tolist()
        return each

    def _may_preempt(self, preemptor: int, candidates: Rows) -> NDArray[np.bool_]:
        """Return the candidates whose jobs still have as large a share without that one task."""
        ours = self._share(self._allocated[self._job[preemptor]] + self._request[preemptor])
        left = self._allocated[self._job[candidates]] - self._request[candidates]
        theirs = dominant_shares(left, self._totals)
        return (ours < theirs) | (np.abs(ours - theirs) <= SHARE_DELTA)

    def _queue_order(self, left: str, right: str) -> float:
        if self._stale:
            self._tree.update(self._allocated, self._allocated.sum(axis=0))
            self._stale = False
        return self._tree.compare(left, right)

    def _reclaimable(self, reclaimer: int, candidates: list[int]) -> tuple[list[int], int]:
        """Choose tasks whose queue without them still comes after the reclaimer's with its own."""
        allocated = self._allocated.copy()
        in_total = allocated.sum(axis=0) + self._request[reclaimer]
        ours = int(self._job[reclaimer])
        allocated[ours] += self._request[reclaimer]
        self._stale = True
        victims = []
        for task in candidates:
            job = int(self._job[task])
            # Each candidate alone, unlike in `_preemptable`: `rattr` is cloned and restored for
            # each.
            allocated[job] = self._allocated[job]
            self._subtract(allocated[job], task)
            self._tree.update(allocated, in_total - self._request[task])
            if self._tree.compare(self._queue[ours], self._queue[job]) < 0:
                victims.append(task)
            elif self._ssn.trace.staying is not None:
                self._ssn.trace.spare(Spares.ORDER, self._queue[job])
            allocated[job] = self._allocated[job]
        return victims, PERMIT

    def _on_allocate(self, task: int, node: int) -> None:
        job = self._job[task]
        allocated = self._allocated[job]
        allocated += self._request[task]
        self._shares[job] = self._share(allocated)
        # Volcano updates the tree at each event; here only before it is read.
        self._stale = True

    def _on_deallocate(self, task: int, node: int) -> None:
        job = self._job[task]
        allocated = self._allocated[job]
        self._subtract(allocated, task)
        self._shares[job] = self._share(allocated)
        self._stale = True

    def _less(self, amounts: list[float], task: int) -> list[float]:
        """Return an account without a task's request: :meth:`_subtract` of a few plain numbers.

        :raises Panic: the account holds less, unless subtractions are checked.
        """
        request: list[float] = self._request[task].tolist()
        if max(map(sub, request, amounts)) < MIN_RESOURCE:
            return [*map(sub, amounts, request)]
        allocated = np.array(amounts)
        self._subtract(allocated, task)
        rest: list[float] = allocated.tolist()
        return rest

    def _subtract(self, allocated: Floats, task: int) -> None:
        """Subtract a task's request from an account.

        :raises Panic: the account holds less, unless subtractions are checked.
        """
        request = self._request[task]
        if (request - allocated).max() >= MIN_RESOURCE:
            resource, asked = (Resource.from_vector(self._dims, v) for v in (allocated, request))
            allocated[:] = self._off(resource, asked).vector(self._dims)
        else:
            allocated -= request


def _hierarchy_enabled(ssn: Session) -> bool:
    """Return whether ``enableHierarchy`` is set where the plugin is first named."""
    for tier in ssn.conf.tiers:
        for option in tier:
            if option.name == Drf.name:
                return option.enabled_hierarchy
    return False
