"""Plugin ``network-topology-aware``: the tasks of a job near each other in the network.

The nearer the lowest common ancestor of a hypernode and the job's hypernode, the
higher the score; of the best, those with more of the job's tasks.

Source: pkg/scheduler/plugins/network-topology-aware/network_topology_aware.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ....model.hypernode import HyperNodes
from ....model.session_tables import NO_NODE, Floats, Rows
from ....volcano.conf import Arguments
from ...framework.session import Session
from .gradients import NetworkTopologyGradients

ALLOCATED_HYPER_NODE = "volcano.sh/job-allocated-hypernode"
BASE_SCORE = 100.0
LOWEST_SCORE = -1.0
"""Scores below this are never the highest."""


class NetworkTopologyAware:
    """Scores hypernodes for jobs, and nodes for tasks of jobs without a hard topology.

    Argument ``weight`` (int, default 1).
    """

    name: ClassVar[str] = "network-topology-aware"

    def __init__(self, arguments: Arguments) -> None:
        self._weight = float(arguments.get_int("weight", 1))
        self._arguments = arguments

    def on_session_open(self, ssn: Session) -> None:
        """Register the scores of hypernodes and of nodes."""
        if ssn.behaviours.topology_gradients:
            NetworkTopologyGradients(ssn, self.name, self._arguments)
        else:
            self._open(ssn)

    def _open(self, ssn: Session) -> None:
        self._ssn = ssn
        self._tree: HyperNodes = ssn.hypernodes
        tiers = list(self._tree.by_tier)
        self._min_tier, self._max_tier = (tiers[0], tiers[-1]) if tiers else (0, 0)
        self._leaf_of: tuple[list[str], NDArray[np.intp]] | None = None
        self._inside: dict[str, NDArray[np.bool_]] = {}
        self._near: dict[tuple[str, str], float] = {}
        if not ssn.behaviours.hard_topology_scores_nearby_nodes:
            ssn.registry.add_hyper_node_order(self.name, self._hyper_node_order)
        ssn.registry.add_batch_node_order(self.name, self._batch_node_order, uniform=self._uniform)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _uniform(self, _: int) -> float | None:
        """Return 0 if no job has a soft topology."""
        jobs, hard = self._ssn.jobs, self._ssn.behaviours.hard_topology_scores_nearby_nodes
        specs = (jobs.pod_group(job).spec.network_topology for job in range(len(jobs)))
        cares = any(spec is not None and (hard or spec.mode == "soft") for spec in specs)
        return None if cares else 0.0

    def _hyper_node_order(
        self, job: int, _: Sequence[int], hyper_nodes: dict[str, Rows]
    ) -> dict[str, float]:
        """Score hypernodes for a job that has one; otherwise all are equal."""
        annotations = self._ssn.jobs.pod_group(job).annotations
        reference = self._ssn.jobs.hypernode.get(job, annotations.get(ALLOCATED_HYPER_NODE, ""))
        if not reference:
            return {}
        names = list(hyper_nodes)
        scores = self._scores(job, names, reference)
        return dict(zip(names, scores.tolist(), strict=True))

    def _batch_node_order(self, task: int, rows: Rows) -> Floats | None:
        """Score nodes by the hypernode of the lowest tier that each is in."""
        reference = self._reference(task)
        if not reference:
            return None
        leaves, leaf_of = self._leaves()
        job = int(self._ssn.tasks.job[task])
        where = leaf_of[rows]
        return self._scores(job, leaves, reference, where)

    def _reference(self, task: int) -> str:
        """Return the hypernode of a task's job; empty if it does not count."""
        job = int(self._ssn.tasks.job[task])
        topology = self._ssn.jobs.pod_group(job).spec.network_topology
        if (
            topology is not None
            and topology.highest_tier_allowed is not None
            and topology.mode == "hard"
            and not self._ssn.behaviours.hard_topology_scores_nearby_nodes
        ):
            return ""
        return self._ssn.tasks.job_hypernode.get(task, "")

    def _scores(
        self, job: int, names: list[str], reference: str, where: NDArray[np.intp] | None = None
    ) -> Floats:
        """Return the scores of hypernodes, or of nodes in them.

        :param where: index of the hypernode of each; None for the hypernodes themselves.
        """
        near = np.array([self._nearness(name, reference) * self._weight for name in names])
        scores = near if where is None else near[where]
        if not len(scores):
            return scores
        highest = float(scores.max())
        best = scores == highest
        if highest >= LOWEST_SCORE and np.count_nonzero(best) > 1:
            crowds = self._crowds(job, names) * self._weight
            scores = np.where(best, scores + (crowds if where is None else crowds[where]), scores)
        return scores

    def _nearness(self, name: str, reference: str) -> float:
        """Return 100 for the hypernode itself, else 100 × (max − tier) / (max − min).

        The tier is that of the lowest common ancestor; 0 if there is none.

        Source: network_topology_aware.go networkTopologyAwareScore.
        """
        if name == reference:
            return BASE_SCORE
        known = self._near.get((name, reference))
        if known is None:
            common = self._tree.infos.get(self._tree.get_lca(name, reference))
            known = 0.0 if common is None else BASE_SCORE * self._tier_score(common.tier)
            self._near[name, reference] = known
        return known

    def _tier_score(self, tier: int) -> float:
        if self._min_tier == self._max_tier:
            return 0.0
        return (self._max_tier - tier) / (self._max_tier - self._min_tier)

    def _crowds(self, job: int, names: list[str]) -> Floats:
        """Return, by hypernode, 100 × tasks of the job in it / tasks of the job.

        Source: network_topology_aware.go scoreWithTaskNum.
        """
        tasks = self._ssn.jobs.tasks[job]
        if not tasks:
            return np.zeros(len(names))
        nodes = self._ssn.tasks.node[list(tasks)]
        nodes = nodes[nodes != NO_NODE]
        counts = np.array([np.count_nonzero(self._members(name)[nodes]) for name in names])
        crowds: Floats = BASE_SCORE * (counts / len(tasks))
        return crowds

    def _members(self, name: str) -> NDArray[np.bool_]:
        """Return, by row of all nodes, whether the node is in a hypernode."""
        known = self._inside.get(name)
        if known is None:
            real_nodes = self._tree.real_nodes.get(name, frozenset())
            known = np.array([node in real_nodes for node in self._ssn.nodes.names], dtype=np.bool_)
            self._inside[name] = known
        return known

    def _leaves(self) -> tuple[list[str], NDArray[np.intp]]:
        """Return the hypernodes of the lowest tier and none, and the index of each node's.

        Source: util/scheduler_helper.go FindHyperNodeForNode.
        """
        if self._leaf_of is None:
            lowest = next(iter(self._tree.by_tier.values()), ())
            leaf_of = np.full(len(self._ssn.nodes), len(lowest), dtype=np.intp)
            for index in reversed(range(len(lowest))):
                leaf_of[self._members(lowest[index])] = index
            self._leaf_of = [*lowest, ""], leaf_of
        return self._leaf_of
