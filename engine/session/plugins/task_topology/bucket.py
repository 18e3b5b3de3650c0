"""Tasks that are to run on one node together.

Source: pkg/scheduler/plugins/task-topology/bucket.go.
"""

from __future__ import annotations

from collections import Counter

from ....model.panic import Panic
from ....model.resource import Resource
from ....model.subtraction import Subtract

MEBI = 1024 * 1024


class Bucket:
    """A bucket of one job.

    ``tasks`` are the tasks without a node, by row, and ``request`` the sum of what they ask for;
    ``req_score`` weighs that: 1 milli-CPU, 1 MiB and 1 milli of anything else are the same.
    ``nodes`` counts, by name, the tasks that have a node, ``bound`` all of these; ``roles`` counts
    all tasks that were put in.
    """

    __slots__ = ("bound", "index", "nodes", "req_score", "request", "roles", "subtract", "tasks")

    def __init__(self, index: int, subtract: Subtract) -> None:
        self.index = index
        self.subtract = subtract
        self.tasks: dict[int, Resource] = {}
        self.request = Resource()
        self.req_score = 0.0
        self.nodes: Counter[str] = Counter()
        self.bound = 0
        self.roles: Counter[str] = Counter()

    @property
    def size(self) -> int:
        """How many tasks there are, with nodes and without."""
        return len(self.tasks) + self.bound

    def add_task(self, task: int, role: str, node: str, request: Resource) -> None:
        """Put a task in; ``node`` is empty if it has none."""
        self.roles[role] += 1
        if node:
            self.nodes[node] += 1
            self.bound += 1
            return
        self.tasks[task] = request
        self.req_score += weigh(request)
        self.request.add(request)

    def task_bound(self, task: int, node: str, request: Resource) -> None:
        """Note that a task was given a node.

        :raises Panic: more is given nodes than the bucket's tasks ask for: a task that was put back
            in between counts every time. Not if subtractions are checked.
        """
        self.nodes[node] += 1
        self.bound += 1
        self.tasks.pop(task, None)
        self.req_score -= weigh(request)
        try:
            self.subtract(self.request, request)
        except Panic as panic:
            raise panic.through(
                "plugins/task-topology.(*Bucket).CalcResReq",
                "plugins/task-topology.(*Bucket).TaskBound",
                "plugins/task-topology.(*JobManager).TaskBound",
            ) from None


def weigh(request: Resource) -> float:
    """Return the score of a request."""
    return request.cpu + request.memory / MEBI + sum((request.scalars or {}).values())
