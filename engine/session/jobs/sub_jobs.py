"""Groups within a job: how ``subGroupPolicy`` divides its tasks, and which groups are ready.

A job without the policy is one group, without requirements beyond those of the job.

Source: ``pkg/scheduler/api/sub_job_info.go`` and ``job_info.go`` (``getOrCreateSubJob``,
``checkSubJobCondition``) since v1.14.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...kubernetes.expressions.selectors import SelectorError, label_selector
from ...kubernetes.go.text import parse_int
from ...model.session_tables import READY_STATUS, STATUSES, Rows, TaskStatus
from ..topology.top_hypernode import allowed_tier, top_tier
from .allocated_hypernodes import AllocatedHypernodes
from .division import Division, SubJob
from .jobs import JobTable
from .stale_status_index import StaleStatusIndex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...kubernetes.objects import NetworkTopology, SubGroupPolicy
    from ...model.hypernode import HyperNodes
    from ...model.session_tables import TaskTable
    from ...volcano.session.behaviours import Behaviours

_MOST_BYTES = 128
_SAFE_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_READY = tuple(sorted(READY_STATUS))


class SubJobs:
    """The groups of a session's jobs; each job is divided when its groups are first needed."""

    def __init__(
        self,
        jobs: JobTable,
        tasks: TaskTable,
        tree: HyperNodes,
        behaviours: Behaviours,
        recovery: AllocatedHypernodes,
    ) -> None:
        self._jobs = jobs
        self._tasks = tasks
        self._tree = tree
        self._behaviours = behaviours
        self._recovery = recovery
        self._of: dict[int, Division] = {}
        self._of_task: dict[int, SubJob] = {}
        self.stale = StaleStatusIndex()
        """Statuses under which groups still list tasks that now have another status."""
        self.nominated: set[int] = set()
        """Jobs for whose groups room was made in this session."""
        self.nominations_dropped: set[int] = set()
        """Tasks whose nominated node no longer counts in this session."""

    def of(self, job: int) -> Division:
        """Return a job's groups."""
        known = self._of.get(job)
        if known is None:
            known = self._of[job] = self._divide(job)
            self._recovery.recover(job, known)
            for sub in known.sub_jobs:
                self._of_task.update(dict.fromkeys(sub.tasks, sub))
            if job in self._jobs.grouped:
                groups = {task: sub.uid for sub in known.sub_jobs for task in sub.tasks}
                self._jobs.group_of.update(groups)
        return known

    def recover_all(self) -> None:
        """Check all jobs that the process remembers, and forget outdated entries."""
        for job in self._recovery.forget_absent():
            self.of(job)

    def note_placed(self, job: int, hypernode: str, groups: Mapping[str, str]) -> None:
        """Remember that a job was placed in one more hypernode, and its groups within it.

        :param groups: hypernode by UID of the group.
        """
        self._recovery.note(job, self.of(job), hypernode, groups)

    def of_task(self, task: int) -> SubJob:
        """Return the group of a job's task."""
        known = self._of_task.get(task)
        if known is None:
            self.of(self._tasks.job.item(task))
            known = self._of_task[task]
        return known

    def nominated_node(self, task: int) -> str:
        """Return the node that an earlier session nominated a pod for; empty if it was dropped."""
        if task in self.nominations_dropped:
            return ""
        name: str = self._tasks.info[task].pod.status.nominated_node_name
        return name

    def pending_tasks(self, job: int) -> list[int]:
        """Return the tasks of a job that its groups list as pending."""
        pending = self._jobs.pending_tasks(job)
        if self.stale:
            job_of = self._tasks.job.item
            pending += [
                task for task in self.stale.under(TaskStatus.PENDING) if job_of(task) == job
            ]
        return pending

    def default(self, job: int) -> SubJob | None:
        """Return the group of the tasks without a policy; ``None`` if there are none."""
        uid = self._jobs.keys[job]
        return next((sub for sub in self.of(job).sub_jobs if sub.uid == uid), None)

    def wants_near(self, job: int) -> bool:
        """Return whether a job or one of its groups has a network topology."""
        if self._jobs.pod_group(job).spec.network_topology is not None:
            return True
        return job in self._jobs.grouped and self.of(job).near

    def ready_task_num(self, sub: SubJob) -> int:
        """Return how many tasks hold resources, have succeeded, or have no requests."""
        return int(self._counts(sub)[[*_READY]].sum()) + self._free(sub)

    def is_ready(self, sub: SubJob) -> bool:
        """Return whether a group has its minimum."""
        return self.ready_task_num(sub) >= sub.min_available

    def is_pipelined(self, sub: SubJob) -> bool:
        """Return whether a group has its minimum if pipelined tasks count."""
        waiting = int(self._counts(sub)[TaskStatus.PIPELINED])
        return waiting + self.ready_task_num(sub) >= sub.min_available

    def need_continue_allocating(self, sub: SubJob) -> bool:
        """Return whether a group can still be ready after a task that fits nowhere.

        Source: ``JobInfo.NeedContinueAllocating``.
        """
        jobs = self._jobs
        if not sub.divided:
            return jobs.need_continue_allocating(sub.job)
        whole = jobs.min_available[sub.job] == len(jobs.tasks[sub.job])
        return not whole and sub.min_available < len(sub.tasks)

    def has_minima(self, job: int, condition: Callable[[SubJob], bool]) -> bool:
        """Return whether enough groups of each policy meet a condition."""
        division = self.of(job)
        met = Counter(sub.policy for sub in division.sub_jobs if condition(sub))
        return all(met[policy] >= least for policy, least in division.minima.items())

    def _counts(self, sub: SubJob) -> Rows:
        counts = np.bincount(self._tasks.status[sub.tasks], minlength=STATUSES)
        # Such a task counts under two statuses, as it is in two lists of its group.
        for status in range(STATUSES) if self.stale else ():
            counts[status] += len(set(sub.tasks) & set(self.stale.under(status)))
        return counts

    def _free(self, sub: SubJob) -> int:
        if not self._jobs.best_effort[sub.job]:
            return 0
        tasks, status = self._tasks, self._tasks.status.item
        return sum(
            tasks.info[task].best_effort and status(task) == TaskStatus.PENDING
            for task in sub.tasks
        )

    def _divide(self, job: int) -> Division:
        """Put each task into the group of the first policy that matches it."""
        jobs, tasks, top = self._jobs, self._tasks, top_tier(self._tree)
        key, spec = jobs.keys[job], jobs.pod_group(job).spec
        topology = spec.network_topology
        tier = self._allowed_tier(topology, top)
        policies = spec.sub_group_policy if job in jobs.grouped else ()
        tasks_of: dict[str, list[int]] = {}
        made_by: dict[str, tuple[SubGroupPolicy, tuple[str, ...]]] = {}
        for task in jobs.tasks[job]:
            uid, match = key, _first_match(policies, tasks.info[task].pod.metadata.labels)
            if match is not None:
                uid = _uid(key, *match)
                made_by[uid] = match
            tasks_of.setdefault(uid, []).append(task)
        total = sum(map(len, tasks_of.values()))
        assert total == len(jobs.tasks[job]), "each task is in one group"
        # The bound of groups with a soft topology: that of their job, or else none
        # (`convertSoftToHardTopology`).
        limit = top if topology is None else _bound(topology, tier, top)
        sub_jobs = []
        for uid in sorted(tasks_of):
            policy, values = made_by.get(uid, (None, ()))
            wanted = topology if policy is None else policy.network_topology
            # `NewSubJobInfo` begins with 1: only a size of the policy, or an undivided job, changes
            # that.
            least = 1 if policies else jobs.min_available[job]
            if policy is not None and policy.sub_group_size is not None:
                least = policy.sub_group_size
            sub_jobs.append(
                SubJob(
                    uid=uid,
                    policy=key if policy is None else f"{key}/{policy.name}",
                    job=job,
                    tasks=tasks_of[uid],
                    min_available=least,
                    match_index=_index(values),
                    priority=max([0, *(tasks.info[task].priority for task in tasks_of[uid])]),
                    divided=bool(policies),
                    topology=wanted is not None,
                    tier=self._allowed_tier(
                        wanted, limit, translates=self._behaviours.sub_group_tier_names
                    ),
                )
            )
        minima = {f"{key}/{policy.name}": policy.min_sub_groups or 0 for policy in policies}
        named = (self._allowed_tier(policy.network_topology, limit) for policy in policies)
        tiers = (tier, *(sub.tier for sub in sub_jobs), *named)
        hard = any(each is not None for each in tiers)
        return Division(sub_jobs, minima, topology is not None, tier, hard)

    def _allowed_tier(
        self, wanted: NetworkTopology | None, limit: int, *, translates: bool = True
    ) -> int | None:
        return allowed_tier(self._tree, self._behaviours, wanted, limit, translates=translates)


