"""Bundles of victims: of each job the tasks beyond its minimum, and those that would end its gang.

Source: ``pkg/scheduler/actions/utils/bundle.go`` since v1.15.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ...model.resource import Resource
from ...model.session_tables import ALLOCATED_STATUS, TaskStatus

if TYPE_CHECKING:
    from ..framework.session import Session

_HOLDING = (*sorted(ALLOCATED_STATUS), TaskStatus.SUCCEEDED)


class Bundle(msgspec.Struct, frozen=True):
    """Victims of one job that are evicted together.

    :param whole: whether the job loses its gang.
    :param freed: what they request.
    :param lost: what the job loses: all requests of its tasks if it is ``whole``, else nothing.
    """

    whole: bool
    job: int
    tasks: Sequence[int]
    freed: Resource
    lost: Resource

    def worth(self, need: Resource) -> float:
        """Return the ratio of the needed resources that it frees to what the job loses.

        Infinite if nothing is lost. Source: ``bundleROI``.
        """
        lost = _score(self.lost, need, capped=False)
        return _score(self.freed, need, capped=True) / lost if lost else inf


class _Surplus:
    """How many tasks a ready job can lose: in total, by role, and groups by policy."""

    def __init__(self, ssn: Session, job: int) -> None:
        self._ssn = ssn
        self.tasks = ssn.jobs.ready_task_num(job) - ssn.jobs.min_available[job]
        self._roles = _roles(ssn, job)
        division = ssn.sub_jobs.of(job)
        self._groups: dict[str, int] = {}
        self._broken: set[str] = set()
        self._in_groups = bool(division.minima)
        for sub in division.sub_jobs if self._in_groups else ():
            if ssn.sub_jobs.is_ready(sub):
                self._groups[sub.policy] = self._groups.get(sub.policy, 0) + 1
            else:
                self._broken.add(sub.uid)
        for policy, least in division.minima.items():
            self._groups[policy] = self._groups.get(policy, 0) - least

    def spare(self, task: int) -> bool:
        """Remove a task if the job stays ready without it; return whether it was removed."""
        role = self._ssn.tasks.info[task].role
        # A role without a minimum can always lose a task: the 1 stands for any number above 0.
        if self.tasks <= 0 or self._roles.get(role, 1) <= 0 or not self._group_allows(task):
            return False
        self.tasks -= 1
        if role in self._roles:
            self._roles[role] -= 1
        if self._in_groups:
            sub = self._ssn.sub_jobs.of_task(task)
            if sub.uid not in self._broken:
                self._broken.add(sub.uid)
                self._groups[sub.policy] = self._groups.get(sub.policy, 0) - 1
        return True

    def _group_allows(self, task: int) -> bool:
        """Return whether a task's group is already incomplete, or its policy allows one more."""
        if not self._in_groups:
            return True
        sub = self._ssn.sub_jobs.of_task(task)
        return sub.uid in self._broken or self._groups.get(sub.policy, 0) > 0


def create_job_bundles(ssn: Session, job: int, tasks: Iterable[int]) -> list[Bundle]:
    """Divide some of a job's tasks: those beyond its minimum (a safe bundle), and the rest.

    The least important tasks are in the safe bundle. If the job is not ready, all tasks are.
    """
    info = ssn.tasks.info
    tasks = sorted(tasks, key=lambda task: (info[task].priority, info[task].uid))
    surplus = _Surplus(ssn, job)
    lost = surplus.tasks < 0
    safe: list[int] = []
    rest: list[int] = []
    for task in tasks:
        (safe if lost or surplus.spare(task) else rest).append(task)
    sums = ssn.jobs.sum_requests
    assert len(safe) + len(rest) == len(tasks), "each candidate is in one bundle"
    bundles = []
    if safe:
        bundles.append(Bundle(False, job, safe, sums(safe), Resource()))
    if rest:
        bundles.append(Bundle(True, job, rest, sums(rest), sums(ssn.jobs.tasks[job])))
    return bundles


def apply_allowed(ssn: Session, bundles: list[Bundle], allowed: Collection[int]) -> list[Bundle]:
    """Return what is left of bundles: of a safe one the allowed tasks; of others all or nothing."""
    valid = []
    for bundle in bundles:
        remaining = [task for task in bundle.tasks if task in allowed]
        if len(remaining) == len(bundle.tasks):
            valid.append(bundle)
        elif remaining and not bundle.whole:
            valid.append(replace(bundle, tasks=remaining, freed=ssn.jobs.sum_requests(remaining)))
    return valid


def _roles(ssn: Session, job: int) -> dict[str, int]:
    """Return, by role with a minimum, how many more tasks are ready.

    Roles do not count if the job may run with less than the minima of its roles.
    """
    info = ssn.jobs.info[job]
    if ssn.jobs.min_available[job] < info.task_min_available_total:
        return {}
    tasks = ssn.tasks
    ready = Counter(
        tasks.info[task].role
        for task in ssn.jobs.tasks[job]
        if tasks.status.item(task) in _HOLDING
        or (tasks.status.item(task) == TaskStatus.PENDING and tasks.info[task].best_effort)
    )
    return {role: ready[role] - least for role, least in info.task_min_available.items()}


def _score(resource: Resource, need: Resource, *, capped: bool) -> float:
    """Return the sum over what is needed of the parts that a resource has of it."""
    score = 0.0
    for name in need.resource_names():
        needed = need.get(name)
        if needed > 0:
            has = resource.get(name)
            score += min(has, needed) / needed if capped else has / needed
    return score
