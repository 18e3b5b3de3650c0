"""How a job's tasks are divided into buckets, by the affinities of their roles.

Source: pkg/scheduler/plugins/task-topology/manager.go.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from ....model.resource import Resource
from ....model.subtraction import Subtract
from .annotations import Groups, TaskTopology
from .bucket import Bucket

SELF_ANTI_AFFINITY = 4
INTER_AFFINITY = 3
SELF_AFFINITY = 2
INTER_ANTI_AFFINITY = 1
"""The priorities of rules; a role has the greatest of those that name it."""


class BucketMember(msgspec.Struct, frozen=True):
    """A task of the job as the session opens; role and node may be empty."""

    task: int
    name: str
    role: str
    node: str
    request: Resource


class JobBuckets:
    """The buckets of one job.

    ``max_size`` is that of the largest bucket as it was built. ``on_node`` counts, by node and
    role, the tasks that were given nodes in this session.
    """

    def __init__(
        self,
        topology: TaskTopology,
        members: Iterable[BucketMember],
        subtract: Subtract = Resource.sub,
    ) -> None:
        self._subtract = subtract
        self.buckets: list[Bucket] = []
        self.max_size = 0
        self.on_node: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._priority: dict[str, int] = {}
        self._together = self._pairs(topology.affinity, SELF_AFFINITY, INTER_AFFINITY)
        self._apart = self._pairs(topology.anti_affinity, SELF_ANTI_AFFINITY, INTER_ANTI_AFFINITY)
        count = len(topology.task_order)
        self._order = {role: count - place for place, role in enumerate(topology.task_order)}
        self._bucket_of: dict[int, Bucket] = {}
        self._role: dict[int, str] = {}
        self._build([member for member in members if member.role and member.role in self._priority])

    def _pairs(self, groups: Groups, own: int, others: int) -> frozenset[tuple[str, str]]:
        """Return the pairs of roles that groups make, in both directions, and note priorities."""
        pairs: set[tuple[str, str]] = set()
        for group in groups:
            for role in group:
                priority = own if len(group) == 1 else others
                self._priority[role] = max(priority, self._priority.get(role, 0))
            if len(group) == 1:
                pairs.add((group[0], group[0]))
            else:
                pairs |= {
                    (group[left], group[right])
                    for left in range(len(group))
                    for right in range(len(group))
                    if left != right
                }
        return frozenset(pairs)

    def bucket(self, task: int) -> Bucket | None:
        """Return the bucket of a task; None if its role is in no rule."""
        return self._bucket_of.get(task)

    def task_affinity_order(self, left: int, right: int) -> int:
        """Return 1 if the left task's role comes first, -1 if the right one's, else 0.

        The order of roles that the user gave counts first, then the priority.
        """
        left_rank, right_rank = self._rank(self._role[left]), self._rank(self._role[right])
        return (left_rank > right_rank) - (left_rank < right_rank)

    def _rank(self, role: str) -> tuple[int, int]:
        return self._order.get(role, 0), self._priority.get(role, 0)

    def affinity(self, role: str, roles: Mapping[str, int], *, only_anti: bool = False) -> int:
        """Return the number of tasks with affinity to a role, minus those with anti-affinity."""
        if not role:
            return 0
        score = 0
        for placed_role, count in roles.items():
            if not only_anti and (role, placed_role) in self._together:
                score += count
            if (role, placed_role) in self._apart:
                score -= count
        return score

    def task_bound(self, task: int, role: str, node: str, request: Resource) -> None:
        """Note that a task was given a node.

        :raises Panic: as for :meth:`Bucket.task_bound`.
        """
        if role:
            self.on_node[node][role] += 1
        bucket = self.bucket(task)
        if bucket is not None:
            bucket.task_bound(task, node, request)

    def _build(self, members: list[BucketMember]) -> None:
        """Put tasks with nodes in a bucket for each node, then the others where they fit best."""
        for member in members:
            self._role[member.task] = member.role
        on_node: dict[str, Bucket] = {}
        for member in sorted(members, key=self._building_order):
            bucket = on_node.get(member.node) if member.node else self._best(member.role)
            if bucket is None:
                bucket = Bucket(len(self.buckets), self._subtract)
                self.buckets.append(bucket)
                if member.node:
                    on_node[member.node] = bucket
            self._bucket_of[member.task] = bucket
            bucket.add_task(member.task, member.role, member.node, member.request)
            self.max_size = max(self.max_size, bucket.size)

    def _building_order(self, member: BucketMember) -> tuple[int, int, int, str]:
        if member.node:
            return (0, 0, 0, member.node)
        order, priority = self._rank(member.role)
        return (1, -order, -priority, member.name)

    def _best(self, role: str) -> Bucket | None:
        """Return the bucket of most affinity, of equals the smallest; None if all are negative."""
        best, most = None, 0
        for bucket in self.buckets:
            affinity = self.affinity(role, bucket.roles)
            # The first bucket is a candidate even if all is against it: `maxAffinity` starts below
            # any sum.
            if best is None or affinity > most:
                best, most = bucket, affinity
            elif affinity == most and bucket.req_score < best.req_score:
                best = bucket
        return best if most >= 0 else None