def _bound(topology: NetworkTopology, tier: int | None, top: int) -> int:
    """Return the highest tier for groups with a soft topology."""
    given = topology.highest_tier_allowed if tier is None else tier
    return top if given is None else given


def _first_match(
    policies: Sequence[SubGroupPolicy], labels: Mapping[str, str]
) -> tuple[SubGroupPolicy, tuple[str, ...]] | None:
    """Return the first policy that matches a pod, and the pod's values of its keys.

    A policy without keys takes no pod. Source: ``getSubJobMatchValues``.
    """
    for policy in policies:
        values = tuple(labels.get(key, "") for key in policy.match_label_keys)
        if values and all(values) and _selects(policy, labels):
            return policy, values
    return None


def _selects(policy: SubGroupPolicy, labels: Mapping[str, str]) -> bool:
    if policy.label_selector is None:
        return True
    try:
        return label_selector(policy.label_selector).matches(labels)
    except SelectorError:
        return False


def _uid(key: str, policy: SubGroupPolicy, values: tuple[str, ...]) -> str:
    """Return a group's UID, with a hash in it where the values are long.

    Source: ``getSubJobID``.
    """
    text = "-".join(values)
    if len(text.encode()) > _MOST_BYTES:
        # FNV-1a of 32 bits; its digits are then spelled in letters by `rand.SafeEncodeString`.
        digest = 0x811C9DC5
        for byte in text.encode():
            digest = (digest ^ byte) * 0x01000193 & 0xFFFFFFFF
        text = "".join(_SAFE_LETTERS[ord(each) % len(_SAFE_LETTERS)] for each in str(digest))
    return f"{key}/{policy.name}-{text}"


def _index(values: tuple[str, ...]) -> int:
    return (parse_int(values[0]) or 0) if values else 0
