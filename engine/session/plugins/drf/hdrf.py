"""Hierarchical dominant resource fairness: queues as a tree, with the jobs as its leaves.

Annotations give a queue's place in the tree: the path ``root/sci/dev`` with the weights
``1/2/8``. Shares rise from the leaves; of unequal siblings each counts as much as the one that has
least, so that no queue gains from another queue's large share.

Source: pkg/scheduler/plugins/drf/drf.go (``buildHierarchy``, ``updateHierarchicalShare``,
``compareQueues``).
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ....model.panic import Panic
from ....model.resource import MIN_RESOURCE
from ....model.session_tables import Floats

_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class PathNode:
    """A step of queues' paths; its shares are those of the last :meth:`Tree.update`."""

    __slots__ = ("allocated", "children", "jobs", "saturated", "share", "weight")

    def __init__(self, weight: float, dims: int) -> None:
        assert weight >= 1, "shares are divided by weights"
        self.weight = weight
        self.children: dict[str, PathNode] = {}
        self.jobs: list[int] = []
        self.allocated: Floats = np.zeros(dims)
        self.share = 0.0
        self.saturated = False


class ShareTree:
    """The tree of a session's queues.

    Vectors are over the session's resources; matrices are jobs × resources.

    :param total: the sum of the nodes' allocatable.
    :param requests: of each job, the sum of its tasks' requests.
    """

    def __init__(self, total: Floats, requests: Floats) -> None:
        self._total = total
        self._requests = requests
        self.root = PathNode(1.0, len(total))
        self._paths: dict[str, list[PathNode]] = {}

    def add(self, job: int, queue: str, hierarchy: str, weights: str) -> None:
        """Add a job below its queue's path; missing steps are created.

        :raises Panic: a step is new and has no weight.
        """
        node = self.root
        path = [node]
        numbers = weights.split("/")
        for depth, step in enumerate(hierarchy.split("/")[1:], start=1):
            if step not in node.children:
                node.children[step] = PathNode(_weight(numbers, depth), len(self._total))
            node = node.children[step]
            path.append(node)
        node.jobs.append(job)
        self._paths[queue] = path

    def update(self, allocated: Floats, in_total: Floats) -> None:
        """Compute all shares again.

        :param allocated: of each job.
        :param in_total: of all jobs.
        """
        # A resource that is used up saturates each job that holds some of it and wants some.
        demanding = (self._total >= MIN_RESOURCE) & (in_total < self._total)
        holds, wants = allocated >= MIN_RESOURCE, self._requests != 0
        met = (allocated >= self._requests) | ~demanding
        saturated = (holds & wants & met).any(axis=1)
        self._update(self.root, allocated, dominant_shares(allocated, self._total), saturated)

    def _update(
        self, node: PathNode, allocated: Floats, shares: Floats, saturated: NDArray[np.bool_]
    ) -> None:
        below = list(node.children.values())
        for child in below:
            self._update(child, allocated, shares, saturated)
        amounts = np.vstack([allocated[node.jobs], *[child.allocated for child in below]])
        share = np.append(shares[node.jobs], [child.share for child in below])
        full = np.append(saturated[node.jobs], [child.saturated for child in below]).astype(bool)

        has_share = share != 0
        scaled = has_share & ~full
        # `mdr`: children that are not saturated count as if each had the least share of them.
        least = min(1.0, share[scaled].min(initial=1.0))
        factor = np.divide(least, share, out=np.ones_like(share), where=scaled)
        node.allocated = (amounts[has_share] * factor[has_share, np.newaxis]).sum(axis=0)
        node.share = float(dominant_shares(node.allocated, self._total))
        node.saturated = bool(full.all())

    def compare(self, left: str, right: str) -> float:
        """Return less than 0 if the left queue comes first: unsaturated, then of less share.

        The first step at which the paths differ in share per weight decides.
        """
        # As far as the shorter path goes: a queue is equal to one below it if all steps so far are.
        for left_node, right_node in zip(self._paths[left], self._paths[right], strict=False):
            if left_node.saturated != right_node.saturated:
                return 1.0 if left_node.saturated else -1.0
            difference = left_node.share / left_node.weight - right_node.share / right_node.weight
            if difference:
                return difference
        return 0.0


def dominant_shares(allocated: Floats, total: Floats) -> Floats:
    """Return the largest part that any resource is of its total: max over r of a[r] / total[r].

    Resources with less than 0.1 in total do not count.

    Source: drf.go calculateShare.
    """
    limits = np.where(total >= MIN_RESOURCE, total, np.inf)
    shares: Floats = np.zeros(allocated.shape[:-1])
    for dim, limit in enumerate(limits.tolist()):
        np.maximum(shares, allocated[..., dim] / limit, out=shares)
    return shares


def _weight(numbers: list[str], depth: int) -> float:
    """Return the weight of a step; a malformed one, or one below 1, counts as 1."""
    if depth >= len(numbers):
        raise Panic(
            f"runtime error: index out of range [{depth}] with length {len(numbers)}",
            ("plugins/drf.(*drfPlugin).buildHierarchy",),
        )
    text = numbers[depth]
    return max(float(text), 1.0) if _NUMBER.fullmatch(text) else 1.0
