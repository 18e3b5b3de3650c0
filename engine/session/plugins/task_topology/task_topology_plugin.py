"""Plugin ``task-topology``: tasks of a job near each other or apart, by role.

Tasks are divided into buckets (:mod:`.job_buckets`); a node's score for a task is how much of its
bucket runs there or would find room.

Source: pkg/scheduler/plugins/task-topology/topology.go.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ....model.session_tables import Floats, Rows, TaskStatus
from ....volcano.conf import Arguments
from ...framework.session import Session
from .annotations import read_topology
from .bucket import Bucket
from .job_buckets import BucketMember, JobBuckets

TASK_SPEC = "volcano.sh/task-spec"
MAX_NODE_SCORE = 100.0
EPSILON = 0.1


class TaskTopologyPlugin:
    """Orders tasks by bucket and scores nodes by how much of the bucket they take.

    Argument ``task-topology.weight`` (int, default 1).
    """

    name: ClassVar[str] = "task-topology"

    def __init__(self, arguments: Arguments) -> None:
        self._weight = arguments.get_int("task-topology.weight", 1)
        self._jobs: dict[int, JobBuckets] = {}

    def on_session_open(self, ssn: Session) -> None:
        """Build the buckets of jobs with pending tasks, and register order, score and handler."""
        self._ssn = ssn
        for job in range(len(ssn.jobs)):
            if not ssn.jobs.counts[job][TaskStatus.PENDING]:
                continue
            roles = {ssn.tasks.info[task].role for task in ssn.jobs.tasks[job]}
            topology = read_topology(ssn.jobs.pod_group(job).annotations, roles)
            if topology is not None:
                members = [self._member(task) for task in ssn.jobs.tasks[job]]
                self._jobs[job] = JobBuckets(topology, members, ssn.subtract)
        if not self._jobs:
            return  # nothing to order or to score: all else would say 0
        ssn.registry.add_task_order(self.name, self._task_order)
        ssn.registry.add_node_order(self.name, self._node_order, per="task")
        # There is no `DeallocateFunc`: what was undone stays counted on its node, and is counted
        # again.
        ssn.registry.add_event_handler(allocate=self._task_allocated)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _member(self, task: int) -> BucketMember:
        info = self._ssn.tasks.info[task]
        return BucketMember(task, info.name, self._role(task), info.node_name, info.request)

    def _role(self, task: int) -> str:
        """Return the role by the pod's annotation only, unlike the task's own role."""
        return self._ssn.tasks.info[task].pod.annotations.get(TASK_SPEC, "")

    def _task_order(self, left: int, right: int) -> int:
        """Tasks in buckets first; within a job the larger bucket, then the order of roles.

        Of buckets of one size the older comes first.
        """
        left_job, right_job = int(self._ssn.tasks.job[left]), int(self._ssn.tasks.job[right])
        of_left, of_right = self._jobs.get(left_job), self._jobs.get(right_job)
        if of_left is None or of_right is None:
            return 0
        left_bucket, right_bucket = of_left.bucket(left), of_right.bucket(right)
        # Also between jobs: only what follows compares tasks of one job.
        if (left_bucket is None) != (right_bucket is None):
            return -1 if left_bucket is not None else 1
        if left_job != right_job or left_bucket is None or right_bucket is None:
            return 0
        if len(left_bucket.tasks) != len(right_bucket.tasks):
            return len(right_bucket.tasks) - len(left_bucket.tasks)
        if left_bucket is right_bucket:
            return -of_left.task_affinity_order(left, right)
        return left_bucket.index - right_bucket.index

    def _node_order(self, task: int, rows: Rows) -> Floats:
        """Return score × weight, scaled so that a whole bucket of the largest size counts 100.

        score = tasks of the bucket on the node + what shuns the task there (negative)
                + tasks of the bucket without a node that would find room, the task included
        """
        job = self._jobs.get(int(self._ssn.tasks.job[task]))
        bucket = None if job is None else job.bucket(task)
        if job is None or bucket is None:
            return np.zeros(len(rows))
        nodes = self._ssn.nodes
        room = nodes.idle[rows] + nodes.releasing[rows]
        takes = ~self._lacks(task, rows, room)
        scores = self._held_by_node(job, bucket, self._role(task))[rows]
        scores = scores + (len(bucket.tasks) - self._left_out(task, bucket, room, takes))
        scores *= self._weight
        if job.max_size:
            scores = scores * MAX_NODE_SCORE / job.max_size
        return np.where(takes, scores, 0.0)

    def _held_by_node(self, job: JobBuckets, bucket: Bucket, role: str) -> Floats:
        """Return, by row of all nodes, tasks of the bucket minus tasks with anti-affinity."""
        row = self._ssn.nodes.row
        counts = np.zeros(len(row))
        for node, count in bucket.nodes.items():
            if node in row:
                counts[row[node]] += count
        for node, roles in job.on_node.items():
            counts[row[node]] += min(job.affinity(role, roles, only_anti=True), 0)
        return counts

    def _lacks(self, task: int, rows: Rows, room: Floats) -> NDArray[np.bool_]:
        """Return the nodes where the task can never fit: too little of some resource.

        A node also has too little of a scalar that it does not name, even if the request is 0.
        """
        lacks: NDArray[np.bool_] = (room < self._ssn.tasks.request[task]).any(axis=1)
        for name, amount in (self._ssn.tasks.info[task].request.scalars or {}).items():
            if amount == 0:
                info = self._ssn.nodes.info
                lacks |= np.array(
                    [name not in (info[row].allocatable.scalars or ()) for row in rows.tolist()]
                )
        return lacks

    def _left_out(
        self, task: int, bucket: Bucket, room: Floats, takes: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Return by node how many other tasks must go until the rest of the bucket fits.

        :param takes: the nodes where the task itself could fit; the others are not asked.
        :raises Panic: the tasks ask for more than the bucket knows of (see ``Bucket.task_bound``).
        """
        remains = bucket.request.clone()
        dims = ("cpu", "memory", *(remains.scalars or ()))
        room = room[:, [self._ssn.dims.index(name) for name in dims]]
        left_out = np.zeros(len(room), dtype=np.int64)
        crowded = takes & ~_fits(remains.vector(dims), room)
        # Which tasks are left out depends on a map there; here it is the order of rows.
        for waiting in sorted(bucket.tasks):
            if not crowded.any():
                break
            if waiting != task:
                self._ssn.subtract(remains, bucket.tasks[waiting])
                left_out[crowded] += 1
                crowded &= ~_fits(remains.vector(dims), room)
        return left_out

    def _task_allocated(self, task: int, node: int) -> None:
        job = self._jobs.get(int(self._ssn.tasks.job[task]))
        if job is not None:
            request = self._ssn.tasks.info[task].request
            job.task_bound(task, self._role(task), self._ssn.nodes.names[node], request)


def _fits(request: list[float], room: Floats) -> NDArray[np.bool_]:
    """Return by row whether a request is at most the room, or within 0.1 of it."""
    fits: NDArray[np.bool_] = np.all((request < room) | (np.abs(request - room) < EPSILON), axis=1)
    return fits
